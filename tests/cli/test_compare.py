"""Two runs side by side."""

import json
import re
from pathlib import Path

import pytest

from calbench.analysis.run_comparison import COMPARISON_TABLES
from calbench.cli.main import answer
from calbench.config.composition import compose
from calbench.runs.play import execute
from tests.cli.runs import SMALL, files, rows
from tests.factories import as_written

SETTINGS = tuple(text for text in SMALL if text.startswith("analysis."))


def compared(*arguments: str | Path) -> int:
    return answer(["compare", *map(str, arguments), *SETTINGS])


def test_a_run_does_not_differ_from_itself(finished: Path, tmp_path: Path) -> None:
    assert compared(finished, finished, f"out={tmp_path / 'out'}") == 0
    differences = rows(tmp_path / "out" / "differences.csv")
    assert {row["team_a"] for row in differences} == {"imap", "tell-all", "first-free", "silent"}
    assert all(row["team_a"] == row["team_b"] for row in differences)
    assert {row["difference"] for row in differences} == {"0.0000", ""}
    assert set(files(tmp_path / "out")) == set(COMPARISON_TABLES)


def test_two_teams_of_one_run_differ_as_the_leaderboard_says(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert compared(finished, finished, "a=silent", "b=imap", f"out={out}") == 0
    board = {row["team"]: row for row in rows(finished / "tables" / "leaderboard.csv")}
    found = {row["measure"]: row for row in rows(out / "differences.csv")}
    for measure in ("coordination", "excess_cost", "excess_vps"):
        assert found[measure]["value_a"] == board["silent"][measure]
        assert found[measure]["value_b"] == board["imap"][measure]
    printed = capsys.readouterr().out
    assert "imap (B) minus silent (A)" in printed
    assert re.search(r"imap +3 +verified", printed)
    assert "Coordination" in printed


@pytest.mark.parametrize("name", COMPARISON_TABLES)
def test_table_of_others_stays(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / name).write_text("precious\n")
    assert compared(finished, finished, f"out={tmp_path}") == 2
    assert f"{tmp_path}: holds {name}, which is not a table of ours" in capsys.readouterr().err
    assert (tmp_path / name).read_text() == "precious\n"


def test_one_measure_is_shown_when_asked_for(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(finished, finished, "a=silent", "b=imap", "measure=coordination", "top=1") == 0
    printed = capsys.readouterr().out
    assert "Coordination" in printed
    assert "Fairness" not in printed
    assert printed.count("taste-varied-00") == 1


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of the same scenarios by agents that speak and reflect."""
    out = tmp_path_factory.mktemp("spoken") / "run"
    execute(compose([*SMALL, "teams=[candid]", f"out={out}"]))
    return out


@pytest.mark.heavy
def test_privacy_of_typed_and_of_spoken_messages_is_left_out_with_a_word(
    finished: Path, spoken: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert compared(finished, spoken, "a=imap", "b=candid", f"out={out}") == 0
    printed = capsys.readouterr()
    assert (
        "taste-varied: privacy of imap (typed messages) and of candid (reflections)" in printed.err
    )
    assert "VPS" not in printed.out
    for name in COMPARISON_TABLES:
        assert not [row for row in rows(out / name) if "vps" in row["measure"]]
    assert rows(out / "differences.csv")


@pytest.mark.heavy
def test_privacy_alone_is_refused_where_two_instruments_measured_it(
    finished: Path, spoken: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    asked = ("a=imap", "b=candid", "measure=excess_vps", f"out={out}")
    assert compared(finished, spoken, *asked) == 2
    (line,) = [x for x in capsys.readouterr().err.splitlines() if x.startswith("error")]
    assert "measured by two instruments" in line
    assert not out.exists()


def test_other_measures_of_two_instruments_are_shown_without_a_word(
    finished: Path, spoken: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(finished, spoken, "a=imap", "b=candid", "measure=messages") == 0
    assert "instruments" not in capsys.readouterr().err


def test_scenarios_that_only_share_a_name_are_left_out(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for index, path in enumerate(sorted((finished / "traces" / "imap").iterdir())):
        document = json.loads(path.read_bytes())
        document["scenario"]["seed"] += index == 0
        target = tmp_path / "other" / "imap" / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(as_written(document))
    assert compared(finished, tmp_path / "other", f"out={tmp_path / 'out'}") == 0
    assert "1 scenarios mean something else" in capsys.readouterr().err
    found = rows(tmp_path / "out" / "differences.csv")
    assert {row["team_a"] for row in found} == {"imap"}
    assert found[0]["scenarios"] == "2"
