"""One round of a real game as a picture: calendars, what was said, and where they met.

The picture is a function of the trace; ``templates/picture.jinja`` draws it in classes, so the
page's colours paint it in light and dark.
"""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calbench.domain.actions import Reschedule
from calbench.domain.ids import ItemId
from calbench.domain.messages import Text
from calbench.files import printable, shorten
from calbench.report.site import Site
from calbench.scenarios.models import ErrandEntry
from calbench.traces.events import (
    AgentRegistered,
    BatchApplied,
    MessageSent,
    Resolution,
    RoundStart,
)
from calbench.traces.models import Trace

WIDTH = 480
LABEL = 64
ROW = 26
TOP = 34
LINE = 16
MOST_AGENTS = 8
MOST_SLOTS = 24
MOST_MESSAGES = 4
LINE_CHARACTERS = 62
MOST_LINES = 2
"""Sizes of the picture in units, and how much fits into it [C]."""

LONGEST_SPOKEN = 300
"""Characters of a message in the description [C]."""


@dataclass(frozen=True)
class Round:
    """What the picture shows of a game.

    Attributes:
        event: index of the round's first event, where the link leads.
        calendars: of every agent, as the round begins.
        slot: where the meeting was put; ``None`` if it failed.
        moves: by agent, slots of items moved to make room.
        paid: by agent, cost of its batch.
        said: sender, recipients and text.
    """

    event: int
    meeting_id: int
    participants: tuple[int, ...]
    calendars: Mapping[int, Sequence[ItemId | None]]
    slot: int | None
    moves: Sequence[tuple[int, int, int]]
    paid: Mapping[int, int]
    said: Sequence[tuple[int, tuple[int, ...], str]]


def first_round(site: Site) -> dict[str, Any] | None:
    """Return what the picture of the first game that fits needs; speakers' games come first."""
    for results in sorted(site.played, key=lambda each: each.role.page != "language"):
        for team in results.teams:
            trace = next(results.traces_of(team, results.shown), None)
            if trace is not None and fits(trace):
                return drawn(trace, results.name)
    return None


def fits(trace: Trace) -> bool:
    """Return whether a game is small enough for the picture, and has a round."""
    scenario = trace.scenario
    is_small = scenario.num_agents <= MOST_AGENTS and scenario.num_slots <= MOST_SLOTS
    return is_small and any(isinstance(event, RoundStart) for event in trace.events)


def drawn(trace: Trace, experiment: str) -> dict[str, Any]:
    """Return what the picture of a game needs: texts, and where everything is."""
    shown = best_round(trace)
    team, scenario = trace.config.team.team_id, trace.scenario.scenario_id
    said = [shown.said[place] for place in _chosen(shown.said)]
    below = TOP + trace.scenario.num_agents * ROW + 22
    talk, height = _talk(said, below)
    paid = ", ".join(f"agent {agent} pays {cost}" for agent, cost in sorted(shown.paid.items()))
    where = "no slot" if shown.slot is None else f"slot {shown.slot}"
    return {
        "address": f"traces.html#{experiment}/{team}/{scenario}/{shown.event}",
        "team": team,
        "scenario": scenario,
        "width": WIDTH,
        "label": LABEL,
        "row": ROW,
        "line": LINE,
        "title": f"Agents {_names(shown.participants)} agree on a meeting by talking",
        "spoken": [
            f"Agent {sender} to {_names(to)}: {shorten(text, LONGEST_SPOKEN)}"
            for sender, to, text in said
        ],
        "end": f"Meeting {shown.meeting_id} is in {where}" + (f": {paid}." if paid else "."),
        **_grid(trace, shown),
        "talk_top": below,
        "talk": talk,
        "height": height,
    }


def best_round(trace: Trace) -> Round:
    """Return the first round that ended well and cost something, else the first one."""
    rounds = _rounds(trace)
    return next((r for r in rounds if r.slot is not None and any(r.paid.values())), rounds[0])


def _rounds(trace: Trace) -> list[Round]:
    calendars: dict[int, Sequence[ItemId | None]] = {}
    found: list[dict[str, Any]] = []
    for index, event in enumerate(trace.events):
        if isinstance(event, AgentRegistered):
            calendars[event.agent_id] = event.calendar
        elif isinstance(event, RoundStart):
            found.append(
                {
                    "event": index,
                    "meeting_id": event.meeting_id,
                    "participants": event.participants,
                    "calendars": dict(calendars),
                    "slot": None,
                    "moves": [],
                    "paid": {},
                    "said": [],
                }
            )
        elif isinstance(event, MessageSent) and found:
            _hear(found[-1]["said"], event)
        elif isinstance(event, BatchApplied) and found:
            calendars[event.agent_id] = event.calendar
            _apply(found[-1], event)
        elif isinstance(event, Resolution) and found and event.coordinated:
            found[-1]["slot"] = next(iter(event.slot_by_agent.values()), None)
    return [Round(**each) for each in found]


def _apply(found: dict[str, Any], event: BatchApplied) -> None:
    paid = found["paid"]
    paid[event.agent_id] = paid.get(event.agent_id, 0) + event.cost
    found["moves"] += [
        (event.agent_id, action.from_slot, action.to_slot)
        for action in event.actions
        if isinstance(action, Reschedule)
    ]


def _hear(said: list[tuple[int, tuple[int, ...], str]], event: MessageSent) -> None:
    """Note a message; the same words to another recipient are not repeated."""
    text = words(event.content)
    if said and said[-1][0] == event.from_agent and said[-1][2] == text:
        said[-1] = (event.from_agent, (*said[-1][1], *event.to_agents), text)
    else:
        said.append((event.from_agent, event.to_agents, text))


def words(content: Any) -> str:
    """Return a message in words; of a typed one its kind, slot and costs."""
    if isinstance(content, Text):
        return printable(content.text)
    parts = [str(content.kind).replace("_", " ")]
    costs = getattr(content, "costs", None)
    if costs is not None:
        parts.append(" ".join("x" if cost is None else str(cost) for cost in costs))
    slot = getattr(content, "slot", None)
    if slot is not None:
        parts.append(f"slot {slot}")
    return printable(": ".join(parts))


def _chosen(said: Sequence[tuple[int, tuple[int, ...], str]]) -> list[int]:
    """Return which messages to show: the first of every speaker, then what came last."""
    firsts = [
        place
        for place, (sender, _, _) in enumerate(said)
        if sender not in {other for other, _, _ in said[:place]}
    ]
    again = [
        place for place in range(len(said)) if place not in firsts and said[place][0] == said[0][0]
    ]
    return sorted((firsts + again[:1])[:MOST_MESSAGES])


def _names(agents: Sequence[int]) -> str:
    return ", ".join(str(agent) for agent in agents) or "all"


def _grid(trace: Trace, shown: Round) -> dict[str, Any]:
    """Return where the calendars are: a row for each agent, with the agreed slot and the moves."""
    scenario = trace.scenario
    errands = {
        entry.errand_id: entry
        for calendar in scenario.calendars
        for entry in calendar
        if isinstance(entry, ErrandEntry)
    }
    width = (WIDTH - LABEL) / scenario.num_slots
    rows = [
        {
            "agent": agent,
            "y": TOP + agent * ROW,
            "is_in": agent in shown.participants,
            "cells": [
                (
                    LABEL + slot * width,
                    *_look(item, errands.get(item) if item is not None else None),
                )
                for slot, item in enumerate(shown.calendars.get(agent, ()))
            ],
        }
        for agent in range(scenario.num_agents)
    ]
    agreed = shown.participants if shown.slot is not None else ()
    return {
        "slot_width": width,
        "slots": [LABEL + (slot + 0.5) * width for slot in range(scenario.num_slots)],
        "slots_y": TOP - 8,
        "rows": rows,
        "frames": [(LABEL + (shown.slot or 0) * width, TOP + agent * ROW) for agent in agreed],
        "moves": [_move(*move, width) for move in shown.moves],
    }


def _look(item: ItemId | None, errand: ErrandEntry | None) -> tuple[str, str]:
    """Return how an item looks, and the mark that says the same without colour."""
    if item is None:
        return "free", ""
    if errand is None:
        return "meeting", "M"
    if errand.blocked:
        return "blocked", "\N{MULTIPLICATION SIGN}"
    return f"cost{min(max(errand.cost, 1), 3)}", str(errand.cost)


def _move(agent: int, start: int, end: int, width: float) -> dict[str, float]:
    """Return the ends of the arc of a move, and to which side its tip points."""
    first, last = (LABEL + (slot + 0.5) * width for slot in (start, end))
    tip = 4 if last > first else -4
    return {"y": TOP + agent * ROW + 3, "first": first, "last": last, "tip": tip}


def _talk(
    said: Sequence[tuple[int, tuple[int, ...], str]], top: int
) -> tuple[list[dict[str, Any]], int]:
    """Return where the chosen messages are, and where they end."""
    found = []
    y = top + 6
    for sender, to, text in said:
        lines = textwrap.wrap(
            text, LINE_CHARACTERS, max_lines=MOST_LINES, placeholder=" …", break_long_words=True
        )
        height = LINE * max(len(lines), 1) + 10
        found.append({"y": y, "height": height, "who": f"{sender} → {_names(to)}", "lines": lines})
        y += height
    return found, y
