"""``calbench site`` and ``calbench view``: runs of one's own on pages."""

import json
import os
import secrets
import threading
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import parse_qs, unquote, urlsplit

from calbench.cli.words import Status, Words
from calbench.config.composition import compose
from calbench.console import noting_interrupt, quiet, verdict
from calbench.errors import ConfigError, FileError, OutputError
from calbench.files import check_no_link_out, opened, printable
from calbench.report.policy import LOADED
from calbench.runs.board import check_builders, write_board
from calbench.runs.entries import run_names
from calbench.runs.folder import job_folders
from calbench.runs.status import Followed
from calbench.traces.catalog import TRACES_FOLDER
from calbench.tree import SITE

MOST_PORT = 65_535
"""The greatest number that a port has: 16 bits."""


def main(words: Words) -> int:
    """Build the whole site, with runs beside the published results."""
    out, paths = Path(words.options["out"]), words.paths
    spec = compose(words.settings)
    write_board(paths, out, spec.jobs, spec.executor)
    verdict(f"{len(paths)} runs on the board: {out / 'index.html'}", is_good=True)
    return Status.DONE


def view(words: Words, *, is_opened: bool = False) -> int:
    """Build the pages of one run or sweep, and serve them until Ctrl-C; follow one that plays."""
    paths = words.paths
    port = words.number("port", 0, most=MOST_PORT)
    is_served = _is_wished(words, "serve", "true")
    has_published = _is_wished(words, "published", "false")
    spec = compose(words.settings)
    run_names(paths)  # refuses what is no folder
    followed = Followed(paths[0])
    is_live = is_served and followed.is_playing()
    out = _folder(words, paths[0], is_live=is_live)
    build = partial(write_board, paths, out, spec.jobs, spec.executor, has_published=has_published)
    if not is_served:
        build()
        verdict(str(out / "index.html"), is_good=True)
        return Status.DONE
    with new_server(out, port) as server:  # before the pages are built, which takes a while
        if is_live:
            check_builders()
            server.followed = followed
        else:
            build()
        serve(server, build, is_opened=is_opened)
    return Status.DONE


def _is_wished(words: Words, key: str, otherwise: str) -> bool:
    wish = words.options.get(key, otherwise)
    if wish not in {"true", "false"}:
        raise ConfigError(f"{key}: true or false, got {printable(wish)}")
    return wish == "true"


def _folder(words: Words, run: Path, *, is_live: bool) -> Path:
    """Return where the pages go: below a whole run or sweep, unless another folder is named.

    Raises:
        ConfigError: a folder of traces has no such place.
    """
    if words.options.get("out"):
        return Path(words.options["out"])
    if not (is_live or (run / TRACES_FOLDER).is_dir() or job_folders(run)):
        raise ConfigError(f"{run}: is no whole run, so say where its pages go with out=DIR")
    check_no_link_out(run / "site")
    return run / "site"


HOST = "127.0.0.1"
"""Only this machine reads the pages."""

WAIT_S = 0.2
"""How often it is looked for Ctrl-C [C]."""

IDLE_SHARE = 9
"""Times as long as the pages of a run that plays took to build, they are left alone: a tenth of
the time at most goes there [C]."""

LIVE, NEWS = "live", "news"
"""Place of the page that follows a run, with its files in ``site/live``, and what it asks for."""

TOKEN_BYTES = 16
"""Of chance in the address: other users of this machine reach its ports, too [C]."""

POLICY = f"default-src 'none'; script-src 'self' 'unsafe-inline'; {LOADED}; frame-ancestors 'none'"
"""What every answer may load and who may show it; a page's own says which scripts are in it."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class PageServer(ThreadingHTTPServer):
    """Serves the files of a folder to whoever knows its address."""

    daemon_threads = True

    def __init__(self, folder: Path, port: int) -> None:
        """Take a port.

        Args:
            folder: of the pages; it need not be there yet.
            port: of the address; 0 takes a free one.

        Raises:
            OSError: the port is taken.
        """
        super().__init__((HOST, port), _Handler)
        self.folder = folder
        self.followed: Followed | None = None
        self.pages = 0  # games of a followed run that the pages in the folder show
        self.token = secrets.token_urlsafe(TOKEN_BYTES)
        self.hosts = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}

    @property
    def address(self) -> str:
        """The address of the first page."""
        live = f"{LIVE}/" if self.followed else ""
        return f"http://{HOST}:{self.server_port}/{self.token}/{live}"

    def handle_error(self, *_: Any) -> None:
        """A browser that hangs up is no error of ours."""

    def parts_of(self, target: str) -> list[str] | None:
        """Return the path below the token, by the target of a request's first line; none without.

        Raises:
            ValueError: the target is no address.
        """
        _, token, *parts = [*unquote(urlsplit(target).path).split("/"), ""]
        return parts if secrets.compare_digest(token.encode(), self.token.encode()) else None

    def news(self, target: str) -> bytes | None:
        """Return what the page that follows a run asks for; none if it is not asked for.

        Raises:
            ValueError: the target is no address.
        """
        if self.followed is None or (self.parts_of(target) or [])[:2] != [LIVE, NEWS]:
            return None
        after = parse_qs(urlsplit(target).query).get("after", ["0"])[0]
        known = int(after) if after.isascii() and after.isdigit() and len(after) < 9 else 0
        return json.dumps({**self.followed.news(known), "pages": self.pages}).encode()

    def file_of(self, target: str) -> Path | None:
        """Return the file of a request, by the target of its first line; none where there is none.

        Links are not followed.

        Raises:
            ValueError: the target is no address.
        """
        parts = self.parts_of(target)
        if parts is None:
            return None
        folder = self.folder.resolve()
        if self.followed and parts[0] == LIVE:
            folder, parts = (SITE / LIVE).resolve(), parts[1:]
        file = folder.joinpath(*(part for part in parts if part))
        with suppress(OSError, ValueError):  # a name that no file can have
            file = file / "index.html" if file.is_dir() else file
            is_plain = file.resolve() == file and file.is_relative_to(folder)
            return file if is_plain and file.is_file() else None
        return None


class _Handler(SimpleHTTPRequestHandler):
    server: PageServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        """Say nothing."""

    def send_head(self) -> BinaryIO | None:
        """Answer with a file of the folder, and with nothing else."""
        is_ours = self.headers.get("Host") in self.server.hosts  # else a stranger's name of it
        file = news = None
        with suppress(ValueError):  # a target that is no address
            file = self.server.file_of(self.path) if is_ours else None
            news = self.server.news(self.path) if is_ours else None
        if news is not None:
            return self._answered("application/json", len(news), BytesIO(news))
        if file is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        path = self.path.partition("?")[0]
        if file.name == "index.html" and not path.endswith(("/", ".html")):
            self.send_response(HTTPStatus.MOVED_PERMANENTLY)
            self.send_header("Location", f"{path.rpartition('/')[2]}/")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return None
        with suppress(FileError):
            found = opened(file, is_found=True)
            return self._answered(self.guess_type(file), os.fstat(found.fileno()).st_size, found)
        self.send_error(HTTPStatus.NOT_FOUND)
        return None

    def _answered(self, kind: str, size: int, body: BinaryIO) -> BinaryIO:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        return body

    def end_headers(self) -> None:
        """Add what every answer says."""
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()


def new_server(folder: Path, port: int) -> PageServer:
    """Return a server of a folder that has its port; arguments as of :class:`PageServer`.

    Raises:
        OutputError: the port is taken.
    """
    try:
        return PageServer(folder, port)
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"port={port}: cannot be used ({reason}); choose another") from error


def serve(server: PageServer, build: Callable[[], None], *, is_opened: bool = False) -> None:
    """Serve pages until Ctrl-C; the address is printed.

    Args:
        server: of the pages.
        build: builds the pages of a run that plays, again and again until it is over.
        is_opened: whether the user's browser is opened, too.
    """
    with noting_interrupt(lambda: "Stopped") as is_interrupted:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        verdict(f"{server.address}   Ctrl-C ends it")
        if is_opened:
            webbrowser.open(server.address)
        due, followed = 0.0, server.followed
        while not is_interrupted():
            thread.join(WAIT_S)
            is_over = followed is not None and not followed.is_playing()
            if followed is not None and (is_over or time.monotonic() >= due):
                due = time.monotonic() + IDLE_SHARE * _built_anew(server, followed, build)
            followed = None if is_over else followed
        server.shutdown()


def _built_anew(server: PageServer, followed: Followed, build: Callable[[], None]) -> float:
    """Build the pages of a run that plays if it has more games; return the seconds it took."""
    began, count = time.monotonic(), len(followed.games())
    if count > server.pages:
        with quiet():
            build()
        server.pages = count
    return time.monotonic() - began
