"""What a trace says it is: looked at without its events being checked one by one.

Enough to know whether a game is finished. What is measured or verified is read strictly.
"""

import re
from dataclasses import dataclass
from typing import Any

import orjson

from calbench.errors import FileError
from calbench.files import shorten
from calbench.traces.models import TRACE_SCHEMA_VERSION, Trace


def trace_name(team_id: str, scenario_id: str, replicate: int) -> str:
    """Return the file of a game, relative to the folder of traces."""
    again = f".r{replicate}" if replicate else ""
    return f"{team_id}/{scenario_id}{again}.json"


_BEGINNING = re.compile(
    rb'\{"schema_version":%d,"rules_version":[0-9]+,"game_id":"([0-9a-f-]{36})","scenario":\{'
    % TRACE_SCHEMA_VERSION
)
_END = b'"started_at":null,"ended_at":null}\n'
"""How every trace begins and ends that we write."""

_HALT = b'"type":"game_halted"'
"""Event of a game that ended before its last round; inside of a text its quotes are escaped."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What a trace says of itself.

    Attributes:
        is_halted: whether it ended before its last round.
    """

    game_id: str
    is_halted: bool


def outline(place: str, data: bytes) -> Outline:
    """Return what the bytes of a trace say it is.

    What begins and ends as we write traces is whole, for they are written whole: parsing ten
    thousand takes seconds. Of any other document the fields are looked at.

    Args:
        place: where it is, for messages.
        data: the whole document.

    Raises:
        FileError: it is no complete document, or none of a trace of this version.
    """
    game_id = written_id(data)
    if game_id is not None:
        return Outline(game_id, _HALT in data)
    return named_outline(place, data)[1]


def written_id(data: bytes) -> str | None:
    """Return the game id of a document that begins and ends as we write traces."""
    begins = _BEGINNING.match(data)
    return begins[1].decode() if begins is not None and data.endswith(_END) else None


def named_outline(place: str, data: bytes) -> tuple[str, Outline]:
    """Return the name of a trace's file by what it holds, and what it says it is.

    Raises:
        FileError: it is no complete document, or none of a trace of this version.
    """
    document = checked_version(place, data)
    for key in Trace.model_fields:
        if key not in document:
            raise FileError(f"{place}: not a trace: {key}: is missing")
    config, scenario = document["config"], document["scenario"]
    try:
        name = trace_name(
            _text(config["team"]["team_id"]),
            _text(scenario["scenario_id"]),
            int(config.get("replicate", 0)),
        )
        is_halted = any(event["type"] == "game_halted" for event in document["events"])
        return name, Outline(_text(document["game_id"]), is_halted)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FileError(f"{place}: not a trace: its fields are not those of a game") from error


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
