"""Commands side by side in processes of their own, watched for what they read and write elsewhere.

``python -m tests.campaigns.places OUTSIDE`` imports the commands once. Each line that it reads is a
list of :class:`Started` as JSON; it starts them all, waits, and answers with a list of their ends.
"""

import importlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.campaigns.killing import strike
from tests.cli.runs import REPO, environment
from tests.effort import GUARD_S


@dataclass(frozen=True)
class Started:
    """A command.

    Attributes:
        arguments: of the command.
        said: file for what it says.
        folder: current folder of the command.
        at: the change of files at which it is killed; 0 for none.
        below: where changes are counted.
    """

    arguments: Sequence[str]
    said: str
    folder: str = "."
    at: int = 0
    below: str = ""


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes:
        status: its exit status, negative for a signal; absent if it hung, and was ended.
        seconds: how long it took.
        said: its standard output and error.
        read: files outside that it opened.
    """

    status: int | None
    seconds: float
    said: str
    read: Sequence[str]


@contextmanager
def commands(outside: Path, **variables: str) -> Iterator["Commands"]:
    """Provide a process that starts commands, with these variables in their environment."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.campaigns.places", str(outside)],
        cwd=REPO,
        env=environment(**variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Commands(process)
        assert process.stdin is not None
        process.stdin.close()


class Commands:
    """Starts commands, all of a call at once."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def __call__(self, *started: Started) -> list[Ended]:
        """Run some commands at the same time; return how they ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([asdict(each) for each in started]), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline())
        return [
            Ended(status, seconds, Path(each.said).read_text(errors="replace"), read)
            for each, (status, seconds, read) in zip(started, answer, strict=True)
        ]


def _note(outside: str, read: Path) -> None:
    """Note each file outside that is opened, by whatever name."""

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in ("open", "sqlite3.connect") or not isinstance(arguments[0], str | bytes):
            return
        name = os.fsdecode(arguments[0]).removeprefix("file:").partition("?")[0]
        flags = arguments[2] if event == "open" and isinstance(arguments[2], int) else 0
        path = Path(name)
        if flags & os.O_NOFOLLOW:
            is_led, name = not path.is_symlink(), str(path.parent.resolve() / path.name)
        else:
            is_led, name = True, os.path.realpath(name)
        if is_led and (name.startswith(outside) or name.endswith("/environ")):
            with read.open("a") as file:
                print(name, file=file)

    sys.addaudithook(hear)


def _run(each: dict[str, Any], outside: str) -> None:
    """Be a command, to the end of this process."""
    from calbench.cli import main

    said = os.open(each["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.chdir(each["folder"])
    os.setpgid(0, 0)
    _note(outside, Path(f"{each['said']}.read"))
    if each["at"]:
        strike(Path(os.devnull), each["at"], signal.SIGKILL, each["below"])
    sys.argv = ["calbench", *each["arguments"]]
    status = 0
    try:
        main.main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except Exception:  # noqa: BLE001 - as the interpreter would end
        traceback.print_exc()
        status = 70
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _ended(pids: Sequence[int]) -> Iterator[tuple[int | None, float]]:
    began = time.monotonic()
    open_ends: dict[int, tuple[int | None, float]] = {}
    while len(open_ends) < len(pids):
        for pid in pids:
            if pid in open_ends:
                continue
            done, status = os.waitpid(pid, os.WNOHANG)
            seconds = time.monotonic() - began
            if done:
                open_ends[pid] = (os.waitstatus_to_exitcode(status), seconds)
            elif seconds > GUARD_S:
                os.killpg(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                open_ends[pid] = (None, seconds)
        time.sleep(0.005)
    return iter(open_ends[pid] for pid in pids)


def main() -> None:
    """Start what is read, line by line."""
    import calbench.cli

    for each in pkgutil.iter_modules(calbench.cli.__path__):
        importlib.import_module(f"calbench.cli.{each.name}")
    outside = sys.argv[1]
    for line in sys.stdin:
        started, pids = json.loads(line), []
        for each in started:
            pid = os.fork()
            if not pid:
                _run(each, outside)
            pids.append(pid)
        answers = []
        for each, (status, seconds) in zip(started, _ended(pids), strict=True):
            read = Path(f"{each['said']}.read")
            names = read.read_text().splitlines() if read.exists() else []
            answers.append((status, seconds, names))
        print(json.dumps(answers), flush=True)


if __name__ == "__main__":
    main()
