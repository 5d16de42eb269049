"""Where numbers of others lie among ours: every digit that they print counts, and no more."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from calbench.analysis.summary import SUMMARY, RunTables
from calbench.analysis.summary.table2 import published_protocol
from calbench.errors import FileError
from tests.analysis.summary.written import Row, run_of, runs_of, summary_rows

HEADER = "source,setting,team,coordination,excess_cost,messages,fairness,excess_vps"


def published(folder: Path, *rows: str) -> Path:
    (folder / "published").mkdir()
    (folder / "published" / "table2.csv").write_text("\n".join([HEADER, *rows, ""]))
    return folder / "published"


def drawn(team: str, measure: str, least: float, greatest: float, setting: str = "uniform") -> Row:
    return {
        "setting": setting,
        "team": team,
        "suites": 3,
        "measure": measure,
        "mean": (least + greatest) / 2,
        "least": least,
        "greatest": greatest,
    }


def board(seed: int, low: float | None, high: float | None, team: str = "imap") -> Row:
    return {
        "setting": f"uniform-seed{seed}",
        "team": team,
        "excess_cost_low": low,
        "excess_cost_high": high,
    }


def reproduction(folder: Path, draws: Sequence[Row], leaderboard: Sequence[Row] = ()) -> RunTables:
    return run_of(folder, "reproduction", draws=draws, leaderboard=leaderboard)


def place(folder: Path, printed: str, *boards: Row) -> str:
    """Return where a printed excess cost lies among our 0.2650 to 0.3000."""
    run = reproduction(folder, [drawn("imap", "excess_cost", 0.265, 0.3)], boards)
    theirs = published(folder, f"paper,uniform,imap,,{printed},,,")
    (row,) = summary_rows("table2_places.csv", runs_of(drawn=[run], published=theirs))
    assert (row["least"], row["greatest"]) == ("0.2650", "0.3000")
    assert row["published"] == printed
    return row["place"]


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ("0.28", "among ours"),
        ("0.2650", "among ours"),
        ("0.3000", "among ours"),
        ("0.26", "among ours"),  # known to half a hundredth: it may be 0.265
        ("0.260", "below ours"),
        ("0.264", "below ours"),
        ("0.2649", "below ours"),
        ("0.26495", "below ours"),
        ("0.30", "among ours"),
        ("0.3004", "above ours"),
        ("0.30005", "above ours"),
        ("0.3", "among ours"),
        ("0.305", "above ours"),
        ("0.31", "above ours"),
        ("0", "among ours"),  # known to half of one
        ("1", "above ours"),
        ("-0.3", "below ours"),
    ],
)
def test_a_number_is_known_to_half_of_its_last_digit(
    tmp_path: Path, printed: str, found: str
) -> None:
    assert place(tmp_path, printed) == found


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ("0.24", "in an interval"),
        ("0.2300", "in an interval"),
        ("0.2299", "below ours"),
        ("0.22", "below ours"),
        ("0.3200", "in an interval"),
        ("0.33", "above ours"),
        ("0.27", "among ours"),
    ],
)
def test_a_number_may_lie_in_the_interval_of_a_single_suite(
    tmp_path: Path, printed: str, found: str
) -> None:
    boards = [board(1, 0.23, 0.25), board(2, None, None), board(30, 0.29, 0.32)]
    assert place(tmp_path, printed, *boards) == found


def test_intervals_of_other_teams_and_settings_do_not_count(tmp_path: Path) -> None:
    other = {**board(1, 0.0, 9.0), "setting": "varied-seed1"}
    whole = {**board(1, 0.0, 9.0), "setting": "uniform"}
    assert place(tmp_path, "0.24", board(1, 0.0, 9.0, team="sd-map"), other, whole) == "below ours"


def test_fairness_stands_twice_and_over_ties_in_no_interval(tmp_path: Path) -> None:
    interval = {"fairness_low": 0.0, "fairness_high": 9.0}
    run = reproduction(
        tmp_path,
        [
            drawn("imap", "fairness", 0.5, 0.6),
            drawn("imap", "fairness_least", 0.3, 0.45),
            drawn("imap", "fairness_greatest", 0.7, 0.8),
        ],
        [{**board(1, None, None), **interval}],
    )
    theirs = published(tmp_path, "paper,uniform,imap,,,,0.75,", "release,uniform,imap,,,,0.95,")
    rows = summary_rows("table2_places.csv", runs_of(drawn=[run], published=theirs))
    names = ("source", "measure", "least", "greatest", "place")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("paper", "fairness", "0.5000", "0.6000", "in an interval"),
        ("paper", "fairness_over_ties", "0.3000", "0.8000", "among ours"),
        ("release", "fairness", "0.5000", "0.6000", "in an interval"),
        ("release", "fairness_over_ties", "0.3000", "0.8000", "above ours"),
    ]


def test_over_ties_needs_both_ends(tmp_path: Path) -> None:
    run = reproduction(tmp_path, [drawn("imap", "fairness_least", 0.3, 0.45)])
    theirs = published(tmp_path, "paper,uniform,imap,,,,0.4,")
    assert SUMMARY["table2_places.csv"].make(runs_of(drawn=[run], published=theirs)).empty


def test_rows_stand_in_the_order_of_the_published_table(tmp_path: Path) -> None:
    run = reproduction(
        tmp_path,
        [
            drawn(team, "excess_cost", 0.0, 1.0, setting)
            for setting in ("uniform", "varied")
            for team in ("dsm-welfare-single", "dsm", "imap", "silent", "dsm-welfare")
        ],
    )
    capped = run_of(
        tmp_path, "capped", draws=[drawn("imap", "excess_cost", 2.0, 3.0)], leaderboard=[]
    )
    theirs = published(
        tmp_path,
        "paper,uniform,imap,,0.5,,,",
        "paper,uniform,dsm-welfare,,7,,,",
        "release,uniform,imap,,2.5,,,",
        "paper,varied,dsm-welfare,99.9,1.5,,,",
    )
    given = runs_of(drawn=[run, capped], published=theirs)
    table2 = summary_rows("table2.csv", given)
    assert [(row["experiment"], row["setting"], row["team"]) for row in table2] == [
        ("reproduction", "uniform", "imap"),
        ("capped", "uniform", "imap"),
        ("reproduction", "uniform", "dsm-welfare-single"),
        ("reproduction", "uniform", "dsm-welfare"),
        ("reproduction", "varied", "imap"),
        ("reproduction", "varied", "dsm-welfare-single"),
        ("reproduction", "varied", "dsm-welfare"),
    ]
    assert {row["suites"] for row in table2} == {"3"}
    names = ("source", "setting", "published_team", "experiment", "team", "published", "place")
    places = summary_rows("table2_places.csv", given)
    assert [tuple(row[name] for name in names) for row in places] == [
        ("paper", "uniform", "imap", "reproduction", "imap", "0.5", "among ours"),
        ("release", "uniform", "imap", "reproduction", "imap", "2.5", "above ours"),
        ("paper", "uniform", "imap", "capped", "imap", "0.5", "below ours"),
        ("release", "uniform", "imap", "capped", "imap", "2.5", "among ours"),
        (
            "paper",
            "uniform",
            "dsm-welfare",
            "reproduction",
            "dsm-welfare-single",
            "7",
            "above ours",
        ),
        ("paper", "uniform", "dsm-welfare", "reproduction", "dsm-welfare", "7", "above ours"),
        (
            "paper",
            "varied",
            "dsm-welfare",
            "reproduction",
            "dsm-welfare-single",
            "1.5",
            "above ours",
        ),
        ("paper", "varied", "dsm-welfare", "reproduction", "dsm-welfare", "1.5", "above ours"),
    ]


def test_a_variant_is_called_after_its_protocol() -> None:
    names = pd.Series(["dsm", "dsm-welfare", "imap"])
    assert published_protocol("dsm-welfare-single", names) == "dsm-welfare"
    assert published_protocol("dsm-private", names) == "dsm"
    assert published_protocol("imap", names) == "imap"
    assert published_protocol("imaps", names) is None
    assert published_protocol("my-imap", names) is None


@pytest.mark.parametrize("path", ["table2.csv", "table2_places.csv"])
def test_without_draws_or_published_numbers_there_is_no_table(tmp_path: Path, path: str) -> None:
    run = reproduction(tmp_path, [drawn("imap", "excess_cost", 0.0, 1.0)])
    theirs = published(tmp_path, "paper,uniform,imap,,0.5,,,")
    for given in (runs_of(drawn=[run]), runs_of(published=theirs)):
        assert len(SUMMARY[path].make(given).columns) == 0


@pytest.mark.parametrize(
    ("printed", "problem"),
    [
        ("much", "'much' where a number"),
        ("NaN", "a finite number"),
        ("Infinity", "a finite number"),
    ],
)
def test_what_is_no_number_is_refused(tmp_path: Path, printed: str, problem: str) -> None:
    with pytest.raises(FileError, match=problem):
        place(tmp_path, printed)
