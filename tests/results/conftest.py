"""The small run of the commands' tests, and a folder ``data`` in which it is published."""

import shutil
from pathlib import Path

import pytest

from calbench.analysis.summary import Runs, RunTables, write_summary
from calbench.release.__main__ import write_release
from tests.cli.conftest import finished, scenarios, suite

__all__ = ["data", "finished", "scenarios", "suite"]


@pytest.fixture(scope="session")
def data(finished: Path, suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two experiments of the same games computed, published."""
    data = tmp_path_factory.mktemp("published") / "data"
    (data / "suites").mkdir(parents=True)
    for name in ("first", "second"):
        shutil.copyfile(suite, data / "suites" / f"{name}.jsonl")
        shutil.copytree(finished / "tables", data / "tables" / name)
        shutil.copytree(finished / "traces", data / "traces" / name)
    runs = [RunTables(name, data / "tables" / name) for name in ("first", "second")]
    write_summary(Runs(runs, runs, [], [], [], data), data / "tables" / "summary")
    write_release(data, data / "release")
    return data
