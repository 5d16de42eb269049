"""An agent of ``a2a-turns/1`` in the standard library alone, which knows nothing of CalBench.

As a program, ``python outsider.py TICKETS DUMP``, it takes the first seat of a file of tickets, and
writes what it was sent and what its calls gave.
"""

import hashlib
import hmac
import json
import sys
import threading
import urllib.request
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Data = dict[str, Any]


def posted(
    url: str, data: Data, token: str = "", body: bytes | None = None
) -> tuple[int, dict[str, Any]]:
    """Return status and body of an answer."""
    headers = {"content-type": "application/json"}
    if token:
        headers["authorization"] = f"Bearer {token}"
    sent = json.dumps(data).encode() if body is None else body
    asked = urllib.request.Request(url, sent, headers)  # noqa: S310 - on the loopback
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310
            return answer.status, json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read() or b"{}")


def signature(key: str, turn_id: str, deadline: str, body: bytes) -> str:
    text = turn_id.encode() + b"\n" + deadline.encode() + b"\n" + body
    return hmac.new(key.encode(), text, hashlib.sha256).hexdigest()


def chosen(seen: Data) -> list[tuple[str, Data]]:
    """What the agent does in a turn: says its free slots once, then books the first of them."""
    free = [slot for slot, item in enumerate(seen["calendar"]) if item is None]
    if seen["phase"] == "CHEAP_TALK" and not seen["turn_index"]:
        words = f"I could meet in {free}."
        return [("send", {"channel": "participant_groupchat", "content": words})]
    if seen["phase"] == "DECISION":
        meeting = seen["meeting"]["meeting_id"]
        return [("schedule", {"meeting_id": meeting, "slot": free[seen["attempt"]]})]
    return []


class Outsider:
    """Serves its callback; ``act`` may be replaced, and ``sent`` is all that it was sent."""

    def __init__(self) -> None:
        self.sent: list[Data] = []
        self.key, self.seat, self.calls = "", Data(), 0
        self.over = threading.Event()
        agent = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                agent.answered(self, self.path, self.headers, body)  # type: ignore[arg-type]

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/agent"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def join(self, ticket: Data, **more: Any) -> tuple[int, Data]:
        """Join and say that it is ready; return how the referee answered."""
        self.key = ticket["join_ticket"]
        asked = {
            "join_ticket": self.key,
            "callback_url": self.url,
            "protocol_versions": ["a2a-turns/1"],
            "agent_info": {"name": "outsider"},
            **more,
        }
        status, answer = posted(ticket["join_url"], asked)
        if status == 200:
            self.key, self.seat = answer["seat_secret"], answer
            status, _ = posted(answer["ready_url"], {}, self.key)
        return status, answer

    def answered(
        self, handler: BaseHTTPRequestHandler, path: str, headers: Mapping[str, str], body: bytes
    ) -> None:
        status, answer = self.answer(path, headers, body)
        data = json.dumps(answer).encode()
        handler.send_response(status)
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def answer(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Data]:
        if len(body) > 262_144:
            return 413, {}
        turn, deadline = headers["x-a2a-id"], headers["x-a2a-deadline"]
        if signature(self.key, turn, deadline, body) != headers["x-a2a-signature"]:
            return 401, {}
        push = json.loads(body)
        if (push["turn_id"], push["deadline"]) != (turn, deadline):
            return 400, {}
        self.sent.append(push)
        if path.endswith("/hello"):
            return 200, {"nonce": push["nonce"], "accept": True}
        said = self.act(push)
        if push["kind"] == "episode_end":
            self.over.set()
        return 200, {"turn_id": push["turn_id"], **said}

    def act(self, push: Data) -> Data:
        if push["kind"] == "turn":
            for tool, arguments in chosen(push["observation"]):
                self.call(push, tool, arguments)
        usage = {"input_tokens": 7, "output_tokens": 2}
        return {"telemetry": {"latency_ms": 3, "usage": usage}}

    def call(
        self, push: Data, tool: str, arguments: Data, call_id: str | None = None, token: str = ""
    ) -> Data:
        """Call a tool; return its outcome, or the status of a refusal."""
        self.calls += 1
        meta = {"a2a/call_id": call_id or f"call-{self.calls}"}
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        asked = {"jsonrpc": "2.0", "id": self.calls, "method": "tools/call", "params": params}
        where = "comm" if tool in {"list_peers", "read_inbox", "send"} else "env"
        status, answer = posted(push["mcp"][where], asked, token or push["capability"])
        if status != 200:
            return {"http": status}
        outcome: Data = json.loads(answer["result"]["content"][0]["text"])
        self.sent.append(outcome)
        return outcome


def main() -> None:
    agent = Outsider()
    agent.join(json.loads(Path(sys.argv[1]).read_text())[0])
    agent.over.wait(60)
    Path(sys.argv[2]).write_text(json.dumps({"sent": agent.sent, "seat": agent.seat}))


if __name__ == "__main__":
    main()
