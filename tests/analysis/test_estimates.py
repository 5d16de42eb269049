from math import fsum

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats

from calbench.analysis.estimates import ScenarioSum, estimate_means, resample_weights
from calbench.domain.randomness import stream
from calbench.stats.spec import AnalysisSpec

SPEC = AnalysisSpec()
TAIL = 0.020767926
"""Beyond each end with 45 scenarios: normal, sqrt(45 / 44) * 2.0153676 from its centre."""


def column(seed: int, num_scenarios: int = 45) -> list[ScenarioSum | None]:
    chance = stream(seed, "column")
    return [ScenarioSum(chance.below(1000) / 7, 1 + chance.below(5)) for _ in range(num_scenarios)]


def test_intervals_equal_a_loop_over_the_resamples() -> None:
    entries = [entry for entry in column(1) if entry]
    (estimate,) = estimate_means([entries], SPEC, "uniform")
    assert estimate is not None
    means = []
    for weights in np.concatenate(list(resample_weights(len(entries), SPEC, "uniform"))):
        drawn = [e for e, w in zip(entries, weights, strict=True) for _ in range(int(w))]
        assert len(drawn) == len(entries)
        means.append(fsum(e.total for e in drawn) / sum(e.count for e in drawn))
    assert estimate.value == fsum(e.total for e in entries) / sum(e.count for e in entries)
    assert (estimate.low, estimate.high) == pytest.approx(
        tuple(np.quantile(means, [TAIL, 1 - TAIL])), abs=1e-7
    )
    assert estimate.num_scenarios == 45
    assert estimate.num_agent_games == sum(e.count for e in entries)


def test_intervals_agree_with_scipy() -> None:
    entries = [entry for entry in column(2) if entry]
    (estimate,) = estimate_means([entries], AnalysisSpec(bootstrap_resamples=20000), "uniform")
    assert estimate is not None
    theirs = stats.bootstrap(
        ([e.total for e in entries], [e.count for e in entries]),
        lambda totals, counts, axis: totals.sum(axis=axis) / counts.sum(axis=axis),
        paired=True,
        method="percentile",
        confidence_level=1 - 2 * TAIL,
        n_resamples=20000,
        rng=np.random.default_rng(0),
    ).confidence_interval
    width = theirs.high - theirs.low
    assert estimate.low == pytest.approx(theirs.low, abs=width / 20)
    assert estimate.high == pytest.approx(theirs.high, abs=width / 20)


def test_resamples_draw_every_scenario_equally_often() -> None:
    weights = np.concatenate(list(resample_weights(7, SPEC, "uniform")))
    assert weights.shape == (2000, 7)
    assert (weights.sum(axis=1) == 7).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(7), abs=0.1)


def test_resamples_are_those_of_their_seed_and_name() -> None:
    def first(spec: AnalysisSpec, name: str) -> list[float]:
        weights: list[float] = next(resample_weights(5, spec, name))[0].tolist()
        return weights

    assert first(SPEC, "uniform") == first(SPEC, "uniform") == [0, 0, 0, 3, 2]
    assert first(SPEC, "varied") != first(SPEC, "uniform")
    assert first(AnalysisSpec(bootstrap_seed=1), "uniform") != first(SPEC, "uniform")


def test_teams_are_resampled_together() -> None:
    one = [entry for entry in column(3) if entry]
    shifted = [ScenarioSum(entry.total + 2 * entry.count, entry.count) for entry in one]
    mine, theirs = estimate_means([one, shifted], SPEC, "uniform")
    assert mine is not None
    assert theirs is not None
    assert mine.low is not None
    assert mine.high is not None
    assert (theirs.low, theirs.high) == pytest.approx((mine.low + 2, mine.high + 2), abs=1e-6)


def test_resamples_do_not_depend_on_the_size_of_blocks() -> None:
    few = AnalysisSpec(bootstrap_resamples=7)
    blocks = list(resample_weights(45, few, "uniform", draws_at_once=100))
    assert [len(block) for block in blocks] == [2, 2, 2, 1]
    (whole,) = resample_weights(45, few, "uniform")
    assert np.array_equal(np.concatenate(blocks), whole)


def test_estimates_without_denominator_are_absent() -> None:
    nothing: list[ScenarioSum | None] = [ScenarioSum(0.0, 0), None]
    assert estimate_means([nothing], SPEC, "uniform") == [None]
    assert estimate_means([], SPEC, "uniform") == []
    assert estimate_means([[]], SPEC, "uniform") == [None]


def test_scenarios_that_do_not_count_leave_the_mean_alone() -> None:
    entries: list[ScenarioSum | None] = [ScenarioSum(6.0, 2), None, ScenarioSum(1.0, 1)]
    (estimate,) = estimate_means([entries], SPEC, "uniform")
    assert estimate is not None
    assert estimate.value == pytest.approx(7 / 3)
    assert (estimate.low, estimate.high) == (1, 3)
    assert (estimate.num_scenarios, estimate.num_agent_games) == (2, 3)


def test_one_scenario_gives_no_interval() -> None:
    (estimate,) = estimate_means([[ScenarioSum(6.0, 2)]], SPEC, "uniform")
    assert estimate is not None
    assert (estimate.value, estimate.low, estimate.high) == (3, None, None)


@pytest.mark.parametrize("settings", [{"seed": 1}, {"confidence": 1.0}, {"bootstrap_resamples": 0}])
def test_analysis_refuses_what_it_does_not_know(settings: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        AnalysisSpec.model_validate(settings)
