"""Paired differences: by hand, and against a bootstrap written out."""

from math import fsum

import numpy as np
import pytest
from calbench.analysis.intervals import tail_share
from hypothesis import given
from hypothesis import strategies as st

from calbench.analysis.comparison import compare_teams, comparison_csv, paired_difference
from calbench.analysis.estimates import ScenarioSum, resample_weights
from calbench.analysis.measures import MEASURES
from calbench.stats.spec import AnalysisSpec

SPEC = AnalysisSpec(bootstrap_resamples=200)

sums = st.builds(ScenarioSum, st.integers(-20, 20).map(float), st.integers(1, 5))
paired = st.lists(st.tuples(sums, sums), min_size=2, max_size=8)


def everywhere(entry: ScenarioSum) -> tuple[ScenarioSum, ...]:
    return (entry,) * len(MEASURES)


def test_a_constant_difference_is_certain_however_scenarios_vary() -> None:
    a = [ScenarioSum(float(5 * s), 5) for s in range(9)]
    b = [ScenarioSum(entry.total + 10, 5) for entry in a]
    found = paired_difference(a, b, SPEC, "test")
    assert found is not None
    assert (found.value_a, found.value_b, found.value) == (4, 6, 2)
    assert (found.low, found.high) == pytest.approx((2, 2))
    assert found.is_clear
    assert (found.num_scenarios, found.agent_games_a) == (9, 45)


def test_ends_are_those_of_a_bootstrap_written_out() -> None:
    chance = np.random.default_rng(0)
    a = [ScenarioSum(float(chance.integers(9)), int(chance.integers(1, 4))) for _ in range(7)]
    b = [ScenarioSum(float(chance.integers(9)), int(chance.integers(1, 4))) for _ in range(7)]
    drawn = []
    for weights in resample_weights(7, SPEC, "test"):
        for row in weights.tolist():
            mean_a, mean_b = (
                sum(w * e.total for w, e in zip(row, side, strict=True))
                / sum(w * e.count for w, e in zip(row, side, strict=True))
                for side in (a, b)
            )
            drawn.append(mean_b - mean_a)
    found = paired_difference(a, b, SPEC, "test")
    assert found is not None
    tail = tail_share(7, 0.95)
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [tail, 1 - tail]).tolist())


@given(paired)
def test_swapping_the_two_turns_the_sign(pairs: list[tuple[ScenarioSum, ScenarioSum]]) -> None:
    a, b = zip(*pairs, strict=True)
    one, other = paired_difference(a, b, SPEC), paired_difference(b, a, SPEC)
    assert one is not None
    assert other is not None
    assert one.value == -other.value
    assert one.low is not None
    assert other.high is not None
    assert one.low == pytest.approx(-other.high, abs=1e-12)


@given(paired)
def test_contributions_sum_to_the_difference(
    pairs: list[tuple[ScenarioSum, ScenarioSum]],
) -> None:
    a = {f"s-{i}": everywhere(x) for i, (x, _) in enumerate(pairs)}
    b = {f"s-{i}": everywhere(y) for i, (_, y) in enumerate(pairs)}
    entry = next(compare_teams("test", "x", "y", a, b, SPEC))
    assert entry.difference is not None
    total = fsum(part.value for part in entry.contributions)
    assert total == pytest.approx(entry.difference.value, abs=1e-9)
    sizes = [abs(part.value) for part in entry.drivers]
    assert sizes == sorted(sizes, reverse=True)


def test_only_common_scenarios_count() -> None:
    one, two = everywhere(ScenarioSum(1, 1)), everywhere(ScenarioSum(3, 1))
    entries = list(compare_teams("t", "x", "y", {"s": one, "a": two}, {"s": two, "b": one}, SPEC))
    difference = entries[0].difference
    assert difference is not None
    assert (difference.value, difference.low, difference.num_scenarios) == (2, None, 1)
    tables = comparison_csv(entries)
    assert tables["differences.csv"].decode().splitlines()[1] == (
        "t,x,y,coordination,1.0000,3.0000,2.0000,,,1,1,1"
    )
    assert tables["contributions.csv"].decode().splitlines()[1] == (
        "t,x,y,coordination,s,1.0000,3.0000,2.0000"
    )


def test_what_nobody_counts_for_has_no_difference() -> None:
    nothing = [ScenarioSum(0, 0)] * 3
    assert paired_difference(nothing, [ScenarioSum(1, 1)] * 3, SPEC) is None
    entry = next(
        compare_teams(
            "t", "x", "y", {"s": everywhere(nothing[0])}, {"s": everywhere(nothing[0])}, SPEC
        )
    )
    assert entry.contributions == ()
    assert "t,x,y,coordination,,,,,,,,\n" in comparison_csv([entry])["differences.csv"].decode()
