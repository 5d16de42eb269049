"""Variance components: held against scipy's analysis of variance, and against drawn values."""

from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calbench.stats.components import Components, common_share, components, widths

VALUES = arrays(
    np.float64,
    st.tuples(st.integers(2, 6), st.integers(2, 4)),
    elements=st.integers(-8, 8).map(float),
)


@given(VALUES)
def test_components_have_the_mean_squares_of_the_analysis_of_variance(values: np.ndarray) -> None:
    from scipy.stats import f_oneway

    found = components(values)
    assert found is not None
    if found.within > 0:
        ratio = (values.shape[1] * found.between + found.within) / found.within
        assert ratio == pytest.approx(f_oneway(*values).statistic, rel=1e-9, abs=1e-9)


def drawn(seed: int, between: float, within: float, shape: tuple[int, int]) -> np.ndarray:
    chance = np.random.Generator(np.random.PCG64(seed))
    shared = chance.normal(0, sqrt(between), (shape[0], 1))
    return np.asarray(5 + shared + chance.normal(0, sqrt(within), shape))


def test_estimates_are_unbiased_where_units_have_unequally_many_values() -> None:
    found = []
    for seed in range(1000):
        values = drawn(seed, between=2.0, within=1.0, shape=(8, 4))
        values[::2, 2:] = np.nan
        own = components(values)
        assert own is not None
        found.append(own)
    for estimates, truth in zip(zip(*found, strict=True), (2.0, 1.0), strict=True):
        error = np.std(estimates) / sqrt(len(found))
        assert abs(np.mean(estimates) - truth) < 4 * error


def test_expected_width_is_that_of_one_more_slice() -> None:
    """Widths over slices that are drawn, beside what three of them say of the fourth."""
    three, four, shares = [], [], []
    for seed in range(400):
        values = drawn(seed, between=1.0, within=3.0, shape=(15, 4))
        three.append(values[:, :3].mean(axis=1).std(ddof=1))
        four.append(values.mean(axis=1).std(ddof=1))
        own = components(values[:, :3])
        assert own is not None
        shares.append(own)
    expected = np.mean(three) * widths(common_share(shares), 3).slice
    error = np.std(np.subtract(four, three)) / sqrt(len(four))
    assert abs(expected - np.mean(four)) < 4 * error


@given(st.floats(0, 1), st.floats(1, 9))
def test_further_units_narrow_at_least_as_much_as_a_slice(share: float, slices: float) -> None:
    found = widths(share, slices)
    assert 0 <= found.limit <= found.slice * (1 + 1e-12)
    assert found.units <= found.slice * (1 + 1e-12)
    assert found.slice <= 1 + 1e-12
    assert widths(0, slices).slice == pytest.approx(found.units)
    assert widths(1, slices).slice == 1


@pytest.mark.parametrize(
    "values", [[[1.0, 2.0]], [[1.0], [2.0]], [[1.0, np.nan], [np.nan, 2.0]], np.empty((0, 0))]
)
def test_what_cannot_be_told_apart_has_no_components(values: object) -> None:
    assert components(np.array(values)) is None


def test_share_is_over_all_groups_and_between_0_and_1() -> None:
    assert common_share([Components(3, 1), Components(0, 4)]) == pytest.approx(3 / 8)
    assert common_share([Components(-1, 4)]) == 0
    assert isnan(common_share([]))
    assert isnan(common_share([Components(0, 0)]))
