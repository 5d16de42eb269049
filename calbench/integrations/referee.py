"""Seats for agents that run elsewhere: ``python -m calbench.integrations.referee``.

An agent joins by ``a2a-turns/1`` with its seat's ticket, is pushed what the seat sees, and acts by
tools. If it does not answer in time the episode stops: nobody plays in its place. ``--check`` is
for authors of agents: it also sends what an agent must refuse, and lists what does not conform.
"""

import asyncio
import base64
import secrets
import sys
import threading
import time
from argparse import Namespace
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from calbench import play_game
from calbench.errors import ConfigError, UnavailableError
from calbench.integrations import a2a, seats
from calbench.integrations.a2a import Data, Headers, RefusedError
from calbench.types import Briefing, Observation, Phase, Reply, Scenario, Trace, Usage

PLACES = {"env": [*seats.TOOLS][:3], "comm": [*seats.TOOLS][3:]}  # tools by address [R]


class Place:
    """A seat for an agent elsewhere, as a player for :func:`calbench.play_game`.

    Args:
        agent: whose it is.
        seconds: for which an answer is awaited, and an agent before the game.
        episode: its id, the same for all seats of a game.
        checks: whether the agent is also sent what it must refuse.

    Attributes:
        ticket: to be handed to the agent.
        faults: how the agent did not conform, in sentences; ``failure`` ended the episode.
    """

    def __init__(
        self, agent: int, seconds: float = a2a.SECONDS, *, episode: str = "1", checks: bool = False
    ) -> None:
        self.name, self.faults, self._callback, self._secret = "a2a", list[str](), "", ""
        self._agent, self._seconds, self._episode, self._checks = agent, seconds, episode, checks
        self._key, self._end = secrets.token_urlsafe(32), time.monotonic() + seconds
        self._lock, self._ready, self._round = threading.Lock(), threading.Event(), -1
        self._desk: seats.Desk | None = None
        self._calls, self._capability, self.failure = dict[str, tuple[object, Data]](), "", ""
        self._server = a2a.Server(self.route)
        self._url = f"{self._server.url}/episodes/{episode}"
        self._mcp = {where: f"{self._url}/{where}" for where in PLACES}
        until = {"seat": agent, "expires_at": self._opening("")["deadline"]}
        ticket = secrets.token_urlsafe(32)
        self.ticket: Data = {"join_ticket": ticket, "join_url": f"{self._url}/join", **until}

    def introduce(self, briefing: Briefing, prompt: str) -> None:
        """Wait until the agent has joined, and push what it is told before the first round."""
        if not self._ready.wait(max(0.0, self._end - time.monotonic())):
            self.failure = "nobody joined in time"
        config = {**briefing._asdict(), "channels": sorted(briefing.channels)}
        schemas = {name: model.model_json_schema() for name, model in seats.TOOLS.items()}
        with suppress(UnavailableError):  # its first turn raises it again, and ends the game
            self._push("register", None, prompt, config=config, action_schemas=schemas)

    async def act(self, observation: Observation, prompt: str) -> Reply | str:
        """Push a turn and return what was done in it, or a reflection and return its text.

        Raises:
            UnavailableError: the agent did not answer in time.
        """
        return await asyncio.to_thread(self._acted, observation, prompt)

    def _acted(self, seen: Observation, prompt: str) -> Reply | str:
        if self._round != seen.round_index:
            self._round = seen.round_index
            self._push("round_start", seen, prompt)
        if seen.phase is Phase.REFLECTION:
            said = self._push("reflect", seen, prompt).get("reflection") or ""
            text = said if isinstance(said, str) else to_json(said).decode()
            return "" if self._tells(text) else text
        desk = seats.Desk(seen)
        telemetry = self._push("turn", seen, prompt, desk).get("telemetry")
        return Reply(desk.turn, usage=usage_of(telemetry))

    def close(self) -> None:
        """Tell the agent that the episode is over, and listen no longer."""
        push = {**self._opening("episode_end"), "kind": "episode_end"}
        with suppress(RefusedError):
            self._send(push, to_json(push))
        self._server.close()

    def _opening(self, kind: str, seen: Observation | None = None) -> Data:
        """Return how every push begins; it is to be answered in time from now."""
        asked = seen and (seen.round_index, seen.phase, seen.turn_index, seen.attempt)
        turn_id = ".".join(map(str, (self._agent, kind, *(asked or ()))))
        deadline = (datetime.now(UTC) + timedelta(seconds=self._seconds)).isoformat()
        named = {"protocol_version": a2a.PROTOCOL, "episode_id": self._episode}
        return {**named, "seat": self._agent, "turn_id": turn_id, "deadline": deadline}

    def _push(
        self, kind: str, seen: Observation | None, prompt: str, desk: seats.Desk | None = None,
        **more: Any,
    ) -> Data:  # fmt: skip
        """Send a push; return its answer, after which nothing can be called any more."""
        push = {**self._opening(kind, seen), "kind": kind, "mcp": self._mcp, "prompt": prompt}
        push |= dict.fromkeys(("phase", "parent_phase", "observation", "inbox", "capability"))
        if seen is not None:
            shown = seats.seen_data(seen)
            retry = {"phase": "DECISION_RETRY", "parent_phase": "DECISION"} if seen.attempt else {}
            push |= {"phase": seen.phase, "observation": shown, "inbox": shown["inbox"], **retry}
        if desk is not None:
            claims = {name: push[name] for name in ("episode_id", "seat", "turn_id", "phase")}
            claims |= {"attempt_id": desk.seen.attempt, "allowed_tools": desk.allowed}
            text = base64.urlsafe_b64encode(to_json({**claims, "exp": push["deadline"]})).decode()
            push["capability"] = f"{text}.{self._seal(text)}"
            with self._lock:
                self._desk, self._calls, self._capability = desk, {}, push["capability"]
        body = to_json({**push, **more})
        if len(body) > a2a.MOST_BYTES:  # the tools still show it
            body = to_json({**push, "observation": None, "inbox": None, "prompt": None})
        if kind == "register" and self._checks and not self.failure:
            self._forge(push, body)
        try:
            answer = {} if self.failure else self._send(push, body)
        except RefusedError as error:
            self.failure = f"{kind}: {error}"
        finally:
            with self._lock:
                self._desk = None
        if self.failure:
            why = f"a2a: seat {self._agent}: {self.failure}"
            raise UnavailableError("provider_fault", why)
        return answer

    def _send(self, push: Data, body: bytes, path: str = "", key: str = "") -> Data:
        headers = a2a.signed(key or self._secret, push["turn_id"], push["deadline"], body)
        _, answer = a2a.post(f"{self._callback}{path}", body, headers, self._seconds)
        if answer.get("turn_id", push["turn_id"]) != push["turn_id"]:
            raise RefusedError(400, "the answer is to another turn")
        return answer

    def _forge(self, push: Data, body: bytes) -> None:
        """Send pushes that an agent must refuse; note those that it accepts."""
        turn_id, end = push["turn_id"], push["deadline"]
        large = to_json({**push, "prompt": "x" * 300_000})
        forged = {
            "a wrong signature": (self._key, turn_id, end, body),
            "headers of another turn": (self._secret, "other", end, body),
            "a body of 300 kB": (self._secret, turn_id, end, large),
        }
        for what, sent in forged.items():
            with suppress(RefusedError):
                a2a.post(self._callback, sent[-1], a2a.signed(*sent), self._seconds)
                self.faults.append(f"a push with {what} was accepted")

    def _seal(self, text: str) -> str:
        return a2a.signed(self._key, text, "", b"")["x-a2a-signature"]

    def _tells(self, said: object) -> bool:
        """Whether an agent says what it is trusted with, which no trace may hold."""
        own = (self.ticket["join_ticket"], self._secret, self._capability)
        return any(each and each in str(said) for each in own)

    def route(self, path: str, headers: Headers, body: bytes) -> tuple[int, Data | None]:
        """Answer a request of the agent.

        Raises:
            RefusedError: it lacks its ticket, secret or capability, or asks for what is not here.
        """
        token, asked = headers.get("authorization", "").partition(" ")[2], a2a.parsed(body)
        where, (text, _, seal) = path.rpartition("/")[2], token.partition(".")
        if where == "join" and a2a.same(str(asked.get("join_ticket")), self.ticket["join_ticket"]):
            return 200, self._joined(asked)
        if where == "ready" and self._secret and a2a.same(token, self._secret):
            self._ready.set()
            return 200, {}
        if where in PLACES and a2a.same(seal, self._seal(text)):
            return self._rpc(PLACES[where], token, asked)
        raise RefusedError(401, "the ticket, secret or capability does not fit")

    def _joined(self, asked: Data) -> Data:
        """Take the ticket, greet the agent at its address, and trust it with the seat's secret."""
        versions, url = asked.get("protocol_versions"), str(asked.get("callback_url"))
        if not (isinstance(versions, list) and a2a.PROTOCOL in versions and a2a.LOCAL.match(url)):
            raise RefusedError(400, f"this seat speaks {a2a.PROTOCOL} with http://127.0.0.1:PORT/")
        with self._lock:
            if self._callback or time.monotonic() > self._end:
                raise RefusedError(410, "the ticket was used, or has expired")
            self._callback = url.rstrip("/")
        hello = {**self._opening("hello"), "nonce": secrets.token_hex(16)}
        said = self._send(hello, to_json(hello), "/hello", self.ticket["join_ticket"])
        if said.get("nonce") != hello["nonce"] or said.get("accept") is not True:
            raise RefusedError(403, "hello was not accepted")
        self._secret = secrets.token_urlsafe(32)
        named = {name: hello[name] for name in ("protocol_version", "episode_id", "seat")}
        trusted = {"seat_secret": self._secret, "mcp": self._mcp}
        return {**named, **trusted, "ready_url": f"{self._url}/ready"}

    def _rpc(self, tools: list[str], token: str, asked: Data) -> tuple[int, Data | None]:
        """Answer JSON-RPC of MCP, without sessions and streams: servers may do without."""
        if "id" not in asked:
            return 202, None
        method, params = asked.get("method"), asked.get("params")
        given: Data = params if isinstance(params, dict) else {}
        answer: Data = {"jsonrpc": "2.0", "id": asked["id"], "result": {}}
        if method == "initialize":
            version, info = given.get("protocolVersion"), {"name": "calbench", "version": "1"}
            able = {"capabilities": {"tools": {}}, "serverInfo": info}
            answer["result"] = {"protocolVersion": version, **able}
        elif method == "tools/list":
            schemas = {name: seats.TOOLS[name].model_json_schema() for name in tools}
            listed = [{"name": name, "inputSchema": of} for name, of in schemas.items()]
            answer["result"] = {"tools": listed}
        elif method == "tools/call" and given.get("name") in tools:
            meta = given.get("_meta")
            call_id = meta.get("a2a/call_id") if isinstance(meta, dict) else None
            found = self._called(token, given["name"], given.get("arguments", {}), call_id)
            content = [{"type": "text", "text": to_json(found).decode()}]
            answer["result"] = {"content": content, "structuredContent": found}
            answer["result"]["isError"] = found["status"] == "rejected"
        elif method != "ping":
            del answer["result"]
            answer["error"] = {"code": -32601, "message": "there is no such method or tool"}
        return 200, answer

    def _called(self, token: str, tool: str, arguments: object, call_id: object) -> Data:
        """Call a tool; the same call again has the first outcome and no effect."""
        with self._lock:
            desk, call = self._desk, (tool, arguments)
            if desk is None or token != self._capability:
                found = seats.outcome("late", "the turn is over")
            elif not isinstance(call_id, str):
                found = seats.outcome("no_call_id", "name each call in _meta, a2a/call_id")
            elif self._calls.get(call_id, (call,))[0] != call:
                found = seats.outcome("call_id_reused", "the call of this id was another")
            elif call_id in self._calls:
                return self._calls[call_id][1]
            elif self._tells(arguments):
                found = seats.outcome("tells_secret", "it is for nobody else")
            else:
                found = desk.call(tool, arguments)
                self._calls[call_id] = (call, found)
        if found["status"] == "rejected":
            self.faults.append(f"{tool}: {found['code']}: {found['reason']}")
        return found


def usage_of(telemetry: object) -> Usage | None:
    """Return the tokens that an agent says it used, if it does."""
    used = telemetry.get("usage") if isinstance(telemetry, dict) else None
    names = ("input_tokens", "cached_tokens", "output_tokens")
    counts: list[Any] = [used.get(name, 0) for name in names] if isinstance(used, dict) else [None]
    if any(type(count) is not int or count < 0 for count in counts):
        return None
    return Usage(input_tokens=counts[0], cached_tokens=counts[1], output_tokens=counts[2])


def _played(faults: list[str], chosen: Namespace, scenario: Scenario) -> Trace:
    tickets, episode, last = Path(chosen.tickets), secrets.token_hex(8), scenario.num_agents - 1
    if not all(0 <= each <= last for each in chosen.seats):
        raise ConfigError(f"--seats: the agents are 0 to {last}")
    try:
        tickets.touch(0o600, exist_ok=False)
    except OSError as error:
        raise ConfigError(f"--tickets {tickets}: {error.strerror}") from error
    more = {"episode": episode, "checks": chosen.check}
    places = {each: Place(each, chosen.seconds, **more) for each in chosen.seats}
    try:
        tickets.write_bytes(to_json([place.ticket for place in places.values()], indent=1))
        team = {**dict.fromkeys(range(scenario.num_agents), chosen.partner), **places}
        return play_game(scenario, team, team_id="a2a", reflection=chosen.reflection)
    finally:
        tickets.unlink()
        for seat, place in places.items():
            place.close()
            said = [*place.faults, *filter(None, [place.failure])] if chosen.check else []
            faults += [f"seat {seat}: {fault}" for fault in said]


def main() -> int:
    """Play one game with agents from elsewhere, and write its trace."""
    parser, faults = seats.command("referee", "a2a.json"), list[str]()
    parser.add_argument("--seats", type=int, nargs="+", default=[0], help="of agents elsewhere")
    parser.add_argument("--tickets", default="tickets.json", help="a new file for their tickets")
    parser.add_argument("--seconds", type=float, default=a2a.SECONDS, help="for each answer")
    parser.add_argument("--reflection", action="store_true", help="ask for beliefs too")
    parser.add_argument("--check", action="store_true", help="send what must be refused as well")
    return seats.run(parser, partial(_played, faults), faults)


if __name__ == "__main__":
    sys.exit(main())
