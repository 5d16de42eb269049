"""The only module that reads and writes trace files: one JSON document per game."""

from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

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


def trace_schema() -> dict[str, Any]:
    """Return the published JSON Schema of a trace."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_TRACE.json_schema(),
    }


def _check_version(place: str, data: bytes) -> None:
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
