"""A game as the trace browser has it, event by event: a plain writer beside the packed one."""

from dataclasses import fields, is_dataclass
from typing import Any

from calbench.report.games.game import LEFT_OUT, packed_game
from calbench.traces.events import Event, MessageSent, Reflection
from calbench.traces.models import Trace


def game_data(trace: Trace, experiment: str) -> dict[str, Any]:
    events = [event_data(event, trace.scenario.num_slots) for event in trace.events]
    return {**packed_game(trace, experiment), "events": events}


def event_data(event: Event, num_slots: int) -> dict[str, Any]:
    """Return an event without what the browser can derive; what is empty is left out.

    In a reflection 0 means a target of whom no belief moved.
    """
    left_out = LEFT_OUT.get(event.type, frozenset())
    data: dict[str, Any] = {"type": event.type}
    for field in fields(event):
        if field.name not in left_out and field.name != "type":
            value = getattr(event, field.name)
            if value is not None and value is not False:
                data[field.name] = _plain(value)
    if isinstance(event, Reflection):
        data["delta_by_target"] = {
            target: list(delta) if any(delta) else 0
            for target, delta in event.delta_by_target.items()
        }
    if isinstance(event, MessageSent):
        content = data["content"]
        if content.get("slots") == list(range(num_slots)):
            del content["slots"]
    return data


def _plain(value: Any) -> Any:
    """Return a value of an event as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return str(value) if isinstance(value, str) else value
