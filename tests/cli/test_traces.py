"""Runs in shards: every command finds in them what it finds in files."""

import json
import shutil
from pathlib import Path

import pytest

from calbench import read_run
from calbench.config.composition import compose
from calbench.engine.jobs import unfinished
from calbench.errors import OutputError
from calbench.runs.play import execute, load_suites, planned
from tests.cli.conftest import Command
from tests.cli.runs import SMALL, files

GAME = "imap/taste-varied-001"


@pytest.fixture(scope="module")
def sharded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the finished run, played in shards."""
    out = tmp_path_factory.mktemp("sharded") / "run"
    execute(compose([*SMALL, "traces.format=shards", f"out={out}"]))
    return out


def test_run_in_shards_has_the_tables_of_one_in_files(finished: Path, sharded: Path) -> None:
    assert files(sharded / "tables") == files(finished / "tables")
    assert [path.name for path in (sharded / "traces").iterdir()] == ["00000.jsonl.zst"]


@pytest.mark.heavy
def test_run_goes_on_in_its_form_whatever_is_asked_for(sharded: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(sharded, tmp_path / "run"))
    before = files(run)
    summary = execute(compose([*SMALL, f"out={run}"]))
    assert (summary.played, summary.kept) == (0, 12)
    assert files(run) == before


@pytest.mark.heavy
def test_run_plays_only_what_a_cut_shard_lost(sharded: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    execute(compose([*SMALL, "traces.format=shards", "subset=1", f"out={run}"]))
    execute(compose([*SMALL, f"out={run}"]))  # its games are in a frame behind that of the first
    shard = run / "traces/00000.jsonl.zst"
    shard.write_bytes(shard.read_bytes()[:-100])
    summary = execute(compose([*SMALL, f"out={run}"]))
    assert summary.played > 0
    assert summary.kept > 0
    assert summary.played + summary.kept == 12
    assert files(run / "tables") == files(sharded / "tables")


def test_run_of_other_games_is_refused_by_the_heads(sharded: Path) -> None:
    spec = compose([*SMALL, "limits.max_turns_per_round=3", f"out={sharded}"])
    jobs = planned(spec, load_suites(spec.suites))
    with pytest.raises(OutputError, match="holds another game"):
        unfinished(jobs)


@pytest.mark.heavy
@pytest.mark.parametrize(
    "arguments",
    [("rescore", "{run}"), ("judge", "{run}"), ("compare", "{run}", "{run}", "a=imap", "b=silent")],
    ids=lambda arguments: arguments[0],
)
def test_commands_write_the_same_tables(
    command: Command, finished: Path, sharded: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    written: list[dict[str, bytes]] = []
    for run in (finished, sharded):
        out = tmp_path / str(len(written))
        ended = command(*(word.format(run=run) for word in arguments), f"out={out}")
        assert ended.status == 0
        written.append(files(out))
    assert written[0]
    assert written[0] == written[1]


def test_every_game_is_verified_and_one_by_its_path(command: Command, sharded: Path) -> None:
    assert "12 of 12 traces hold" in command("verify", str(sharded)).out
    one = command("verify", f"{sharded}/traces/{GAME}.json")
    assert "1 of 1 traces hold" in one.out
    missing = command("verify", f"{sharded}/traces/imap/none.json")
    assert missing.status == 2
    assert "none.json: cannot be read" in missing.err


def test_messages_and_events_are_those_of_files(finished: Path, sharded: Path) -> None:
    for read in ("messages", "events"):
        ours, theirs = (getattr(read_run(run), read)() for run in (sharded, finished))
        assert ours.equals(theirs)
    assert len(read_run(sharded / "traces").events()) > 0


def test_games_are_listed_in_both_forms(command: Command, finished: Path, sharded: Path) -> None:
    lists = [
        json.loads(command("traces", "ls", str(run), "--json").out) for run in (finished, sharded)
    ]
    assert lists[0]["games"] == lists[1]["games"]
    assert lists[0]["size"] == lists[1]["size"] == lists[0]["stored"]
    assert lists[1]["stored"] < lists[1]["size"] / 5
    shown = command("traces", "ls", str(sharded)).out.splitlines()
    assert len(shown) == 13
    assert "12 games, 0 halted" in shown[-1]


def test_packed_and_unpacked_are_the_games_again(
    command: Command, finished: Path, sharded: Path, tmp_path: Path
) -> None:
    assert command("traces", "pack", str(finished), f"out={tmp_path}/a").status == 0
    assert command("traces", "pack", str(sharded), f"out={tmp_path}/b").status == 0
    assert command("traces", "unpack", f"{tmp_path}/a", f"out={tmp_path}/c").status == 0
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert files(tmp_path / "c") == files(finished / "traces")
    again = command("traces", "pack", str(finished), f"out={tmp_path}/a")
    assert again.status == 2
    assert "is there already" in again.err


def test_game_is_printed_to_the_byte(command: Command, finished: Path, sharded: Path) -> None:
    expected = (finished / f"traces/{GAME}.json").read_text()
    for name in (GAME, f"{GAME}.json"):
        assert command("traces", "cat", str(sharded), name).out == expected
    every = command("traces", "cat", str(sharded), "--all").out
    assert len(every.splitlines()) == 12
    assert expected in every
