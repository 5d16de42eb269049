"""One round of a real game as a picture: calendars, what was said, and where they met.

The picture is a function of the trace. It is drawn in classes, so the page's colours paint it in
light and dark; it holds no script, no outside reference and no text that is not escaped.
"""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calbench.domain.actions import Reschedule
from calbench.domain.ids import ItemId
from calbench.domain.messages import Text
from calbench.files import printable, shorten
from calbench.report.escape import html_text
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

LABELLED = (
    'aria-labelledby="cb-picture-title" aria-describedby="cb-picture-text" '
    'xmlns="http://www.w3.org/2000/svg"'
)


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


def first_round(site: Site) -> str:
    """Return the first game that fits, speakers first, as a figure with a link."""
    for results in sorted(site.played, key=lambda each: each.role.page != "language"):
        for team in results.teams:
            trace = next(results.traces_of(team, results.shown), None)
            if trace is not None and fits(trace):
                return figure(trace, results.name)
    return ""


def fits(trace: Trace) -> bool:
    """Return whether a game is small enough for the picture, and has a round."""
    scenario = trace.scenario
    is_small = scenario.num_agents <= MOST_AGENTS and scenario.num_slots <= MOST_SLOTS
    return is_small and any(isinstance(event, RoundStart) for event in trace.events)


def figure(trace: Trace, experiment: str) -> str:
    """Return a round of a game as SVG, within a link to the round in the trace browser."""
    shown = telling_round(trace)
    team, scenario = trace.config.team.team_id, trace.scenario.scenario_id
    address = html_text(f"traces.html#{experiment}/{team}/{scenario}/{shown.event}")
    return (
        f'<figure class="cb-picture"><a href="{address}">{svg(trace, shown)}</a>'
        f"<figcaption>One meeting of a real game: {html_text(team)} on {html_text(scenario)}. "
        "A digit is an errand and what moving it costs, \N{MULTIPLICATION SIGN} is "
        "blocked, M a meeting; the frame is where they meet, the arrow an errand that makes room. "
        "Click to step through it."
        "</figcaption></figure>"
    )


def telling_round(trace: Trace) -> Round:
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


def svg(trace: Trace, shown: Round) -> str:
    """Return the picture itself, with a title and a description for those who do not see it."""
    rows = trace.scenario.num_agents
    below = TOP + rows * ROW + 22
    lines, height = _talk(shown, below)
    paid = ", ".join(f"agent {agent} pays {cost}" for agent, cost in sorted(shown.paid.items()))
    where = "no slot" if shown.slot is None else f"slot {shown.slot}"
    end = f"Meeting {shown.meeting_id} is in {where}" + (f": {paid}." if paid else ".")
    spoken = " ".join(
        f"Agent {sender} to {_names(to)}: {shorten(text, LONGEST_SPOKEN)}"
        for sender, to, text in (shown.said[place] for place in _chosen(shown.said))
    )
    title = f"Agents {_names(shown.participants)} agree on a meeting by talking"
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height + 32}" role="img" {LABELLED}>',
        f'<title id="cb-picture-title">{html_text(title)}</title>',
        f'<desc id="cb-picture-text">{html_text(f"{spoken} {end}")}</desc>',
        *_grid(trace, shown),
        *lines,
        f'<text class="cb-p-end" x="0" y="{height + 22}">{html_text(end)}</text>',
        "</svg>",
    ]
    return "".join(parts)


def _names(agents: Sequence[int]) -> str:
    return ", ".join(str(agent) for agent in agents) or "all"


def _grid(trace: Trace, shown: Round) -> list[str]:
    """Return the calendars: a row for each agent, those in the meeting in bold."""
    scenario = trace.scenario
    errands = {
        entry.errand_id: entry
        for calendar in scenario.calendars
        for entry in calendar
        if isinstance(entry, ErrandEntry)
    }
    width = (WIDTH - LABEL) / scenario.num_slots
    middles = [LABEL + (slot + 0.5) * width for slot in range(scenario.num_slots)]
    parts = [
        f'<text class="cb-p-slot" x="{x:.1f}" y="{TOP - 8}">{slot}</text>'
        for slot, x in enumerate(middles)
    ]
    parts.append('<text class="cb-p-quiet" x="0" y="12">Private calendars, by slot</text>')
    for agent in range(scenario.num_agents):
        y = TOP + agent * ROW
        style = "cb-p-in" if agent in shown.participants else "cb-p-out"
        parts.append(f'<text class="{style}" x="0" y="{y + 17}">agent {agent}</text>')
        for slot, item in enumerate(shown.calendars.get(agent, ())):
            kind, mark = _look(item, errands.get(item) if item is not None else None)
            x = LABEL + slot * width
            parts.append(
                f'<rect class="cb-p-{kind}" x="{x + 1:.1f}" y="{y + 1}" '
                f'width="{width - 2:.1f}" height="{ROW - 4}" rx="2"/>'
            )
            if mark:
                parts.append(
                    f'<text class="cb-p-mark cb-p-on-{kind}" x="{x + width / 2:.1f}" '
                    f'y="{y + 16}">{mark}</text>'
                )
    return [*parts, *_meeting(shown, width)]


def _look(item: ItemId | None, errand: ErrandEntry | None) -> tuple[str, str]:
    """Return how an item looks, and the mark that says the same without colour."""
    if item is None:
        return "free", ""
    if errand is None:
        return "meeting", "M"
    if errand.blocked:
        return "blocked", "\N{MULTIPLICATION SIGN}"
    return f"cost{min(max(errand.cost, 1), 3)}", str(errand.cost)


def _meeting(shown: Round, width: float) -> list[str]:
    """Return a frame around the agreed slot of each participant, and arcs where items moved."""
    parts = []
    for agent in shown.participants if shown.slot is not None else ():
        x, y = LABEL + (shown.slot or 0) * width, TOP + agent * ROW
        parts.append(
            f'<rect class="cb-p-agreed" x="{x:.1f}" y="{y}" width="{width:.1f}" '
            f'height="{ROW - 2}" rx="3"/>'
        )
    for agent, start, end in shown.moves:
        y = TOP + agent * ROW + 3
        first, last = (LABEL + (slot + 0.5) * width for slot in (start, end))
        tip = 4 if last > first else -4
        parts.append(
            f'<path class="cb-p-move" d="M{first:.1f} {y}Q{(first + last) / 2:.1f} {y - 16} '
            f'{last:.1f} {y}m{-tip} -5l{tip} 5l{-tip} 2"/>'
        )
    return parts


def _talk(shown: Round, top: int) -> tuple[list[str], int]:
    """Return the chosen messages as text, and where they end."""
    parts = [f'<text class="cb-p-quiet" x="0" y="{top}">What they say</text>']
    y = top + 6
    for place in _chosen(shown.said):
        sender, to, text = shown.said[place]
        lines = textwrap.wrap(
            text, LINE_CHARACTERS, max_lines=MOST_LINES, placeholder=" …", break_long_words=True
        )
        height = LINE * max(len(lines), 1) + 10
        parts.append(
            f'<rect class="cb-p-said" x="{LABEL}" y="{y + 2}" width="{WIDTH - LABEL}" '
            f'height="{height - 4}" rx="6"/>'
            f'<text class="cb-p-in" x="0" y="{y + 19}">{sender} → {html_text(_names(to))}</text>'
        )
        for number, line in enumerate(lines):
            parts.append(
                f'<text class="cb-p-text" x="{LABEL + 8}" y="{y + 18 + LINE * number}">'
                f"{html_text(line)}</text>"
            )
        y += height
    return parts, y
