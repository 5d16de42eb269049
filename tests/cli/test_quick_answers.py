"""What is answered before anything heavy is imported, and what is never asked for."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import calbench
from calbench.config.groups import known_names
from calbench.domain.rules import RULES_VERSION
from calbench.scenarios.models import SCHEMA_VERSION
from calbench.traces.models import TRACE_SCHEMA_VERSION
from tests.cli.runs import SMALL, python

HEAVY = ("litellm", "ortools", "hydra", "omegaconf", "numpy", "pandas", "pydantic", "rich", "yaml")

LIST_HEAVY = f"""
import sys
try:
    {{action}}
finally:
    print("HEAVY", sorted(set({HEAVY}) & set(sys.modules)))
"""


def heavy_modules(action: str) -> tuple[str, str]:
    """Run an action in a fresh Python; return what it printed, and the heavy modules it loaded."""
    ended = python("-c", LIST_HEAVY.format(action=action))
    assert ended.status == 0, ended.err
    said, _, modules = ended.out.rpartition("HEAVY ")
    return said, modules.strip()


def test_help_names_every_choice_and_loads_nothing_heavy(
    record_property: Callable[[str, object], None],
) -> None:
    start = time.perf_counter()
    said, modules = heavy_modules('from calbench.cli.main import answer; answer(["--help"])')
    record_property("help_s", round(time.perf_counter() - start, 3))
    assert modules == "[]"
    for group in ("experiment", "suite", "channels", "teams"):
        assert all(re.search(rf"[ ,]{name}[,\s]", said) for name in known_names(group))
    assert "out=DIR" in said


def test_package_loads_nothing_heavy_until_it_is_used() -> None:
    said, modules = heavy_modules("import calbench; print(calbench.__version__)")
    assert said == f"{calbench.__version__}\n"
    assert modules == "[]"


def test_version_names_package_schema_and_rules() -> None:
    ended = python("-m", "calbench", "--version")
    assert ended.status == 0
    assert ended.err == ""
    assert ended.out == (
        f"calbench {calbench.__version__} (suite schema {SCHEMA_VERSION}, trace schema "
        f"{TRACE_SCHEMA_VERSION}, rules {RULES_VERSION}, metrics 3)\n"
    )


@pytest.mark.heavy
def test_run_loads_no_language_model() -> None:
    _, modules = heavy_modules("import calbench.cli.run, calbench.cli.verify")
    assert "litellm" not in modules


OFFLINE = """
import runpy, socket, sys

def refuse(*arguments, **options):
    sys.stderr.write("NETWORK\\n")
    raise OSError("the default path asks for no network")

socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = socket.create_connection = refuse
sys.argv = ["calbench", *sys.argv[1:]]
runpy.run_module("calbench", run_name="__main__", alter_sys=True)
"""


@pytest.mark.heavy
def test_run_opens_no_connection(tmp_path: Path) -> None:
    ended = python("-c", OFFLINE, *SMALL, f"out={tmp_path / 'out'}")
    assert ended.status == 0, ended.err
    assert "NETWORK" not in ended.err
    assert "12 games played" in ended.out
