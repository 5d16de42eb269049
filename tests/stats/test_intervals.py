"""Ends of intervals: against scipy and formulas by hand, laws, and what gives none."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from calbench.stats.intervals import (
    FEWEST_UNITS,
    KINDS,
    Bounds,
    Means,
    estimated,
    most_common,
    sample_of,
    share_ends,
)
from calbench.stats.spec import TAIL_SHARE, AnalysisSpec
from calbench.stats.sums import Sums
from tests.stats.samples import UNITS, Unit, beside, column, random_units

SPEC = AnalysisSpec()
PERCENT = Bounds(np.zeros(1), np.full(1, 100.0))
CONFIDENCE = 1 - TAIL_SHARE * (1 - SPEC.confidence)


def of(values: Sequence[float], bounds: Bounds | None = None) -> Means:
    return estimated(column([(float(value), 1) for value in values]), SPEC, bounds=bounds)


def ends(found: Means) -> tuple[float, float]:
    return float(found.low[0]), float(found.high[0])


@given(st.lists(st.integers(-50, 50), min_size=4, max_size=40))
def test_means_of_even_units_have_the_t_interval_of_scipy(values: list[int]) -> None:
    found = of(values)
    assume(most_common(np.array(values, dtype=float)[:, np.newaxis]).units[0] <= 0.6 * len(values))
    theirs = stats.ttest_1samp(values, 0).confidence_interval(CONFIDENCE)
    assert found.kind.tolist() == ["t"]
    assert ends(found) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_ratios_have_the_interval_of_the_jackknife() -> None:
    units = random_units(3, 20)
    pairs = [unit for unit in units if unit]

    def ratio(chosen: Sequence[tuple[float, int]]) -> float:
        return sum(total for total, _ in chosen) / sum(count for _, count in chosen)

    mean = ratio(pairs)
    without = [ratio([*pairs[:n], *pairs[n + 1 :]]) for n in range(20)]
    variance = 19 / 20 * sum((each - mean) ** 2 for each in without)
    half = stats.t.isf((1 - CONFIDENCE) / 2, 19) * variance**0.5
    found = estimated(column(units), SPEC)
    assert ends(found) == pytest.approx((mean - half, mean + half), abs=1e-9)
    assert found.num_units.tolist() == [20]


@pytest.mark.parametrize(("failing", "scenarios"), [(0, 45), (3, 45), (0, 4), (1, 15)])
def test_what_nearly_all_have_is_bounded_as_by_scipy(failing: int, scenarios: int) -> None:
    """Scenarios with another value are at most as many as a binomial test allows."""
    found = of([40.0] * failing + [100.0] * (scenarios - failing), PERCENT)
    share = stats.binomtest(failing, scenarios).proportion_ci(SPEC.confidence, method="exact").high
    assert found.kind.tolist() == ["bound"]
    assert ends(found) == pytest.approx((100 - 100 * share, 100), abs=1e-9)


def test_none_of_45_failing_may_be_one_in_thirteen() -> None:
    assert share_ends(0, 45, 0.95)[1] == pytest.approx(1 - 0.025 ** (1 / 45), abs=1e-12)
    assert share_ends(45, 45, 0.95)[1] == 1


@given(st.integers(4, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_games_that_are_all_or_nothing_have_the_binomial_interval(outcome: tuple[int, int]) -> None:
    successes, games = outcome
    found = of([100.0] * successes + [0.0] * (games - successes), PERCENT)
    theirs = stats.binomtest(successes, games).proportion_ci(SPEC.confidence, method="exact")
    assert found.kind.tolist() == ["bound"]
    assert ends(found) == pytest.approx((100 * theirs.low, 100 * theirs.high), abs=1e-9)


def test_units_that_differ_may_be_as_heavy_as_the_heaviest() -> None:
    found = estimated(column([(10.0, 1)] * 9 + [(40.0, 4)]), SPEC, bounds=PERCENT)
    share = share_ends(0, 10, SPEC.confidence)[1] * 4 * 10 / 13
    assert share < 1
    assert ends(found) == pytest.approx((10 - 10 * share, 10 + 90 * share))


def test_a_rare_value_is_reached_where_there_are_no_bounds() -> None:
    """Two thirds of the scenarios have 0: the interval does not stop short of it."""
    found = of([0.0] * 10 + [8, 9, 10, 11, 12])
    assert found.kind.tolist() == ["t"]
    assert found.low[0] == 0 < found.value[0] < found.high[0]
    assert of([0.0] * 11 + [9, 10, 11, 12]).kind.tolist() == ["same"]


@pytest.mark.parametrize(
    ("units", "kind"),
    [([(5.0, 1)], "few"), ([(1.0, 1), (2.0, 1), (4.0, 2)], "few"), ([(7.0, 1)] * 9, "same"),
     ([None, (0.0, 0)], "")],
)  # fmt: skip
def test_without_an_interval_a_word_says_why(units: list[Unit], kind: str) -> None:
    found = estimated(column(units), SPEC)
    assert found.kind.tolist() == [kind]
    assert np.isnan(ends(found)).all()


def test_what_is_exact_has_no_interval_but_the_word() -> None:
    sums = beside(random_units(1, 9), random_units(2, 9))
    found = estimated(sums, SPEC, exact=np.array([True, False]))
    assert found.kind.tolist() == ["exact", "t"]
    assert np.isnan([found.low[0], found.high[0]]).all()


def test_means_of_nothing_are_absent() -> None:
    for shape in ((3, 0), (0, 2)):
        none = estimated(Sums(np.zeros(shape), np.zeros(shape)), SPEC)
        assert none.value.shape == none.low.shape == none.kind.shape == shape[1:]
        assert np.isnan(none.value).all()


units_drawn = st.lists(UNITS, min_size=1, max_size=30)


@given(units_drawn, st.booleans())
def test_an_interval_holds_its_mean_and_has_a_width(units: list[Unit], has_bounds: bool) -> None:
    bounds = Bounds(np.full(1, -30.0), np.full(1, 30.0)) if has_bounds else None
    found = estimated(column(units), SPEC, bounds=bounds)
    low, high = ends(found)
    assert found.kind[0] in KINDS
    assert np.isnan(low) == np.isnan(high) == (found.kind[0] not in {"t", "bound"})
    if not np.isnan(low):
        assert low <= found.value[0] <= high
        assert low < high
        assert found.num_units[0] >= FEWEST_UNITS
    if has_bounds and found.num_units[0] >= FEWEST_UNITS:
        assert -30 <= low < high <= 30


@given(units_drawn, st.randoms(use_true_random=False))
def test_the_order_of_units_does_not_show(units: list[Unit], chance: Random) -> None:
    shuffled = chance.sample(units, len(units))
    one, other = (estimated(column(each), SPEC) for each in (units, shuffled))
    assert one.kind.tolist() == other.kind.tolist()
    assert ends(one) == pytest.approx(ends(other), abs=1e-9, nan_ok=True)


@given(units_drawn, st.integers(-9, 9), st.sampled_from([-3, -1, 2, 10]))
def test_ends_move_with_their_values(units: list[Unit], shift: int, scale: int) -> None:
    moved: list[Unit] = [unit and (scale * unit[0] + shift * unit[1], unit[1]) for unit in units]
    one, other = estimated(column(units), SPEC), estimated(column(moved), SPEC)
    expected = sorted(scale * end + shift for end in ends(one))
    assert one.kind.tolist() == other.kind.tolist()
    assert sorted(ends(other)) == pytest.approx(expected, abs=1e-6, nan_ok=True)


@given(st.lists(st.lists(st.integers(0, 3) | st.none(), min_size=2, max_size=2), min_size=1))
def test_the_most_common_value_is_that_of_a_count(rows: list[list[int | None]]) -> None:
    own = np.array([[np.nan if x is None else x for x in row] for row in rows], dtype=np.float64)
    found = most_common(own)
    for place in range(2):
        known = [row[place] for row in rows if row[place] is not None]
        count = max(map(known.count, known), default=0)
        assert found.units[place] == count
        assert count == 0 or known.count(found.value[place]) == count


def test_rounding_does_not_make_values_differ() -> None:
    third = 0.1 + 0.2
    found = most_common(np.array([[0.3], [third], [0.3]]))
    assert found.units.tolist() == [3]
    assert sample_of(column([(0.3, 1), (third, 1)])).num_units.tolist() == [2]


@pytest.mark.heavy
@pytest.mark.parametrize("num_units", [8, 15, 45])
def test_units_of_very_unlike_size_keep_the_confidence(num_units: int) -> None:
    """Log-normal counts, the greatest of 15 about thirty times the least; the values are normal.

    With linear terms, without the jackknife's leverage, 88% were held from 8 units.
    """
    chance = np.random.default_rng(num_units)
    counts = np.ceil(8 * chance.lognormal(0.0, 1.0, size=(num_units, 4000)))
    sums = Sums(counts * chance.normal(size=counts.shape), counts)
    found = estimated(sums, SPEC)
    assert ((found.low < 0) & (found.high > 0)).mean() >= 0.93
