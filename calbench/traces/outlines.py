"""What a trace says it is: looked at without its events being checked one by one.

Enough to know whether a game is finished. What is measured or verified is read strictly.
"""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from calbench.errors import FileError
from calbench.files import printable, shorten, utf8_text
from calbench.traces.models import TRACE_SCHEMA_VERSION, Trace


def trace_name(team_id: str, scenario_id: str, replicate: int) -> str:
    """Return the file of a game, relative to the folder of traces."""
    again = f".r{replicate}" if replicate else ""
    return f"{team_id}/{scenario_id}{again}.json"


# e.g. '{"schema_version":1,"rules_version":1,'
# '"game_id":"515f136a-19a8-5138-b7e2-1cbd294fcf20","scenario":{'; but not '{"scenario":{'
_BEGINNING = re.compile(
    rb'\{"schema_version":%d,"rules_version":[0-9]+,"game_id":"[0-9a-f-]{36}",(?="scenario":\{)'
    % TRACE_SCHEMA_VERSION
)
_BEFORE_EVENTS = frozenset({"schema_version", "rules_version", "game_id", "scenario", "config"})
EVENTS_KEY, _END = b',"events":[', b',"started_at":null,"ended_at":null}\n'
"""How every trace that we write begins, goes on behind its configuration, and ends."""

_HALT = b'"type":"game_halted"'
"""Event of a game that ended before its last round; inside of a text its quotes are escaped."""


class Outline(NamedTuple):
    """What a trace says of itself.

    Attributes:
        name: path of its file below the folder of traces.
        is_halted: whether it ended before its last round.
    """

    name: str
    game_id: str
    is_halted: bool


def outline(path: Path, data: bytes) -> Outline:
    """Return what the bytes of a trace say it is.

    What begins and ends as we write traces is whole, for they are written whole: parsing ten
    thousand takes seconds. Of any other document the fields are looked at.

    Args:
        path: of the trace, for messages.
        data: the whole document.

    Raises:
        FileError: it is no complete document, or none of a trace of this version.
    """
    document, behind = before_events(path, data)
    config, scenario = document["config"], document["scenario"]
    try:
        name = trace_name(
            _text(config["team"]["team_id"]),
            _text(scenario["scenario_id"]),
            int(config.get("replicate", 0)),
        )
        return Outline(name, _text(document["game_id"]), data.find(_HALT, behind) >= 0)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        place = printable(str(path))
        raise FileError(f"{place}: not a trace: its fields are not those of a game") from error


def scenario_place(data: bytes) -> int:
    """Return the byte at which the key of a trace's scenario begins; 0 if it is not as we write it.

    Only numbers and an id are before it, so it is the key of the document, not one within it.
    """
    begins = _BEGINNING.match(data)
    return 0 if begins is None else begins.end()


def before_events(path: Path, data: bytes) -> tuple[dict[str, Any], int]:
    """Return what a trace holds before its events, and the byte at which these begin.

    Raises:
        FileError: it is no complete document, or none of a trace of this version.
    """
    if scenario_place(data) and data.endswith(_END):
        beginning, found, _ = data.partition(EVENTS_KEY)
        with suppress(orjson.JSONDecodeError):  # the key was one of an inner object
            document = orjson.loads(beginning + b"}")
            if found and document.keys() == _BEFORE_EVENTS:
                return document, len(beginning)
    place = printable(str(path))
    document = checked_version(place, data)
    for key in Trace.model_fields:
        if key not in document:
            raise FileError(f"{place}: not a trace: {key}: is missing")
    if (behind := data.rfind(EVENTS_KEY)) < 0:
        raise FileError(f"{place}: not as calbench writes it: its events do not follow the rest")
    return document, behind


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def checked_version(place: str, data: bytes) -> dict[str, Any]:
    """Return the document of a trace of this version.

    Raises:
        FileError: it is no complete JSON document, or has another version.
    """
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        utf8_text(place, data)  # orjson says of other bytes that surrogates are not allowed
        raise FileError(f"{place}: not a complete JSON document ({error})") from error
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
