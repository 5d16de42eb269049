"""Games event by event, as frames: every message, and every event.

For reading, not for tables: a row holds the whole event as JSON. Traces are read strictly and
nothing is measured.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pandas as pd

from calbench.errors import FileError
from calbench.facts.columns import (
    EVENT,
    GAME_ID,
    ROUND,
    SCENARIO,
    SETTING,
    TEAM,
    Column,
    count,
    text,
)
from calbench.facts.frames import cast, empty
from calbench.facts.messages import CHANNEL, RECIPIENTS, SENDER, SOURCE, TURN
from calbench.files import printable
from calbench.metrics.privacy.loss import CHANNEL_BY_EVENT
from calbench.scenarios.bounds import GREATEST_NUMBER
from calbench.traces.models import Trace
from calbench.traces.storage import TraceReader

GAME_COLUMNS = (SETTING, SCENARIO, TEAM, GAME_ID)

EVENTS: tuple[Column, ...] = (
    *GAME_COLUMNS,
    EVENT,
    text("type", "kind of event (paper, Table 5)", "P"),
    ROUND,
    count("agent_id", "", "agent that the event is about, from 0; empty: none", ""),
    text("data", "the whole event as JSON", "P"),
)

SAID: tuple[Column, ...] = (
    *GAME_COLUMNS,
    EVENT,
    ROUND,
    TURN,
    SENDER,
    RECIPIENTS,
    CHANNEL,
    SOURCE,
    text("text", "its words; of a typed message its content as JSON", "P"),
)

CHANNELS = {event.__dataclass_fields__["type"].default: c for event, c in CHANNEL_BY_EVENT.items()}
"""Channel of a message by the type of its event."""


Row = dict[str, Any]


def frame_of(paths: Iterable[Path], columns: tuple[Column, ...]) -> pd.DataFrame:
    """Return every event or message of some traces, in the order of the files.

    Args:
        paths: of the traces.
        columns: ``EVENTS`` or ``SAID``.

    Raises:
        FileError: naming the file and what does not fit.
    """
    reader, row_of = TraceReader(), _event if columns is EVENTS else _message
    found = [row for path in paths for row in _fitting(path, _rows(reader.read(path), row_of))]
    return cast(pd.DataFrame(found), columns) if found else empty(columns)


def _fitting(path: Path, rows: Iterator[Row]) -> Iterator[Row]:
    """Yield rows whose numbers fit into a column."""
    problem = f"{printable(str(path))}: holds a number of more than 64 bits"
    try:
        for row in rows:
            if any(type(value) is int and abs(value) > GREATEST_NUMBER for value in row.values()):
                raise FileError(problem)
            yield row
    except TypeError as error:  # orjson's, of such a number
        raise FileError(problem) from error


def _rows(trace: Trace, row_of: Callable[[Row], Row | None]) -> Iterator[Row]:
    game = {
        "setting": trace.scenario.setting,
        "scenario_id": trace.scenario.scenario_id,
        "team": trace.config.team.team_id,
        "game_id": trace.game_id,
    }
    for index, event in enumerate(trace.model_dump(mode="json", include={"events"})["events"]):
        if (row := row_of(event)) is not None:
            yield {**game, "event_index": index, **row}


def _event(event: Row) -> Row:
    return {
        "type": event["type"],
        "round": event.get("round"),
        "agent_id": event.get("agent_id", event.get("from_agent")),
        "data": orjson.dumps(event).decode(),
    }


def _message(event: Row) -> Row | None:
    if event["type"] not in CHANNELS:
        return None
    content = event["content"]
    words = content.get("text") if content["kind"] == "text" else None
    return {
        "round": event["round"],
        "turn": event["turn"],
        "sender": event.get("from_agent"),
        "recipients": " ".join(map(str, event["to_agents"])) or None,
        "channel": CHANNELS[event["type"]],
        "source": content["kind"],
        "text": orjson.dumps(content).decode() if words is None else words,
    }
