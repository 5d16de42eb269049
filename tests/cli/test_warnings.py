"""What keeps a run's numbers from meaning what they seem to is said where they are shown."""

import csv
import io
import sys
from pathlib import Path

import pandas as pd
import pytest

from calbench.agents.scripted.reading import read_message
from calbench.cli.run import summary_tables
from calbench.config.composition import compose
from calbench.console import show, warn
from calbench.llm.completion import Completion, Request
from calbench.llm.model import Endpoint
from calbench.runs.faults import faults_of, is_nothing_read, missing_reflections
from calbench.runs.play import execute
from tests.cli.conftest import Command
from tests.cli.recording import spoken
from tests.cli.runs import SMALL

TEAMS = (
    "teams=[my-model,imap]",
    "model.name=stand-in",
    "model.api_base=http://localhost:1/v1",
    "preflight=false",
)


async def rubbish(_request: Request, _endpoint: Endpoint) -> Completion:
    return Completion(text="I would love to meet!", finish_reason="stop")


async def mute_afterwards(request: Request, endpoint: Endpoint) -> Completion:
    """Play well, and never say what it came to believe."""
    is_reflection = read_message(request.messages[-1].content).kind == "reflection"
    return await (rubbish(request, endpoint) if is_reflection else spoken(request))


@pytest.fixture(scope="module")
def unreadable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("unreadable") / "run"
    execute(compose([*SMALL, *TEAMS, f"out={out}"]), rubbish)
    return out


def rows(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="") as file:
        found = list(csv.DictReader(file))
    return {row.get("team") or row["player"]: row for row in found}


@pytest.mark.heavy
def test_model_of_which_nothing_could_be_read_has_no_score_and_says_why(
    unreadable: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = unreadable / "tables"
    replies = rows(tables / "reply_outcomes.csv")["stand-in"]
    assert replies["read"] == "0"
    for name in ("leaderboard", "players"):
        found = rows(tables / f"{name}.csv")
        assert found["stand-in"]["games"] == "3"
        assert not found["stand-in"]["coordination"]
        assert not found["stand-in"]["excess_cost"]
        assert found["imap"]["coordination"]
    show(*summary_tables(tables / "leaderboard.csv", 0.95))
    (line,) = [x for x in capsys.readouterr().out.splitlines() if "stand-in" in x]
    assert line.split() == ["stand-in", "-", "-", "-", "-", "-"]
    count = replies["replies"]
    assert (
        f"{count} of {count} replies of stand-in were unreadable (100.0%: {count} not_json); "
        "it has no score"
    ) in faults_of(tables)


@pytest.mark.heavy
def test_it_is_neither_compared_nor_rated_nor_ranked(unreadable: Path) -> None:
    tables = unreadable / "tables"
    for name in ("ratings", "ratings_unrated", "games_by_third"):
        assert "stand-in" not in (tables / f"{name}.csv").read_text()
    with (tables / "comparisons.csv").open(newline="") as file:
        pairs = list(csv.DictReader(file))
    assert {(row["verdict"], row["p"]) for row in pairs} == {("not tested", "")}
    standing = rows(tables / "standings.csv")["stand-in"]
    assert (standing["coordination_n"], standing["coordination_rank_low"]) == ("0", "")


@pytest.mark.heavy
def test_rescore_and_compare_say_it_too(unreadable: Path, command: Command, tmp_path: Path) -> None:
    again = command("rescore", str(unreadable), f"out={tmp_path / 'tables'}", *SMALL[-1:])
    assert "replies of stand-in were unreadable (100.0%" in again.err
    compared = command("compare", str(unreadable), str(unreadable), *SMALL[-1:])
    assert compared.err.count("replies of stand-in were unreadable") == 1
    assert "it has no score" in compared.err


@pytest.mark.heavy
def test_reflections_that_nobody_could_read_are_counted(tmp_path: Path) -> None:
    execute(compose([*SMALL, *TEAMS, f"out={tmp_path}"]), mute_afterwards)
    replies, reflections = faults_of(tmp_path / "tables")
    assert "replies of stand-in were unreadable" in replies
    assert "no score" not in replies
    assert "reflections of stand-in (taste-varied) could be read: agents of your own" in reflections
    assert reflections.startswith("none of ")
    assert reflections.endswith("do not rely on its VPS")


def test_reflections_of_which_few_could_be_read_are_counted() -> None:
    row = {"setting": "taste", "team": "mine", "reflections": 300, "unread": 60}
    (line,) = missing_reflections(pd.DataFrame([row]))
    assert line.startswith("60 of 300 reflections of mine (taste) were not readable (20.0%)")
    assert line.endswith("less than 90% were, so do not rely on its VPS")


def test_run_in_which_all_is_well_has_no_faults(finished: Path) -> None:
    assert faults_of(finished / "tables") == []


@pytest.mark.heavy
def test_closed_channel_of_a_protocol_is_said_before_the_games_and_after(
    command: Command, tmp_path: Path
) -> None:
    ended = command(*SMALL, "channels=participant_groupchat", f"out={tmp_path / 'run'}")
    before, after = ended.err.split("games ", 1)
    for said in (before, after):
        assert "warning: imap talks on dm, which is closed: in team imap it says nothing" in said
        assert "warning: tell-all talks on dm or all_agent_groupchat, which are closed" in said
        assert "silent talks" not in said
        assert "first-free talks" not in said
    again = command(*SMALL, "channels=all", f"out={tmp_path / 'all'}")
    assert "warning" not in again.err


def test_warning_is_red_on_a_terminal_and_plain_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    warn("half of it\x1b[2J")
    assert capsys.readouterr().err == "warning: half of it\\x1b[2J\n"

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    warn("half of it [bold]\x1b[2J")
    said = terminal.getvalue()
    assert "\x1b[1;31m" in said
    assert "half of it [bold]\\x1b[2J" in said


@pytest.mark.heavy
def test_run_in_which_nothing_could_be_read_says_what_to_do_and_is_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = compose([*SMALL, *TEAMS, f"out={tmp_path / 'run'}"])
    summary = execute(spec, rubbish)
    assert is_nothing_read(summary.tables)
    assert summary.totals.unreadable.startswith("e.g. not_json (")
    assert "I would love to meet!; hold it to JSON: " in summary.totals.unreadable
    assert "% unreadable" in capsys.readouterr().err
