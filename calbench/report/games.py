"""Page data of the trace browser: one file a game, one a scenario, and an index of all.

Events keep their place in the trace's list, so an address on the site and a message of
``calbench.verify`` mean the same event. What the browser can derive is left out: calendars
at each question (they follow from the batches), actions of a turn (they reappear as
messages, refusals and batches), prompts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from calbench.metrics.outcomes import LOST
from calbench.scenarios.models import Scenario
from calbench.traces.events import (
    BatchApplied,
    Event,
    MessageSent,
    Resolution,
)
from calbench.traces.models import Seat, Trace

LEFT_OUT: Mapping[str, frozenset[str]] = {
    "agent_registered": frozenset({"system_prompt", "calendar"}),
    "turn_start": frozenset({"round", "prompt"}),
    "turn_end": frozenset({"round", "turn", "actions", "usage", "reply_keys"}),
    "decide_start": frozenset({"round", "calendar", "prompt"}),
    "decide_end": frozenset({"round", "phase", "attempt", "actions", "usage", "reply_keys"}),
    "reflection": frozenset({"prompt", "usage", "reply_keys"}),
    **dict.fromkeys(
        (
            "dm_sent",
            "participant_groupchat_sent",
            "all_agent_groupchat_sent",
            "sealed_sent",
            "announcement",
            "invalid_tool_call",
            "batch_rejected",
            "batch_applied",
            "consistency_violation",
            "resolution",
        ),
        frozenset({"round", "chars"}),
    ),
}
"""Fields that the browser does without, by type of event."""

KIND_NAMES: Mapping[str, str] = {
    "protocol": "protocol",
    "degenerate": "degenerate baseline",
    "scripted": "scripted agents",
    "model": "language models",
}
"""Kinds of players as pages call them."""


def team_kind(seats: Sequence[Seat]) -> str:
    """Return the kind of a team in words; seats of several kinds are named together."""
    return " and ".join(dict.fromkeys(KIND_NAMES[seat.kind] for seat in seats))


def scenario_data(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario as the browser needs it."""
    data = scenario.model_dump(mode="json", exclude={"params", "witness", "schema_version"})
    for meeting in data["meetings"]:
        del meeting["duration"]
    return data


def game_data(trace: Trace, experiment: str) -> dict[str, Any]:
    """Return a game as the browser needs it; its scenario stands in a file of its own."""
    return {
        "experiment": experiment,
        "team": trace.config.team.team_id,
        "scenario_id": trace.scenario.scenario_id,
        "scenario_key": f"{experiment}/{trace.scenario.scenario_id}",
        "game_id": trace.game_id,
        "rules_version": trace.rules_version,
        "kind": team_kind(trace.config.team.seats),
        "channels": list(trace.config.channels),
        "limits": trace.config.limits.model_dump(mode="json", exclude_none=True),
        "events": [event_data(event, trace.scenario.num_slots) for event in trace.events],
    }


def event_data(event: Event, num_slots: int) -> dict[str, Any]:
    """Return an event without what the browser can derive; what is empty is left out."""
    left_out = LEFT_OUT.get(event.type, frozenset())
    data: dict[str, Any] = {"type": event.type}
    for field in fields(event):
        if field.name not in left_out and field.name != "type":
            value = getattr(event, field.name)
            if value is not None and value is not False:
                data[field.name] = _plain(value)
    if isinstance(event, MessageSent):
        content = data["content"]
        if content.get("slots") == list(range(num_slots)):
            del content["slots"]
    return data


def game_entry(trace: Trace) -> list[int]:
    """Return what the index says of a game: meetings scheduled, cost paid, messages, lost."""
    resolutions = [event for event in trace.events if isinstance(event, Resolution)]
    return [
        sum(event.coordinated for event in resolutions),
        sum(event.cost for event in trace.events if isinstance(event, BatchApplied)),
        sum(isinstance(event, MessageSent) for event in trace.events),
        int(any(event.outcome in LOST for event in resolutions)),
    ]


def scenario_entry(scenario: Scenario) -> dict[str, Any]:
    """Return what the index says of a scenario."""
    best = None if scenario.oracle is None else scenario.oracle.best
    return {
        "scenario_id": scenario.scenario_id,
        "setting": scenario.setting,
        "meetings": len(scenario.meetings),
        "tertile": None if scenario.difficulty is None else scenario.difficulty.tertile,
        "optimum": None if best is None else best.cost,
    }


def _plain(value: Any) -> Any:
    """Return a value of an event as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return str(value) if isinstance(value, str) else value
