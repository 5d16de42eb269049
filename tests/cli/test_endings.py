"""How the command ends: its exit statuses, Ctrl-C at any moment, and a reader that has enough."""

import os
import re
import signal
import time
from pathlib import Path

import pytest

from calbench.cli.main import status_of
from calbench.cli.words import Status
from calbench.errors import ConfigError, StoppedError
from tests.cli.conftest import Command
from tests.cli.runs import SMALL, python, started, without_progress
from tests.effort import GUARD_S

INTERRUPTED_AT = """
import builtins, os, signal, sys

found = builtins.__import__

def stopping(name, *rest, **more):
    if name == {module!r}:
        builtins.__import__ = found
        os.kill(os.getpid(), signal.{name})
    return found(name, *rest, **more)

builtins.__import__ = stopping
sys.argv[1:] = {arguments!r}
from calbench.cli.main import main
main()
"""
"""A process that is interrupted where it begins to import a module."""


STOPPED = "Stopped before anything was done; the same command starts again\n"


def refusing() -> int:
    raise ConfigError("no such team")


def stopped() -> int:
    raise StoppedError("Stopped: 3 of 4 games")


def test_status_is_what_the_command_returns_or_that_of_its_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert status_of(lambda: Status.EXCLUDED) == 3
    assert status_of(refusing) == 2
    assert capsys.readouterr() == ("", "error: no such team\n")
    assert status_of(stopped) == 130
    assert capsys.readouterr() == ("", "Stopped: 3 of 4 games\n")


def test_every_status_is_explained(command: Command) -> None:
    said = command("help", "status").out.split("Exit status:\n")[1]
    told = [int(number) for number in re.findall(r"^  (\d+) ", said, re.MULTILINE)]
    assert told == [status for status in Status if status is not Status.PIPE_CLOSED]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("calbench.cli.program", ["--help"]),
        ("click", ["--help"]),
        ("hydra", SMALL),
        ("calbench.runs.play", SMALL),
        ("pandas", ["rescore", "x", "out=y"]),
        ("calbench.release.copies", ["prove"]),
    ],
)
def test_interrupt_is_one_line_whatever_is_being_imported(
    module: str, arguments: tuple[str, ...]
) -> None:
    code = INTERRUPTED_AT.format(module=module, arguments=list(arguments), name="SIGINT")
    ended = python("-c", code)
    assert (ended.status, ended.out) == (130, "")
    assert ended.err == STOPPED


@pytest.mark.heavy
@pytest.mark.parametrize(("name", "status"), [("SIGTERM", 143), ("SIGHUP", 129)])
@pytest.mark.parametrize("module", ["click", "calbench.runs.play"])
def test_system_and_closed_terminal_end_it_as_ctrl_c_does(
    module: str, name: str, status: int
) -> None:
    code = INTERRUPTED_AT.format(module=module, arguments=list(SMALL), name=name)
    ended = python("-c", code)
    assert (ended.status, ended.out, ended.err) == (status, "", STOPPED)


NOTED = """
import os, signal
from calbench.console import noting_interrupt, stopped_status

with noting_interrupt(lambda: "Stopped twice") as is_noted:
    assert not is_noted()
    os.kill(os.getpid(), signal.SIGTERM)
    assert is_noted()
    assert stopped_status() == 143
    os.kill(os.getpid(), signal.SIGHUP)
"""


def test_first_signal_is_noted_and_the_second_ends_at_once() -> None:
    ended = python("-c", NOTED)
    assert (ended.status, ended.err) == (129, "Stopped twice\n")


@pytest.mark.heavy
@pytest.mark.parametrize(
    "name", ["SIGTERM", *(pytest.param(n, marks=pytest.mark.slow) for n in ("SIGINT", "SIGHUP"))]
)
def test_processes_of_a_command_say_nothing_when_a_signal_ends_it(
    finished: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "out"
    process = started("rescore", str(finished), f"out={out}", "jobs=2")
    while process.poll() is None and not (out / ".facts").exists():
        time.sleep(0.002)
    os.killpg(process.pid, getattr(signal, name))
    said, errors = process.communicate(timeout=GUARD_S)
    assert (process.returncode, said) == (128 + getattr(signal, name), "")
    assert without_progress(errors) == [STOPPED.strip()]
    assert not list(tmp_path.rglob(".*"))


def piped(*arguments: str, lines: int) -> tuple[int, str]:
    """Read some lines of what a command says and close the pipe; return its status and errors."""
    with started(*arguments) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for _ in range(lines):
            process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
    return process.returncode, errors


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("arguments", "lines"),
    [(["--help"], 0), (["--version"], 0), (["--cfg", "job"], 0), (["--cfg", "job"], 1)],
)
def test_closed_pipe_is_no_error(arguments: list[str], lines: int) -> None:
    status, errors = piped(*arguments, lines=lines)
    assert status in {0, 141}
    assert errors == ""


@pytest.mark.heavy
def test_run_into_a_closed_pipe_writes_its_tables_without_a_word(tmp_path: Path) -> None:
    status, errors = piped(*SMALL, f"out={tmp_path / 'run'}", lines=0)
    assert status == 141
    assert "Traceback" not in errors
    assert "Exception" not in errors
    assert (tmp_path / "run" / "tables" / "leaderboard.csv").is_file()
