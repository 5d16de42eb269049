"""The one server of pages, a person's seat and agents over HTTP: what it answers, and whom."""

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from calbench.integrations import loopback
from calbench.integrations.loopback import HOST, MOST_BYTES, Answer, Request, Server
from tests.effort import GUARD_S


def echo(asked: Request) -> Answer:
    return Answer(200, repr(asked[:3]).encode() + asked.body)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(echo) as server:
        yield server


def sent(server: Server, data: str, *, whole: bool = True) -> tuple[int, bytes]:
    """Send a request as it is, with ``{h}`` and ``{p}`` filled in; return status and body."""
    host = f"{HOST}:{server.server_port}"
    text = data.replace("{h}", f"Host: {host}\r\n").replace("{p}", server.place)
    with socket.create_connection((HOST, server.server_port), timeout=GUARD_S) as connection:
        connection.sendall(text.encode())
        if not whole:
            connection.shutdown(socket.SHUT_WR)
        method = "HEAD" if text.startswith("HEAD") else "GET"
        answer = http.client.HTTPResponse(connection, method=method)
        answer.begin()
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        return answer.status, answer.read()


@pytest.mark.parametrize(
    ("request_", "status", "body"),
    [
        ("GET {p}a%20b?c=d HTTP/1.1\r\n{h}\r\n", 200, b"(False, 'a b', 'c=d')"),
        ("HEAD {p}a HTTP/1.1\r\n{h}\r\n", 200, b""),
        ("POST {p} HTTP/1.1\r\n{h}Content-Length: 2\r\n\r\nhm", 200, b"(True, '', '')hm"),
        ("POST {p} HTTP/1.1\r\n{h}\r\n", 411, b"say a length"),
        ("POST {p} HTTP/1.1\r\n{h}Content-Length: x\r\n\r\n", 411, b"say a length"),
        ("POST {p} HTTP/1.1\r\n{h}Content-Length: 9\r\n\r\nhm", 400, b"the body is cut short"),
        (f"POST {{p}} HTTP/1.1\r\n{{h}}Content-Length: {MOST_BYTES + 1}\r\n\r\n", 413, b"say a"),
        ("PUT {p} HTTP/1.1\r\n{h}\r\n", 501, b""),
        ("GET {p} {p} HTTP/1.1\r\n{h}\r\n", 400, b""),
        (f"GET /{'x' * 70_000} HTTP/1.1\r\n{{h}}\r\n", 414, b""),
        ("GET / HTTP/1.1\r\n{h}\r\n", 404, b"nothing is here"),
        ("GET {p} HTTP/1.1\r\n\r\n", 404, b"nothing is here"),
        ("GET {p} HTTP/1.1\r\nHost: stranger.example\r\n\r\n", 404, b"nothing is here"),
        ("GET {p} HTTP/1.1\r\n{h}Origin: http://stranger.example\r\n\r\n", 403, b"somebody else"),
        ("GET {p} HTTP/1.1\r\n{h}Origin: null\r\n\r\n", 403, b"somebody else"),
    ],
)
def test_who_asks_for_what_is_there_is_answered(
    server: Server, request_: str, status: int, body: bytes
) -> None:
    found = sent(server, request_, whole=False)
    assert found[0] == status
    assert body in found[1]


def test_idle_connections_keep_nobody_waiting(server: Server) -> None:
    """As a browser's spare ones; of too many the oldest is ended, so there are never more."""
    place = (HOST, server.server_port)
    before = threading.active_count()
    idle = [socket.create_connection(place, timeout=GUARD_S) for _ in range(loopback.MOST_OPEN + 9)]
    began = time.monotonic()
    assert sent(server, "GET {p} HTTP/1.1\r\n{h}\r\n")[0] == 200
    assert time.monotonic() - began < loopback.IDLE_S / 2
    assert [each.recv(1) for each in idle[:9]] == [b""] * 9
    while threading.active_count() > before + loopback.MOST_OPEN:
        assert time.monotonic() - began < GUARD_S
        time.sleep(0.01)
    for each in idle:
        each.close()


def test_silent_connection_is_ended(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback._Handler, "timeout", 0.05)
    with socket.create_connection((HOST, server.server_port), timeout=GUARD_S) as connection:
        connection.sendall(b"GET ")
        assert connection.recv(1) == b""


def test_at_the_end_what_is_under_way_is_answered_and_the_port_is_given_back() -> None:
    began, ends, found = threading.Event(), threading.Event(), list[tuple[int, bytes]]()

    def slow(_: Request) -> Answer:
        began.set()
        ends.wait(GUARD_S)
        return Answer(200, b"x" * 9_000_000)

    server = Server(slow)
    port = server.server_port
    idle = socket.create_connection((HOST, port), timeout=GUARD_S)
    asks = [lambda: found.append(sent(server, "GET {p} HTTP/1.1\r\n{h}\r\n")), server.close]
    threads = [threading.Thread(target=ask) for ask in asks]
    threads[0].start()
    began.wait(GUARD_S)
    threads[1].start()
    ends.set()
    for thread in threads:
        thread.join(GUARD_S)
    assert [(status, len(body)) for status, body in found] == [(200, 9_000_000)]
    assert idle.recv(1) == b""
    idle.close()
    with closing(Server(echo, port)), pytest.raises(OSError, match="in use"):
        Server(echo, port)
