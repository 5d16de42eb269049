"""A command that is sent a signal at the n-th change of files below a folder.

``python -m tests.campaigns.killing COUNTED N SIGNAL FOLDER ARGUMENT...``; with 0 as N the number of
changes is written to the file COUNTED.
"""

import atexit
import os
import signal
import sys
from pathlib import Path

from calbench.cli.main import main

CHANGES = frozenset({"os.mkdir", "os.rename", "os.remove", "os.rmdir"})
"""Events of the interpreter that change files, besides opening one to write."""


def is_change(event: str, arguments: tuple[object, ...], folder: str) -> bool:
    if event == "open":
        path, _, flags = arguments
        is_writing = isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))
        return is_writing and str(path).startswith(folder)
    return event in CHANGES and str(arguments[0]).startswith(folder)


def strike(counted: Path, at: int, number: int, folder: str) -> None:
    """Send this process a signal at a change of files."""
    changes = 0

    def note(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal changes
        if (event == "open" or event in CHANGES) and is_change(event, arguments, folder):
            changes += 1
            if changes == at:
                os.kill(os.getpid(), number)

    sys.addaudithook(note)
    if not at:
        atexit.register(lambda: counted.write_text(str(changes)))


if __name__ == "__main__":
    _, counted, at, name, folder, *arguments = sys.argv
    strike(Path(counted), int(at), getattr(signal, name), folder)
    sys.argv = ["calbench", *arguments]
    main()
