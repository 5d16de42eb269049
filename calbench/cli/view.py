"""``calbench view``: tables and games of one run in the browser, served on the loopback."""

import functools
import os
import threading
import webbrowser
from contextlib import ExitStack
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from calbench.board.board import write_board
from calbench.board.entries import run_names
from calbench.cli.words import Words, whole_number
from calbench.console import noting_interrupt
from calbench.errors import ConfigError, OutputError
from calbench.files import printable

HOST = "127.0.0.1"
"""Only this machine reads the pages."""

MOST_PORT = 65_535

WAIT_S = 0.2
"""How often it is looked for Ctrl-C [C]."""


def main(words: Words, *, is_opened: bool = False) -> int:
    """Build the site of a run, and serve it until Ctrl-C."""
    paths = words.some_paths("no run is named: give the folder of a run")
    if len(paths) > 1:
        raise ConfigError("view shows one run; calbench site RUN... out=DIR shows several")
    port = whole_number(words, "port", 0, least=0, most=MOST_PORT)
    jobs = whole_number(words, "jobs", os.cpu_count() or 1, least=1)
    serve = words.options.get("serve", "true")
    if serve not in {"true", "false"}:
        raise ConfigError(f"serve: true or false, got {printable(serve)}")
    run_names(paths)  # refuses what is no folder
    with ExitStack() as stack:
        out = _folder(words, paths[0])
        if out is None and serve == "false":
            raise ConfigError("out=DIR is missing: a folder of traces has no place for its site")
        if out is None:
            out = Path(stack.enter_context(TemporaryDirectory(prefix="calbench-view-"))) / "site"
        write_board(paths, out, jobs=jobs, has_published=False)
        if serve == "false":
            print(printable(str(out / "index.html")))
        else:
            _serve(out, port, is_opened=is_opened)
    return 0


def _folder(words: Words, run: Path) -> Path | None:
    """Return where the site goes: below a whole run, unless another folder is named."""
    if words.options.get("out"):
        return Path(words.options["out"])
    return run / "site" if (run / "traces").is_dir() else None


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        """Say nothing."""


def _serve(folder: Path, port: int, *, is_opened: bool) -> None:
    """Serve a folder until Ctrl-C.

    Raises:
        OutputError: the port is taken.
    """
    handler = functools.partial(_Quiet, directory=str(folder))
    try:
        server = ThreadingHTTPServer((HOST, port), handler)
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"port={port}: cannot be used ({reason}); choose another") from error
    with server, noting_interrupt(lambda: "Stopped") as is_interrupted:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        address = f"http://{HOST}:{server.server_port}/"
        print(f"{address}   Ctrl-C ends it", flush=True)
        if is_opened:
            webbrowser.open(address)
        while not is_interrupted():
            thread.join(WAIT_S)
        server.shutdown()
