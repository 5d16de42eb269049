"""``a2a-turns/1``: how a referee and agents elsewhere reach each other; :func:`join` is an agent.

Implemented from a description of the authors' contract [R]. What that leaves open is ours [C]: a
push goes to ``callback_url`` itself, agents are numbers, and call ids count within a turn.
"""

import hmac
import re
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from http.client import HTTPConnection, HTTPException
from typing import Any

import orjson
from pydantic_core import to_json

from calbench.integrations.loopback import MOST_BYTES, Answer, RefusedError, Request, Server

PROTOCOL, MCP_VERSION = "a2a-turns/1", "2025-06-18"  # as the authors' SDK 1.26 speaks [R]
SECONDS = 120.0  # for which an answer is awaited [R], and an agent that has a ticket [C]
MOST_RESULT = 256 * MOST_BYTES  # of what a tool answers [C]: an inbox may hold many messages

# e.g. "http://127.0.0.1:8000/agent"; not "http://127.0.0.1.example.org:80/"
LOCAL = re.compile(r"http://(127\.0\.0\.1|localhost):(\d{1,5})(/[!-~]*)?")

Data = dict[str, Any]
Headers = Mapping[str, str]
Act = Callable[[Data, Callable[..., Data]], Any]


def signed(key: str, turn_id: str, deadline: str, body: bytes) -> dict[str, str]:
    """Return the headers of a push, its signature (HMAC-SHA256) among them."""
    text = f"{turn_id}\n{deadline}\n".encode(errors="replace") + body
    signature = hmac.new(key.encode(), text, "sha256").hexdigest()
    return {"x-a2a-signature": signature, "x-a2a-id": turn_id, "x-a2a-deadline": deadline}


def same(one: str, other: str) -> bool:
    """Whether two secrets are the same, in a time that does not tell where they differ."""
    return hmac.compare_digest(one.encode(errors="replace"), other.encode(errors="replace"))


def parsed(body: bytes | str) -> Data:
    """Return the object that a body holds; an empty body holds an empty one.

    Raises:
        RefusedError: it holds something else, or what no trace could hold.
    """
    with suppress(ValueError):
        found = orjson.loads(body or b"{}")  # refuses halves of letters and nesting without end
        if isinstance(found, dict):
            return found
    raise RefusedError(400, "the body is no object of JSON")


def post(
    url: str, body: bytes, headers: dict[str, str], seconds: float = SECONDS, most: int = MOST_BYTES
) -> tuple[Headers, Data]:
    """Send a body; return headers and object of the answer. No redirect is followed.

    Raises:
        RefusedError: the address is not on this machine, or there is no such answer in time.
    """
    if not (place := LOCAL.fullmatch(url)):
        raise RefusedError(400, "the address is not http://127.0.0.1:PORT/...")
    connection = HTTPConnection(place[1], int(place[2]), timeout=seconds)
    # Timeouts of a socket begin again with every byte: the guard ends the whole exchange.
    end, guard = time.monotonic() + seconds, threading.Timer(seconds, lambda: _cut(connected))
    try:
        connection.connect()
        connected = connection.sock
        guard.start()
        named = {"content-type": "application/json", "connection": "close", **headers}
        connection.request("POST", place[3] or "/", body, named)
        answer = connection.getresponse()
        data = answer.read(most + 1)
    except (OSError, OverflowError, HTTPException) as error:
        raise RefusedError(504, "no answer in time") from error
    finally:
        guard.cancel()
        connection.close()
    if time.monotonic() > end or len(data) > most:
        raise RefusedError(504, "the answer is late or too long")
    if answer.status not in {200, 202}:
        raise RefusedError(answer.status, f"answered with status {answer.status}")
    if answer.headers.get_content_type() == "text/event-stream":  # of one event, as MCP may
        data = next((line[5:] for line in data.splitlines() if line.startswith(b"data: {")), b"")
    return {key.lower(): value for key, value in answer.getheaders()}, parsed(data)


def _cut(connected: socket.socket) -> None:
    with suppress(OSError):  # it is closed
        connected.shutdown(socket.SHUT_RDWR)


def join(ticket: Mapping[str, Any], act: Act, **info: str) -> None:
    """Take a seat with a referee's ticket, and answer its pushes until the episode ends.

    Args:
        ticket: with ``join_ticket`` and ``join_url``.
        act: called with each push of kind ``turn`` or ``reflect``, and with :func:`call` for that
            push. What it returns to ``reflect`` is the reflection.
        info: what the agent says of itself.

    Raises:
        RefusedError: the referee is not there, or refused.
        Exception: what ``act`` raised; the referee was then told that there is no answer.
    """
    keys, ended, raised = [ticket["join_ticket"]], threading.Event(), list[Exception]()

    def route(asked: Request) -> Answer:
        headers, body = asked.headers, asked.body
        turn, deadline = headers.get("x-a2a-id", ""), headers.get("x-a2a-deadline", "")
        known = signed(keys[-1], turn, deadline, body)["x-a2a-signature"]
        if not same(known, headers.get("x-a2a-signature", "")):
            raise RefusedError(401, "the signature does not fit")
        push = parsed(body)
        if (push.get("turn_id"), push.get("deadline")) != (turn, deadline):
            raise RefusedError(400, "headers and body differ")
        if asked.path == "hello":
            return Answer(200, to_json({"nonce": push.get("nonce"), "accept": True}))
        kind = push.get("kind")
        try:
            said = act(push, partial(call, push)) if kind in {"turn", "reflect"} else None
        except Exception as error:
            raised.append(error)
            raise RefusedError(500, "the agent failed") from error
        finally:
            if kind == "episode_end" or raised:
                ended.set()
        return Answer(
            200, to_json({"turn_id": turn, "reflection": said if kind == "reflect" else None})
        )

    with Server(route, is_open=True) as server:
        asked = {"join_ticket": keys[0], "callback_url": server.address, "agent_info": info}
        asked["protocol_versions"] = [PROTOCOL]
        _, joined = post(ticket["join_url"], to_json(asked), {})
        keys.append(joined["seat_secret"])
        post(joined["ready_url"], b"{}", {"authorization": f"Bearer {keys[1]}"})
        ended.wait()
    if raised:
        raise raised[0]


def call(push: Data, tool: str, /, **arguments: Any) -> Data:
    """Call a tool of a referee over MCP, in the turn of a push; return its outcome.

    Raises:
        RefusedError: the referee refused the request itself.
    """
    url = push["mcp"]["env" if tool.endswith(("schedule", "observation")) else "comm"]
    headers = {"authorization": f"Bearer {push['capability']}"}
    headers["accept"] = "application/json, text/event-stream"

    def ask(method: str, **more: Any) -> Data:
        body = to_json({"jsonrpc": "2.0", "method": method, **more})
        given, answer = post(url, body, headers, most=MOST_RESULT)
        headers.update({key: given[key] for key in given if key == "mcp-session-id"})
        return answer

    about = {"clientInfo": {"name": "calbench", "version": "1"}, "capabilities": {}}
    ask("initialize", id=0, params={"protocolVersion": MCP_VERSION, **about})
    ask("notifications/initialized")
    meta = {"a2a/call_id": secrets.token_hex(16)}
    called = {"name": tool, "arguments": arguments, "_meta": meta}
    answer = ask("tools/call", id=1, params=called)
    if "result" not in answer:
        raise RefusedError(400, f"{tool}: {answer.get('error')}")
    return parsed(answer["result"]["content"][0]["text"])
