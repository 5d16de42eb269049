import numpy as np
import pytest
from pydantic import ValidationError

from calbench.stats.bootstrap import resample_weights
from calbench.stats.spec import AnalysisSpec

SPEC = AnalysisSpec()


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


def test_resamples_do_not_depend_on_the_size_of_blocks() -> None:
    few = AnalysisSpec(bootstrap_resamples=7)
    blocks = list(resample_weights(45, few, "uniform", draws_at_once=100))
    assert [len(block) for block in blocks] == [2, 2, 2, 1]
    (whole,) = resample_weights(45, few, "uniform")
    assert np.array_equal(np.concatenate(blocks), whole)
    assert [len(b) for b in resample_weights(45, few, "uniform", draws_at_once=1)] == [1] * 7


@pytest.mark.parametrize("settings", [{"seed": 1}, {"confidence": 1.0}, {"bootstrap_resamples": 0}])
def test_settings_refuse_what_they_do_not_know(settings: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        AnalysisSpec.model_validate(settings)
