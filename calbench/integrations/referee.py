"""Seats for agents elsewhere by ``a2a-turns/1``: ``python -m calbench.integrations.referee``.

If an agent does not answer in time the episode stops: nobody plays in its place. ``--check`` also
sends what agents must refuse and lists what does not conform, for their authors.
"""

import asyncio
import secrets
import sys
import threading
import time
from argparse import Namespace
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from calbench import play_game
from calbench.errors import ConfigError, UnavailableError
from calbench.integrations import a2a, seats
from calbench.integrations.a2a import Data
from calbench.integrations.loopback import MOST_BYTES, Answer, RefusedError, Request, Server
from calbench.types import PASS, Briefing, Observation, Phase, Reply, Scenario, Trace, Usage

PLACES = {"env": [*seats.TOOLS][:3], "comm": [*seats.TOOLS][3:]}  # tools by address [R]


class Place:
    """A seat for an agent elsewhere, as a player for :func:`calbench.play_game`.

    ``ticket`` is to be handed to the agent, and ``faults`` are sentences on how it did not conform.

    Args:
        agent: whose seat it is.
        seconds: for which an answer is awaited, and an agent before the game.
        episode: its id, the same for all seats of a game.
        checks: whether the agent is also sent what it must refuse.
    """

    def __init__(
        self, agent: int, seconds: float = a2a.SECONDS, *, episode: str = "1", checks: bool = False
    ) -> None:
        self.name, self.faults, self._callback, self._secret = "a2a", list[str](), "", ""
        self._agent, self._seconds, self._episode, self._checks = agent, seconds, episode, checks
        self._key, self._end = secrets.token_urlsafe(32), time.monotonic() + seconds
        self._lock, self._ready, self._round = threading.Lock(), threading.Event(), -1
        self._turn, self._desk = PASS, cast("seats.Desk | None", None)
        self._calls, self._capability, self.failure = dict[str, tuple[object, Data]](), "", ""
        self._server = Server(self.route, is_open=True)
        self._url = f"{self._server.address}episodes/{episode}"
        self._mcp = {where: f"{self._url}/{where}" for where in PLACES}
        self._ticket, expires_at = secrets.token_urlsafe(32), self._opening("")["deadline"]
        more = {"join_url": f"{self._url}/join", "expires_at": expires_at}
        self.ticket = {"join_ticket": self._ticket, "seat": agent, **more}

    def introduce(self, briefing: Briefing, prompt: str) -> None:
        """Wait until the agent has joined, and push what it is told before the first round."""
        if not self._ready.wait(max(0.0, self._end - time.monotonic())):
            self.failure = "nobody joined in time"
        config = {**briefing._asdict(), "channels": sorted(briefing.channels)}
        with suppress(UnavailableError):  # its first turn raises it again, and ends the game
            self._push("register", None, prompt, config=config, action_schemas=seats.SCHEMAS)

    async def act(self, observation: Observation, prompt: str) -> Reply | str:
        """Push a turn and return what was done in it, or a reflection and return its text.

        Raises:
            UnavailableError: the agent did not answer in time.
        """
        asked = (observation, prompt)
        if self._round != observation.round_index:
            self._round = observation.round_index
            await asyncio.to_thread(self._push, "round_start", *asked)
        if observation.phase is Phase.REFLECTION:
            said = (await asyncio.to_thread(self._push, "reflect", *asked)).get("reflection") or ""
            return said if isinstance(said, str) else to_json(said).decode()
        answer, usage = await asyncio.to_thread(self._push, "turn", *asked), None
        with suppress(ValidationError, KeyError, TypeError):
            used = {"cached_tokens": 0, **answer["telemetry"]["usage"]}
            usage = TypeAdapter(Usage).validate_json(to_json(used))
        return Reply(self._turn, usage=usage)

    def close(self) -> None:
        """Tell the agent that the episode is over, and listen no longer."""
        self._seconds = min(self._seconds, 5.0)  # a farewell is not worth more [C]
        with suppress(UnavailableError):
            self._push("episode_end", None, "")
        self._server.close()

    def _opening(self, kind: str, seen: Observation | None = None) -> Data:
        """Return how every push begins; it is to be answered in time from now."""
        asked = seen and (seen.round_index, seen.phase, seen.turn_index, seen.attempt)
        named = {"protocol_version": a2a.PROTOCOL, "episode_id": self._episode}
        named |= {"turn_id": ".".join(map(str, (self._agent, kind, *(asked or ()))))}
        deadline = datetime.now(UTC) + timedelta(seconds=self._seconds)
        return {**named, "seat": self._agent, "deadline": deadline.isoformat()}

    def _push(self, kind: str, seen: Observation | None, prompt: str, **more: Any) -> Data:
        """Send a push; return its answer, after which nothing can be called any more."""
        push = {**self._opening(kind, seen), "kind": kind, "mcp": self._mcp, "prompt": prompt}
        push |= dict.fromkeys(("phase", "parent_phase", "observation", "inbox", "capability"))
        if seen is not None:
            shown = seats.seen_data(seen)
            retry = {"phase": "DECISION_RETRY", "parent_phase": "DECISION"} if seen.attempt else {}
            push |= {"phase": seen.phase, "observation": shown, "inbox": shown["inbox"], **retry}
        if kind == "turn" and seen is not None:
            claims = {name: push[name] for name in ("episode_id", "seat", "turn_id", "phase")}
            claims |= {"attempt_id": seen.attempt, "allowed_tools": seats.ALLOWED[seen.phase]}
            text = to_json({**claims, "exp": push["deadline"]}).hex()
            push["capability"] = f"{text}.{self._seal(text)}"
            with self._lock:
                self._capability, self._calls, self._desk = push["capability"], {}, seats.Desk(seen)
        body = to_json({**push, **more})
        if len(body) > MOST_BYTES:  # the tools still show it
            body = to_json({**push, "observation": None, "inbox": None, "prompt": None})
        if kind == "register" and self._checks and not self.failure:
            self._forge(push, body)
        try:
            answer = self._send(push, body) if kind == "episode_end" or not self.failure else {}
        except RefusedError as error:
            self.failure = f"{kind}: {error}"
        with self._lock:
            self._turn, self._desk = self._desk.turn if self._desk else PASS, None
        if self.failure:
            raise UnavailableError("provider_fault", f"a2a: seat {self._agent}: {self.failure}")
        return answer

    def _send(self, push: Data, body: bytes, path: str = "", key: str = "") -> Data:
        headers = a2a.signed(key or self._secret, push["turn_id"], push["deadline"], body)
        _, answer = a2a.post(f"{self._callback}{path}", body, headers, self._seconds)
        if answer.get("turn_id", push["turn_id"]) != push["turn_id"]:
            raise RefusedError(400, "the answer is to another turn")
        return answer

    def _forge(self, push: Data, body: bytes) -> None:
        """Send pushes that an agent must refuse; note those that it accepts."""
        large, until = to_json({**push, "prompt": "x" * 300_000}), push["deadline"]
        forged = {
            "a wrong signature": (self._key, push["turn_id"], until, body),
            "headers of another turn": (self._secret, "other", until, body),
            "a body of 300 kB": (self._secret, push["turn_id"], until, large),
        }
        for what, sent in forged.items():
            with suppress(RefusedError):
                a2a.post(self._callback, sent[-1], a2a.signed(*sent), self._seconds)
                self.faults.append(f"a push with {what} was accepted")

    def _seal(self, text: str) -> str:
        return a2a.signed(self._key, text, "", b"")["x-a2a-signature"]

    def route(self, asked: Request) -> Answer:
        """Answer a request of the agent.

        Raises:
            RefusedError: it lacks its ticket, secret or capability, or asks for what is not here.
        """
        if not asked.is_form:
            raise RefusedError(405, "send it with POST")
        given, token = a2a.parsed(asked.body), asked.headers.get("authorization", "")
        token, where = token.partition(" ")[2], asked.path.rpartition("/")[2]
        text, _, seal = token.partition(".")
        if where == "join" and a2a.same(str(given.get("join_ticket")), self._ticket):
            return Answer(200, to_json(self._joined(given)))
        if where == "ready" and self._secret and a2a.same(token, self._secret):
            self._ready.set()
            return Answer(200, b"{}")
        if where in PLACES and a2a.same(seal, self._seal(text)):
            return self._rpc(PLACES[where], token, given)
        raise RefusedError(401, "the ticket, secret or capability does not fit")

    def _joined(self, asked: Data) -> Data:
        """Take the ticket, greet the agent at its address, and trust it with the seat's secret."""
        told, url = asked.get("protocol_versions"), str(asked.get("callback_url"))
        if not (isinstance(told, list) and a2a.PROTOCOL in told and a2a.LOCAL.fullmatch(url)):
            raise RefusedError(400, f"this seat speaks {a2a.PROTOCOL} with http://127.0.0.1:PORT/")
        with self._lock:
            if self._callback or time.monotonic() > self._end:
                raise RefusedError(410, "the ticket was used, or has expired")
            self._callback = url.rstrip("/")
        hello = {**self._opening("hello"), "nonce": secrets.token_hex(16)}
        said = self._send(hello, to_json(hello), "/hello", self._ticket)
        if said.get("nonce") != hello["nonce"] or said.get("accept") is not True:
            raise RefusedError(403, "hello was not accepted")
        self._secret = secrets.token_urlsafe(32)
        named = {name: hello[name] for name in ("protocol_version", "episode_id", "seat")}
        trusted = {"seat_secret": self._secret, "mcp": self._mcp}
        return {**named, **trusted, "ready_url": f"{self._url}/ready"}

    def _rpc(self, tools: list[str], token: str, asked: Data) -> Answer:
        """Answer JSON-RPC of MCP, without sessions and streams: servers may do without."""
        if "id" not in asked:
            return Answer(202)
        method, params = str(asked.get("method")), asked.get("params")
        given: Data = params if isinstance(params, dict) else {}
        info = {"capabilities": {"tools": {}}, "serverInfo": {"name": "calbench", "version": "1"}}
        results: Data = {
            "ping": {},
            "initialize": {**info, "protocolVersion": given.get("protocolVersion")},
            "tools/list": {"tools": [{"name": n, "inputSchema": seats.SCHEMAS[n]} for n in tools]},
        }
        if method == "tools/call" and given.get("name") in tools:
            results[method] = self._called(token, given["name"], given)
        missing = {"error": {"code": -32601, "message": "there is no such method or tool"}}
        answer = {"result": results[method]} if method in results else missing
        return Answer(200, to_json({"jsonrpc": "2.0", "id": asked["id"], **answer}))

    def _called(self, token: str, tool: str, given: Data) -> Data:
        """Call a tool; the same call again has the first outcome and no effect."""
        meta, arguments = given.get("_meta"), given.get("arguments", {})
        call_id = meta.get("a2a/call_id") if isinstance(meta, dict) else None
        with self._lock:
            desk, call = self._desk, (tool, arguments)
            if desk is None or token != self._capability:
                found = seats.outcome("late", "the turn is over")
            elif not isinstance(call_id, str):
                found = seats.outcome("no_call_id", "name each call in _meta, a2a/call_id")
            elif self._calls.get(call_id, (call,))[0] != call:
                found = seats.outcome("call_id_reused", "the call of this id was another")
            elif call_id in self._calls:
                found = self._calls[call_id][1]
            elif any(own in str(arguments) for own in (self._ticket, self._secret, token)):
                found = seats.outcome("tells_secret", "no trace may hold it")
            else:
                found = desk.call(tool, arguments)
                self._calls[call_id] = (call, found)
        if is_error := found["status"] == "rejected":
            self.faults.append(f"{tool}: {found['code']}: {found['reason']}")
        content = [{"type": "text", "text": to_json(found).decode()}]
        return {"content": content, "structuredContent": found, "isError": is_error}


def _played(chosen: Namespace, scenario: Scenario) -> Trace:
    tickets, everybody = Path(chosen.tickets), range(scenario.num_agents)
    if not {*chosen.seats} <= {*everybody}:
        raise ConfigError(f"--seats: the agents are 0 to {everybody[-1]}")
    try:
        tickets.touch(0o600, exist_ok=False)
    except OSError as error:
        raise ConfigError(f"--tickets {tickets}: {error.strerror}") from error
    more = {"episode": secrets.token_hex(8), "checks": chosen.check}
    places = {each: Place(each, chosen.seconds, **more) for each in chosen.seats}
    try:
        tickets.write_bytes(to_json([place.ticket for place in places.values()], indent=1))
        team = {**dict.fromkeys(everybody, chosen.partner), **places}
        return play_game(scenario, team, team_id="a2a", reflection=chosen.reflection)
    finally:
        tickets.unlink()
        for seat, place in places.items():
            place.close()
            said = filter(None, [*place.faults, place.failure])
            chosen.faults += [f"seat {seat}: {fault}" for fault in said if chosen.check]


def main() -> int:
    """Play one game with agents from elsewhere, and write its trace."""
    parser = seats.command("referee", "a2a.json")
    parser.add_argument("--seats", type=int, nargs="+", default=[0], help="of agents elsewhere")
    parser.add_argument("--tickets", default="tickets.json", help="a new file for their tickets")
    parser.add_argument("--seconds", type=float, default=a2a.SECONDS, help="for each answer")
    parser.add_argument("--reflection", action="store_true", help="ask for beliefs too")
    parser.add_argument("--check", action="store_true", help="send what must be refused as well")
    return seats.run(parser, _played)


if __name__ == "__main__":
    sys.exit(main())
