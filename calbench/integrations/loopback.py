"""A server on the loopback: pages of a run, a person's seat and agents over HTTP are behind one."""

import re
import secrets
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import unquote

from pydantic_core import to_json

HOST = "127.0.0.1"  # only this machine reaches it
MOST_BYTES = 262_144  # of a body [R: of agents over HTTP]
MOST_OPEN = 64  # connections, each with a thread: ten times as many as a browser opens [C]
IDLE_S = 30.0  # after which a silent connection is closed [C]
LAST_S = 5.0  # for which an answer under way is waited for at the end [C]
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Content-Type": "application/json",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Request(NamedTuple):
    """What is asked for: ``path`` is plain text and stands below the address.

    ``is_form`` if something is sent (POST), else it is read. Names of headers are in small letters.
    """

    is_form: bool
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


class Answer(NamedTuple):
    """A status of HTTP, a body, and headers in place of ``HEADERS`` or beside them."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = HEADERS


class RefusedError(Exception):
    """A request, or its answer, that is refused: a status of HTTP, and why, without a secret."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Server(ThreadingHTTPServer):
    """Answers requests by a route, each connection in a thread, until ``close``.

    Args:
        route: answers, in several threads at once, or raises :class:`RefusedError`.
        port: of the address; 0 takes a free one.
        is_open: whether the address holds no token, because requests themselves do. Other users
            of this machine reach its ports, too.

    Raises:
        OSError: the port is taken.
    """

    request_queue_size = MOST_OPEN  # that wait for a thread; others would try again after a second

    def __init__(
        self, route: Callable[[Request], Answer], port: int = 0, *, is_open: bool = False
    ) -> None:
        super().__init__((HOST, port), _Handler)
        self.route, self.token = route, "" if is_open else secrets.token_urlsafe(16)
        self.hosts = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}
        self._open = dict[Any, threading.Thread]()
        threading.Thread(target=self.serve_forever, args=[0.05], daemon=True).start()

    @property
    def place(self) -> str:
        """How the path of every request begins."""
        return f"/{self.token}/" if self.token else "/"

    @property
    def address(self) -> str:
        """Where it is."""
        return f"http://{HOST}:{self.server_port}{self.place}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread; of too many connections the oldest is ended."""
        given = (request, client_address)
        self._open[request] = threading.Thread(
            target=self.process_request_thread, args=given, daemon=True
        )
        for oldest in [*self._open][:-MOST_OPEN]:
            _end(oldest, socket.SHUT_RDWR)
        self._open[request].start()

    def shutdown_request(self, request: Any) -> None:
        """End a connection whose thread is done."""
        self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, *_: Any) -> None:
        """Say nothing of a connection that breaks off."""

    def close(self) -> None:
        """Listen no longer; what is being answered is answered."""
        self.shutdown()
        self.server_close()
        for request, thread in [*self._open.items()]:
            _end(request, socket.SHUT_RD)  # it may still be answered
            thread.join(LAST_S)

    def __exit__(self, *_: object) -> None:
        self.close()


def _end(request: socket.socket, how: int) -> None:
    with suppress(OSError):  # it is closed
        request.shutdown(how)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        try:
            self._send(self.server.route(self._asked()))
        except RefusedError as error:
            self._send(Answer(error.status, to_json({"error": str(error)})))

    do_HEAD = do_POST = do_GET  # noqa: N815 - their names there

    def send_error(self, code: int, *_: Any, **__: Any) -> None:
        """Answer what is no request with as little as possible."""
        self.close_connection = True
        self._send(Answer(code))

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        size = {"Content-Length": str(len(answer.body))}
        for name, value in {**HEADERS, **size, **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def _asked(self) -> Request:
        headers = {key.lower(): value for key, value in self.headers.items()}
        is_form, place = self.command == "POST", self.server.place
        length = headers.get("content-length", "" if is_form else "0")
        size = int(length) if re.fullmatch(r"[0-9]{1,9}", length) else -1
        # Who is still sending would not read the answer: so much is read and forgotten.
        body = self.rfile.read(min(size, 4 * MOST_BYTES)) if size > 0 else b""
        self.close_connection |= len(body) != size or size > MOST_BYTES
        path, _, query = self.path.partition("?")
        is_here = secrets.compare_digest(path[: len(place)].encode(), place.encode())
        host = headers.get("host")
        if host not in self.server.hosts or not is_here:  # or a stranger's name of it
            raise RefusedError(404, "nothing is here")
        if not 0 <= size <= MOST_BYTES:
            raise RefusedError(413 if size > 0 else 411, f"say a length up to {MOST_BYTES}")
        if len(body) < size:
            raise RefusedError(400, "the body is cut short")
        if headers.get("origin", f"http://{host}") != f"http://{host}":
            raise RefusedError(403, "a page of somebody else asks")
        return Request(is_form, unquote(path[len(place) :]), query, headers, body)

    def log_message(self, *_: Any) -> None:
        """Say nothing: requests hold secrets."""
