"""Kept coverage of intervals: what the code makes from the kept populations, and the goal."""

import pandas as pd
import pytest

from calbench.stats.intervals import FEWEST_UNITS
from tests.cli.runs import REPO
from tests.studies import coverage

CELLS = pd.read_csv(REPO / coverage.CELLS)
KEYS = ["kind", "measure", "setting", "team", "scenarios"]


def populations() -> list[coverage.Pool]:
    return coverage.pools(pd.read_csv(REPO / coverage.POOLS))


def test_every_population_and_size_is_kept() -> None:
    expected = [(*pool[:4], size) for pool in populations() for size in pool.sizes]
    assert [tuple(row) for row in CELLS[KEYS].itertuples(index=False)] == expected


def test_what_is_shown_holds_the_truth_as_often_as_it_must() -> None:
    failing = CELLS["coverage"] + 2 * CELLS["error"] < coverage.GOAL
    assert not failing[CELLS["scenarios"] == 45].any()  # those of published suites
    assert failing.mean() < 0.01
    assert (CELLS.loc[CELLS["scenarios"] < FEWEST_UNITS, "shown"] == 0).all()
    nearly = CELLS[(CELLS["measure"] == "coordination") & (CELLS["team"] == "imap")]
    assert (nearly.loc[nearly["scenarios"] >= FEWEST_UNITS, "shown"] == 1).all()


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
            found = pd.DataFrame([coverage.cell(pool, size)]).round(coverage.DIGITS)
            kept = CELLS.merge(found[KEYS]).reset_index(drop=True)
            pd.testing.assert_frame_equal(found, kept, check_dtype=False)
