"""Dependencies are true: each stage makes the same in a folder that holds nothing else.

An audit of what Python opens would miss what compiled libraries open.
"""

import shutil
from pathlib import Path

import pytest

from tests.cli.runs import REPO
from tests.stages.sandbox import made, missing_code, outputs, run_stage, sandbox, stages
from tests.stages.small import small_tree

pytestmark = [pytest.mark.heavy, pytest.mark.slow]

STAGES = list(stages(REPO))
GIVEN = [
    (stage, name)
    for stage in STAGES
    for name in stages(REPO)[stage]["deps"]
    if not name.startswith(("calbench", "stages"))
]
"""Every dependency that is no code."""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small tree in which all stages have run."""
    tree = small_tree(tmp_path_factory.mktemp("small"))
    for stage in STAGES:
        ended = run_stage(tree, stage)
        assert ended.returncode == 0, ended.stderr
    return tree


@pytest.mark.parametrize("stage", STAGES)
def test_stage_makes_the_same_from_its_dependencies_alone(
    tree: Path, tmp_path: Path, stage: str
) -> None:
    folder = sandbox(tree, stage, tmp_path / "alone")
    assert missing_code(folder, stage) == []
    ended = run_stage(folder, stage)
    assert ended.returncode == 0, ended.stderr
    outs = outputs(tree, stage)
    found, expected = made(folder, outs), made(tree, outs)
    assert [name for name in expected if found.get(name) != expected[name]] == []
    assert found.keys() == expected.keys()


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_misses_each_part_of_its_code(tree: Path, tmp_path: Path, stage: str) -> None:
    folder = sandbox(tree, stage, tmp_path / "alone")
    for name in stages(tree)[stage]["deps"]:
        if name.startswith(("calbench", "stages")):
            (folder / name).rename(tmp_path / "taken")
            assert missing_code(folder, stage) != [], name
            (tmp_path / "taken").rename(folder / name)


@pytest.mark.slow
@pytest.mark.parametrize(("stage", "name"), GIVEN)
def test_a_stage_misses_what_it_reads(tree: Path, tmp_path: Path, stage: str, name: str) -> None:
    folder = sandbox(tree, stage, tmp_path / "alone", without=[name])
    ended = run_stage(folder, stage)
    assert ended.returncode in (1, 2), name
    (line,) = ended.stderr.splitlines()
    assert line.startswith("error: ")
    assert name in line
    shutil.rmtree(folder)


def test_outputs_of_a_stage_are_no_dependency_of_it() -> None:
    for stage in STAGES:
        assert set(outputs(REPO, stage)).isdisjoint(stages(REPO)[stage]["deps"])
