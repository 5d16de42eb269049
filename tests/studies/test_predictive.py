"""The kept pool is what the code makes."""

from pathlib import Path

import pandas as pd
import pytest

from calbench.analysis.summary.pool import PLACE, POOL, unpacked
from tests.cli.runs import REPO
from tests.studies import predictive

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("task", [("uniform", 0), ("varied", predictive.SUITES - 1)])
def test_a_suite_of_the_pool_is_made_again(tmp_path: Path, task: predictive.Task) -> None:
    predictive.write_pool(tmp_path, predictive.rows_of(task, predictive.specs()))
    again = unpacked(tmp_path / POOL, (tmp_path / POOL).read_bytes())
    kept = unpacked(REPO / predictive.OUT / POOL, (REPO / predictive.OUT / POOL).read_bytes())
    is_of_suite = (kept["setting"] == task[0]) & (kept["scenario"] // 45 == task[1])
    assert len(again) == 45 * 6
    pd.testing.assert_frame_equal(
        again, kept[is_of_suite].sort_values(PLACE, kind="stable").reset_index(drop=True)
    )


def test_every_protocol_of_table_2_is_in_the_pool_with_seeds_of_its_own() -> None:
    found = predictive.specs()
    variants = {(spec.name, team.team_id) for spec in found for team in spec.teams}
    kept = unpacked(REPO / predictive.OUT / POOL, (REPO / predictive.OUT / POOL).read_bytes())
    assert variants == set(zip(kept["experiment"], kept["team"], strict=True))
    seeds = {seed for spec in found for seed in spec.suite_seeds or ()}
    assert max(seeds) < predictive.FIRST_SEED
