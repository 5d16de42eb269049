"""A seat for a person, in a browser or a terminal: ``python -m calbench.integrations.person``.

A page or a terminal shows what the seat sees and stages what its person does, as for assistants.
Nothing is kept but the game: no name, no time, no address.
"""

import sys
import threading
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import jinja2

from calbench import load_suite, types, write_trace
from calbench.errors import ConfigError
from calbench.integrations import acts, seats
from calbench.integrations.loopback import Answer, RefusedError, Request, Server
from calbench.integrations.seats import END, Seat
from calbench.integrations.terminal import Terminal, staged

FAREWELL_S = 5.0  # for which a browser may fetch the last page [C]
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Content-Type": "text/html; charset=utf-8",
    "Referrer-Policy": "same-origin",  # a browser that sends none says of forms that none is ours
}


def page_of(seat: Seat, said: Mapping[str, Any] | None = None) -> str:
    """Return the page of a seat: what it sees, what it has staged, and forms for the rest.

    Args:
        seat: whose turn it is, or whose game is over.
        said: the outcome of the last call, if it was rejected.
    """
    text = Path(__file__).with_name("person.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True)
    environment.filters["words"] = acts.words
    desk = seat.desk
    more: dict[str, Any] = {"phase": seat.seen.phase.name, "end": END, "said": said}
    more |= {"forms": {kind: acts.FORMS[kind] for kind in seat.understood}, "lists": acts.LISTS}
    more |= {"costs": acts.own_costs(seat.seen), "allowed": desk.allowed, "turn": desk.turn}
    return environment.from_string(text).render(seen=seat.shown(), **more)


class Page(Server):
    """Serves one seat to whoever knows its address."""

    def __init__(self, seat: Seat) -> None:
        self.seat, self._said, self._lock = seat, None, threading.Lock()
        self._is_over, self._is_told = threading.Event(), threading.Event()
        super().__init__(self.answer)

    def play(self) -> types.Trace | None:
        """Say where the page is, and wait until the game is over."""
        print(f"open {self.address}", flush=True)
        self._is_over.wait()
        return self.seat.trace

    def leave(self) -> None:
        """Show the last page, if somebody still waits for it, and listen no longer."""
        self._is_told.wait(FAREWELL_S)
        self.close()

    def answer(self, asked: Request) -> Answer:
        """Answer with the page, or do what a form says and send the browser back to it."""
        if asked.path:
            raise RefusedError(404, "nothing is here")
        with self._lock:
            if asked.is_form:
                form = dict(parse_qsl(asked.body.decode(errors="replace")))
                self._said = staged(self.seat, form.pop("tool", ""), form)
                is_over, answer = self._is_over, Answer(303, headers={"Location": self.place})
            else:
                page, self._said = page_of(self.seat, self._said), None
                is_over, answer = self._is_told, Answer(200, page.encode(), HEADERS)
            if self.seat.trace is not None:
                is_over.set()
            return answer


def _played(chosen: Namespace, _first: types.Scenario) -> None:
    """Play from this scenario on as many games as were asked for; those in ``out`` are kept."""
    if chosen.games < 1:
        raise ConfigError("--games: play at least one")
    for each in load_suite(chosen.suite)[chosen.scenario :][: chosen.games]:
        path = Path(chosen.out, f"{each.scenario_id}-{chosen.seat}.json")
        if path.exists():
            continue
        others = {*range(each.num_agents)} - {chosen.seat}
        seat = Seat("person", each, dict.fromkeys(others, chosen.partner), uses_language=True)
        place: Page | Terminal = Terminal(seat) if chosen.terminal else Page(seat)
        trace = place.play()
        if trace is None:  # the person left
            return
        write_trace(path, trace)
        if isinstance(place, Page):  # nobody need come back for the game to be kept
            place.leave()


def main() -> int:
    """Serve games to a person, and write their traces into a folder."""
    parser = seats.command("person", "person")
    parser.set_defaults(partner="candid")
    parser.add_argument("--seat", type=int, default=0, help="of the person, from 0")
    parser.add_argument("--games", type=int, default=1, help="scenarios, one after another")
    parser.add_argument("--terminal", action="store_true", help="here, instead of a page")
    return seats.run(parser, _played)


if __name__ == "__main__":
    sys.exit(main())
