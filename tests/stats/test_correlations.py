import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.stats.correlations import LEAST_UNITS, NONE, correlation, spearmans
from tests.effort import examples

values = st.integers(-5, 5).map(float) | st.floats(-9, 9).map(lambda value: round(value, 3))
pairs = st.lists(st.tuples(values, values), min_size=LEAST_UNITS, max_size=40)


def sides(found: list[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    xs, ys = zip(*found, strict=True)
    return np.array(xs), np.array(ys)


@given(pairs)
@settings(max_examples=examples(80))
def test_rho_is_that_of_scipy_and_turns_with_a_side(found: list[tuple[float, float]]) -> None:
    from scipy.stats import spearmanr

    xs, ys = sides(found)
    columns = np.stack([xs, -xs, xs**3], axis=-1), np.stack([ys, ys, 2 * ys + 1], axis=-1)
    own, turned, monotone = spearmans(*columns)
    if np.isnan(own):
        assert len(set(xs)) == 1 or len(set(ys)) == 1
        assert correlation([(xs, ys)], 0.95) == NONE
        return
    assert own == pytest.approx(spearmanr(xs, ys).statistic, abs=1e-9)
    assert (turned, monotone) == pytest.approx((-own, own))
    whole = correlation([(xs, ys)], 0.95)
    assert whole.num_units == len(xs)
    if abs(own) < 1:
        assert whole.low < whole.rho < whole.high
    mirrored = correlation([(xs, ys), (-xs, ys)], 0.95)
    assert (mirrored.rho, mirrored.p) == pytest.approx((0, 1), abs=1e-9)


def test_strata_are_weighted_by_their_units_and_small_ones_are_left_out() -> None:
    up = np.arange(10.0), np.arange(10.0)
    down = np.arange(30.0), -np.arange(30.0)
    small = np.arange(9.0), np.arange(9.0)
    same = np.arange(20.0), np.zeros(20)
    found = correlation([up, down, small, same], 0.95)
    assert found.rho == pytest.approx((10 - 30) / 40)
    assert found.num_units == 40
    assert math.isnan(found.low)  # of the stratum that says nothing
    assert math.isnan(found.high)
    assert correlation([up, down, small], 0.95).low < found.rho
    assert found.p == pytest.approx(math.erfc(20 / math.sqrt(100 / 9 + 900 / 29) / math.sqrt(2)))
    assert correlation([small, same], 0.95) == NONE
    assert math.isnan(correlation([up], 0.95).low)


@pytest.mark.heavy
@pytest.mark.parametrize("true", [0.0, 0.3, 0.8])
def test_intervals_hold_and_tests_keep_their_level(true: float) -> None:
    chance = np.random.default_rng(7)
    rho = 6 / math.pi * math.asin(true / 2)  # of normal values with this correlation
    held, rejected, draws = 0, 0, 2000
    for _ in range(draws):
        xs = chance.normal(size=45)
        ys = true * xs + math.sqrt(1 - true**2) * chance.normal(size=45)
        found = correlation([(xs, ys)], 0.95)
        held += found.low <= rho <= found.high
        rejected += found.p < 0.05
    assert held / draws > 0.93
    if true == 0.0:
        assert rejected / draws < 0.06
