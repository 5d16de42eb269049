"""Page data of the trace browser: one file a game, one a scenario, and an index of all.

Events keep their place in the trace's list, so an address on the site and a message of
``calbench verify`` mean the same event. What the browser can derive is left out: calendars
at each question (they follow from the batches), actions of a turn (they reappear as
messages, refusals and batches). Prompts, which are most of a language game, stand in a file of
their own that is read when somebody asks for one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from calbench.analysis.summary import KIND_WORDS, in_words
from calbench.report.games.packing import packed_events
from calbench.scenarios.models import Scenario
from calbench.traces.events import (
    AgentRegistered,
    DecideStart,
    Event,
    Reflection,
    TurnStart,
)
from calbench.traces.models import Seat, Trace

ASKED = (TurnStart, DecideStart, Reflection)
"""Events that hold a question to an agent."""

LEFT_OUT: Mapping[str, frozenset[str]] = {
    "agent_registered": frozenset({"system_prompt", "calendar"}),
    "turn_start": frozenset({"round", "phase", "prompt"}),
    "turn_end": frozenset({"round", "turn", "actions", "reply_keys"}),
    "decide_start": frozenset({"round", "calendar", "prompt"}),
    "decide_end": frozenset({"round", "phase", "attempt", "actions", "reply_keys"}),
    "reflection": frozenset({"round", "prompt", "reply_keys"}),
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
            "reply_note",
            "game_halted",
        ),
        frozenset({"round", "chars"}),
    ),
}
"""Fields that the browser does without, by type of event."""

LINE = re.compile(r"[^\n]*\n+|[^\n]+")
"""A line of a prompt with all line ends behind it; nothing of a prompt is lost."""


def team_kind(seats: Sequence[Seat]) -> str:
    """Return the kind of a team in words; seats of several kinds are named together."""
    return kind_words(dict.fromkeys(seat.kind for seat in seats))


def kind_words(kinds: Iterable[str]) -> str:
    """Return kinds of players in words."""
    return in_words(kinds, KIND_WORDS)


def scenario_data(scenario: Scenario, teams: Sequence[str] = ()) -> dict[str, Any]:
    """Return a scenario as the browser needs it, with the teams that can be set side by side."""
    data = scenario.model_dump(mode="json", exclude={"params", "witness", "schema_version"})
    for meeting in data["meetings"]:
        del meeting["duration"]
    return {**data, "teams": list(teams)} if teams else data


def packed_game(trace: Trace, experiment: str) -> dict[str, Any]:
    """Return a game as its file has it, with its events as columns.

    Its scenario is in a file of its own.
    """
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
        **({"has_prompts": True} if _has_prompts(trace) else {}),
        "events": packed_events(trace.events, trace.scenario.num_slots, LEFT_OUT),
    }


def prompt_data(trace: Trace) -> dict[str, Any] | None:
    """Return the exact prompts of a game's language agents; ``None`` if there are none.

    Prompts repeat themselves, so each line stands there once, with the line ends behind it.
    ``prompts`` maps the index of an event to the lines of its prompt, as first line and number of
    lines of each run: of a registration, the system prompt; of a question, the message that was
    sent.
    """
    numbers: dict[str, int] = {}
    prompts = {
        str(index): _runs(numbers.setdefault(line, len(numbers)) for line in LINE.findall(prompt))
        for index, event in enumerate(trace.events)
        if (prompt := _prompt(event)) is not None
    }
    return {"lines": list(numbers), "prompts": prompts} if prompts else None


def _runs(numbers: Iterable[int]) -> list[int]:
    """Return numbers as start and length of each run of consecutive ones, in one flat list."""
    runs: list[int] = []
    for number in numbers:
        if runs and number == runs[-2] + runs[-1]:
            runs[-1] += 1
        else:
            runs += [number, 1]
    return runs


def _has_prompts(trace: Trace) -> bool:
    is_asked = trace.config.team.uses_language
    return is_asked and any(_prompt(event) is not None for event in trace.events)


def _prompt(event: Event) -> str | None:
    if isinstance(event, AgentRegistered):
        return event.system_prompt
    return event.prompt if isinstance(event, ASKED) else None
