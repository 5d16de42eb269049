"""What was tried for the open numbers of Table 2, as kept."""

import pandas as pd
import pytest

from calbench import load_suite
from calbench.analysis.summary.table2 import HALVES
from tests.cli.runs import REPO
from tests.studies.tried import OUT, READINGS, TRIED, reading, rows

KEPT = pd.read_csv(REPO / OUT)


def test_every_rule_is_kept_for_both_halves() -> None:
    assert len(KEPT) == len(HALVES) * (sum(map(len, TRIED.values())) + len(READINGS))
    assert set(KEPT["team"]) == set(TRIED)


def test_widest_offers_alone_give_the_loss_of_dsm_welfare() -> None:
    """Table 2 prints 25.05 and 23.55; nothing that was tried gives SD-MAP's row."""
    losses = KEPT.set_index(["setting", "team", "rule"])["excess_vps"]
    widest = [losses[half, "dsm-welfare-single", "lmin=12"] for half in HALVES]
    assert [f"{loss:.2f}" for loss in widest] == ["25.05", "23.55"]
    sd_map = KEPT[(KEPT["team"] == "sd-map") & (KEPT["setting"] == "uniform")]
    is_near = (sd_map["coordination"].round(1) == 62.2) & (sd_map["messages"].round(2) == 7.48)
    assert not is_near.any()


@pytest.mark.heavy
@pytest.mark.parametrize(("team", "rule"), [("sd-map", TRIED["sd-map"][2]), ("sd-map", "")])
def test_kept_rows_are_what_is_played(team: str, rule: str) -> None:
    found = pd.DataFrame(rows(team, rule, {half: load_suite(half) for half in HALVES}))
    is_rule = KEPT["rule"].isin(found["rule"]) & (KEPT["team"] == team)
    pd.testing.assert_frame_equal(found, KEPT[is_rule].reset_index(drop=True), check_dtype=False)


def test_readings_are_played_otherwise_and_then_no_more() -> None:
    """A proposal of free slots alone is another game, and nothing stays of it."""
    suites = {"uniform": list(load_suite("uniform"))[:5]}
    (published,) = rows("sd-map", "", suites)
    for name in READINGS:
        with reading(name):
            (found,) = rows("sd-map", "", suites)
        assert (found == published) is ("if it can go elsewhere" in name)
    (again,) = rows("sd-map", "", suites)
    assert again == published
