"""The released detectors are those that the stage trains."""

from itertools import pairwise

import numpy as np
import pytest

from calbench.analysis.audit_sample import UNSEEN, read_unseen
from calbench.metrics.speech.detectors import LEAK, OWN_SLOT, UNIT, released_weights, weights_of
from calbench.metrics.speech.sample import read_others, read_sample
from calbench.tree import in_tree
from tests.studies.detectors import Example, detector, found_by, text_of, trained, unseen

SAMPLE = in_tree("data/audit_sample")


def test_fit_is_where_the_slope_is_zero() -> None:
    """Two features, weighed examples: the penalised likelihood is flat at the weights found."""
    cells = [("a", True, 3.0), ("a", True, 1.0), ("a", False, 1.0), ("b", False, 3.0)] * 3
    examples = [Example({name}, is_yes, weight) for name, is_yes, weight in cells]
    found = detector(examples)
    start = found.start / UNIT
    slopes = {"": 0.0, "a": found.weights["a"] / UNIT / 0.1, "b": found.weights["b"] / UNIT / 0.1}
    for name, is_yes, weight in cells:
        chance = 1 / (1 + np.exp(-(start + found.weights[name] / UNIT)))
        for each in ("", name):
            slopes[each] += weight * (chance - is_yes)
    assert np.abs(list(slopes.values())).max() < 0.02  # weights are rounded to thousandths


def test_rare_features_are_left_out_and_pairs_count_half() -> None:
    cells = [({"cue a", "pair a b"}, True)] * 4 + [({"cue c"}, False)] * 4 + [({"cue d"}, True)] * 2
    found = detector([Example(features, is_yes, 1) for features, is_yes in cells]).weights
    assert "cue d" not in found
    assert 4 * found["pair a b"] == pytest.approx(found["cue a"], abs=4)


def test_weights_are_read_as_written() -> None:
    released = released_weights()
    assert weights_of(text_of(released)) == released
    for each in released.values():
        assert all(one < other for one, other in pairwise(each.weights))


@pytest.mark.heavy
def test_released_detectors_are_those_that_are_trained_from_the_samples() -> None:
    """Another machine may round a weight to the next thousandth, never a decision."""
    others, ours = read_others(SAMPLE / "others.jsonl"), read_sample(SAMPLE / "messages.jsonl")
    made, released = trained([*others, *ours]), released_weights()
    for one, other in [(made[name], released[name]) for name in (*OWN_SLOT, LEAK)]:
        assert abs(one.start - other.start) <= 1
        names = one.weights.keys() | other.weights.keys()
        assert all(abs(one.weights.get(n, 0) - other.weights.get(n, 0)) <= 1 for n in names)
    for message in [*others, *ours]:
        assert found_by(made, message) == found_by(released, message)
    assert unseen(others, ours) == read_unseen(SAMPLE / UNSEEN)
