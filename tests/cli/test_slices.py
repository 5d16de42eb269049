"""Slices of a cohort, played apart and scored together: the tables of one run with all of them."""

import shlex
import shutil
from pathlib import Path

import pytest

from calbench.cli.main import answer
from calbench.config.composition import compose
from calbench.runs.play import execute
from calbench.traces.storage import read_trace
from tests.cli.runs import REPO, SMALL, edited, files, rows, without_progress

pytestmark = pytest.mark.heavy

SLICES = ("careless", "gossip", "wrangler")
SHARED = ("candid", "guarded", "oversharer", "withholding")
FEW = ("suite.num_scenarios=2",)
GAMES = (
    *(word for word in SMALL if not word.startswith("suite.num_scenarios")),
    "suite.scenario.num_agents=5",
    "suite.scenario.participants_per_meeting=3",
    "limits.dm_cap=20",
    "analysis.ratings.orders=10",
    "analysis.ratings.resamples=20",
)
SETTINGS = tuple(word for word in GAMES if word.startswith("analysis."))


def played(out: Path, *words: str) -> Path:
    execute(compose([*GAMES, "suite.num_scenarios=3", *words, f"out={out}"]))
    return out


@pytest.fixture(scope="module")
def slices(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the runs of three slices, each played by itself."""
    folder = tmp_path_factory.mktemp("slices")
    return [played(folder / f"run-{name}", f"teams=[slice-{name}]") for name in SLICES]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return one run of the same three teams."""
    teams = ",".join(f"slice-{name}" for name in SLICES)
    return played(tmp_path_factory.mktemp("whole") / "run", f"teams=[{teams}]")


@pytest.fixture(scope="module")
def merged(slices: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rescored(tmp_path_factory.mktemp("merged") / "table1", *slices)


def rescored(out: Path, *runs: Path) -> Path:
    assert answer(["rescore", *map(str, runs), f"out={out}", *SETTINGS]) == 0
    return out


def test_merged_tables_are_those_of_one_run_to_the_byte(merged: Path, whole: Path) -> None:
    assert files(merged) == files(whole / "tables")


def test_a_player_of_several_slices_is_one_row_over_all_of_them(merged: Path) -> None:
    found = {row["player"]: row for row in rows(merged / "players.csv")}
    assert set(found) == {*SHARED, *SLICES}
    teams = " ".join(f"slice-{name}" for name in SLICES)
    for name, row in found.items():
        is_shared = name in SHARED
        assert row["agent_games"] == row["games"] == ("9" if is_shared else "3")
        assert row["scenarios"] == "3"
        assert row["teams"] == (teams if is_shared else f"slice-{name}")


def changed(run: Path, out: Path, *changes: tuple[tuple[str | int, ...], object]) -> Path:
    """Copy the traces of a run as they would be with other words in some places."""
    for file in sorted((run / "traces").rglob("*.json")):
        target = out / "traces" / "team" / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(edited(file.read_bytes(), *changes))
    return out


def called_mixed(slices: list[Path], folder: Path, below: str = "") -> list[Path]:
    """Copy two runs of which each then calls its team mixed, in the folders a and b."""
    name = (("config", "team", "team_id"), "mixed")
    places = (folder / place / below for place in "ab")
    return [changed(run, place, name) for run, place in zip(slices[:2], places, strict=True)]


def scored(
    capsys: pytest.CaptureFixture[str], out: Path, *runs: Path, status: int = 0
) -> list[str]:
    """Score runs together; return the warnings, or the error."""
    capsys.readouterr()
    assert answer(["rescore", *map(str, runs), f"out={out}", *SETTINGS]) == status
    said = without_progress(capsys.readouterr().err)
    return [line for line in said if line.startswith(("warning: ", "error: "))]


def test_teams_of_one_name_are_told_apart_by_their_runs(
    slices: list[Path], merged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = called_mixed(slices, tmp_path)
    (line,) = scored(capsys, tmp_path / "out", one, other, slices[2])
    assert line == "warning: team mixed has other players in some runs: here it is mixed.a, mixed.b"
    assert scored(capsys, tmp_path / "again", slices[2], other, one) == [line]
    assert files(tmp_path / "again") == files(tmp_path / "out")
    names = {"mixed.a": "slice-careless", "mixed.b": "slice-gossip"}
    boards = [rows(out / "leaderboard.csv") for out in (tmp_path / "out", merged)]
    assert [row | {"team": names.get(row["team"], row["team"])} for row in boards[0]] == boards[1]


def test_the_judge_tells_teams_of_one_name_apart_as_scoring_does(
    slices: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = called_mixed(slices, tmp_path)
    found = {}
    for out, runs in (("new", [other, one, slices[2]]), ("whole", slices)):
        assert answer(["judge", *map(str, runs), f"out={tmp_path / out}"]) == 0
        found[out] = rows(tmp_path / out / "metric_comparison.csv")
    assert "warning: team mixed has other players in some runs" in capsys.readouterr().err
    names = {"mixed.a": "slice-careless", "mixed.b": "slice-gossip"}
    new = [row | {"team": names.get(row["team"], row["team"])} for row in found["new"]]
    assert new == found["whole"]


def test_players_of_one_name_and_other_settings_are_two_rows(
    slices: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    settings = {"style": "candid", "temperature": 1}
    for file in sorted((slices[1] / "traces").rglob("*.json")):
        seats = [seat.player for seat in read_trace(file).config.team.seats]
        place = ("config", "team", "seats", seats.index("candid"), "settings")
        target = other / "traces" / "slice-gossip" / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(edited(file.read_bytes(), (place, settings)))
    (line,) = scored(capsys, tmp_path / "out", slices[0], other)
    assert "2 players are called candid, with other temperature: each has a row" in line
    found = [row for row in rows(tmp_path / "out" / "players.csv") if row["player"] == "candid"]
    assert [(row["teams"], row["agent_games"]) for row in found] == [
        ("slice-careless", "3"),
        ("slice-gossip", "3"),
    ]


def test_a_row_over_other_rules_is_named(
    slices: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = changed(slices[1], tmp_path / "other", (("config", "limits", "dm_cap"), 21))
    lines = scored(capsys, tmp_path / "out", slices[0], other)
    assert len(lines) == len(SHARED)
    assert "candid played with other limits in some teams: its row" in lines[0]
    # And the same team by other rules is another team.
    shutil.copytree(slices[1], tmp_path / "first")
    (line, *_) = scored(capsys, tmp_path / "both", tmp_path / "first", other)
    assert "team slice-gossip has other limits in some runs: here it is slice-gossip.first" in line


SECTION = (
    (REPO / "site" / "docs" / "evaluate.md").read_text().split("{#slices}")[1].split("\n## ")[0]
)
LINES = [shlex.split(line)[1:] for line in SECTION.splitlines() if line.startswith("    calbench ")]
"""Commands of the page on evaluating a model, without the program's name."""

KEYLESS = {
    "claude": "candid",
    "gemini-flash": "guarded",
    "gemini-pro": "oversharer",
    "gpt-mini": "withholding",
}
"""Who sits in the places of the shared models where nobody has a key."""


def test_commands_of_the_page_make_table_1_and_the_next_slice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    entrants = iter(SLICES)
    for words in LINES:
        more = [] if "matchmake" in words else [*(SETTINGS if "rescore" in words else GAMES + FEW)]
        if "+experiment=mixed5" in words:
            more += ["~more_suites.varied", "suite=former-uniform"]
            for name, style in {**KEYLESS, "model": next(entrants)}.items():
                place = f"teams.mixed5.players.{name}"
                more += [f"~{place}", f"+{place}={{scripted: {style}}}"]
        if "suite=varied" in words:  # the canonical suite is whole
            more += ["suite=former-varied", "subset=null"]
        named = [word.partition("=")[0] for word in more]
        assert answer([*(w for w in words if w.partition("=")[0] not in named), *more]) == 0, words
    assert sum(words[0] == "rescore" for words in LINES) == 3
    printed = capsys.readouterr().out
    assert "6 seats" in printed
    assert " 2 seats" in printed
    assert [row["team"] for row in rows(tmp_path / "table1" / "leaderboard.csv")] == [
        "mixed5-deepseek-v4-pro",
        "mixed5-llama-4-maverick",
        "mixed5-qwen3.6-plus",
    ]
    counts = {row["player"]: row["agent_games"] for row in rows(tmp_path / "table1" / "table1.csv")}
    assert counts == dict.fromkeys(SHARED, "6") | dict.fromkeys(SLICES, "2")
    # The slice that was proposed let everybody meet.
    assert {row["never_met"] for row in rows(tmp_path / "speakers/ratings_further.csv")} == {"0"}
