"""The only module that turns games into documents and back: one JSON document per game."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError, create_model

from calbench.domain.canonical import first_difference
from calbench.errors import FileError
from calbench.files import first_problem, printable, write_atomically
from calbench.scenarios.models import Scenario
from calbench.traces.catalog import Catalog
from calbench.traces.models import FinalState, GameConfig, Trace
from calbench.traces.outlines import EVENTS_KEY, checked_version, scenario_place

_TRACE: TypeAdapter[Trace] = TypeAdapter(Trace)

_OTHERS: TypeAdapter[BaseModel] = TypeAdapter(
    create_model(
        "Others",
        __config__=Trace.model_config,
        **{  # type: ignore[call-overload]
            name: (field.annotation, field)
            for name, field in Trace.model_fields.items()
            if name not in {"scenario", "config"}
        },
    )
)
"""A trace without what many games share."""

_SCENARIO_KEY, _CONFIG_KEY = b'"scenario":', b',"config":'
"""Keys of the scenario and of what follows it in a trace's file."""

MOST_CONFIGS = 256
"""Configurations that are kept as they were read [C]: a few for each team of a run."""

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
    scenario, config = trace.scenario.written, trace.config.written
    before = (head, b",", _SCENARIO_KEY, scenario, _CONFIG_KEY, config, b",")
    return b"".join((*before, played[1:-1], key, tail, b"\n"))


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
    return TraceReader().read(path)


class TraceReader:
    """Reads the traces of several games on one scenario, and parses that scenario only once.

    Every trace holds its whole scenario and configuration. If the scenario has the same bytes as
    that of the trace before, or the configuration as that of any trace, they are not parsed and
    checked again, which is half of the work for games of protocols.
    """

    def __init__(self, scenario: Scenario | None = None, catalog: Catalog | None = None) -> None:
        """Begin with a scenario that the first trace probably has, or without one.

        Args:
            scenario: the first trace's, perhaps.
            catalog: finds the traces; shared by readers, it looks at shards once.
        """
        self._last = scenario
        self._catalog = catalog or Catalog()

    def read(self, path: Path) -> Trace:
        """Read one trace; equal scenarios are one object.

        Raises:
            FileError: naming the file and the field that does not fit, or where its bytes are not
                those that we write of the same game.
        """
        data = self._catalog.read(path)
        trace = parsed_trace(path, data, self._last)
        self._last = trace.scenario
        return trace


def parsed_trace(path: Path, data: bytes, known: Scenario | None = None) -> Trace:
    """Return the game that a document holds.

    Args:
        path: of the trace, for messages.
        data: the whole document.
        known: a scenario that it probably holds; if these are its bytes, it is not parsed again.

    Raises:
        FileError: naming the field that does not fit, or where the bytes are not those that we
            write of the same game.
    """
    trace = _in_parts(data, known)
    try:
        trace = _TRACE.validate_json(data) if trace is None else trace
    except ValidationError as error:
        place = printable(str(path))
        checked_version(place, data)  # says if it is no JSON document or has another version
        raise FileError(f"{place}: not a trace: {first_problem(error)}") from error
    # Other bytes may mean the same to us and something else to others: a key that is there twice.
    if data != (written := trace_bytes(trace)):
        differs = first_difference(data, written)
        raise FileError(f"{printable(str(path))}: not as calbench writes it: {differs}")
    return trace


def _in_parts(data: bytes, known: Scenario | None) -> Trace | None:
    """Return the game of a document that is laid out as ours and fits, with what others share."""
    place = scenario_place(data)
    behind = data.find(_CONFIG_KEY, place)
    events = data.find(EVENTS_KEY, behind)
    if not 0 < place < behind < events:
        return None
    written = data[place + len(_SCENARIO_KEY) : behind]
    try:  # a key that was one of an inner object leaves parts that are no JSON
        scenario = (
            known
            if known is not None and known.written == written
            else Scenario.model_validate_json(written)
        )
        config = _config(data[behind + len(_CONFIG_KEY) : events])
        others = _OTHERS.validate_json(data[:place] + data[events + 1 :])
    except ValidationError:  # reading the whole document names the problem
        return None
    return Trace.model_construct(scenario=scenario, config=config, **dict(others))


@lru_cache(maxsize=MOST_CONFIGS)
def _config(data: bytes) -> GameConfig:
    """Return a configuration, which all traces with it share: nobody may change its settings."""
    return GameConfig.model_validate_json(data)


def trace_schema() -> dict[str, Any]:
    """Return the published JSON Schema of a trace."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_TRACE.json_schema(),
    }
