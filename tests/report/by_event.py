"""A game as scripts of the trace browser have it: made from the trace itself, not from its file."""

from dataclasses import fields, is_dataclass
from typing import Any

from calbench.report.games.files import team_kind
from calbench.traces.events import Event
from calbench.traces.models import Trace


def game_data(trace: Trace, experiment: str) -> dict[str, Any]:
    events = [event_data(event) for event in trace.events]
    return {
        "experiment": experiment,
        "team": trace.config.team.team_id,
        "scenario_id": trace.scenario.scenario_id,
        "game_id": trace.game_id,
        "kind": team_kind(trace.config.team.seats),
        "channels": list(trace.config.channels),
        "limits": trace.config.limits.model_dump(mode="json"),
        "has_prompts": any("prompt" in event or "system_prompt" in event for event in events),
        "events": events,
    }


def event_data(event: Event) -> dict[str, Any]:
    """Return an event without the fields that are absent."""
    return {
        field.name: _present(field.name, value)
        for field in fields(event)
        if (value := getattr(event, field.name)) is not None and value is not False
    }


def _present(name: str, value: Any) -> Any:
    plain = _plain(value)
    if name != "content":
        return plain
    return {key: each for key, each in plain.items() if each is not None and each is not False}


def _plain(value: Any) -> Any:
    """Return a value of an event as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return str(value) if isinstance(value, str) else value
