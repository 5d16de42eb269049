from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calbench.stats.differences import Differences, paired_differences, paired_ends
from calbench.stats.intervals import TAIL_SHARE, Bounds, estimated
from calbench.stats.resampling import resample_weights, swap_p_values
from calbench.stats.spec import AnalysisSpec
from tests.stats.samples import UNITS, Unit, beside, column, random_units

SPEC = AnalysisSpec()
QUICK = AnalysisSpec(permutations=255)

suites = st.integers(1, 12).flatmap(
    lambda n: st.tuples(*[st.lists(UNITS, min_size=n, max_size=n) for _ in range(2)])
)


def compare(
    first: Sequence[Unit], second: Sequence[Unit], spec: AnalysisSpec = QUICK
) -> Differences:
    return paired_differences(beside(first, second), [(0, 1)], spec)


def values(found: Differences) -> list[float]:
    parts = (found.value, found.low, found.high, found.p_value, found.spread)
    return [float(part[0]) for part in parts]


@pytest.mark.parametrize("num_units", [4, 8, 45])
def test_difference_of_even_units_has_the_interval_of_a_paired_t_test(num_units: int) -> None:
    chance = np.random.default_rng(num_units)
    sides = chance.normal(size=(2, num_units))
    one, other = ([(float(x), 1) for x in side] for side in sides)
    found = compare(one, other)
    confidence = 1 - TAIL_SHARE * (1 - QUICK.confidence)
    theirs = stats.ttest_rel(*sides).confidence_interval(confidence)
    assert found.kind.tolist() == ["t"]
    assert (found.low[0], found.high[0]) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_differences_are_those_they_always_were() -> None:
    found = compare(random_units(3, 20), random_units(4, 20), SPEC)
    expected = [0.17127766599597, 0.8189, 3.4169097534884574]
    assert [found.value[0], found.p_value[0], found.spread[0]] == pytest.approx(expected, abs=1e-12)
    assert found.num_units.tolist() == [20]


def test_differences_of_bounded_means_are_bounded() -> None:
    """Twelve of twelve scenarios are equal: few others can be 100 apart."""
    units: list[Unit] = [(100.0, 1)] * 12
    columns, bounds = beside(units, units), Bounds(np.zeros(2), np.full(2, 100.0))
    found = paired_differences(columns, [(0, 1)], QUICK, bounds=bounds)
    share = 1 - 0.025 ** (1 / 12)
    assert (found.value.tolist(), found.kind.tolist()) == ([0], ["bound"])
    assert (found.low[0], found.high[0]) == pytest.approx((-100 * share, 100 * share))
    exact = np.array([True, True])
    both = paired_differences(columns, [(0, 1)], QUICK, bounds=bounds, exact=exact)
    assert both.kind.tolist() == ["exact"]
    assert paired_differences(columns, [(0, 1)], QUICK).kind.tolist() == ["same"]


def test_difference_over_common_units_is_that_of_the_means() -> None:
    columns = beside(random_units(5, 12), random_units(6, 12))
    means = estimated(columns, QUICK).value
    found = paired_differences(columns, [(0, 1), (1, 0), (0, 0)], QUICK)
    gap = means[0] - means[1]
    assert found.value.tolist() == pytest.approx([gap, -gap, 0])


def test_only_units_that_count_for_both_are_compared() -> None:
    first: list[Unit] = [(4.0, 2), (100.0, 1), None, (1.0, 1)]
    second: list[Unit] = [(1.0, 1), (0.0, 0), (7.0, 1), (3.0, 1)]
    found = compare(first, second)
    assert found.num_units.tolist() == [2]
    assert found.value[0] == pytest.approx(5 / 3 - 2)
    alone = compare([first[0], first[3]], [second[0], second[3]])
    assert found.p_value.tolist() == alone.p_value.tolist()
    assert found.spread.tolist() == alone.spread.tolist()


def test_pairs_without_a_common_unit_are_absent_and_disturb_nobody() -> None:
    columns = beside([None, (1.0, 1), (2.0, 1)], [(1.0, 1), None, None], [None, (3.0, 1), (5.0, 1)])
    found = paired_differences(columns, [(0, 1), (0, 2)], QUICK)
    assert np.isnan([part[0] for part in (found.value, found.low, found.p_value)]).all()
    assert found.num_units.tolist() == [0, 2]
    assert found.value[1] == -2.5
    assert paired_differences(beside([], []), [(0, 1)], QUICK).num_units.tolist() == [0]
    assert paired_differences(columns, [], QUICK).value.shape == (0,)


def test_one_common_unit_gives_neither_interval_nor_spread() -> None:
    found = compare([(4.0, 2)], [(1.0, 1)])
    assert values(found) == pytest.approx([1.0, np.nan, np.nan, 1.0, np.nan], nan_ok=True)
    assert found.num_units.tolist() == [1]


def test_pairs_that_are_not_tested_have_all_but_a_p_value() -> None:
    columns = beside(*(random_units(seed, 12) for seed in (3, 4, 5)))
    pairs = [(0, 1), (0, 2), (1, 2)]
    every = paired_differences(columns, pairs, QUICK)
    some = paired_differences(columns, pairs, QUICK, is_tested=np.array([True, False, True]))
    assert some.p_value[[0, 2]].tolist() == every.p_value[[0, 2]].tolist()
    assert np.isnan(some.p_value[1])
    assert (some.low.tolist(), some.high.tolist()) == (every.low.tolist(), every.high.tolist())


def test_spread_of_equal_counts_is_that_of_the_differences() -> None:
    found = compare([(2.0, 2), (8.0, 2), (5.0, 2)], [(4.0, 2), (2.0, 2), (1.0, 2)])
    assert found.spread[0] == pytest.approx(np.std([-1, 3, 2], ddof=1))
    two = compare([(2.0, 2), (8.0, 2)], [(4.0, 2), (2.0, 2)])
    assert two.spread[0] == pytest.approx(np.sqrt(8))


def test_spread_of_a_ratio_is_that_of_its_resamples() -> None:
    first, second = random_units(7, 60), random_units(8, 60)
    found = compare(first, second)
    resampled = []
    for weights in np.concatenate(list(resample_weights(60, 4000, 0, "uniform"))):
        means = [
            (weights @ [e[0] for e in side if e]) / (weights @ [e[1] for e in side if e])
            for side in (first, second)
        ]
        resampled.append(means[0] - means[1])
    assert found.spread[0] / np.sqrt(60) == pytest.approx(np.std(resampled), rel=0.06)


@given(suites)
def test_differences_are_antisymmetric(suite: tuple[list[Unit], list[Unit]]) -> None:
    one, other = compare(suite[0], suite[1]), compare(suite[1], suite[0])
    assert one.num_units.tolist() == other.num_units.tolist()
    value, low, high, p_value, spread = values(one)
    assert values(other) == pytest.approx([-value, -high, -low, p_value, spread], nan_ok=True)
    if one.num_units[0]:
        assert value == -other.value[0]
        assert 0 < p_value <= 1
        assert p_value == other.p_value[0]
    assert one.kind.tolist() == other.kind.tolist()
    if one.kind[0] in {"t", "bound"}:
        assert low <= value <= high
    else:
        assert np.isnan([low, high]).all()
    assert np.isnan(spread) == (one.num_units[0] < 2)


def test_p_values_are_those_of_the_swap_test_alone() -> None:
    first, second = random_units(1, 9), random_units(2, 9)
    found = compare(first, second)
    expected = swap_p_values(column(first), column(second), QUICK)
    assert found.p_value.tolist() == expected.tolist()


def test_units_of_one_side_add_to_it_and_are_not_counted() -> None:
    first = column([(1.0, 1), (4.0, 1), (2.0, 1), (7.0, 1), (90.0, 1)])
    second = column([(0.0, 1), (1.0, 1), (5.0, 1), (1.0, 1), None])
    found = paired_ends(first, second, SPEC)
    assert found.kind.tolist() == ["t"]
    assert (found.low[0] + found.high[0]) / 2 == pytest.approx(104 / 5 - 7 / 4)
    assert paired_ends(first, column([(1.0, 1)] * 3 + [None] * 2), SPEC).kind.tolist() == ["few"]
