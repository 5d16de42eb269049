"""Where the stages keep things, what each is given, and how it starts and gets its workers."""

import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError

from calbench.console import say_error
from calbench.documents import read_yaml
from calbench.errors import CalbenchError, ConfigError, FileError
from calbench.files import first_problem, read_bytes, write_atomically
from calbench.pool import PROCESSES, ExecutorSpec, Pool, processors, workers

BUILD = Path("build")
PARAMS = BUILD / "params"
PARTS = BUILD / "parts"
LIBRARIES = BUILD / "libraries.json"
DATA = Path("data")
SUITES = DATA / "suites"
TRACES = DATA / "traces"
FACTS = DATA / "facts"
TABLES = DATA / "tables"
METRICS = DATA / "metrics"
"""Folders with one for each experiment, by its name; but suites are files, see :func:`suite`."""

EXECUTOR = Path("executor.yaml")
"""Where this machine's stages run their tasks, if not in its processes; no result depends on it."""


def suite(experiment: str) -> Path:
    """Return the suite file of an experiment."""
    return SUITES / f"{experiment}.jsonl"


@contextmanager
def pool(tasks: int) -> Iterator[Pool | None]:
    """Provide workers for some tasks; nothing that a stage writes depends on them.

    Raises:
        CalbenchError: the file :data:`EXECUTOR` does not fit, or no cluster answers.
    """
    with workers(max(1, min(processors(), tasks)), _executor()) as found:
        yield found


def _executor() -> ExecutorSpec:
    if not EXECUTOR.exists():
        return PROCESSES
    try:
        return ExecutorSpec.model_validate(read_yaml(EXECUTOR))
    except ValidationError as error:
        raise ConfigError(f"{EXECUTOR}: {first_problem(error)}") from error


def prune(folder: Path, wanted: Collection[Path]) -> None:
    """Remove what else is directly in a folder: that of an experiment which is no more."""
    for path in sorted(folder.glob("*")):
        if path not in wanted:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def part(stage: str) -> Path:
    """Return the file of what a stage is given."""
    return PARTS / f"{stage}.json"


def run_stage(stage: Callable[[], None], read: Collection[Path]) -> None:
    """Run a stage of ``dvc.yaml``; a mistake is one line.

    Args:
        stage: makes everything that it makes, and lets nothing else stay there.
        read: files and folders that it reads. One that is missing is a mistake: what depends on
            whether something is there would be another result.
    """

    def checked(_: list[str]) -> None:
        for path in (LIBRARIES, *read):
            if not path.exists():
                raise FileError(f"{path}: is missing; `dvc repro` makes or checks everything")
        stage()

    answer(checked)


def answer(stage: Callable[[list[str]], None]) -> None:
    """Call a stage with the command line's arguments; a mistake is one line."""
    try:
        stage(sys.argv[1:])
    except CalbenchError as error:
        say_error(error)
        sys.exit(2)


class Part(BaseModel, extra="forbid", frozen=True):
    """What a stage is given of an experiment: ``compose`` writes it, and the stage alone reads it.

    A stage depends on its own part, so an edit of ``conf`` reruns only the stages that it
    concerns, and configuration is the business of ``compose`` alone.
    """


P = TypeVar("P", bound=Part)


def write_parts(stage: str, parts: Mapping[str, Mapping[str, Any]]) -> None:
    """Write what a stage is given, by experiment, in the order of the site."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    write_atomically(part(stage), orjson.dumps(parts, option=options))


def read_parts(stage: str, kind: type[P]) -> dict[str, P]:
    """Read what a stage is given, by experiment, in the order of the site.

    Raises:
        FileError: there is no such file.
        ConfigError: naming the key that does not fit.
    """
    path = part(stage)
    try:
        found = TypeAdapter(dict[str, kind]).validate_json(read_bytes(path))  # type: ignore[valid-type]
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_problem(error)}; run the stage compose") from error
    return found
