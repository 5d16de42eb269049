from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import ttest_1samp

from calbench.stats.differences import (
    Differences,
    crossings,
    equivalence,
    minimum_detectable_difference,
    noncentrality,
    paired_differences,
    paired_ends,
    required_units,
)
from calbench.stats.intervals import (
    Bounds,
    Sample,
    difference_of,
    ends_of,
    estimated,
)
from calbench.stats.resampling import resample_weights, swap_p_values
from calbench.stats.spec import TAIL_SHARE, AnalysisSpec
from calbench.stats.sums import Sums
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


MARGIN = 0.5


def paired(gaps: list[float], count: int = 5) -> tuple[Sums, Sums]:
    """Return two samples in which the mean of each unit differs by a gap."""
    return column([(count * gap, count) for gap in gaps]), column([(0.0, count)] * len(gaps))


@pytest.mark.parametrize("seed", range(8))
def test_both_tests_are_those_of_scipy(seed: int) -> None:
    gaps = np.round(np.random.default_rng(seed).normal(0.2 * (seed - 2), 1.0, 6 + 8 * seed), 6)
    found = equivalence(*paired(gaps.tolist()), MARGIN)
    by_scipy = max(
        ttest_1samp(gaps, MARGIN, alternative="less").pvalue,
        ttest_1samp(gaps, -MARGIN, alternative="greater").pvalue,
    )
    assert found.p_value.tolist() == pytest.approx([min(by_scipy / 0.4, 1.0)], rel=1e-5)
    assert not found.is_identical.any()


def test_a_pair_by_hand() -> None:
    """Of 1 to 4 over 0: mean 2.5, error .6455; t = (2.5 - 5) / .6455 = -3.873, df 3: .01524."""
    found = equivalence(*paired([1, 2, 3, 4]), 5.0)
    assert found.p_value[0] == pytest.approx(0.01524 / 0.4, abs=2e-5)


@pytest.mark.parametrize("seed", range(12))
def test_equality_is_shown_where_the_shown_interval_lies_within_the_margin(seed: int) -> None:
    gaps = np.random.default_rng(seed).normal(0.05 * seed, 0.5, size=(12, 1))
    sides = Sums(gaps, np.ones_like(gaps)), Sums(np.zeros_like(gaps), np.ones_like(gaps))
    ends = ends_of(difference_of(*sides), AnalysisSpec())
    is_within = max(-ends.low[0], ends.high[0]) < MARGIN
    assert (equivalence(*sides, MARGIN).p_value[0] < 1 - AnalysisSpec().confidence) == is_within


@pytest.mark.parametrize(
    ("gaps", "is_identical"),
    [
        ([0.0] * 9, True),
        ([0.0], True),
        ([0.1] * 9, False),
        ([0.1, 0.2, 0.3], False),
        ([0.0] * 7 + [0.1, 0.2, 0.3], False),
    ],
)
def test_too_few_or_too_like_units_show_nothing(gaps: list[float], *, is_identical: bool) -> None:
    found = equivalence(*paired(gaps), MARGIN)
    assert np.isnan(found.p_value).all()
    assert found.is_identical.tolist() == [is_identical]


def test_without_a_common_unit_nothing_is_identical() -> None:
    one, other = column([(1.0, 1), None]), column([None, (1.0, 1)])
    found = equivalence(one, other, MARGIN)
    assert np.isnan(found.p_value).all()
    assert not found.is_identical.any()


def test_equal_means_of_unlike_counts_are_not_identical() -> None:
    one, other = column([(2.0, 2)] * 6), column([(1.0, 1)] * 6)
    assert not equivalence(one, other, MARGIN).is_identical.any()


@given(st.lists(st.tuples(UNITS, UNITS), min_size=1, max_size=12))
def test_sides_may_be_swapped_and_units_of_one_side_play_no_part(units: list) -> None:  # type: ignore[type-arg]
    one, other = (column([unit[side] for unit in units]) for side in (0, 1))
    found, turned = equivalence(one, other, 3.0), equivalence(other, one, 3.0)
    common = [unit for unit in units if all(each is not None and each[1] for each in unit)]
    assert found.p_value == pytest.approx(turned.p_value, nan_ok=True)
    assert found.is_identical.tolist() == turned.is_identical.tolist()
    if common:
        first, second = (column([unit[side] for unit in common]) for side in (0, 1))
        alone = equivalence(first, second, 3.0)
        assert found.p_value == pytest.approx(alone.p_value, nan_ok=True)
        assert found.is_identical.tolist() == alone.is_identical.tolist()


def test_a_wider_margin_is_shown_more_easily() -> None:
    sides = [random_units(seed, 20) for seed in (1, 2)]
    one, other = (column(side) for side in sides)
    many = beside(*[sides[0]] * 4), beside(*[sides[1]] * 4)
    margins = np.array([0.5, 1.0, 2.0, 4.0])
    found = equivalence(*many, margins).p_value
    assert (np.diff(found) < 0).sum() >= 2
    assert (np.diff(found) <= 0).all()
    assert found.tolist() == [equivalence(one, other, m).p_value[0] for m in margins.tolist()]


@pytest.mark.heavy
def test_at_the_margin_itself_one_in_fifty_is_called_equal() -> None:
    chance = np.random.default_rng(0)
    gaps = chance.normal(MARGIN, 1.0, size=(45, 4000))
    ones = np.ones_like(gaps)
    found = equivalence(Sums(gaps, ones), Sums(np.zeros_like(gaps), ones), MARGIN)
    assert (found.p_value < 0.05).mean() == pytest.approx(0.02, abs=0.008)


def test_a_detectable_difference_is_found_with_the_power_it_promises() -> None:
    gap = minimum_detectable_difference(2.0, 15, SPEC)
    assert gap is not None
    samples = np.random.default_rng(3).normal(gap, 2.0, (20000, 15))
    found = (stats.ttest_1samp(samples, 0, axis=1).pvalue < 0.05).mean()
    assert found == pytest.approx(0.8, abs=0.01)


def test_numbers_are_those_of_textbooks() -> None:
    # A paired t-test with an effect of half a deviation needs 34 pairs for a power of 0.8.
    assert required_units(0.5, 1.0, SPEC) == 34
    assert required_units(1.0, 1.0, SPEC) == 10
    gap = minimum_detectable_difference(1.0, 34, SPEC)
    assert gap == pytest.approx(0.49503, abs=1e-5)
    # Far out the normal distribution stands in: 1.959964 + 0.841621 standard errors.
    assert minimum_detectable_difference(10.0, 10_000, SPEC) == pytest.approx(0.2801585, abs=1e-6)


def test_more_power_or_confidence_asks_for_more() -> None:
    assert required_units(0.5, 1.0, AnalysisSpec(power=0.9)) == 44
    assert required_units(0.5, 1.0, AnalysisSpec(confidence=0.9)) == 27


def test_below_three_units_nothing_is_detected() -> None:
    assert minimum_detectable_difference(2.0, 2, SPEC) is None
    assert minimum_detectable_difference(2.0, 3, SPEC) is not None


@given(st.floats(0.01, 3), st.floats(0.01, 3))
def test_required_units_are_the_fewest_that_detect(difference: float, spread: float) -> None:
    needed = required_units(difference, spread, SPEC)
    assert needed == required_units(-difference, spread, SPEC)
    assert needed is not None
    gap = minimum_detectable_difference(spread, needed, SPEC)
    assert gap is not None
    assert gap <= difference * (1 + 1e-9)
    before = minimum_detectable_difference(spread, needed - 1, SPEC)
    assert before is None or before > difference * (1 - 1e-9)


def test_no_sample_finds_a_difference_of_zero() -> None:
    assert required_units(0.0, 1.0, SPEC) is None
    assert required_units(0.1 + 0.2 - 0.3, 1.0, SPEC) is None, (
        "nor one that is zero but for rounding"
    )


def test_where_nothing_varies_nothing_is_asked() -> None:
    assert required_units(1.0, 0.0, SPEC) is None
    assert minimum_detectable_difference(0.0, 45, SPEC) is None


def test_t_and_normal_meet_where_one_takes_over() -> None:
    assert noncentrality(499, 0.05, 0.8) == pytest.approx(noncentrality(500, 0.05, 0.8), rel=0.003)
    assert noncentrality(499, 0.05, 0.8) != noncentrality(500, 0.05, 0.8)
    assert noncentrality(500, 0.05, 0.8) == noncentrality(9000, 0.05, 0.8)


def gap(values: Sequence[float]) -> Sample:
    """Return a sample of differences, a value for each unit."""
    return difference_of(column([(each, 1) for each in values]), column([(0.0, 1)] * len(values)))


@pytest.mark.parametrize("seed", range(5))
def test_the_difference_is_undecided_exactly_at_the_prices_of_the_interval(seed: int) -> None:
    chance = np.random.default_rng(seed)
    free, priced = chance.normal(1, 1, 20), chance.normal(-2, 1, 20)
    found = crossings(gap(free.tolist()), gap(priced.tolist()), SPEC)
    assert found.price[0] == pytest.approx(-free.mean() / priced.mean())
    assert found.low[0] < found.price[0] < found.high[0]
    for price in found.low[0], found.high[0]:
        own = ends_of(gap((free + price * priced).tolist()), SPEC)
        assert min(abs(own.low[0]), abs(own.high[0])) == pytest.approx(0, abs=1e-9)


def test_prices_are_unknown_where_they_move_nothing_and_open_where_they_might_not() -> None:
    free = [1.0, 2.0, 3.0, 4.0, 5.5]
    assert np.isnan(crossings(gap(free), gap([0.0] * 5), SPEC).price).all()
    assert np.isnan(crossings(gap(free), gap([1.0, -1.0, 2.0, -2.0, 0.0]), SPEC).price).all()
    open_ = crossings(gap(free), gap([1.0, -1.0, 2.0, -2.0, 0.5]), SPEC)
    few = crossings(gap(free[:3]), gap([1.0, 1.1, 1.2]), SPEC)
    alike = crossings(gap([1.0] * 9 + [2.0]), gap([-1.0] * 9 + [-2.0]), SPEC)
    for found in (open_, few, alike):
        assert not np.isnan(found.price[0])
        assert np.isnan([found.low[0], found.high[0]]).all()
