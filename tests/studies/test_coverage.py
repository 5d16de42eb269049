"""Kept coverage of intervals: what the code makes from the kept populations, and the goal."""

from collections.abc import Iterable

import pandas as pd
import pytest

from calbench.stats.intervals import FEWEST_UNITS
from tests.cli.runs import REPO
from tests.studies import coverage
from tests.studies import statistic_coverage as statistics

CELLS, OTHERS = (pd.read_csv(REPO / path) for path in (coverage.CELLS, statistics.CELLS))
"""Of means, and of other statistics."""

EQUALITIES = pd.read_csv(REPO / statistics.EQUALITIES)
KEYS = ["kind", "measure", "setting", "team", "scenarios"]


def populations() -> list[coverage.Pool]:
    return coverage.pools(pd.read_csv(REPO / coverage.POOLS))


def assert_kept(found: Iterable[coverage.Cell], cells: pd.DataFrame) -> None:
    made = pd.DataFrame(found).round(coverage.DIGITS)
    kept = cells.merge(made[KEYS]).reset_index(drop=True)
    pd.testing.assert_frame_equal(made, kept, check_dtype=False, atol=2e-6)


def test_every_population_and_size_is_kept() -> None:
    expected = [(*pool[:4], size) for pool in populations() for size in pool.sizes]
    assert [tuple(row) for row in CELLS[KEYS].itertuples(index=False)] == expected
    assert set(OTHERS["kind"]) == {"agreement", "rank correlation"}


def test_what_is_shown_holds_the_truth_as_often_as_it_must() -> None:
    for cells in (CELLS, OTHERS):
        failing = cells["coverage"] + 2 * cells["error"] < coverage.GOAL
        assert not failing[cells["scenarios"] >= 45].any()  # those of published suites
        assert failing.mean() < 0.01
    assert (CELLS.loc[CELLS["scenarios"] < FEWEST_UNITS, "shown"] == 0).all()
    nearly = CELLS[(CELLS["measure"] == "coordination") & (CELLS["team"] == "imap")]
    assert (nearly.loc[nearly["scenarios"] >= FEWEST_UNITS, "shown"] == 1).all()
    is_correlation = OTHERS["measure"].str.contains("pearson")
    assert (OTHERS.loc[is_correlation & (OTHERS["scenarios"] < 180), "shown"] == 0).all()


def test_the_published_summaries_are_those_of_the_cells() -> None:
    whole = pd.concat([CELLS, OTHERS], ignore_index=True)
    for found, kept in (
        (coverage.by_kind(whole), statistics.KINDS),
        (statistics.errors(EQUALITIES), statistics.ERRORS),
    ):
        expected = pd.read_csv(REPO / kept)
        pd.testing.assert_frame_equal(
            found.round(coverage.DIGITS), expected, check_dtype=False, atol=2e-6
        )


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("measure", "team", "size"),
    [
        ("coordination", "imap", 45),
        ("excess_vps", "sd-map", 8),
        ("messages", "dsm-private", 4),
        ("semantic_label_leakage", "oversharer", 15),
        ("fairness", "imap - sd-map", 5),
        ("vps_beyond_chance", "smollm2", 12),
        ("excess_vps", "candid - guarded", 9),
    ],
)
def test_kept_coverage_is_what_the_code_makes(measure: str, team: str, size: int) -> None:
    for pool in populations():
        if (pool.measure, pool.team) == (measure, team):
            assert_kept([coverage.cell(pool, size)], CELLS)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("team", "measure", "setting"), [("guarded", "cell", "uniform"), ("candid", "movement", "all")]
)
def test_kept_agreement_is_what_the_code_makes(team: str, measure: str, setting: str) -> None:
    pools = statistics.agreements(pd.read_csv(REPO / statistics.AGREEMENT))
    (pool,) = (each for each in pools if each[:3] == (setting, team, measure))
    assert_kept(statistics.agreement_cells(pool), OTHERS)


@pytest.mark.heavy
def test_kept_ranks_are_what_the_code_makes() -> None:
    pools = statistics.ranks(pd.read_csv(REPO / statistics.RANKS))
    (pool,) = (
        each for each in pools if each[:3] == ("oracle_cost, excess_cost", "uniform", "sd-map")
    )
    assert_kept(statistics.rank_cells(pool), OTHERS)


@pytest.mark.heavy
def test_kept_equalities_are_what_the_code_makes() -> None:
    pools = coverage.pools(pd.read_csv(REPO / coverage.POOLS))
    pool = next(each for each in pools if each.kind == "difference" and each.setting == "varied")
    found = pd.DataFrame(statistics.equalities(pool)).round(coverage.DIGITS)
    kept = EQUALITIES.merge(found[["measure", "setting", "team", "scenarios"]])
    pd.testing.assert_frame_equal(found, kept, check_dtype=False, atol=2e-6)
