"""Ends of intervals: by tables of the t and normal distributions, and against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.stats.intervals import ends_of, tail_share


@pytest.mark.parametrize(
    ("scenarios", "t", "tail"),
    [
        (2, 12.70620474, 0.0),
        (7, 2.44691185, 0.00411),
        (15, 2.14478669, 0.01321),
        (45, 2.01536757, 0.02077),
    ],
)
def test_tails_are_those_of_printed_tables(scenarios: int, t: float, tail: float) -> None:
    from statistics import NormalDist

    distance = (scenarios / (scenarios - 1)) ** 0.5 * t
    assert tail_share(scenarios, 0.95) == pytest.approx(1 - NormalDist().cdf(distance), abs=1e-9)
    assert tail_share(scenarios, 0.95) == pytest.approx(tail, abs=1e-5)


def test_tails_grow_with_the_scenarios_toward_the_plain_ones() -> None:
    tails = [tail_share(n, 0.9) for n in (2, 3, 5, 10, 100, 10_000)]
    assert tails == sorted(tails)
    assert tails[-1] == pytest.approx(0.05, abs=1e-4)


draws = st.lists(
    st.lists(st.floats(-9, 9) | st.just(float("nan")), min_size=3, max_size=3),
    min_size=1,
    max_size=12,
)


@given(draws, st.lists(st.integers(0, 5), min_size=3, max_size=3))
def test_ends_are_those_of_numpy_column_by_column(
    rows: list[list[float]], num_scenarios: list[int]
) -> None:
    found = np.array(rows)
    lows, highs = ends_of(found, np.array(num_scenarios), 0.95)
    for column, count in enumerate(num_scenarios):
        known = found[:, column][~np.isnan(found[:, column])]
        if count < 2 or not known.size:
            assert np.isnan([lows[column], highs[column]]).all()
        else:
            tail = tail_share(count, 0.95)
            expected = np.quantile(known, [tail, 1 - tail])
            assert (lows[column], highs[column]) == pytest.approx(tuple(expected), abs=1e-12)
