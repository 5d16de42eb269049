"""Where the stages keep things, and how each of them starts."""

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from calbench.config.spec import RunSpec, read_params
from calbench.console import say_error
from calbench.errors import CalbenchError, ConfigError

BUILD = Path("build")
PARAMS = BUILD / "params"
PARTS = BUILD / "parts"
DATA = Path("data")
SUITES = DATA / "suites"
TRACES = DATA / "traces"
FACTS = DATA / "facts"
TABLES = DATA / "tables"
METRICS = DATA / "metrics"
RELEASE = DATA / "release"

CORES = os.cpu_count() or 1


def params(experiment: str) -> Path:
    """Return the resolved parameters of an experiment."""
    return PARAMS / f"{experiment}.yaml"


def suite(experiment: str) -> Path:
    """Return the suite file of an experiment."""
    return SUITES / f"{experiment}.jsonl"


def traces(experiment: str) -> Path:
    """Return the folder of an experiment's traces."""
    return TRACES / experiment


def facts(experiment: str) -> Path:
    """Return the folder of what an experiment's games were measured into."""
    return FACTS / experiment


def tables(experiment: str) -> Path:
    """Return the folder of an experiment's tables."""
    return TABLES / experiment


def specs(names: Sequence[str] = ()) -> list[RunSpec]:
    """Return the parameters of the named experiments, or of all.

    Raises:
        ConfigError: there are none.
    """
    found = [params(name) for name in names] or sorted(PARAMS.glob("*.yaml"))
    if not found:
        raise ConfigError(f"{PARAMS}: holds no experiment; run the stage compose")
    return [read_params(path) for path in found]


def processes(tasks: int) -> int:
    """Return how many processes run some tasks; nothing that a stage writes depends on it."""
    return max(1, min(CORES, tasks))


def prune(folder: Path, wanted: Iterable[Path]) -> None:
    """Remove what else is directly in a folder."""
    keep = set(wanted)
    for path in sorted(folder.glob("*")):
        if path not in keep:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def run_stage(stage: Callable[[list[RunSpec]], None]) -> None:
    """Run a stage on the experiments named on the command line, or on all."""
    answer(lambda names: stage(specs(names)))


def answer(stage: Callable[[list[str]], None]) -> None:
    """Call a stage with the command line's arguments; a mistake is one line."""
    try:
        stage(sys.argv[1:])
    except CalbenchError as error:
        say_error(error)
        sys.exit(2)
