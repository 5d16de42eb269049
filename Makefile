# Everything runs in the environment of the README: `. .venv/bin/activate` first.
.PHONY: check dependencies edits draw nightly lint types contracts test heavy campaign slow bench mutants release card lock sbom bundle validate-bundle oldest lock-local lock-cluster lock-pettingzoo lock-mcp lock-inspect coverage changes predictive record-local local-llm detectors judge clean

check: lint types contracts test heavy  ## what CI runs

nightly: slow bench  ## what no push waits for: slow tests, whole campaigns, every law with all its examples, benchmarks

lint:
	ruff check .
	ruff format --check .

types:
	mypy

contracts:
	lint-imports

test:
	pytest -q

heavy:  ## every control of the site once, axe on each kind of page, whole runs, and runs that are killed
	pytest -q -m "heavy and not slow"

campaign:  ## attacks of tests/campaigns, N times as many as every night: make campaign N=10
	CALBENCH_CAMPAIGN=$(or $(N),10) pytest -q -m heavy tests/campaigns

slow:  ## slow and heavy tests, whole campaigns, and every law with all its examples
	CALBENCH_THOROUGH=1 pytest -q -m 'slow or heavy or (hypothesis and not local_llm)' --numprocesses=0

bench:
	pytest -o addopts="-ra" -q --benchmark-only --benchmark-columns=min,median,mean,ops,rounds tests/benchmarks

mutants:  ## how many of 100 changes to tables and statistics, and of 100 to pages and commands, the tests detect; see CONTRIBUTING
	python -m tests.mutation.sample --of tables
	python -m tests.mutation.sample --of pages

draw:  ## draw one page or figure from what is computed: make draw OF=results/cost.md, or OF=fairness-varied
	python -m tests.browser.draw $(OF)

dependencies:  ## write into dvc.yaml what the code of each stage imports and reads
	python -m tests.stages.dependencies

edits:  ## edit a small tree in each of some forty ways, and compare `dvc repro` with a fresh tree
	python -m tests.stages.edits

release:  ## publish in data/release what `dvc repro` computed
	python -m calbench.release

changes:  ## list the published numbers that changed since a release: make changes OLD=<revision>
	rm -rf build/before && mkdir -p build/before
	git archive $(or $(OLD),$$(git log -1 --format=%H -- data/release/manifest.json)) data/release | tar -x -C build/before
	python -m calbench.release build/before/data/release

card:  ## draw the picture that other sites show beside a link -> site/assets/card.png
	python -m tests.browser.card

lock:  ## resolve again, with no release younger than two weeks
	uv pip compile pyproject.toml --universal --python-version 3.11 --extra models --extra site --extra test --extra pipeline \
		--generate-hashes --no-header --no-annotate \
		--exclude-newer $$(date -u -d '14 days ago' +%F) -o requirements.lock
	printf 'setuptools\nhatchling\neditables\n' | uv pip compile - --universal --python-version 3.11 \
		--constraints requirements.lock --generate-hashes --no-header --no-annotate -o requirements-build.lock

sbom:  ## the packages of the lock as a bill of materials, CycloneDX -> build/sbom.json
	python -m tests.packaging.sbom requirements.lock build/sbom.json

bundle: sbom  ## everything that is published in one folder -> build/bundle
	python -m calbench bundle out=build/bundle

validate-bundle:  ## what frictionless, mlcroissant, datasets, roc-validator and cffconvert say of it: make validate-bundle DIR=build/bundle
	for each in "data frictionless mlcroissant datasets" "crate roc-validator rocrate" "cff cffconvert"; do \
		set -- $$each; folder=build/validators/$$1; shift; \
		python -m venv $$folder && $$folder/bin/pip install -q "$$@" || exit 1; \
	done
	for part in frictionless mlcroissant datasets readers; do \
		PYTHONPATH= build/validators/data/bin/python tests/packaging/validators.py $$part $(or $(DIR),build/bundle) || exit 1; \
	done
	PYTHONPATH= build/validators/crate/bin/python tests/packaging/validators.py rocrate $(or $(DIR),build/bundle)
	build/validators/cff/bin/cffconvert --validate -i $(or $(DIR),build/bundle)/CITATION.cff

oldest:  ## install the oldest libraries that pyproject.toml allows, together, and try them
	python3.11 -m venv build/oldest
	build/oldest/bin/pip install -q uv
	build/oldest/bin/uv pip compile -q pyproject.toml --resolution lowest-direct --python-version 3.11 \
		--extra models --extra site --extra test --extra pipeline --no-header --no-annotate -o build/oldest/requirements.txt
	build/oldest/bin/uv pip install -q --python build/oldest/bin/python -r build/oldest/requirements.txt
	PYTHONPATH=. build/oldest/bin/python -c 'import calbench, importlib, pkgutil; \
		[importlib.import_module(each.name) for each in pkgutil.walk_packages(calbench.__path__, "calbench.") if "integrations." not in each.name]'
	PYTHONPATH=. build/oldest/bin/python -m pytest -q tests/domain tests/engine tests/traces tests/facts tests/analysis

lock-local lock-cluster lock-pettingzoo lock-mcp: lock-%:  ## the same for an extra; packages in both locks have one version
	uv pip compile pyproject.toml --universal --python-version 3.11 --extra $* \
		--constraints requirements.lock \
		--generate-hashes --no-header --no-annotate \
		--exclude-newer $$(date -u -d '14 days ago' +%F) -o requirements-$*.lock

lock-inspect:  ## for inspect_ai in an environment of its own: it allows other libraries than ours
	uv pip compile pyproject.toml --universal --python-version 3.11 --extra inspect \
		--generate-hashes --no-header --no-annotate \
		--exclude-newer $$(date -u -d '14 days ago' +%F) -o requirements-inspect.lock

predictive:  ## play the scenarios against which Table 2 is held -> data/predictive
	python -m tests.studies.predictive

coverage:  ## draw suites from the games that `dvc repro` made, and count how often intervals hold the truth
	python -m tests.studies.coverage
	python -m tests.studies.statistic_coverage

record-local:  ## record what a model on this machine says: make record-local FILE=model.gguf EXPERIMENTS="..."; without, data/cohorts/smollm2
	python -m tests.studies.record_local $(if $(FILE),--file "$(FILE)") $(EXPERIMENTS)
	python -m tests.studies.recordings

local-llm:  ## play a game with the small model itself
	pytest -q -m local_llm --numprocesses=0

detectors:  ## train the detectors of language on data/audit_sample
	python -m tests.studies.detectors

judge:  ## what a small model answers to the judge's prompt, beside the rules: make judge FILE=model.gguf; without, from its recorded replies
	python -m tests.studies.judge $(if $(FILE),--file "$(FILE)")

clean:  ## remove what can be rebuilt
	rm -rf build .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
