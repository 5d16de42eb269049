"""A seat for an assistant, as a server of MCP over stdio: ``python -m calbench.integrations.mcp``.

Tools are the actions: ``say``, ``move`` and ``book`` collect what the assistant does in its turn,
and ``end_turn`` does it. The resource ``calbench://observation`` is what the seat sees. The extra
``mcp`` installs the library.
"""

import argparse
from collections.abc import Mapping
from typing import Any

from mcp.server.fastmcp import FastMCP
from pydantic_core import to_json

from calbench import load_suite, play, write_trace
from calbench.errors import ConfigError
from calbench.types import (
    AgentId,
    BroadcastMessage,
    DirectMessage,
    ErrandId,
    Observation,
    ParticipantMessage,
    Player,
    Reschedule,
    Scenario,
    Schedule,
    Slot,
    Text,
    Trace,
    Turn,
)

MOST_ACTIONS = 100
"""Actions of one turn [C]: as many as an agent may send messages in a round."""

MOST_LETTERS = 10_000
"""Letters of one text [C]."""

Act = DirectMessage | ParticipantMessage | BroadcastMessage | Reschedule | Schedule


class Seat:
    """One seat of a game: what it sees, what it has collected for its turn, and the end."""

    def __init__(self, scenario: Scenario, partners: Mapping[int, Player], **rules: Any) -> None:
        """Begin a game; arguments are those of :func:`calbench.play`.

        Raises:
            ConfigError: the partners do not leave one seat.
        """
        if len({*range(scenario.num_agents)} - {*partners}) != 1:
            raise ConfigError("partners: leave one seat")
        self._game = play(scenario, seats=partners, **{"players": "mcp", "team": "mcp", **rules})
        self.trace: Trace | None = None
        self.seen: Observation = next(iter(next(self._game).values()))
        self.acts: list[Act] = []

    def add(self, act: Act) -> str:
        """Collect an action; a text says so, or that the game is over or the turn is full."""
        if self.trace is not None:
            return "The game is over."
        if len(self.acts) == MOST_ACTIONS:
            return f"A turn has at most {MOST_ACTIONS} actions: end it."
        self.acts.append(act)
        return f"{len(self.acts)} in this turn; end_turn does them."

    def end_turn(self) -> str:
        """Do what was collected; return what the seat sees next, as JSON."""
        if self.trace is None:
            turn, self.acts = Turn(tuple(self.acts)), []
            try:
                (self.seen,) = self._game.send({self.seen.agent_id: turn}).values()
            except StopIteration as end:
                self.trace = end.value
        return self.shown()

    def shown(self) -> str:
        """Return what the seat saw last, as JSON, and whether the game is over."""
        fields = {**self.seen._asdict(), "labels": dict(self.seen.labels)}
        return to_json({"is_over": self.trace is not None, **fields}, indent=1).decode()


def server_of(seat: Seat) -> FastMCP:
    """Return a server that offers a seat's actions as tools and its observation as a resource."""
    server = FastMCP("calbench", instructions=__doc__)

    @server.resource("calbench://observation", mime_type="application/json")
    def observation() -> str:
        """What your seat sees now: calendar, meeting, messages, phase."""
        return seat.shown()

    @server.tool()
    def say(text: str, to: int | None = None, everybody: bool = False) -> str:
        """Say something in talk: to one agent, else to the participants, or to everybody."""
        content = Text(text=text[:MOST_LETTERS])
        if to is not None:
            return seat.add(DirectMessage(to=AgentId(to), content=content))
        return seat.add((BroadcastMessage if everybody else ParticipantMessage)(content=content))

    @server.tool()
    def move(item_id: int, from_slot: int, to_slot: int, justification: str) -> str:
        """Move an item of your own calendar, outside of talk."""
        item, why = ErrandId(item_id), justification[:MOST_LETTERS]
        return seat.add(Reschedule(item, Slot(from_slot), Slot(to_slot), why))

    @server.tool()
    def book(slot: int) -> str:
        """Put the meeting under discussion into a slot of your calendar, in a decision."""
        return seat.add(Schedule(meeting_id=seat.seen.meeting.meeting_id, slot=Slot(slot)))

    @server.tool()
    def end_turn() -> str:
        """End your turn, with what you collected or without; answers with what you see next."""
        return seat.end_turn()

    return server


def main() -> None:
    """Serve one game over standard input and output, and write its trace."""
    parser = argparse.ArgumentParser(prog="python -m calbench.integrations.mcp")
    parser.add_argument("--suite", default="varied", help="name or path")
    parser.add_argument("--scenario", type=int, default=0, help="its place in the suite, from 0")
    parser.add_argument("--seat", type=int, default=0, help="of the assistant, from 0")
    parser.add_argument("--partner", default="imap", help="who sits in all other seats")
    parser.add_argument("--out", default="mcp.json", help="the trace, once the game is over")
    chosen = parser.parse_args()
    scenario = load_suite(chosen.suite)[chosen.scenario]
    others = {*range(scenario.num_agents)} - {chosen.seat}
    seat = Seat(scenario, dict.fromkeys(others, chosen.partner))
    server_of(seat).run()
    if seat.trace is not None:
        write_trace(chosen.out, seat.trace)


if __name__ == "__main__":
    main()
