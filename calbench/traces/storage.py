"""The only module that reads and writes trace files: one JSON document per game."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import orjson
from pydantic import TypeAdapter, ValidationError

from calbench.domain.canonical import digest
from calbench.errors import FileError
from calbench.files import first_problem, printable, read_bytes, shorten, write_atomically
from calbench.traces.models import TRACE_SCHEMA_VERSION, Trace

_TRACE: TypeAdapter[Trace] = TypeAdapter(Trace)


def trace_bytes(trace: Trace) -> bytes:
    """Return the exact bytes of a trace's file."""
    return _TRACE.dump_json(trace) + b"\n"


def write_trace(path: Path, trace: Trace) -> int:
    """Write a trace whole or not at all; return its size in bytes."""
    data = trace_bytes(trace)
    write_atomically(path, data)
    return len(data)


def read_trace(path: Path) -> Trace:
    """Read one trace.

    Raises:
        FileError: naming the file and the field that does not fit.
    """
    data = read_bytes(path)
    place = printable(str(path))
    _check_version(place, data)
    try:
        return _TRACE.validate_json(data)
    except ValidationError as error:
        raise FileError(f"{place}: not a trace: {first_problem(error)}") from error


@dataclass(frozen=True, slots=True)
class TraceHead:
    """What a trace is about, read without its events.

    Attributes:
        scenario_digest: SHA-256 of the scenario as it stands there, without oracle and
            difficulty, which are derived.
    """

    setting: str
    team_id: str
    scenario_id: str
    scenario_digest: str

    def shared(self) -> Self:
        """Return the same with texts that equal ones elsewhere share: many games repeat them."""
        texts = (self.setting, self.team_id, self.scenario_id, self.scenario_digest)
        return type(self)(*map(sys.intern, texts))


def read_head(path: Path) -> TraceHead:
    """Read what a trace is about; that the rest reads as well is not checked.

    Raises:
        FileError: naming the file and the field that does not fit.
    """
    document = _check_version(printable(str(path)), read_bytes(path))
    try:
        scenario = {
            key: value
            for key, value in document["scenario"].items()
            if key not in ("oracle", "difficulty")
        }
        head = TraceHead(
            setting=str(scenario["setting"]),
            team_id=str(document["config"]["team"]["team_id"]),
            scenario_id=str(scenario["scenario_id"]),
            scenario_digest=digest(scenario),
        )
    except (AttributeError, KeyError, TypeError) as error:
        read_trace(path)  # says what is wrong
        raise FileError(f"{path}: not a trace") from error
    return head


def trace_paths(path: Path) -> Iterator[Path]:
    """Yield a trace file, or those below a folder or a whole run, sorted.

    Raises:
        FileError: a folder holds none.
    """
    if not path.is_dir():
        yield path
        return
    if (path / "traces").is_dir():  # the folder of a whole run, whose tables are JSON too
        path /= "traces"
    found = sorted(file for file in path.rglob("*.json") if not file.name.startswith("."))
    if not found:
        raise FileError(f"{path}: holds no trace (*.json)")
    yield from found


def trace_schema() -> dict[str, Any]:
    """Return the published JSON Schema of a trace."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_TRACE.json_schema(),
    }


def _check_version(place: str, data: bytes) -> dict[str, Any]:
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise FileError(f"{place}: not a whole JSON document ({error})") from error
    if not isinstance(document, dict) or "schema_version" not in document:
        raise FileError(f"{place}: not a trace: schema_version is missing")
    version = document["schema_version"]
    if type(version) is not int or version != TRACE_SCHEMA_VERSION:
        is_plain = isinstance(version, str | int | float | None)
        shown = shorten(ascii(version)) if is_plain else f"a {type(version).__name__}"
        raise FileError(
            f"{place}: schema_version is {shown}, this version of calbench reads "
            f"{TRACE_SCHEMA_VERSION}"
        )
    return document
