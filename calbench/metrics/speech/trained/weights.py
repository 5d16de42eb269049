"""The trained detectors: whole numbers, so that every machine decides alike [C].

A detector adds the weights of the features that a message has, and says yes above a bound. The
weights are those of a logistic regression with L2, in thousandths; ``make detectors`` trains them.
"""

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

WEIGHTS: Final = Path(__file__).parents[1] / "words" / "weights.json"
"""The released weights."""

OWN_SLOT: Final = ("proposal", "availability", "cost_or_constraint")
"""Labels of own slots with a trained detector."""

LEAK: Final = "leak"
"""The detector of pairs of a message and a label of its sender."""

UNIT: Final = 1000
"""Weights are given in parts of one of this many."""

BOUND: Final = -405
"""Probability .4 in thousandths of a logit: F1 is greatest where the bound is half of it, and F1 is
about .8 (Lipton, Elkan and Naryanaswamy 2014, theorem 1)."""


@dataclass(frozen=True, slots=True)
class Detector:
    """One trained detector.

    Attributes:
        start: the sum without any feature.
        weights: by feature; others count nothing.
    """

    start: int
    weights: Mapping[str, int]

    def says(self, features: AbstractSet[str]) -> bool:
        """Whether the features add up to yes."""
        return (
            self.start + sum(map(self.weights.__getitem__, self.weights.keys() & features)) > BOUND
        )


@dataclass(frozen=True, slots=True)
class Weights:
    """All trained detectors, by label; see :data:`OWN_SLOT` and :data:`LEAK`."""

    own_slot: Mapping[str, Detector]
    leak: Detector


@cache
def released_weights() -> Weights:
    """Return the detectors of this release."""
    return weights_of(WEIGHTS.read_text("utf-8"))


def weights_of(text: str) -> Weights:
    """Return the detectors of a file of weights: JSON, by label and feature."""
    found = {
        name: Detector(each["start"], each["weights"]) for name, each in json.loads(text).items()
    }
    return Weights({name: found[name] for name in OWN_SLOT}, found[LEAK])


def text_of(weights: Weights) -> str:
    """Return the file of some detectors, one feature a line."""
    detectors = {**weights.own_slot, LEAK: weights.leak}
    parts = {
        name: {"start": each.start, "weights": dict(sorted(each.weights.items()))}
        for name, each in detectors.items()
    }
    return json.dumps(parts, indent=0, separators=(",", ":")) + "\n"
