"""Runs commands in one process and notes what they import, start and write.

``python -m tests.cli.watched COMMANDS.json NOTES.json``: one list of arguments for each command.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

PLACES = {
    "os.mkdir": (0, 2),
    "os.remove": (0, 1),
    "os.rmdir": (0, 1),
    "os.chmod": (0, 2),
    "os.link": (1, 3),
    "os.symlink": (1, 2),
    "os.rename": (1, 3),
    "os.truncate": (0, None),
    "shutil.rmtree": (0, None),
    "sqlite3.connect": (0, None),
}
"""Audit events that change a place on the disk: which of their arguments is that place, and which
the folder that it is in, where that is open already and was noted then."""

STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn")


class Notes:
    """What happened during each command."""

    def __init__(self) -> None:
        self.imported: list[str] = []
        self.started: list[str] = []
        self.written: list[str] = []

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note an audit event."""
        if event == "import":
            self.imported.append(str(arguments[0]))
        elif event in STARTS:
            self.started.append(repr(arguments[:2]))
        elif event == "open":
            place, mode, flags = arguments
            is_written = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) if mode is None else 0
            if (is_written or set(str(mode or "")) & set("wax+")) and not isinstance(place, int):
                self._write(place)
        elif event in PLACES:
            place, folder = PLACES[event]
            if folder is None or arguments[folder] == -1:
                self._write(arguments[place])

    def _write(self, place: Any) -> None:
        name = os.fsdecode(place) if isinstance(place, str | bytes | os.PathLike) else ""
        if name and not name.startswith((":", "file:")):
            self.written.append(os.path.abspath(name))  # noqa: PTH100 - symlinks stay as they are


def main() -> None:
    """Answer the commands, and write the notes about each."""
    commands, target = (Path(argument) for argument in sys.argv[1:])
    from calbench.cli.main import answer

    current = Notes()

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        current.hear(event, arguments)  # of the command that runs

    sys.addaudithook(hear)
    found = []
    for arguments in json.loads(commands.read_text()):
        current = Notes()
        status = answer(arguments)
        found.append({"arguments": arguments, "status": status, **vars(current)})
    target.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
