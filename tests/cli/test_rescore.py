"""All tables from traces alone."""

import json
from pathlib import Path

import pytest

from calbench.analysis.scoring import facts_of
from calbench.analysis.tables import TABLES
from calbench.cli.main import answer
from tests.cli.runs import SMALL, files
from tests.factories import as_written

pytestmark = pytest.mark.heavy

SETTINGS = tuple(text for text in SMALL if text.startswith("analysis."))


def traces(run: Path) -> list[Path]:
    return sorted((run / "traces").rglob("*.json"))


def written(out: Path, *arguments: str | Path) -> dict[str, bytes]:
    assert answer(["rescore", *map(str, arguments), f"out={out}", *SETTINGS]) == 0
    return files(out)


def test_tables_of_a_run_come_out_to_the_byte(finished: Path, tmp_path: Path) -> None:
    tables = written(tmp_path / "out", finished)
    assert tables == files(finished / "tables")
    flat = {name for name in tables if not name.startswith("metrics/")}
    measured = {fact.name for fact in facts_of()} - {"chances"}  # nobody was asked
    allowed = {path for path, each in TABLES.items() if measured.issuperset(each.needs)}
    assert {*allowed, "datapackage.json", "metrics.json"} == flat
    assert {name.split("/")[2] for name in tables.keys() - flat} >= {"imap.json", "silent.json"}


def test_order_and_kind_of_arguments_do_not_matter(finished: Path, tmp_path: Path) -> None:
    shuffled = traces(finished)[::-1]
    assert written(tmp_path / "files", *shuffled) == written(
        tmp_path / "folders", *sorted((finished / "traces").iterdir())
    )


def test_its_own_tables_may_be_written_again(finished: Path, tmp_path: Path) -> None:
    first = written(tmp_path / "out", finished)
    assert written(tmp_path / "out", finished) == first


@pytest.mark.slow
def test_processes_do_not_matter(finished: Path, tmp_path: Path) -> None:
    assert written(tmp_path / "two", finished, "jobs=2") == files(finished / "tables")


def test_teams_come_in_the_order_asked_for(finished: Path, tmp_path: Path) -> None:
    tables = written(tmp_path / "out", finished, "teams=[silent,imap]")
    lines = tables["leaderboard.csv"].decode().splitlines()[1:]
    assert [line.split(",")[1] for line in lines] == ["silent", "imap", "first-free", "tell-all"]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert answer(["rescore", *map(str, arguments), *SETTINGS]) == 2
    said = [x for x in capsys.readouterr().err.splitlines() if not x.startswith("read ")]
    (line,) = said
    assert line.startswith("error: ")
    return line


def test_one_game_twice_is_refused(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = refused(capsys, finished, traces(finished)[0], f"out={tmp_path / 'out'}")
    assert "already; name one of the two" in line
    assert not (tmp_path / "out").exists()


def test_two_scenarios_of_one_name_are_refused(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(traces(finished)[0].read_bytes())
    document["scenario"]["seed"] += 1
    document["config"]["team"]["team_id"] = "another"
    (tmp_path / "other.json").write_bytes(as_written(document))
    line = refused(capsys, finished, tmp_path / "other.json", f"out={tmp_path / 'out'}")
    assert "is another scenario than in" in line


def test_a_trace_that_breaks_off_late_leaves_no_table(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(traces(finished)[0].read_bytes())
    document["events"][-1]["total_cost"] = "much"
    (tmp_path / "x.json").write_bytes(as_written(document))
    assert "total_cost" in refused(capsys, tmp_path / "x.json", f"out={tmp_path / 'out'}")
    assert files(tmp_path / "out") == {}
