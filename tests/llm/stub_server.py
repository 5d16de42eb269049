"""A provider on the loopback that behaves as it is told to, over real HTTP."""

import json
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def chat(
    content: Any = "fine", *, finish_reason: str = "stop", usage: bool = True, **message: Any
) -> dict[str, Any]:
    """The body of a good reply."""
    logprobs = message.pop("logprobs", None)
    body: dict[str, Any] = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": finish_reason,
                **({"logprobs": logprobs} if logprobs else {}),
            }
        ],
    }
    if usage:
        body["usage"] = {
            "prompt_tokens": 10,
            "completion_tokens": 2,
            "total_tokens": 12,
            "prompt_tokens_details": {"cached_tokens": 4},
        }
    return body


@dataclass(frozen=True)
class Answer:
    """One answer; ``cut`` sends half of it, ``drop`` closes the connection without a word, and
    ``reset`` breaks it off as a machine does that goes down.

    ``raw`` is sent as it is, head and body, and then the connection is closed; ``pieces_s`` waits
    so long after each of its 64 bytes.
    """

    body: Any = field(default_factory=chat)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay_s: float = 0.0
    cut: bool = False
    drop: bool = False
    reset: bool = False
    raw: bytes | None = None
    pieces_s: float = 0.0


@dataclass(frozen=True)
class Asked:
    """One request: names of headers in lower case, the body as JSON."""

    path: str
    query: str
    headers: Mapping[str, str]
    body: Any


class StubServer(ThreadingHTTPServer):
    """Answers in the order given, the last one for ever; keeps what it was asked."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *answers: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = list(answers) or [Answer()]
        self.asked: list[dict[str, Any]] = []
        self.authorizations: list[str | None] = []
        self.lock = threading.Lock()
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def answer_to(self, _asked: Asked) -> Answer:
        """Return the next answer; one request at a time."""
        return self.answers[min(len(self.asked), len(self.answers) - 1)]

    def handle_error(self, *_: Any) -> None:
        """A client that hangs up is part of the game."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: StubServer

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.server.lock:
            answer = self.server.answer_to(Asked(path, query, headers, body))
            self.server.asked.append(body)
            self.server.authorizations.append(self.headers.get("authorization"))
        self.server.closing.wait(answer.delay_s)
        if answer.drop or answer.reset:
            self.close_connection = True
            if answer.reset:  # no time to linger: what is closed now is reset
                self.connection.setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                )
                self.connection.close()
            return
        if answer.raw is not None:
            self.close_connection = True
            self._send(answer.raw, answer.pieces_s)
            return
        data = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
        raw = data.encode()
        self.send_response(answer.status)
        self.send_header("content-type", answer.content_type)
        self.send_header("content-length", str(len(raw)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw[: len(raw) // 2] if answer.cut else raw)
        if answer.cut:
            self.close_connection = True

    def _send(self, raw: bytes, pieces_s: float) -> None:
        size = 64 if pieces_s else len(raw)
        for start in range(0, len(raw), size):
            self.wfile.write(raw[start : start + size])
            time.sleep(pieces_s)


@contextmanager
def serving(*answers: Answer) -> Iterator[StubServer]:
    server = StubServer(*answers)
    with served(server):
        yield server


@contextmanager
def served(server: StubServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.closing.set()  # an answer that would come much later comes now
        server.shutdown()
        server.server_close()
        thread.join()
