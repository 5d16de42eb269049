"""What a stage, and each process that works for it, does not wait for when it starts."""

from importlib.util import find_spec

import pytest

from tests.cli.runs import python

pytestmark = pytest.mark.heavy

NEVER = {"litellm", "openskill", "ortools", "scipy"}
"""Needed by some of the work of a stage, if by any, and imported where it is done."""

TABLES = {"pandas", "pyarrow"}
PAGES = {"jinja2", "plotly"}

NOT_IMPORTED = {
    "libraries": NEVER | TABLES | PAGES | {"calbench", "numpy", "grimp", "pydantic"},
    "compose": NEVER | TABLES | PAGES | {"numpy", "grimp"},
    "generate": NEVER | TABLES | PAGES | {"hydra", "grimp"},
    "play": NEVER | TABLES | PAGES | {"hydra", "numpy", "grimp"},
    "calibrate": NEVER | PAGES | {"hydra", "grimp"},
    "analyze": NEVER | PAGES | {"hydra", "grimp"},
    "publish": NEVER | {"hydra", "grimp"},
}
"""Slow libraries by stage."""

WORK = {
    "calbench.scenarios.suites": NOT_IMPORTED["generate"],
    "calbench.engine.batch": NOT_IMPORTED["play"] | {"grimp"},
    "calbench.analysis.scoring": NOT_IMPORTED["calibrate"],
}
"""The same by module of a worker's task."""


@pytest.mark.parametrize(
    ("module", "libraries"),
    [*((f"stages.{stage}", slow) for stage, slow in NOT_IMPORTED.items()), *WORK.items()],
)
def test_import_waits_for_no_library_that_is_not_needed(module: str, libraries: set[str]) -> None:
    assert all(find_spec(name) for name in libraries)
    told = python("-c", f"import sys, {module}; print(*sys.modules)")
    assert told.status == 0, told.err
    assert module in told.out.split()
    assert libraries & set(told.out.split()) == set()
