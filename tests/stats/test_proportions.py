import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calbench.stats.proportions import fisher_p_value, wilson
from calbench.stats.spec import AnalysisSpec

SPEC = AnalysisSpec()


@given(
    st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.sampled_from([0.95, 0.8]),
)
def test_wilson_intervals_are_those_of_scipy(outcome: tuple[int, int], confidence: float) -> None:
    successes, trials = outcome
    found = wilson(successes, trials, AnalysisSpec(confidence=confidence))
    assert found is not None
    expected = stats.binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    assert found.value == successes / trials
    assert found[1:] == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert found.low <= found.value <= found.high


def test_wilson_intervals_of_none_and_half() -> None:
    assert wilson(0, 10, SPEC) == pytest.approx((0, 0, 0.27753), abs=1e-5)
    assert wilson(5, 10, SPEC) == pytest.approx((0.5, 0.23659, 0.76341), abs=1e-5)


def test_shares_without_trials_are_absent() -> None:
    assert wilson(0, 0, SPEC) is None
    assert fisher_p_value((0, 0), (1, 2)) is None
    assert fisher_p_value((1, 2), (0, 0)) is None


def test_fisher_is_that_of_the_tea_tasting() -> None:
    # Three cups of four and one of four: 34 of the 70 ways are as extreme.
    assert fisher_p_value((3, 4), (1, 4)) == pytest.approx(34 / 70)
    assert fisher_p_value((4, 4), (0, 4)) == pytest.approx(2 / 70)
    assert fisher_p_value((2, 4), (2, 4)) == pytest.approx(1)


COUNTS = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS, COUNTS)
def test_fisher_is_that_of_scipy(one: tuple[int, int], other: tuple[int, int]) -> None:
    table = [[successes, trials - successes] for successes, trials in (one, other)]
    expected = float(stats.fisher_exact(table).pvalue)
    assert fisher_p_value(one, other) == pytest.approx(expected, abs=1e-9)
