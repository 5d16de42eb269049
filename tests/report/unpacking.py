"""Page data read back in Python: a second reader beside ``site/assets/traces/pagedata.js``."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from calbench.report.games.packing import ALPHABET, MOVES, WHOLE


def page_data(pagedata: Path, key: str) -> Any:
    """Read a page-data file; events of a game come back as they are in the browser."""
    value = file_value(pagedata / f"{key}.js")
    if isinstance(value, dict) and isinstance(value.get("events"), dict):
        value["events"] = unpacked_events(value["events"])
    return value


def file_value(path: Path) -> Any:
    text = path.read_text(encoding="ascii")
    return json.loads(re.sub(r'^calbench\.\w+\("[^"]*",|\);\n$', "", text))


def unpacked(column: Any, count: int) -> list[Any]:
    if isinstance(column, list):
        return column
    if "rows" in column:
        rows = column["rows"]
        return [row and dict(zip(column["names"], row, strict=True)) for row in rows]
    if "all" in column:
        return [column["all"]] * count
    return [column["of"][ALPHABET.index(letter)] for letter in column["at"]]


def unpacked_events(packed: dict[str, Any]) -> list[dict[str, Any]]:
    order = packed["order"]
    numbers = [ALPHABET.index(each) for each in order] if isinstance(order, str) else order
    waiting = [
        iter(_group(group, numbers.count(place))) for place, group in enumerate(packed["groups"])
    ]
    return [next(waiting[number]) for number in numbers]


def _group(group: list[Any], count: int) -> list[dict[str, Any]]:
    type_, kind, columns = group
    values = {name: unpacked(column, count) for name, column in columns.items()}
    if "calendar" in values:
        values["calendar"] = list(_calendars(values["calendar"], values["agent_id"]))
    events = []
    for index in range(count):
        event: dict[str, Any] = {"type": type_, **({"content": {"kind": kind}} if kind else {})}
        for name, column in values.items():
            if column[index] is not None and column[index] is not False:
                inner = event["content"] if name.startswith("content.") else event
                inner[name.removeprefix("content.")] = column[index]
        if "delta_by_target" in event:
            event["delta_by_target"] = {
                target: [MOVES.index(letter) - 3 for letter in delta]
                if isinstance(delta, str)
                else delta
                for target, delta in event["delta_by_target"].items()
            }
        events.append(event)
    return events


def _calendars(changes: list[list[Any]], agents: list[int]) -> Iterator[list[Any]]:
    last: dict[int, list[Any]] = {}
    for change, agent in zip(changes, agents, strict=True):
        if change[:1] == [WHOLE]:
            calendar = change[1:]
        else:
            calendar = list(last[agent])
            for slot, item in zip(change[::2], change[1::2], strict=True):
                calendar[slot] = item
        last[agent] = calendar
        yield calendar
