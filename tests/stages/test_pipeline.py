"""``dvc.yaml`` says what each stage really depends on."""

import subprocess
from pathlib import Path
from typing import Any

import grimp
import pytest
import yaml

from calbench.config.spec import RunSpec
from stages.parts import USED
from tests.cli.runs import REPO

STAGES: dict[str, dict[str, Any]] = yaml.safe_load((REPO / "dvc.yaml").read_text())["stages"]

TYPES_OF_PARAMETERS = (
    "calbench/stats/spec.py",
    "calbench/metrics/measure.py",
    "calbench/report/role.py",
    "calbench/scenarios/parameters.py",
    "calbench/traces/models.py",
)
"""What `compose` writes by; the others depend on what it wrote, key by key."""

UNLISTED_EVERYWHERE = {
    "calbench/bars.py": "shows what is done, and changes nothing of it",
    "calbench/code.py": "says which code runs, and changes nothing of it",
    "calbench/config": "hands over parameters, on which stages depend key by key",
    "calbench/console.py": "says what is done, and changes nothing of it",
    "calbench/documents.py": "reads what others wrote",
    "calbench/endings.py": "undoes what is not finished",
    "calbench/errors.py": "is for what does not come to pass",
    "calbench/extensions.py": "finds what others install, which no experiment of the site seats",
    "calbench/files.py": "stores bytes that others made",
    "calbench/folders.py": "swaps folders that others made",
    "calbench/pool": "says where tasks run, and hands over their results in order",
    "calbench/scenarios/bounds.py": "refuses what is too large, and changes nothing else",
    "calbench/version.py": "says which version runs",
    "calbench/tree.py": "says where files are that are dependencies themselves",
    "stages/inputs.py": "says what need not be made again",
    "stages/kept.py": "likewise",
    "stages/parts.py": "splits parameters, on which stages depend key by key",
    "stages/players.py": "says what need not be made again, too",
    "stages/paths.py": "says where things are, as dvc.yaml does",
}

READS_THE_SUITE = "checks the suite while it is read, and hands over what is written there"
WHOLE = {"analysis", "site"}
"""What only stages use that read the parameters of all experiments at once."""

REACH_ONLY = {"budget", "games_at_once", "models", "preflight"}
"""How models are asked: nothing that a recorded reply depends on."""

PARTS = {"subset"}
"""Of a user's own runs: ``compose`` refuses an experiment of the site that sets it."""

PLANS = "only `plan_jobs`, which says where the traces are"
ONLY_TYPES = "lends the parameters their types"
ONLY_SCORES = "of the scores, of which there are tables"
SEATING = "what builds the players, beside who sits where"

UNLISTED = {
    "compose": {
        "calbench/domain": ONLY_TYPES,
        "calbench/oracle": ONLY_TYPES,
        "calbench/protocols": "of protocols only names and needs, which the registry says",
        "calbench/scenarios/models.py": ONLY_TYPES,
        "calbench/traces/events.py": ONLY_TYPES,
    },
    "generate": dict.fromkeys(("calbench/agents", "calbench/llm", "calbench/traces"), ONLY_TYPES),
    "play": {
        "calbench/oracle": READS_THE_SUITE,
        "calbench/runs/money.py": "says what is spent, and changes nothing of it",
        "calbench/scenarios/certificates.py": READS_THE_SUITE,
        "calbench/scenarios/storage.py": READS_THE_SUITE,
    },
    "calibrate": {
        "calbench/llm": PLANS,
        "calbench/scenarios/labels.py": PLANS,
        "calbench/engine": PLANS,
        "calbench/protocols": SEATING,
        "calbench/scenarios/certificates.py": READS_THE_SUITE,
        "calbench/scenarios/storage.py": READS_THE_SUITE,
    },
    "analyze": {
        **dict.fromkeys(
            (
                "calbench/agents",
                "calbench/domain",
                "calbench/engine",
                "calbench/llm",
                "calbench/oracle",
                "calbench/protocols",
                "calbench/scenarios",
                "calbench/traces",
            ),
            "measures games, of which there are facts",
        ),
        **dict.fromkeys(
            ("calbench/report/figures", "calbench/report/tables.py"),
            "of pages; the site says only which experiments go together",
        ),
        **dict.fromkeys(
            ("calbench/report/columns.py", "calbench/report/escape.py"),
            "of pages likewise",
        ),
        "calbench/report/setting.py": "of pages likewise",
    },
    "publish": {
        "calbench/agents": ONLY_SCORES,
        "calbench/llm": ONLY_SCORES,
        "calbench/engine": ONLY_SCORES,
        "calbench/protocols": ONLY_SCORES,
        "calbench/oracle": READS_THE_SUITE,
        "calbench/scenarios/certificates.py": READS_THE_SUITE,
        "calbench/scenarios/storage.py": READS_THE_SUITE,
    },
}


BY_HAND = {
    "cost_model",
    "coverage",
    "former_intervals",
    "statistic_coverage",
    "local_model",
    "local_server",
    "serve",
    "measure_earlier",
    "measure_growth",
    "measure_speed",
    "predictive",
    "record_local",
    "recordings",
    "changes",
    "release",
    "train_detectors",
}
"""What they write depends on the machine or on what was computed before, or is kept in git."""


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("calbench", "stages", cache_dir=None)


def names(stage: str, kind: str) -> list[str]:
    """Return the paths of a stage under one heading."""
    entries = STAGES[stage].get(kind, [])
    return [entry if isinstance(entry, str) else next(iter(entry)) for entry in entries]


def source(module: str) -> str:
    path = Path(*module.split("."))
    is_package = (REPO / path).is_dir()
    return (path / "__init__.py" if is_package else path.with_suffix(".py")).as_posix()


def is_below(path: str, folders: list[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def unlisted(stage: str, imports: grimp.ImportGraph) -> list[str]:
    modules = {f"stages.{stage}", *imports.find_upstream_modules(f"stages.{stage}")}
    reasons = [*UNLISTED_EVERYWHERE, *UNLISTED[stage]]
    if stage == "compose":
        reasons.remove("calbench/config")
        reasons.remove("stages/parts.py")
    else:
        reasons += TYPES_OF_PARAMETERS
    covered = names(stage, "deps") + reasons
    return sorted(path for path in map(source, modules) if not is_below(path, covered))


@pytest.mark.parametrize("stage", STAGES)
def test_stage_depends_on_every_module_that_it_imports(
    stage: str, imports: grimp.ImportGraph
) -> None:
    assert unlisted(stage, imports) == []


@pytest.mark.parametrize("stage", STAGES)
def test_stage_runs_a_module_that_exists(stage: str) -> None:
    command = STAGES[stage]["cmd"].split()
    assert command[:3] == ["python", "-m", f"stages.{stage}"]
    assert (REPO / "stages" / f"{stage}.py").is_file()
    assert len((REPO / "stages" / f"{stage}.py").read_text().splitlines()) <= 60


def test_every_module_of_the_stages_is_a_stage() -> None:
    modules = (
        {path.stem for path in (REPO / "stages").glob("*.py")}
        - {"__init__", "games", "inputs", "kept", "parts", "paths", "players", "shown", "teams"}
        - BY_HAND
    )
    assert modules == set(STAGES)


@pytest.mark.parametrize("stage", STAGES)
def test_dependency_exists_or_is_made_by_another_stage(stage: str) -> None:
    made = [path for other in STAGES for kind in ("outs", "metrics") for path in names(other, kind)]
    for path in names(stage, "deps"):
        is_made = is_below(path, made) or any(is_below(out, [path]) for out in made)
        assert is_made or (REPO / path).exists(), path


@pytest.mark.parametrize("stage", STAGES)
def test_output_lies_where_built_things_lie(stage: str) -> None:
    made = names(stage, "outs") + names(stage, "metrics")
    assert made
    assert all(is_below(path, ["build", "data"]) for path in made)


def test_stages_that_keep_what_is_still_right_find_it_there() -> None:
    """DVC would remove it before the stage begins."""
    persistent = {
        path
        for stage in STAGES.values()
        for entry in stage["outs"]
        if isinstance(entry, dict)
        for path, options in entry.items()
        if options.get("persist")
    }
    assert persistent == {"data/traces", "data/facts", "data/tables"}
    assert all(
        f'Kept("{stage}", ' in source_text(stage) for stage in ("play", "calibrate", "analyze")
    )


def source_text(stage: str) -> str:
    return (REPO / "stages" / f"{stage}.py").read_text()


def test_pipeline_keeps_every_table_and_nothing_of_an_earlier_run() -> None:
    assert names("analyze", "outs") == ["data/metrics", "data/tables"]
    assert names("calibrate", "outs") == ["data/facts"]


def test_leaderboards_are_shown_as_metrics() -> None:
    assert yaml.safe_load((REPO / "dvc.yaml").read_text())["metrics"] == ["data/metrics"]


def test_no_output_of_a_stage_is_in_git() -> None:
    """What stands in git with the hash of ``dvc.lock`` would be skipped, right or wrong."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPO, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    made = [path for stage in STAGES for path in names(stage, "outs") + names(stage, "metrics")]
    assert [path for path in listed.stdout.split("\0") if is_below(path, made)] == []


HARNESS = {"name", "executor", "jobs", "out", "traces"}
"""How and where a run is made: nothing that its numbers depend on."""


def test_each_parameter_has_stages_that_depend_on_it() -> None:
    keys = {key for keys in USED.values() for key in keys}
    assert keys == set(RunSpec.model_fields) - HARNESS - REACH_ONLY - WHOLE - PARTS
    for stage in STAGES:
        others = "conf" if stage == "compose" else "build/params"
        wanted = f"build/parts/{stage}.yaml" if stage in USED else others
        found = [path for path in names(stage, "deps") if is_below(path, ["build", "conf"])]
        assert found[0] == wanted, stage
