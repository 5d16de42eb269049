"""Pairs of teams: differences, tests and power, by hand and by a second computation."""

from dataclasses import replace
from itertools import combinations, product
from math import nan
from pathlib import Path
from statistics import stdev

import numpy as np
import pandas as pd
import pytest

from calbench.analysis.estimates import scenario_sums
from calbench.analysis.measures import BEYOND, MEASURES
from calbench.analysis.registry import Settings
from calbench.analysis.tables import comparisons
from calbench.analysis.tables.comparisons import compared
from calbench.analysis.verdicts import DEGENERATE_TEAM
from calbench.facts.storage import Facts
from calbench.stats.differences import minimum_detectable_difference, required_units
from calbench.stats.resampling import adjusted_p_values
from calbench.stats.spec import AnalysisSpec
from tests.analysis.tables.sample import (
    SPEC,
    TEAMS,
    VALUE_BY_MEASURE,
    mean,
    scores_of,
    shown,
    values_of,
)
from tests.facts.measured import table_rows
from tests.facts.scored import agent, facts_of_scores, player, score

SAMPLE = Settings(analysis=SPEC)
SIDES = ("team_a", "team_b")


def two_teams(folder: Path, ours: list[int], theirs: list[int]) -> Facts:
    """Return facts of ``z`` and ``a``, in that order, with this excess cost in each scenario."""
    return facts_of_scores(
        folder,
        [
            score(agent(excess_cost=excess), scenario=f"s{number:02d}", team=team)
            for team, each in (("a", theirs), ("z", ours))
            for number, excess in enumerate(each)
        ],
        ["z", "a"],
    )


def excess_row(facts: Facts, settings: Settings = SAMPLE) -> dict[str, str]:
    rows = table_rows(facts, "comparisons.csv", settings)
    (found,) = (row for row in rows if row["measure"] == "excess_cost")
    return found


def test_every_pair_stands_once_in_the_order_of_teams_and_measures(facts: Facts) -> None:
    rows = table_rows(facts, "comparisons.csv", SAMPLE)
    counted = {
        (setting, team, name): len(values_of(scores_of(team, setting), name))
        for setting, team, name in product(("another", "uniform"), TEAMS, VALUE_BY_MEASURE)
    }
    assert [tuple(row.values())[:4] for row in rows] == [
        (setting, a, b, name)
        for setting in ("another", "uniform")
        for place, a in enumerate(TEAMS)
        for b in TEAMS[place + 1 :]
        for name in VALUE_BY_MEASURE
        if name != BEYOND  # all their messages are typed
    ]
    for row in rows:
        has_none = not all(counted[row["setting"], row[side], row["measure"]] for side in SIDES)
        assert (row["remark"] == "no common scenario") == has_none


def test_differences_are_those_of_the_scenarios_that_count_for_both(facts: Facts) -> None:
    for row in table_rows(facts, "comparisons.csv", SAMPLE):
        if not row["difference"]:
            assert row["remark"] == "no common scenario"
            continue
        by_side = {}
        for side in SIDES:
            scores = scores_of(row[side], row["setting"])
            by_side[side] = {
                score.scenario_id: values_of([score], row["measure"]) for score in scores
            }
        common = [s for s, own in by_side["team_a"].items() if own and by_side["team_b"][s]]
        means = [mean([v for s in common for v in side[s]]) for side in by_side.values()]
        assert means[0] is not None
        assert means[1] is not None
        assert row["scenarios"] == str(len(common))
        assert float(row["difference"]) == pytest.approx(means[0] - means[1], abs=6e-5)


GAPS = {
    "large": [9, 8, 9, 7, 9, 8, 9, 7, 9],
    "small": [1, 2, -1, 0, 1, -2, 1, 3, -1],
    "none": [0] * 9,
}


def three_teams(folder: Path) -> Facts:
    """Return facts of a baseline and of teams that differ from the first by these gaps."""
    return facts_of_scores(
        folder,
        [
            score(agent(seat, excess_cost=gap), scenario=f"s{number}", team=team)
            for team, gaps in {"first": [0] * 9, **GAPS, "lazy": [50] * 9}.items()
            for seat in [player(team, "degenerate" if team == "lazy" else "protocol")]
            for number, gap in enumerate(gaps)
        ],
        ["first", *GAPS, "lazy"],
    )


def test_only_what_is_tested_is_in_the_family(tmp_path: Path) -> None:
    rows = table_rows(three_teams(tmp_path), "comparisons.csv", SAMPLE)
    tested = [row for row in rows if row["p"]]
    assert {(row["verdict"], row["remark"]) for row in rows if not row["p"]} == {
        ("identical", ""),
        ("not tested", "degenerate team"),
    }
    assert {row["measure"] for row in tested} == {"excess_cost", "excess_cost_per_meeting"}
    for name in ("p", "p_equivalent"):
        p_values = [float(row[name]) if row[name] else nan for row in tested]
        assert [float(row[f"{name}_adjusted"] or "nan") for row in tested] == pytest.approx(
            adjusted_p_values(p_values).tolist(), abs=2e-3, nan_ok=True
        )
    for row in rows:
        if row["remark"] == "degenerate team":
            assert row["difference"]
            assert not row["required_scenarios"]


@pytest.mark.parametrize(
    ("margin", "verdicts"),
    [
        (0.1, ["different", "not told apart", "identical"]),
        (3.0, ["different", "tied", "identical"]),
        (30.0, ["different within the margin", "tied", "identical"]),
    ],
)
def test_verdicts_by_margin(
    margin: float, verdicts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Differences of 8.3, 0.4 with spread 1.6, and none; nothing but the margin changes."""
    changed = [replace(each, margin=margin) for each in MEASURES]
    monkeypatch.setattr(comparisons, "MEASURES", changed)
    rows = table_rows(three_teams(tmp_path), "comparisons.csv", SAMPLE)
    found = {
        row["team_b"]: f"{row['verdict']} {row['remark']}".strip()
        for row in rows
        if (row["team_a"], row["measure"]) == ("first", "excess_cost")
    }
    assert [found[team] for team in GAPS] == verdicts
    assert found["lazy"] == "not tested degenerate team"


def test_a_pair_by_hand(tmp_path: Path) -> None:
    """Of the 64 ways to swap, two make the difference as large: all swapped or none."""
    row = excess_row(two_teams(tmp_path, [5, 3, 4, 8, 6, 3], [1, 2, 1, 2, 4, 2]))
    gaps = [4, 1, 3, 6, 2, 1]
    mean, spread = sum(gaps) / 6, stdev(gaps)
    assert (row["team_a"], row["team_b"], row["scenarios"]) == ("z", "a", "6")
    assert (row["difference"], row["p"]) == ("2.8333", "0.0312")
    assert float(row["difference_low"]) < mean < float(row["difference_high"])
    assert row["minimum_detectable_difference"] == shown(
        minimum_detectable_difference(spread, 6, SPEC)
    )
    assert row["required_scenarios"] == str(required_units(mean, spread, SPEC))
    assert (row["margin"], row["verdict"], row["remark"]) == ("0.1000", "different", "")


def test_too_few_scenarios_for_any_p_below_the_level_are_not_tested(tmp_path: Path) -> None:
    """Of five, every way to swap has p = 2/32 at least; six allow 2/64."""
    row = excess_row(two_teams(tmp_path, [5, 3, 4, 8, 6], [1, 2, 1, 2, 4]))
    assert (row["p"], row["p_equivalent"]) == ("", "")
    assert (row["verdict"], row["remark"]) == ("not tested", "too few scenarios")
    assert row["required_scenarios"]


@pytest.mark.parametrize(("gap", "verdict"), [(3, "different"), (0, "identical")])
def test_where_nothing_varies_power_is_unknown(tmp_path: Path, gap: int, verdict: str) -> None:
    row = excess_row(two_teams(tmp_path, [2 + gap] * 7, [2] * 7))
    assert (row["difference"], row["verdict"]) == (f"{gap}.0000", verdict)
    assert (row["minimum_detectable_difference"], row["required_scenarios"]) == ("", "")
    assert row["p_equivalent"] == ""


def test_no_difference_is_found_by_no_number_of_scenarios(tmp_path: Path) -> None:
    row = excess_row(two_teams(tmp_path, [1, 2, 3] * 2, [3, 1, 2] * 2))
    assert (row["difference"], row["p"], row["required_scenarios"]) == ("0.0000", "1.0000", "")
    assert row["minimum_detectable_difference"] != ""
    assert row["verdict"] == "not told apart"


@pytest.mark.parametrize(
    ("num_scenarios", "gap", "needed"), [(1, False, False), (2, False, True), (3, True, True)]
)
def test_few_scenarios_resolve_nothing(
    tmp_path: Path, num_scenarios: int, *, gap: bool, needed: bool
) -> None:
    row = excess_row(two_teams(tmp_path, [5, 7, 9][:num_scenarios], [1, 2, 8][:num_scenarios]))
    assert row["scenarios"] == str(num_scenarios)
    assert (row["difference_low"], row["difference_interval"]) == ("", "few")
    assert bool(row["minimum_detectable_difference"]) == gap
    assert bool(row["required_scenarios"]) == needed


def test_losses_measured_alike_are_compared(tmp_path: Path) -> None:
    games = [score(agent(vps_kind="reflection", excess_vps=9.0), team="a"), score(team="b")]
    games += [score(agent(vps_kind="reflection", excess_vps=2.0), team="c")]
    rows = table_rows(facts_of_scores(tmp_path, games), "comparisons.csv")
    assert [
        (row["team_a"], row["team_b"], row["difference"], row["remark"])
        for row in rows
        if row["measure"] == "excess_vps"
    ] == [
        ("a", "b", "", "two instruments"),
        ("a", "c", "7.0000", "too few scenarios"),
        ("b", "c", "", "two instruments"),
    ]


def test_resamples_and_level_are_those_of_the_settings(tmp_path: Path) -> None:
    facts = two_teams(tmp_path, [5, 3, 4, 8, 6], [1, 2, 1, 2, 4])
    usual = excess_row(facts)
    half = Settings(analysis=SPEC.model_copy(update={"confidence": 0.5}))
    strict = Settings(analysis=AnalysisSpec(power=0.99))
    assert excess_row(facts, half)["difference_low"] > usual["difference_low"]
    assert float(excess_row(facts, half)["minimum_detectable_difference"]) < float(
        usual["minimum_detectable_difference"]
    )
    assert float(excess_row(facts, strict)["minimum_detectable_difference"]) > float(
        usual["minimum_detectable_difference"]
    )


def test_pairs_are_compared_the_same_however_many_at_once() -> None:
    chance, measures = np.random.default_rng(0), MEASURES[:3]
    rows = pd.DataFrame(
        [(f"s{place}", team) for place in range(6) for team in "abcd"],
        columns=["scenario_id", "team"],
    ).assign(setting="uniform")
    values = pd.DataFrame({each.name: chance.integers(9, size=len(rows)) / 3 for each in measures})
    sums = scenario_sums(rows, ["team"], values)
    remarks = {pair: ["", DEGENERATE_TEAM, ""] for pair in combinations(range(4), 2)}
    whole = compared(sums, measures, remarks, SPEC)
    assert len(whole) == 18
    assert whole["p"].isna().tolist() == [False, True, False] * 6
    pd.testing.assert_frame_equal(whole, compared(sums, measures, remarks, SPEC, cells_at_once=1))
