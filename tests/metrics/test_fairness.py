import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.metrics.costs import burden_gaps, fairness, fairness_range

excesses = st.lists(st.integers(-50, 50), min_size=1, max_size=9)


def test_fairness_of_the_worked_example_is_four_fifths() -> None:
    assert fairness((1, 1, 0, -1, -1)) == 0.8
    assert burden_gaps((1, 1, 0, -1, -1)) == (1, 1, 0, 1, 1)


def test_fairness_counts_agents_without_any_burden() -> None:
    assert burden_gaps((3, 0, 0)) == (2, 1, 1)
    assert fairness((3, 0, 0)) == pytest.approx(4 / 3)


@given(excesses)
def test_fairness_is_the_mean_gap_and_zero_only_when_even(excess: list[int]) -> None:
    gaps = burden_gaps(excess)
    assert fairness(excess) == pytest.approx(sum(gaps) / len(gaps))
    assert (fairness(excess) == 0) == (len(set(excess)) == 1)


def test_fairness_range_spans_the_optimal_splits() -> None:
    assert fairness_range((2, 0), [(1, 0), (0, 1), (2, -1)], is_sample=True) == (0.5, 1.5, True, 3)
    assert fairness_range((1, 1), [(0, 0)], is_sample=False) == (0.0, 0.0, False, 1)
