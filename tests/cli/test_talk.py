"""What commands say: bars and colours on a terminal, plain lines elsewhere, one line if quiet."""

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from calbench.cli.program import QUIET, program
from calbench.console import is_quiet, progress, quiet, say, tell, verdict, warn
from calbench.pool import workers
from tests.cli.conftest import Command
from tests.cli.runs import REPO, SMALL, edited, environment, without_progress
from tests.cli.test_replies import store

MODEL = ("teams=[my-model]", "model=gpt-5.4-mini")
MESSAGE = {"text": "Slot 4 is fine.", "labels": []}

BAR, COLOUR, GREEN, RED = "━━━", "\x1b[32m", "\x1b[1;32m", "\x1b[1;31m"


def on_terminal(*arguments: str, **changes: str) -> tuple[int, str]:
    """Run the command on a terminal of its own; return its status and all that was shown."""
    ours, theirs = pty.openpty()
    names = {"TERM": "xterm", "COLUMNS": "100"} | changes
    plain = {key: value for key, value in environment().items() if key != "NO_COLOR"}
    with subprocess.Popen(
        [sys.executable, "-m", "calbench", *arguments],
        cwd=REPO,
        env=plain | names,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    return process.returncode, shown.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that the process has closed its terminal
        return b""


def last_line(shown: str) -> str:
    return re.split(r"[\r\n]+", shown.rstrip("\r\n"))[-1]


@pytest.fixture
def broken(finished: Path, tmp_path: Path) -> str:
    """A folder with one trace that holds and one that does not."""
    good, bad = sorted((finished / "traces").rglob("*.json"))[:2]
    (tmp_path / good.name).write_bytes(good.read_bytes())
    (tmp_path / bad.name).write_bytes(edited(bad.read_bytes(), (("game_id",), "0" * 16)))
    return str(tmp_path)


# --- on a terminal


@pytest.mark.heavy
def test_terminal_shows_bars_with_counts_and_times_and_a_green_verdict(tmp_path: Path) -> None:
    status, shown = on_terminal(*SMALL, f"out={tmp_path / 'run'}")
    assert status == 0
    for task in ("games", "measured", "tables"):
        assert re.search(rf"{task} +\x1b.*{BAR}.*\d+/\d+.*\d:\d\d:\d\d.* < ", shown)
    assert "games 3/12" not in re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert last_line(shown).startswith(f"{GREEN}12 games played, 0 kept from before: ")


@pytest.mark.heavy
def test_verdict_is_red_where_a_check_fails(broken: str) -> None:
    status, shown = on_terminal("verify", broken)
    assert (status, last_line(shown)) == (1, f"{RED}1 of 2 traces hold\x1b[0m")
    assert "error: " in shown


@pytest.mark.heavy
def test_terminal_that_cannot_draw_gets_plain_lines(finished: Path) -> None:
    _, shown = on_terminal("verify", str(finished), TERM="dumb")
    assert "\x1b" not in shown
    assert shown.splitlines()[-2:] == ["verified 12/12", "12 of 12 traces hold"]


# --- elsewhere


@pytest.mark.parametrize("total", [*range(1, 12), 45, 5044])
def test_plain_progress_is_a_line_a_quarter_and_ends_complete(
    total: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress("games", total, state=lambda: "US$ 0.42 of 15.00") as tick:
        for _ in range(total):
            tick("imap")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == min(total, 4)
    assert lines[-1] == f"games {total}/{total} imap, US$ 0.42 of 15.00"


def test_progress_of_nothing_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("games", 0):
        pass
    assert capsys.readouterr() == ("", "")


def test_control_characters_reach_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    for print_line in (tell, say, warn, verdict):
        print_line("a\x1b[2Jb\nc")
    said = capsys.readouterr()
    assert said.out == "a\\x1b[2Jb\\nc\n" * 2
    assert said.err == "a\\x1b[2Jb\\nc\nwarning: a\\x1b[2Jb\\nc\n"


# --- quiet


def test_quiet_leaves_warnings_and_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    with quiet():
        with progress("games", 1) as tick:
            tick()
        tell("Tables   here")
        say("play it with")
        verdict("for programs", is_beside=True)
        warn("unreadable")
        verdict("done")
    assert capsys.readouterr() == ("done\n", "warning: unreadable\n")
    assert not is_quiet()


def commands(group: click.Group = program) -> Iterator[click.Command]:
    yield group
    for command in group.commands.values():
        if isinstance(command, click.Group):
            yield from commands(command)
        else:
            yield command


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.name)
def test_every_command_can_be_quiet(command: click.Command) -> None:
    assert any(param.opts == list(QUIET) for param in command.params)


@pytest.fixture
def places(finished: Path, tmp_path: Path) -> dict[str, str]:
    """What commands need, by the name of it in their arguments below."""
    messages = tmp_path / "messages.jsonl"
    messages.write_text(json.dumps(MESSAGE))
    return {
        "RUN": str(finished),
        "OUT": str(tmp_path / "out"),
        "STORE": store(tmp_path / "one.sqlite", "a", "b"),
        "MESSAGES": str(messages),
    }


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        pytest.param(
            [*SMALL, "out=OUT"], "12 games played, 0 kept from before: OUT", marks=pytest.mark.heavy
        ),
        (["estimate", *SMALL, *MODEL, "out=OUT"], "3 games with models to play, about .* US\\$ .*"),
        (["verify", "RUN"], "12 of 12 traces hold"),
        (["audit", "MESSAGES", "OUT"], "1 messages audited: OUT"),
        pytest.param(
            ["rescore", "RUN", "out=OUT", SMALL[-1]],
            "12 games scored: OUT/leaderboard.csv .*",
            marks=pytest.mark.heavy,
        ),
        (["compare", "RUN", "RUN", "a=imap", "b=silent"], "No difference is shown .*"),
        (["judge", "RUN", "out=OUT", SMALL[-1]], r"\d+ cases judged, 0 unread: OUT/metric_.*"),
        (["replies", "export", "STORE", "OUT"], "2 replies added: OUT"),
        (["replies", "merge", "OUT", "STORE"], "2 replies added: OUT"),
        (["replies", "stats", "STORE"], "2 replies, .* USD"),
        (["traces", "pack", "RUN", "out=OUT"], "12 games packed: OUT"),
        (["traces", "unpack", "RUN", "out=OUT"], "12 games unpacked: OUT/<team>/<scenario>.json"),
    ],
    ids=lambda value: "-".join(value[:2]) if isinstance(value, list) else "",
)
@pytest.mark.parametrize("is_first", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_quiet_command_says_one_line(
    command: Command, places: dict[str, str], arguments: list[str], line: str, *, is_first: bool
) -> None:
    for name, place in places.items():
        arguments = [argument.replace(name, place) for argument in arguments]
        line = line.replace(name, re.escape(place))
    ended = command(*(["-q", *arguments] if is_first else [*arguments, "--quiet"]))
    assert (ended.status, ended.err) == (0, "")
    assert re.fullmatch(line + "\n", ended.out)


def test_quiet_command_prints_what_is_for_programs(
    command: Command, places: dict[str, str]
) -> None:
    ended = command("-q", "audit", places["MESSAGES"])
    assert (ended.status, ended.err) == (0, "")
    assert json.loads(ended.out)["text"] == MESSAGE["text"]
    loud = command("audit", places["MESSAGES"])
    assert loud.out == ended.out
    assert without_progress(loud.err) == ["1 messages audited"]


def test_quiet_command_says_its_errors_and_keeps_its_status(command: Command, broken: str) -> None:
    ended = command("verify", "-q", broken)
    assert (ended.status, ended.out) == (1, "1 of 2 traces hold\n")
    (line,) = ended.err.splitlines()
    assert line.startswith("error: ")
    mistaken = command("-q", "job=1")
    assert (mistaken.status, mistaken.out) == (2, "")
    assert mistaken.err == command("job=1").err


def test_hydra_is_not_told(command: Command) -> None:
    plain = command("--cfg", "job")
    assert command("-q", "--cfg", "job") == command("--cfg", "job", "-q") == plain


@pytest.mark.slow
def test_quiet_sweep_says_one_line(command: Command, tmp_path: Path) -> None:
    ended = command("-mq", *SMALL, "suite.seed=0,1", f"out={tmp_path / 'sweep'}")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == f"2 jobs: {tmp_path / 'sweep'}/leaderboard.csv has all, with intervals\n"


@pytest.mark.heavy
def test_worker_processes_leave_the_talk_to_their_parent() -> None:
    with workers(2) as pool:
        assert pool is not None
        assert pool.executor.submit(is_quiet).result()
    assert not is_quiet()
