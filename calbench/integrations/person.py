"""A seat for a person, in a browser or a terminal: ``python -m calbench.integrations.person``.

A page or a terminal shows what the seat sees and stages what its person does, as for assistants.
Nothing is kept but the game: no name, no time, no address.
"""

import secrets
import sys
from argparse import Namespace
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import jinja2

from calbench import load_suite, types, write_trace
from calbench.errors import ConfigError
from calbench.integrations import seats
from calbench.integrations.seats import END, Seat
from calbench.integrations.terminal import Terminal, staged

MOST_BYTES = 64_000  # of a form: four times the longest text [C]
FAREWELL_S = 5.0  # for which a browser may fetch the last page [C]
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",  # a browser that sends none says of forms that none is ours
    "X-Content-Type-Options": "nosniff",
}


def page_of(seat: Seat, said: Mapping[str, Any] | None = None) -> str:
    """Return the page of a seat: what it sees, what it has staged, and forms for the rest.

    Args:
        seat: whose turn it is, or whose game is over.
        said: the outcome of the last call, if it was rejected.
    """
    text = Path(__file__).with_name("person.html").read_text(encoding="utf-8")
    template = jinja2.Environment(autoescape=True, trim_blocks=True).from_string(text)
    desk, more = seat.desk, {"phase": seat.seen.phase.name, "end": END, "said": said}
    return template.render(seen=seat.shown(), allowed=desk.allowed, turn=desk.turn, **more)


class Page(HTTPServer):
    """Serves one seat to whoever knows its address; one request after the other."""

    def __init__(self, seat: Seat) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seat, self.said = seat, None
        self.place = f"/{secrets.token_urlsafe(16)}/"
        self.host = f"127.0.0.1:{self.server_port}"

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{self.host}{self.place}"

    def handle_error(self, *_: Any) -> None:
        """A browser that hangs up is no error of ours."""

    def play(self) -> types.Trace | None:
        """Say where the page is, and serve it until the game is over."""
        print(f"open {self.address}", flush=True)
        while self.seat.trace is None:
            self.handle_request()
        return self.seat.trace

    def leave(self) -> None:
        """Show the last page, if somebody still waits for it, and listen no longer."""
        self.timeout = FAREWELL_S
        self.handle_request()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Page
    timeout = 30

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        """Say nothing."""

    def _answer(self, status: int, body: str = "", **headers: str) -> None:
        self.send_response(status)
        size = str(len(body.encode()))
        for name, value in {**HEADERS, "Content-Length": size, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def _is_ours(self) -> bool:
        """Whether the address is whole, by no other name of this machine."""
        is_known = secrets.compare_digest(self.path.encode(), self.server.place.encode())
        if is_known and self.headers.get("Host") == self.server.host:
            return True
        self._answer(404)
        return False

    def do_GET(self) -> None:
        if self._is_ours():
            said, self.server.said = self.server.said, None
            self._answer(200, page_of(self.server.seat, said))

    def do_POST(self) -> None:
        size = self.headers.get("Content-Length", "")
        if not self._is_ours():
            return
        if not size.isdecimal() or int(size) > MOST_BYTES:
            self._answer(413)
            return
        form = dict(parse_qsl(self.rfile.read(int(size)).decode(errors="replace")))
        self.server.said = staged(self.server.seat, form.pop("tool", ""), form)
        self._answer(303, Location=self.server.place)


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
