"""``dvc.yaml`` says what each stage really depends on."""

import ast
import subprocess
from typing import Any, cast

import pytest
import yaml

from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from stages.compose import PARTS
from tests.cli.runs import REPO
from tests.stages.dependencies import closure, files_of, imports, with_dependencies

STAGES: dict[str, dict[str, Any]] = yaml.safe_load((REPO / "dvc.yaml").read_text())["stages"]

HELPERS = {"paths"}
"""What several stages use."""


def names(stage: str, kind: str) -> list[str]:
    """Return the paths of a stage under one heading."""
    entries = STAGES[stage].get(kind, [])
    return [entry if isinstance(entry, str) else next(iter(entry)) for entry in entries]


def is_below(path: str, folders: list[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def test_dependencies_are_those_of_the_code() -> None:
    """``make dependencies`` writes them."""
    text = (REPO / "dvc.yaml").read_text()
    assert with_dependencies(text) == text


def test_dependencies_are_few() -> None:
    counts = [len(names(stage, "deps")) for stage in STAGES]
    assert max(counts) <= 40
    assert sum(counts) <= 200


@pytest.mark.parametrize("stage", STAGES)
def test_stage_depends_on_every_module_that_it_imports(stage: str) -> None:
    files = [path.as_posix() for path in files_of(closure(f"stages.{stage}", imports()))]
    assert f"stages/{stage}.py" in files
    assert [file for file in files if not is_below(file, names(stage, "deps"))] == []


def test_closure_has_imports_inside_functions_and_packages_and_never_the_door() -> None:
    play = closure("stages.play", imports())
    assert {"calbench.pool.cluster", "calbench.agents.prompts", "calbench.protocols.imap"} <= play
    assert "calbench" not in play
    assert "calbench.metrics.game" not in play
    assert "calbench.analysis.tables.totals" in closure("stages.analyze", imports())
    assert not any(name.startswith("calbench.config") for name in play)


def test_public_door_holds_names_alone() -> None:
    body = ast.parse((REPO / "calbench" / "__init__.py").read_text()).body
    docstring, code, version, flag, types, public, lookup, listing = body
    assert isinstance(docstring, ast.Expr)
    assert ast.unparse(code) == "from calbench.code import PACKAGE_VERSION"
    assert ast.unparse(version) == "__version__ = PACKAGE_VERSION"
    assert ast.unparse(flag) == "TYPE_CHECKING = False"
    assert isinstance(types, ast.If)
    assert all(isinstance(each, ast.ImportFrom) for each in types.body)
    assert ast.unparse(public).startswith("__all__ = [")
    assert isinstance(lookup, ast.FunctionDef)
    assert isinstance(listing, ast.FunctionDef)
    assert (lookup.name, listing.name) == ("__getattr__", "__dir__")


@pytest.mark.parametrize("stage", STAGES)
def test_stage_runs_a_module_that_exists(stage: str) -> None:
    command = STAGES[stage]["cmd"].split()
    assert command[:3] == ["python", "-m", f"stages.{stage}"]
    assert (REPO / "stages" / f"{stage}.py").is_file()
    assert len((REPO / "stages" / f"{stage}.py").read_text().splitlines()) <= 120


def test_every_module_of_the_stages_is_a_stage() -> None:
    modules = {path.stem for path in (REPO / "stages").glob("*.py")} - {"__init__", *HELPERS}
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


def test_dvc_removes_what_a_stage_made_before_it_makes_it_again() -> None:
    assert "persist" not in (REPO / "dvc.yaml").read_text()


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


UNUSED = {
    **dict.fromkeys(("executor", "fresh", "jobs", "out", "traces"), "how and where a run is made"),
    **dict.fromkeys(("budget", "games_at_once", "preflight", "models"), "how models are asked"),
}
"""Parameters on which nothing of the site depends."""


class Noting:
    """A run that notes which of its parameters are read."""

    def __init__(self, spec: RunSpec) -> None:
        self.spec, self.read = spec, set[str]()

    def __getattr__(self, name: str) -> Any:
        if name in RunSpec.model_fields:
            self.read.add(name)
            return getattr(self.spec, name)
        found = vars(RunSpec)[name]
        return found.__get__(self)

    def model_dump(self, *, mode: str, include: set[str]) -> dict[str, Any]:
        self.read |= include
        return self.spec.model_dump(mode=mode, include=include)


def test_each_parameter_is_given_to_a_stage() -> None:
    noting = Noting(compose(["+experiment=language"]))
    for part in PARTS.values():
        assert part(cast("RunSpec", noting))
    assert noting.read | UNUSED.keys() | {"name"} == set(RunSpec.model_fields)
    assert noting.read.isdisjoint(UNUSED)
