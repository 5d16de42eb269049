import numpy as np
import pytest
from pydantic import ValidationError

from calbench.stats.resampling import resample_weights
from calbench.stats.spec import AnalysisSpec


def test_resamples_draw_every_unit_equally_often() -> None:
    weights = np.concatenate(list(resample_weights(7, 2000, 0, "uniform")))
    assert weights.shape == (2000, 7)
    assert (weights.sum(axis=1) == 7).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(7), abs=0.1)


def test_resamples_are_those_of_their_seed_and_name() -> None:
    def first(seed: int, *names: str) -> list[float]:
        weights: list[float] = next(resample_weights(5, 7, seed, *names))[0].tolist()
        return weights

    assert first(0, "uniform") == first(0, "uniform") == [0, 0, 0, 3, 2]
    assert first(0, "varied") != first(0, "uniform")
    assert first(0, "uniform", "x") != first(0, "uniform")
    assert first(1, "uniform") != first(0, "uniform")


def test_resamples_do_not_depend_on_the_size_of_blocks() -> None:
    blocks = list(resample_weights(45, 7, 0, "uniform", draws_at_once=100))
    assert [len(block) for block in blocks] == [2, 2, 2, 1]
    (whole,) = resample_weights(45, 7, 0, "uniform")
    assert np.array_equal(np.concatenate(blocks), whole)
    assert [len(b) for b in resample_weights(45, 7, 0, "uniform", draws_at_once=1)] == [1] * 7


@pytest.mark.parametrize("settings", [{"seed": 1}, {"confidence": 1.0}, {"permutations": 0}])
def test_settings_refuse_what_they_do_not_know(settings: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        AnalysisSpec.model_validate(settings)
