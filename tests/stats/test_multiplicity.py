import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calbench.stats.multiplicity import adjusted_p_values


@given(st.lists(st.floats(0.0001, 1), max_size=30))
def test_adjusted_p_values_are_larger_and_in_the_same_order(p_values: list[float]) -> None:
    found = adjusted_p_values(p_values)
    order = np.argsort(p_values, kind="stable")
    assert all(p <= q <= 1 for p, q in zip(p_values, found.tolist(), strict=True))
    assert all(np.diff(found[order]) >= 0)


def test_adjusted_p_values_by_hand() -> None:
    # Times 4/1, 4/2, 4/3, 4/4 by rank, then no greater than those of higher rank.
    assert adjusted_p_values([0.04, 0.01, 0.02, 0.5]) == pytest.approx([0.16 / 3, 0.04, 0.04, 0.5])


def test_what_is_no_test_counts_for_nothing() -> None:
    given_ = [0.04, float("nan"), 0.01, 0.02, 0.5, float("nan")]
    found = adjusted_p_values(given_)
    assert found == pytest.approx([0.16 / 3, np.nan, 0.04, 0.04, 0.5, np.nan], nan_ok=True)
    assert np.isnan(given_[1])
    assert np.isnan(adjusted_p_values([float("nan")])).all()
    assert adjusted_p_values([]).shape == (0,)


def test_all_tests_of_a_table_are_adjusted_together() -> None:
    p_values = np.random.default_rng(0).random(40)
    before = p_values.copy()
    assert adjusted_p_values(p_values).tolist() == stats.false_discovery_control(p_values).tolist()
    assert (p_values == before).all()
