from math import fsum

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats

from calbench.domain.randomness import stream
from calbench.stats.bootstrap import bootstrap_means, resample_weights
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Sums
from tests.stats.samples import Unit, beside, column, random_units

SPEC = AnalysisSpec()
TAIL = 0.020767926
"""Beyond each end with 45 units: normal, sqrt(45 / 44) * 2.0153676 from its centre."""


def units(seed: int, num_units: int = 45) -> list[tuple[float, int]]:
    chance = stream(seed, "column")
    return [(chance.below(1000) / 7, 1 + chance.below(5)) for _ in range(num_units)]


def test_intervals_equal_a_loop_over_the_resamples() -> None:
    entries = units(1)
    found = bootstrap_means(column(entries), SPEC, "uniform")
    means = []
    for weights in np.concatenate(list(resample_weights(len(entries), SPEC, "uniform"))):
        drawn = [e for e, w in zip(entries, weights, strict=True) for _ in range(int(w))]
        assert len(drawn) == len(entries)
        means.append(fsum(total for total, _ in drawn) / sum(count for _, count in drawn))
    total, count = fsum(total for total, _ in entries), sum(count for _, count in entries)
    assert found.value.tolist() == [total / count]
    assert (found.low[0], found.high[0]) == pytest.approx(
        tuple(np.quantile(means, [TAIL, 1 - TAIL])), abs=1e-7
    )
    assert found.num_units.tolist() == [45]
    assert found.num_values.tolist() == [count]


def test_intervals_agree_with_scipy() -> None:
    entries = units(2)
    found = bootstrap_means(column(entries), AnalysisSpec(bootstrap_resamples=20000), "uniform")
    theirs = stats.bootstrap(
        ([total for total, _ in entries], [count for _, count in entries]),
        lambda totals, counts, axis: totals.sum(axis=axis) / counts.sum(axis=axis),
        paired=True,
        method="percentile",
        confidence_level=1 - 2 * TAIL,
        n_resamples=20000,
        rng=np.random.default_rng(0),
    ).confidence_interval
    width = theirs.high - theirs.low
    assert found.low[0] == pytest.approx(theirs.low, abs=width / 20)
    assert found.high[0] == pytest.approx(theirs.high, abs=width / 20)


def test_an_interval_is_the_one_it_always_was() -> None:
    found = bootstrap_means(beside(random_units(3, 20), random_units(4, 20)), SPEC, "uniform")
    assert found.value == pytest.approx([191 / 56, 230 / 71], abs=1e-12)
    assert found.low == pytest.approx([2.382310605215764, 2.3587329335335], abs=1e-12)
    assert found.high == pytest.approx([4.690476190476191, 4.3644429830826], abs=1e-12)
    assert found.num_values.tolist() == [56, 71]


def test_resamples_draw_every_unit_equally_often() -> None:
    weights = np.concatenate(list(resample_weights(7, SPEC, "uniform")))
    assert weights.shape == (2000, 7)
    assert (weights.sum(axis=1) == 7).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(7), abs=0.1)


def test_resamples_are_those_of_their_seed_and_name() -> None:
    def first(spec: AnalysisSpec, *names: str) -> list[float]:
        weights: list[float] = next(resample_weights(5, spec, *names))[0].tolist()
        return weights

    assert first(SPEC, "uniform") == first(SPEC, "uniform") == [0, 0, 0, 3, 2]
    assert first(SPEC, "varied") != first(SPEC, "uniform")
    assert first(SPEC, "uniform", "x") != first(SPEC, "uniform")
    assert first(AnalysisSpec(bootstrap_seed=1), "uniform") != first(SPEC, "uniform")


def test_columns_are_resampled_together() -> None:
    one = units(3)
    shifted: list[Unit] = [(total + 2 * count, count) for total, count in one]
    found = bootstrap_means(beside(one, shifted), SPEC, "uniform")
    assert found.low[1] == pytest.approx(found.low[0] + 2, abs=1e-6)
    assert found.high[1] == pytest.approx(found.high[0] + 2, abs=1e-6)


def test_resamples_do_not_depend_on_the_size_of_blocks() -> None:
    few = AnalysisSpec(bootstrap_resamples=7)
    blocks = list(resample_weights(45, few, "uniform", draws_at_once=100))
    assert [len(block) for block in blocks] == [2, 2, 2, 1]
    (whole,) = resample_weights(45, few, "uniform")
    assert np.array_equal(np.concatenate(blocks), whole)
    assert [len(b) for b in resample_weights(45, few, "uniform", draws_at_once=1)] == [1] * 7


def test_means_of_nothing_are_absent() -> None:
    found = bootstrap_means(column([(0.0, 0), None]), SPEC, "uniform")
    assert np.isnan([found.value[0], found.low[0], found.high[0]]).all()
    assert (found.num_units.tolist(), found.num_values.tolist()) == ([0], [0])
    no_columns = bootstrap_means(Sums(np.zeros((3, 0)), np.zeros((3, 0))), SPEC)
    assert no_columns.value.shape == no_columns.low.shape == (0,)
    no_units = bootstrap_means(Sums(np.zeros((0, 2)), np.zeros((0, 2))), SPEC)
    assert np.isnan(no_units.value).all()
    assert np.isnan(no_units.low).all()


def test_units_that_do_not_count_leave_the_mean_alone() -> None:
    found = bootstrap_means(column([(6.0, 2), None, (1.0, 1)]), SPEC, "uniform")
    assert found.value[0] == pytest.approx(7 / 3)
    assert (found.low[0], found.high[0]) == (1, 3)
    assert (found.num_units.tolist(), found.num_values.tolist()) == ([2], [3])


def test_one_unit_gives_no_interval_and_two_do() -> None:
    one = bootstrap_means(column([(6.0, 2)]), SPEC, "uniform")
    assert one.value.tolist() == [3]
    assert np.isnan([one.low[0], one.high[0]]).all()
    two = bootstrap_means(column([(6.0, 2), (1.0, 1)]), SPEC, "uniform")
    assert (two.low[0], two.high[0]) == (1, 3)


@pytest.mark.parametrize("settings", [{"seed": 1}, {"confidence": 1.0}, {"bootstrap_resamples": 0}])
def test_settings_refuse_what_they_do_not_know(settings: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        AnalysisSpec.model_validate(settings)
