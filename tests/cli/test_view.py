"""Pages are served to whoever has the whole address, and nothing else is."""

import http.client
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from calbench.cli import site
from calbench.cli.main import answer
from calbench.cli.site import PageServer, new_server
from calbench.integrations.loopback import HOST
from tests.effort import GUARD_S
from tests.stranger import attacked, needs_root


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PageServer]:
    pages = tmp_path / "pages"
    (pages / "inner").mkdir(parents=True)
    (pages / "empty").mkdir()
    (pages / "index.html").write_text("first")
    (pages / "inner" / "index.html").write_text("inner")
    (tmp_path / "secret").write_text("secret")
    (pages / "link").symlink_to(tmp_path / "secret")
    (pages / "folder").symlink_to(tmp_path)
    os.mkfifo(pages / "pipe")
    with new_server(pages, 0) as server:
        yield server


def got(server: PageServer, line: str, host: str | None = None) -> tuple[int, bytes, str]:
    """Send a request's first line as it is; return status, body and location."""
    with socket.create_connection((HOST, server.server_port), timeout=GUARD_S) as connection:
        named = host or f"{HOST}:{server.server_port}"
        connection.sendall(f"GET {line} HTTP/1.1\r\nHost: {named}\r\n\r\n".encode())
        response = http.client.HTTPResponse(connection)
        response.begin()
        policy = response.getheader("Content-Security-Policy", "")
        assert "default-src 'none'" in policy
        return response.status, response.read(), response.getheader("Location", "")


def test_pages_are_at_the_address_alone(server: PageServer) -> None:
    token = server.token
    assert server.address == f"http://{HOST}:{server.server_port}/{token}/"
    assert got(server, f"/{token}/")[:2] == (200, b"first")
    assert got(server, f"/{token}/?a=b")[:2] == (200, b"first")
    assert got(server, f"/{token}/inner/")[:2] == (200, b"inner")
    assert got(server, f"/{token}/inner")[::2] == (301, "inner/")
    assert got(server, f"/{token}/", f"localhost:{server.server_port}")[0] == 200
    assert got(server, f"/{token}/", "stranger.example:80")[0] == 404


@pytest.mark.parametrize("line", [
    "/", "/index.html", "/wrong/index.html", "//stranger.example/", "/{t}x/", "/{t}/empty/",
    "/{t}/link", "/{t}/folder/secret", "/{t}/pipe", "/{t}/../secret", "/{t}/%2e%2e/secret",
    "/{t}/..%2fsecret", "/{t}/%00", "/{t}/%ff%fe", "/{t}/" + "a" * 5000, "http://[broken/{t}/",
    "/%c3%a9/", "/{t}//etc/passwd",
])  # fmt: skip
def test_nothing_else_is(server: PageServer, line: str) -> None:
    status, body, _ = got(server, line.replace("{t}", server.token))
    assert status == 404
    assert b"secret" not in body


def test_many_strangers_get_no_page(server: PageServer) -> None:
    assert {got(server, f"/{number:022d}/")[0] for number in range(50)} == {404}


@pytest.mark.heavy
@needs_root
def test_another_user_gets_no_page(server: PageServer, tmp_path: Path) -> None:
    found = attacked([server.server_port], tmp_path / "ours")
    assert (found["calls"], found["pages"]) == (0, 0), found
    server.token = ""  # then the address is one that anybody knows
    assert attacked([server.server_port], tmp_path / "open")["pages"] > 0


@pytest.mark.parametrize("wish", ["true", "false"])
def test_published_results_are_beside_a_run_if_that_is_wished(
    wish: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run" / "traces").mkdir(parents=True)
    asked = []
    monkeypatch.setattr(site, "write_board", lambda *_, has_published: asked.append(has_published))
    words = ["-q", "view", str(tmp_path / "run"), "serve=false"]
    assert answer([*words, f"published={wish}"]) == 0
    assert asked == [wish == "true"]
    assert answer([*words, "published=both"]) == 2


def test_port_is_taken_before_pages_are_built(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run" / "traces").mkdir(parents=True)
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        assert answer(["view", str(tmp_path / "run"), f"port={port}"]) == 2
    assert f"port={port}: cannot be used" in capsys.readouterr().err
    assert not (tmp_path / "run" / "site").exists()
