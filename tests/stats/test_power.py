import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calbench.stats.differences import minimum_detectable_difference, noncentrality, required_units
from calbench.stats.spec import AnalysisSpec

SPEC = AnalysisSpec()


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
