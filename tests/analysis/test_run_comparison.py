"""Paired differences of two runs: by hand, and against a t interval written out."""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test, ttest_1samp

from calbench.analysis.measures import BEYOND, EXCESS, MEASURES, REFLECTED
from calbench.analysis.run_comparison import (
    COMPARISON_TABLES,
    PRIVACY,
    Comparison,
    Instruments,
    compare_teams,
)
from calbench.analysis.verdicts import TOO_FEW_READ
from calbench.facts.frames import cast, csv_text
from calbench.facts.games import AGENTS
from calbench.stats.spec import TAIL_SHARE, AnalysisSpec

SPEC = AnalysisSpec()

Costs = Mapping[str, Sequence[int]]
"""By scenario the excess cost of every seat."""

games = st.lists(st.integers(-20, 20), min_size=1, max_size=4)
paired = st.lists(st.tuples(games, games), min_size=2, max_size=8)


def seats(costs: Costs, team: str = "x", setting: str = "test", **columns: float) -> pd.DataFrame:
    """Return seats that differ in their excess cost alone; none has a loss that was measured."""
    rows = [
        {
            **dict.fromkeys((column.name for column in AGENTS.columns), 0),
            "setting": setting,
            "team": team,
            "scenario_id": scenario,
            "scenario_digest": f"digest of {scenario}",
            "assigned": 4,
            "scheduled": 2,
            "excess_cost": cost,
            "adjusted_excess_cost": 1.0,
            "messages_sent": 3,
            "burden_gap": 0.0,
            "excess_vps": np.nan,
            "excess_vps_participants": np.nan,
            "kind": "protocol",
            "vps_kind": None,
        }
        for scenario, own in costs.items()
        for cost in own
    ]
    return pd.DataFrame(rows).assign(**columns)


def compared(a: Costs, b: Costs) -> Comparison:
    return compare_teams(seats(a), seats(b, "y"), [("x", "y")], SPEC)


def cost_row(found: Comparison, measure: str = "excess_cost") -> dict[str, Any]:
    rows = found.differences[found.differences["measure"] == measure]
    ((row),) = rows.drop(columns=["setting", "team_a", "team_b", "measure"]).to_dict("records")
    return {str(name): value for name, value in row.items()}


def parts(found: Comparison, measure: str = "excess_cost") -> pd.DataFrame:
    return found.contributions[found.contributions["measure"] == measure]


def text(found: Comparison, name: str) -> list[str]:
    columns = COMPARISON_TABLES[name]
    return "".join(csv_text([cast(found.tables[name], columns)], columns)).splitlines()


def test_a_constant_difference_is_certain_however_scenarios_vary() -> None:
    a = {f"s-{n}": [n] * 5 for n in range(9)}
    b = {name: [cost + 2 for cost in own] for name, own in a.items()}
    found = cost_row(compared(a, b))
    assert (found["value_a"], found["value_b"], found["difference"]) == (4, 6, 2)
    assert np.isnan([found["difference_low"], found["difference_high"]]).all()
    assert [found["difference_interval"], found["verdict"]] == ["same", "different"]
    assert (found["scenarios"], found["agent_games_a"], found["agent_games_b"]) == (9, 45, 45)


def test_ends_and_tests_are_those_of_scipy() -> None:
    """With as many seats in every game, the paired t-test and both one-sided ones by scipy."""
    chance = np.random.default_rng(0)
    costs = chance.integers(9, size=(2, 9, 3))
    a, b = ({f"s-{n}": own.tolist() for n, own in enumerate(side)} for side in costs)
    found = cost_row(compared(a, b))
    gaps = costs[1].mean(axis=1) - costs[0].mean(axis=1)
    interval = ttest_1samp(gaps, 0).confidence_interval(1 - TAIL_SHARE * 0.05)
    assert (found["difference_low"], found["difference_high"]) == pytest.approx(tuple(interval))
    margin = found["margin"]
    one_sided = max(
        ttest_1samp(gaps, margin, alternative="less").pvalue,
        ttest_1samp(gaps, -margin, alternative="greater").pvalue,
    )
    assert found["p_equivalent"] == pytest.approx(min(one_sided / (TAIL_SHARE / 2), 1.0))
    swapped = permutation_test((gaps,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert found["p"] == pytest.approx(swapped.pvalue)


@pytest.mark.heavy
@given(paired)
def test_swapping_the_two_turns_the_sign(pairs: list[tuple[list[int], list[int]]]) -> None:
    a, b = ({f"s-{n}": pair[side] for n, pair in enumerate(pairs)} for side in (0, 1))
    one, other = cost_row(compared(a, b)), cost_row(compared(b, a))
    assert one["difference"] == -other["difference"]
    assert one["difference_low"] == pytest.approx(-other["difference_high"], abs=1e-9, nan_ok=True)
    assert (one["agent_games_a"], one["value_a"]) == (other["agent_games_b"], other["value_b"])


@pytest.mark.heavy
@given(paired)
def test_contributions_sum_to_the_difference(pairs: list[tuple[list[int], list[int]]]) -> None:
    a, b = ({f"s-{n}": pair[side] for n, pair in enumerate(pairs)} for side in (0, 1))
    found = compared(a, b)
    own = parts(found)
    assert own["scenario_id"].tolist() == sorted(a)
    total = fsum(own["contribution"])
    assert total == pytest.approx(cost_row(found)["difference"], abs=1e-9)


def test_contributions_by_hand() -> None:
    # The means are 2 and 5, and 3.5 is midway.
    own = parts(compared({"s": [1, 2], "t": [3]}, {"s": [8], "t": [2]}))
    assert own["mean_a"].tolist() == [1.5, 3]
    assert own["mean_b"].tolist() == [8, 2]
    assert own["contribution"].tolist() == pytest.approx(
        [(8 - 3.5) / 2 - (3 - 2 * 3.5) / 3, (2 - 3.5) / 2 - (3 - 3.5) / 3]
    )


def test_only_common_scenarios_count() -> None:
    found = compared({"s": [1], "a": [3]}, {"s": [3], "b": [1]})
    assert text(found, "differences.csv")[2] == (
        "test,x,y,excess_cost,1.0000,3.0000,2.0000,,,few,1,1,1,"
        ",,0.1000,,,not tested,too few scenarios,"
    )
    assert text(found, "contributions.csv")[2] == "test,x,y,excess_cost,s,1.0000,3.0000,2.0000"


def test_what_nobody_counts_for_has_no_difference() -> None:
    found = compared({"s": [1], "t": [2]}, {"s": [1], "t": [2]})
    unread = ("excess_vps", "excess_vps_participants")
    lines = text(found, "differences.csv")
    assert [line for line in lines if "not measured for " in line] == [
        f"test,x,y,{name},,,,,,,,,,,,0.5000,,,not tested,not measured for A," for name in unread
    ]
    assert set(found.contributions["measure"]) == {*TYPED_MEASURES} - {*unread}
    # The same where only one of the two has nothing.
    a, b = {"s": [1]}, {"s": [1]}
    for values in ((np.nan, 1.0), (1.0, np.nan)):
        sides = (seats(a, excess_vps=values[0]), seats(b, "y", excess_vps=values[1]))
        one = compare_teams(*sides, [("x", "y")], SPEC)
        assert np.isnan(cost_row(one, "excess_vps")["difference"])
        assert parts(one, "excess_vps").empty


def test_team_of_which_a_measure_was_not_computed_is_named() -> None:
    costs = {f"s-{n}": [n] for n in range(4)}
    known, unknown = seats(costs, bits=2.0), seats(costs, bits=np.nan)
    for a, b, why in ((unknown, known, "A"), (known, unknown, "B"), (known, known, "")):
        found = compare_teams(a, b.assign(team="y"), [("x", "y")], SPEC)
        remark = cost_row(found, "bits")["remark"]
        assert remark == (why and f"not measured for {why}")
        assert "not measured" not in cost_row(found)["remark"]


def test_a_scenario_that_counts_for_one_alone_is_in_its_mean_and_in_no_interval() -> None:
    a, b = seats({"s": [2], "t": [4]}), seats({"s": [2], "t": [4]}, "y")
    b.loc[1, "scheduled"] = 0
    found = compare_teams(a, b, [("x", "y")], SPEC)
    row = cost_row(found, "excess_cost_per_meeting")
    assert (row["value_a"], row["value_b"], row["scenarios"]) == (1.5, 1, 1)
    assert (row["agent_games_a"], row["agent_games_b"]) == (2, 1)
    assert np.isnan([row["difference_low"], row["difference_high"]]).all()
    own = parts(found, "excess_cost_per_meeting")
    assert own["mean_b"].tolist() == pytest.approx([1, np.nan], nan_ok=True)
    assert own["contribution"].sum() == pytest.approx(-0.5)


def test_pairs_stand_by_setting_then_as_they_are_named() -> None:
    a = pd.concat([seats({"s": [1]}, team, setting) for setting in "nmk" for team in "xy"])
    b = pd.concat([seats({"s": [2]}, team, setting) for setting in "mnl" for team in "yx"])
    found = compare_teams(
        a.reset_index(drop=True), b.reset_index(drop=True), [("y", "y"), ("x", "y")], SPEC
    )
    keys = found.differences[["setting", "team_a", "team_b"]].drop_duplicates().to_numpy().tolist()
    assert keys == [["m", "y", "y"], ["m", "x", "y"], ["n", "y", "y"], ["n", "x", "y"]]
    assert found.differences["measure"].tolist() == 4 * TYPED_MEASURES


TYPED_MEASURES = [measure.name for measure in MEASURES if measure.name != BEYOND]


def leaking(kind: str | None, vps: float | None, team: str) -> pd.DataFrame:
    found = seats({"s": [1, 2], "t": [3, 4]}, team)
    beyond = vps if kind in REFLECTED else None
    losses = {EXCESS: vps, "excess_vps_participants": vps, BEYOND: beyond}
    return found.assign(vps_kind=kind, **losses)


@pytest.mark.parametrize(
    ("kind_a", "kind_b"),
    [
        ("protocol", "reflection"),
        ("reflection", "expected"),
        ("mixed", "protocol"),
        ("mixed", "mixed"),
    ],
)
def test_privacy_of_two_instruments_is_never_subtracted(kind_a: str, kind_b: str) -> None:
    a, b = leaking(kind_a, 3.0, "x"), leaking(kind_b, 5.0, "y")
    found = compare_teams(a, b, [("x", "y")], SPEC)
    others = [measure.name for measure in MEASURES if measure.group != "privacy"]
    assert found.differences["measure"].tolist() == others
    assert not PRIVACY & set(found.contributions["measure"])
    assert found.unlike == (Instruments("test", "x", "y", kind_a, kind_b),)


def test_privacy_that_rests_on_too_few_reflections_is_not_tested() -> None:
    costs = {f"s-{n}": [n] for n in range(9)}
    a, b = seats(costs).assign(excess_vps=1.0), seats(costs, "y").assign(excess_vps=8.0)
    spoken = [each.assign(vps_kind="reflection", reflections_asked=9) for each in (a, b)]
    for read, verdict, remark in ((5, "different", ""), (4, "not tested", TOO_FEW_READ)):
        mine, theirs = (
            one.assign(reflections_read=n) for one, n in zip(spoken, (read, 9), strict=True)
        )
        row = cost_row(compare_teams(mine, theirs, [("x", "y")], SPEC), "excess_vps")
        assert (row["difference"], row["verdict"], row["remark"]) == (7, verdict, remark)


def test_privacy_of_one_instrument_is_compared_and_an_unmeasured_one_stays_unknown() -> None:
    known = leaking("protocol", 3.0, "x")
    found = compare_teams(known, leaking("protocol", 5.0, "y"), [("x", "y")], SPEC)
    assert cost_row(found, "excess_vps")["difference"] == 2
    assert found.unlike == ()
    assert found.differences["measure"].tolist() == TYPED_MEASURES
    spoken, other = leaking("reflection", 3.0, "x"), leaking("reflection", -1.5, "y")
    found = compare_teams(spoken, other, [("x", "y")], SPEC)
    assert cost_row(found, BEYOND)["difference"] == -4.5
    found = compare_teams(known, leaking(None, np.nan, "y"), [("x", "y")], SPEC)
    assert np.isnan(cost_row(found, "excess_vps")["difference"])
    assert found.unlike == ()


def test_instruments_are_those_of_the_scenarios_that_are_compared() -> None:
    both = pd.concat(
        [
            leaking("protocol", 3.0, "x"),
            seats({"u": [1]}, "x").assign(vps_kind="reflection", excess_vps=9.0),
        ],
        ignore_index=True,
    )
    found = compare_teams(both, leaking("protocol", 5.0, "y"), [("x", "y")], SPEC)
    assert cost_row(found, "excess_vps")["difference"] == 2


def test_scenarios_that_only_share_a_name_are_told_apart_team_by_team() -> None:
    a, b = seats({"s": [1], "t": [1]}), seats({"s": [2], "t": [2]}, "y")
    other = seats({"s": [5], "t": [5]}, "z").assign(scenario_digest="of others")
    found = compare_teams(a, pd.concat([b, other]), [("x", "y"), ("x", "z")], SPEC)
    assert set(found.differences["team_b"]) == {"y"}


def test_runs_without_a_common_scenario_have_empty_tables() -> None:
    found = compared({"s": [1]}, {"t": [1]})
    for name, columns in COMPARISON_TABLES.items():
        assert found.tables[name].empty
        assert text(found, name) == [",".join(column.name for column in columns)]
