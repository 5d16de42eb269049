"""The only module that turns games into documents and back: one JSON document per game."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError, create_model

from calbench.errors import FileError
from calbench.files import first_problem, printable, write_atomically
from calbench.scenarios.models import Scenario
from calbench.traces.catalog import raw_trace
from calbench.traces.models import FinalState, Trace
from calbench.traces.outlines import checked_version

_TRACE: TypeAdapter[Trace] = TypeAdapter(Trace)

_OTHERS: TypeAdapter[BaseModel] = TypeAdapter(
    create_model(
        "Others",
        __config__=Trace.model_config,
        **{  # type: ignore[call-overload]
            name: (field.annotation, field)
            for name, field in Trace.model_fields.items()
            if name != "scenario"
        },
    )
)
"""A trace without its scenario."""

_SCENARIO_KEY, _CONFIG_KEY = b'"scenario":', b'"config":'
"""Keys of the scenario and of what follows it in a trace's file."""

_METRICS_KEY = b',"metrics":'
"""Key of what follows the final state."""

_AROUND = Trace.model_fields.keys() - {"scenario", "config", "events", "final_state"}
"""Fields of a trace that are small."""


def trace_bytes(trace: Trace) -> bytes:
    """Return the exact bytes of a trace's file."""
    final = trace.final_state
    try:
        # The same bytes as pydantic's, in a fifth of the time; this is most of a file.
        played = orjson.dumps(
            {
                "events": trace.events,
                "final_state": {name: getattr(final, name) for name in FinalState.model_fields},
            }
        )
    except orjson.JSONEncodeError:  # a number of more than 64 bits
        return _TRACE.dump_json(trace) + b"\n"
    head, key, tail = _TRACE.dump_json(trace, include=_AROUND).partition(_METRICS_KEY)
    scenario, config = _SCENARIO_BYTES.of(trace.scenario), trace.config.written
    return b"".join((head, b",", scenario, config, b",", played[1:-1], key, tail, b"\n"))


def write_trace(path: Path, trace: Trace) -> int:
    """Write a trace completely or not at all; return its size in bytes."""
    data = trace_bytes(trace)
    write_atomically(path, data)
    return len(data)


def read_trace(path: Path) -> Trace:
    """Read one trace, from its file or from the shard that it is in.

    Raises:
        FileError: naming the file and the field that does not fit.
    """
    return _parsed(path, raw_trace(path))


class TraceReader:
    """Reads the traces of several games on one scenario, and parses that scenario only once.

    Every trace holds its whole scenario. If it has the same bytes as the scenario of the trace
    before, it is not parsed and checked again, which is a third of the work for games of
    protocols.
    """

    def __init__(self, scenario: Scenario | None = None) -> None:
        """Begin with a scenario that the first trace probably has, or without one."""
        self._last = scenario

    def read(self, path: Path) -> Trace:
        """Read one trace, as :func:`read_trace` does; equal scenarios are one object.

        Raises:
            FileError: naming the file and the field that does not fit.
        """
        data = raw_trace(path)
        if self._last is not None and self._last.scenario_id.encode() in data:
            head, found, rest = data.partition(_SCENARIO_BYTES.of(self._last))
            # One brace: only the trace's own fields precede the scenario.
            if found and head.count(b"{") == 1:
                with suppress(ValidationError):  # reading the whole document names the problem
                    others = _OTHERS.validate_json(head + _CONFIG_KEY + rest)
                    return Trace.model_construct(scenario=self._last, **dict(others))
        trace = _parsed(path, data)
        self._last = trace.scenario
        return trace


class _ScenarioBytes:
    """Scenarios as they are in the files that we write, with the keys around them.

    Games on one scenario come one after the other, so the last one is kept.
    """

    def __init__(self) -> None:
        self._last: tuple[Scenario, bytes] | None = None

    def of(self, scenario: Scenario) -> bytes:
        """Return the bytes of a scenario; equal ones of another object are made again."""
        last = self._last
        if last is None or last[0] is not scenario:
            data = _SCENARIO_KEY + scenario.written + b"," + _CONFIG_KEY
            last = self._last = scenario, data
        return last[1]


_SCENARIO_BYTES = _ScenarioBytes()


def _parsed(path: Path, data: bytes) -> Trace:
    try:
        return _TRACE.validate_json(data)
    except ValidationError as error:
        place = printable(str(path))
        checked_version(place, data)  # says if it is no JSON document or has another version
        raise FileError(f"{place}: not a trace: {first_problem(error)}") from error


def trace_schema() -> dict[str, Any]:
    """Return the published JSON Schema of a trace."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_TRACE.json_schema(),
    }
