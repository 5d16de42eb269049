"""Equality within a margin: against scipy's one-sided tests, by hand, and where there is none.

A p-value is 1 - confidence of an interval with .8 of its usual tails, .4 of it on the test's side.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from calbench.stats.differences import equivalence
from calbench.stats.intervals import difference_of, ends_of
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Sums
from tests.stats.samples import UNITS, beside, column, random_units

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
