"""Published numbers of Table 2 against suites drawn from a pool that was written by hand."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from calbench.analysis.measures import HEADLINE
from calbench.analysis.summary import SUMMARY, Runs
from calbench.analysis.summary.pool import COLUMNS, POOL
from calbench.analysis.summary.table2 import published_protocol
from calbench.errors import FileError
from calbench.facts.frames import cast
from tests.analysis.summary.written import Row, run_of, runs_of, summary_rows
from tests.studies.predictive import write_pool

HEADER = "source,setting,team,coordination,excess_cost,messages,fairness,excess_vps"

TABLES = ("table2_draws.csv", "table2_rows.csv", "table2_rises.csv", "table2_counts.csv")

SCENARIOS = 90


def published(folder: Path, *rows: str) -> Path:
    (folder / "published").mkdir(parents=True)
    (folder / "published" / "table2.csv").write_text("\n".join([HEADER, *rows, ""]))
    return folder / "published"


def pool_rows(team: str, experiment: str = "reproduction", setting: str = "uniform") -> list[Row]:
    """Return a team's part of a pool: VPS and messages constant, one meeting in ten failed.

    Excess of scenario i is i % 5 for one agent.
    """
    rows: list[Row] = []
    for number in range(SCENARIOS):
        sums = {
            "coordination": 50.0 if number % 10 == 3 else 100.0,
            "excess_cost": number % 5,
            "messages": 2.0,
            "fairness": (7 * number) % 4,
            "excess_vps": 0.3,
        }
        place = {"experiment": experiment, "setting": setting, "team": team, "scenario": number}
        counts = {f"{name}_n": 1 for name in HEADLINE}
        rows.append({**place, "tertile": ("easy", "hard", "medium")[number % 3], **sums, **counts})
    return rows


def runs_with(folder: Path, pool: Sequence[Row], *theirs: str, **names: str) -> Runs:
    """Return runs on several draws, with a pool and published rows."""
    write_pool(folder, cast(pd.DataFrame(pool), COLUMNS))
    runs = [run_of(folder, name) for name in names or ("reproduction", "reproduction-cap4")]
    made = runs_of(drawn=runs, published=published(folder, *theirs))
    return Runs(**{**vars(made), "pool": folder / POOL})


def cells(runs: Runs) -> dict[str, dict[str, str]]:
    """Return the cells of the only row, by measure."""
    return {row["measure"]: row for row in summary_rows("table2_draws.csv", runs)}


def test_numbers_like_ours_are_probable_and_others_are_not(tmp_path: Path) -> None:
    theirs = "paper,uniform,imap,95.0,2.00,,2.5,"
    found = cells(runs_with(tmp_path, pool_rows("imap"), theirs))
    assert list(found) == ["coordination", "excess_cost", "fairness"]
    assert [found[name]["mean"] for name in found] == ["95.0000", "2.0000", "1.5000"]
    assert (found["excess_cost"]["z"], found["excess_cost"]["p"]) == ("0.00", "1.0000")
    # s² (1/45 + 1/45), s² = 1.25 * 90/89: half of the pool against the other half.
    assert float(found["fairness"]["sd"]) == pytest.approx(0.237, abs=0.02)
    assert float(found["fairness"]["z"]) == pytest.approx(1 / 0.237, rel=0.1)
    assert 0.0001 <= float(found["fairness"]["p"]) < 0.001  # 4.2 standard deviations
    assert found["fairness"]["published"] == "2.5"


def test_what_the_pool_never_varies_is_told_apart(tmp_path: Path) -> None:
    pool = [*pool_rows("imap"), *pool_rows("imap", setting="varied")]
    theirs = ["paper,uniform,imap,,,2.00,,0.4", "paper,varied,imap,,,2,,0.30"]
    runs = runs_with(tmp_path, pool, *theirs)
    rows = summary_rows("table2_draws.csv", runs)
    assert [(row["setting"], row["measure"], row["constant"]) for row in rows] == [
        ("uniform", "messages", "same"),
        ("uniform", "excess_vps", "other"),
        ("varied", "messages", "same"),
        ("varied", "excess_vps", "same"),
    ]
    assert {row[name] for row in rows for name in ("sd", "z", "p")} == {""}
    lines = summary_rows("table2_rows.csv", runs)
    assert [(line["constant"], line["constant_other"], line["p"]) for line in lines] == [
        ("2", "1", ""), ("2", "0", ""),
    ]  # fmt: skip


def test_a_row_is_tested_as_a_whole(tmp_path: Path) -> None:
    theirs = "paper,uniform,imap,95.0,2.00,2.00,{},0.3"
    rows = [
        summary_rows(
            "table2_rows.csv", runs_with(tmp_path / like, pool_rows("imap"), theirs.format(like))
        )
        for like in ("2.5", "1.5")
    ]
    for (line,), below in zip(rows, ("1", "0"), strict=True):
        assert [line[name] for name in ("cells", "below", "constant")] == ["3", below, "2"]
    ((far,), (near,)) = rows
    assert 0.0001 <= float(far["p"]) < 0.005
    assert float(far["distance"]) > 3
    assert (near["distance"], near["p"]) == ("0.00", "1.0000")


def test_rules_of_the_published_games_are_told_from_variants_and_counted(tmp_path: Path) -> None:
    pool = [
        *pool_rows("imap"),
        *pool_rows("dsm-welfare"),
        *pool_rows("dsm-welfare-single"),
        *pool_rows("sd-map"),
        *pool_rows("sd-map", "reproduction-cap4"),
        *pool_rows("silent"),
        *pool_rows("imap", "elsewhere"),
        *pool_rows("imap", setting="varied"),
    ]
    theirs = [
        "paper,uniform,sd-map,,2.0,,,",
        "paper,uniform,dsm-welfare,,9.0,,,",
        "paper,uniform,imap,,9.0,,,",
        "paper,varied,imap,,2.0,,,",
    ]
    runs = runs_with(tmp_path, pool, *theirs)
    rows = summary_rows("table2_draws.csv", runs)
    names = ("setting", "experiment", "team", "plays_as")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("uniform", "reproduction", "sd-map", "rules"),
        ("uniform", "reproduction-cap4", "sd-map", "variant"),
        ("uniform", "reproduction", "dsm-welfare-single", "rules"),
        ("uniform", "reproduction", "dsm-welfare", "variant"),
        ("uniform", "reproduction", "imap", "rules"),
        ("varied", "reproduction", "imap", "rules"),
    ]
    counts = summary_rows("table2_counts.csv", runs)
    shown = ("plays_as", "rows", "rows_below", "cells", "below", "expected")
    assert [tuple(row[name] for name in shown) for row in counts] == [
        ("rules", "4", "2", "4", "2", "0.2000"),
        ("variant", "2", "1", "2", "1", "0.1000"),
    ]


def test_rises_are_between_the_halves_of_the_same_row(tmp_path: Path) -> None:
    dearer = [
        {**row, "excess_cost": 3 * float(str(row["excess_cost"]))}
        for row in pool_rows("imap", setting="varied")
    ]
    theirs = ["paper,uniform,imap,,2.0,2.0,,", "paper,varied,imap,,5.0,2.0,,"]
    runs = runs_with(tmp_path, [*pool_rows("imap"), *dearer], *theirs)
    (rise,) = summary_rows("table2_rises.csv", runs)
    names = ("experiment", "team", "measure", "published", "mean")
    assert [rise[name] for name in names] == [
        "reproduction", "imap", "excess_cost", "3.0000", "4.0000",
    ]  # fmt: skip
    # Independent suites: s² of excess is 2 * 90/89, three times as wide in the varied half.
    assert float(rise["sd"]) == pytest.approx((2 * 90 / 89 * 10 * 2 / 45) ** 0.5, rel=0.05)
    assert float(rise["z"]) == pytest.approx(-1 / float(rise["sd"]), abs=0.02)
    assert 0.2 < float(rise["p"]) < 0.45


def test_numbers_of_a_changed_pool_are_not_those_before(tmp_path: Path) -> None:
    runs = runs_with(tmp_path, pool_rows("imap"), "paper,uniform,imap,,2.0,,,")
    assert cells(runs)["excess_cost"]["mean"] == "2.0000"
    changed = [{**row, "excess_cost": 9} for row in pool_rows("imap")]
    write_pool(tmp_path, cast(pd.DataFrame(changed), COLUMNS))
    assert cells(runs)["excess_cost"]["constant"] == "other"


def test_a_variant_is_called_after_its_protocol() -> None:
    names = pd.Series(["dsm", "dsm-welfare", "imap"])
    assert published_protocol("dsm-welfare-single", names) == "dsm-welfare"
    assert published_protocol("dsm-private", names) == "dsm"
    assert published_protocol("imap", names) == "imap"
    assert published_protocol("imaps", names) is None
    assert published_protocol("my-imap", names) is None


@pytest.mark.parametrize("path", TABLES)
def test_without_draws_pool_or_published_numbers_there_is_no_table(
    tmp_path: Path, path: str
) -> None:
    run = run_of(tmp_path, "reproduction")
    theirs = published(tmp_path, "paper,uniform,imap,,0.5,,,")
    for given in ({"drawn": [run]}, {"published": theirs}, {"drawn": [run], "published": theirs}):
        assert len(SUMMARY[path].make(runs_of(**given)).columns) == 0


@pytest.mark.parametrize(
    ("printed", "problem"),
    [
        ("much", "'much' where a number"),
        ("NaN", "a finite number"),
        ("Infinity", "a finite number"),
    ],
)
def test_what_is_no_number_is_refused(tmp_path: Path, printed: str, problem: str) -> None:
    runs = runs_with(tmp_path, pool_rows("imap"), f"paper,uniform,imap,,{printed},,,")
    with pytest.raises(FileError, match=problem):
        cells(runs)
