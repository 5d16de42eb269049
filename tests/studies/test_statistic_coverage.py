"""Kept coverage of other statistics than means: what the code makes, and the goal."""

import pandas as pd
import pytest

from tests.cli.runs import REPO
from tests.studies import coverage
from tests.studies import statistic_coverage as statistics

CELLS = pd.read_csv(REPO / statistics.CELLS)
EQUALITIES = pd.read_csv(REPO / statistics.EQUALITIES)
KEYS = ["kind", "measure", "setting", "team", "scenarios"]


def test_what_is_shown_holds_the_truth_as_often_as_it_must() -> None:
    failing = CELLS["coverage"] + 2 * CELLS["error"] < coverage.GOAL
    assert not failing[CELLS["scenarios"] >= 45].any()  # those of published suites
    assert failing.mean() < 0.01
    assert set(CELLS["kind"]) == {"agreement", "rank correlation"}
    is_correlation = CELLS["measure"].str.contains("pearson")
    assert (CELLS.loc[is_correlation & (CELLS["scenarios"] < 180), "shown"] == 0).all()


def test_the_published_summaries_are_those_of_the_cells() -> None:
    whole = pd.concat([pd.read_csv(REPO / coverage.CELLS), CELLS], ignore_index=True)
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
    ("team", "measure", "setting"), [("guarded", "cell", "uniform"), ("candid", "movement", "all")]
)
def test_kept_agreement_is_what_the_code_makes(team: str, measure: str, setting: str) -> None:
    pools = statistics.agreements(pd.read_csv(REPO / statistics.AGREEMENT))
    (pool,) = (each for each in pools if each[:3] == (setting, team, measure))
    assert_kept(list(statistics.agreement_cells(pool)))


@pytest.mark.heavy
def test_kept_ranks_are_what_the_code_makes() -> None:
    pools = statistics.ranks(pd.read_csv(REPO / statistics.RANKS))
    (pool,) = (
        each for each in pools if each[:3] == ("oracle_cost, excess_cost", "uniform", "sd-map")
    )
    assert_kept(list(statistics.rank_cells(pool)))


@pytest.mark.heavy
def test_kept_equalities_are_what_the_code_makes() -> None:
    pools = coverage.pools(pd.read_csv(REPO / coverage.POOLS))
    pool = next(each for each in pools if each.kind == "difference" and each.setting == "varied")
    found = pd.DataFrame(statistics.equalities(pool)).round(coverage.DIGITS)
    kept = EQUALITIES.merge(found[["measure", "setting", "team", "scenarios"]])
    pd.testing.assert_frame_equal(found, kept, check_dtype=False, atol=2e-6)


def assert_kept(found: list[coverage.Cell]) -> None:
    made = pd.DataFrame(found).round(coverage.DIGITS)
    kept = CELLS.merge(made[KEYS]).reset_index(drop=True)
    pd.testing.assert_frame_equal(made, kept, check_dtype=False, atol=2e-6)
