from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.stats.sums import Sums, exact_totals, grouped_sums, rounded_sums

NUMBERS = (
    st.floats(-1e6, 1e6)
    | st.integers(-(2**30), 2**30).map(float)
    | st.sampled_from([float("nan"), 0.25, -0.0, 2.0**-25])
)
GIVEN = st.lists(st.tuples(NUMBERS, st.integers(-1, 4)), max_size=30)


@given(GIVEN)
def test_groups_hold_the_exact_sum_of_their_values(rows: list[tuple[float, int]]) -> None:
    found = grouped_sums([v for v, _ in rows], np.array([g for _, g in rows], dtype=np.int64), 5)
    for group in range(5):
        own = [value for value, g in rows if g == group and value == value]  # noqa: PLR0124
        assert found.totals[group] == fsum(own)
        assert found.counts[group] == len(own)


def test_sums_by_hand() -> None:
    values = [1.5, float("nan"), 2.0, 4.0, 8.0]
    found = grouped_sums(values, np.array([0, 0, 2, -1, 2]), 4)
    assert found.totals.tolist() == [1.5, 0, 10, 0]
    assert found.counts.tolist() == [1, 0, 2, 0]
    assert found.counts.dtype == np.float64


def test_sums_are_rounded_once_in_any_order() -> None:
    values = [1e16, 1.0, -1e16, 0.1, 0.1, 0.1]
    expected = fsum(values)
    assert sum(values) != expected
    for order in (values, values[::-1]):
        assert grouped_sums(order, np.zeros(6, dtype=np.int64), 1).totals.tolist() == [expected]
    assert exact_totals(np.array([values]).T).tolist() == [expected]


def test_no_groups_have_no_sums() -> None:
    found = grouped_sums([], np.array([], dtype=np.int64), 0)
    assert isinstance(found, Sums)
    assert found.totals.shape == found.counts.shape == (0,)


@given(st.lists(st.tuples(NUMBERS, st.integers(-100, 100), st.integers(0, 2)), max_size=30))
def test_columns_are_added_each_for_itself(rows: list[tuple[float, int, int]]) -> None:
    groups = np.array([group for *_, group in rows], dtype=np.int64)
    values = np.array([row[:2] for row in rows], dtype=np.float64).reshape(-1, 2)
    found = grouped_sums(values, groups, 3)
    alone = [grouped_sums(values[:, column], groups, 3) for column in range(2)]
    assert found.totals.T.tolist() == [each.totals.tolist() for each in alone]
    assert found.counts.T.tolist() == [each.counts.tolist() for each in alone]
    known = np.nan_to_num(values)
    assert exact_totals(known).tolist() == [fsum(column) for column in known.T]
    assert exact_totals(np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])).tolist() == [6, 60]


@given(st.lists(st.floats(-1000, 1000), min_size=1, max_size=20))
def test_rounded_sums_add_exactly_in_any_order(values: list[float]) -> None:
    rounded = rounded_sums(np.array(values))
    assert np.abs(rounded - values).max() <= 2.0**-25
    assert (rounded * 2.0**24 == np.rint(rounded * 2.0**24)).all()
    assert sum(rounded.tolist()) == fsum(rounded.tolist()) == sum(rounded.tolist()[::-1])


def test_a_third_is_rounded_to_the_nearest_of_its_grid() -> None:
    assert rounded_sums(np.array([1 / 3, -1 / 3])).tolist() == pytest.approx(
        [5592405 / 2**24, -5592405 / 2**24], abs=0
    )
