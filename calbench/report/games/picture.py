"""One round of a real game as a picture: calendars, what was said, and where they met.

The picture is a function of the trace; ``templates/picture.jinja`` places and draws it in classes,
so the page's colours paint it in light and dark.
"""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from calbench.domain.actions import Reschedule
from calbench.domain.ids import ItemId
from calbench.files import shorten
from calbench.report.site import Site
from calbench.scenarios.models import ErrandEntry
from calbench.traces.events import (
    AgentRegistered,
    BatchApplied,
    MessageSent,
    Resolution,
    RoundStart,
    words,
)
from calbench.traces.models import Trace

MOST_AGENTS = 8
MOST_SLOTS = 24
MOST_MESSAGES = 4
LINE_CHARACTERS = 62
MOST_LINES = 2
"""How much fits into the picture [C]."""

LONGEST_SPOKEN = 160
"""Characters of a message in the description [C]."""

Said = tuple[int, tuple[int, ...], str]
"""Sender, recipients and text of a message."""


@dataclass
class Round:
    """What the picture shows of a game.

    Attributes:
        event: index of the round's first event, where the link leads.
        calendars: of every agent, as the round begins.
        slot: where the meeting was put; ``None`` if it failed.
        moves: agent, and slots from and to, of items moved to make room.
        paid: by agent, cost of its batch.
        said: the messages.
    """

    event: int
    meeting_id: int
    participants: tuple[int, ...]
    calendars: Mapping[int, Sequence[ItemId | None]]
    slot: int | None = None
    moves: list[tuple[int, int, int]] = field(default_factory=list)
    paid: dict[int, int] = field(default_factory=dict)
    said: list[Said] = field(default_factory=list)

    def hear(self, event: MessageSent) -> None:
        """Note a message; the same text to another recipient is not repeated."""
        text = words(event.content)
        if self.said and (self.said[-1][0], self.said[-1][2]) == (event.from_agent, text):
            self.said[-1] = (event.from_agent, (*self.said[-1][1], *event.to_agents), text)
        else:
            self.said.append((event.from_agent, event.to_agents, text))

    def apply(self, event: BatchApplied) -> None:
        """Note what a batch moved and cost."""
        self.paid[event.agent_id] = self.paid.get(event.agent_id, 0) + event.cost
        self.moves += [
            (event.agent_id, action.from_slot, action.to_slot)
            for action in event.actions
            if isinstance(action, Reschedule)
        ]


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
    """Return what the picture of a game needs: texts, and what is in every slot."""
    shown = best_round(trace)
    team, scenario = trace.config.team.team_id, trace.scenario
    said = _chosen(shown.said)
    paid = ", ".join(f"agent {agent} pays {cost}" for agent, cost in sorted(shown.paid.items()))
    where = "no slot" if shown.slot is None else f"slot {shown.slot}"
    errands = {
        entry.errand_id: entry
        for calendar in scenario.calendars
        for entry in calendar
        if isinstance(entry, ErrandEntry)
    }
    return {
        "address": f"traces.html#{experiment}/{team}/{scenario.scenario_id}/{shown.event}",
        "team": team,
        "scenario": scenario.scenario_id,
        "num_slots": scenario.num_slots,
        "title": f"Agents {_names(shown.participants)} agree on a meeting by talking",
        "spoken": [
            f"Agent {sender} to {_names(to)}: {shorten(text, LONGEST_SPOKEN)}"
            for sender, to, text in said
        ],
        "end": f"Meeting {shown.meeting_id} is in {where}" + (f": {paid}." if paid else "."),
        "calendars": [
            [_look(item, errands) for item in shown.calendars.get(agent, ())]
            for agent in range(scenario.num_agents)
        ],
        "participants": shown.participants,
        "slot": shown.slot,
        "moves": shown.moves,
        "talk": [(f"{sender} → {_names(to)}", _lines(text)) for sender, to, text in said],
    }


def best_round(trace: Trace) -> Round:
    """Return the first round that ended well and cost something, else the first one."""
    rounds = _rounds(trace)
    return next((r for r in rounds if r.slot is not None and any(r.paid.values())), rounds[0])


def _rounds(trace: Trace) -> list[Round]:
    calendars: dict[int, Sequence[ItemId | None]] = {}
    found: list[Round] = []
    for index, event in enumerate(trace.events):
        if isinstance(event, AgentRegistered):
            calendars[event.agent_id] = event.calendar
        elif isinstance(event, RoundStart):
            found.append(Round(index, event.meeting_id, event.participants, dict(calendars)))
        elif isinstance(event, MessageSent) and found:
            found[-1].hear(event)
        elif isinstance(event, BatchApplied) and found:
            calendars[event.agent_id] = event.calendar
            found[-1].apply(event)
        elif isinstance(event, Resolution) and found and event.coordinated:
            found[-1].slot = next(iter(event.slot_by_agent.values()), None)
    return found


def _chosen(said: Sequence[Said]) -> list[Said]:
    """Return which messages to show: the first of every speaker, then the first one's second."""
    firsts = [
        place
        for place, (sender, _, _) in enumerate(said)
        if sender not in {other for other, _, _ in said[:place]}
    ]
    again = [
        place for place in range(len(said)) if place not in firsts and said[place][0] == said[0][0]
    ]
    return [said[place] for place in sorted((firsts + again[:1])[:MOST_MESSAGES])]


def _names(agents: Sequence[int]) -> str:
    return ", ".join(str(agent) for agent in agents) or "all"


def _look(item: ItemId | None, errands: Mapping[Any, ErrandEntry]) -> tuple[str, str]:
    """Return how an item looks, and the mark that says the same without colour."""
    if item is None:
        return "free", ""
    errand = errands.get(item)
    if errand is None:
        return "meeting", "M"
    if errand.blocked:
        return "blocked", "\N{MULTIPLICATION SIGN}"
    return f"cost{min(max(errand.cost, 1), 3)}", str(errand.cost)


def _lines(text: str) -> list[str]:
    return textwrap.wrap(
        text, LINE_CHARACTERS, max_lines=MOST_LINES, placeholder=" …", break_long_words=True
    )
