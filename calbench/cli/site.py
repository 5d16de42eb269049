"""``calbench site`` and ``calbench view``: runs of one's own on pages."""

import functools
import threading
import webbrowser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from calbench.cli.words import Status, Words
from calbench.config.composition import compose
from calbench.console import noting_interrupt, verdict
from calbench.errors import ConfigError, OutputError
from calbench.files import printable
from calbench.runs.board import write_board
from calbench.runs.entries import run_names
from calbench.traces.catalog import TRACES_FOLDER

MOST_PORT = 65_535


def main(words: Words) -> int:
    """Build the whole site, with runs beside the published results."""
    out, paths = Path(words.options["out"]), words.paths
    spec = compose(words.settings)
    write_board(paths, out, spec.jobs, spec.executor)
    verdict(f"{len(paths)} runs on the board: {out / 'index.html'}", is_good=True)
    return Status.DONE


def view(words: Words, *, is_opened: bool = False) -> int:
    """Build the pages of one run, and serve them until Ctrl-C."""
    paths = words.paths
    port = words.number("port", 0, most=MOST_PORT)
    wish = words.options.get("serve", "true")
    if wish not in {"true", "false"}:
        raise ConfigError(f"serve: true or false, got {printable(wish)}")
    spec = compose(words.settings)
    run_names(paths)  # refuses what is no folder
    out = _folder(words, paths[0])
    write_board(paths, out, spec.jobs, spec.executor, has_published=False)
    if wish == "false":
        verdict(str(out / "index.html"), is_good=True)
    else:
        serve(out, port, is_opened=is_opened)
    return Status.DONE


def _folder(words: Words, run: Path) -> Path:
    """Return where the pages go: below a whole run, unless another folder is named.

    Raises:
        ConfigError: a folder of traces has no such place.
    """
    if words.options.get("out"):
        return Path(words.options["out"])
    if not (run / TRACES_FOLDER).is_dir():
        raise ConfigError(f"{run}: is no whole run, so say where its pages go with out=DIR")
    return run / "site"


HOST = "127.0.0.1"
"""Only this machine reads the pages."""

WAIT_S = 0.2
"""How often it is looked for Ctrl-C [C]."""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        """Say nothing."""


def serve(folder: Path, port: int, *, is_opened: bool = False) -> None:
    """Serve a folder until Ctrl-C; the address is printed.

    Args:
        folder: of the pages.
        port: of the address; 0 takes a free one.
        is_opened: whether the user's browser is opened, too.

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
        verdict(f"{address}   Ctrl-C ends it")
        if is_opened:
            webbrowser.open(address)
        while not is_interrupted():
            thread.join(WAIT_S)
        server.shutdown()
