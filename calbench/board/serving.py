"""A folder of pages, served to this machine alone."""

import functools
import threading
import webbrowser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from calbench.console import noting_interrupt, verdict
from calbench.errors import OutputError

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
