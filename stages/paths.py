"""Where the stages keep things, and how each of them starts."""

import sys
from collections.abc import Callable
from pathlib import Path

from calbench.config.spec import RunSpec, read_params
from calbench.console import say_error
from calbench.errors import CalbenchError

BUILD = Path("build")
PARAMS = BUILD / "params"
DATA = Path("data")
TABLES = DATA / "tables"
METRICS = DATA / "metrics"
RELEASE = DATA / "release"


def params(experiment: str) -> Path:
    """Return the resolved parameters of an experiment."""
    return PARAMS / f"{experiment}.yaml"


def suite(experiment: str) -> Path:
    """Return the suite file of an experiment."""
    return DATA / "suites" / f"{experiment}.jsonl"


def traces(experiment: str) -> Path:
    """Return the folder of an experiment's traces."""
    return DATA / "traces" / experiment


def facts(experiment: str) -> Path:
    """Return the folder of what an experiment's games were measured into."""
    return DATA / "facts" / experiment


def tables(experiment: str) -> Path:
    """Return the folder of an experiment's tables."""
    return TABLES / experiment


def run_stage(stage: Callable[[RunSpec], None]) -> None:
    """Run a stage on the experiment named on the command line; a mistake is one line."""
    answer(lambda experiments: stage(read_params(params(experiments[0]))))


def answer(stage: Callable[[list[str]], None]) -> None:
    """Call a stage with the command line's arguments; a mistake is one line."""
    try:
        stage(sys.argv[1:])
    except CalbenchError as error:
        say_error(error)
        sys.exit(2)
