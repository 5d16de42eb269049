"""The trained detectors, and what an agent says about its own slots by them (appendix G.5).

The paper gives the idea and some of the words [P]; the limits of each label are ours [C]. Whether
a message has one is decided by a small trained model, which reads what the rules find and words
that they do not know; exact numbers are found by rules alone, since too few are labelled.

* *Proposal*: a named slot is proposed for a meeting of the speaker: by a statement, a wish, an
  offer of several slots, a condition ("otherwise slot 4"), a question whether it is possible
  ("does slot 4 work for you?", "are you free at 4?"), or a decision ("let's lock in slot 4"). Not
  included: confirming or repeating another agent's proposal, withdrawing, ruling out, asking what
  another agent has in a slot or which slots it has.
* *Availability*: whether the speaker can use a slot with its calendar as it is; also as an answer
  ("slot 4 works for me"). Not included: a bare confirmation, what others can do, a slot that is
  possible only after a move.
* *Cost or constraint*: how hard a slot is for the speaker, or what is there ("busy", "an errand", a
  private label, "I can move it"); exact numbers are a label of their own. Not included: what is
  hard for another agent.

A detector adds the weights of the features that a message has, and says yes above a bound. Weights
are whole numbers, so that every machine decides alike: those of a logistic regression with L2, in
thousandths; ``make detectors`` trains them [C].
"""

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from calbench.metrics.speech.features import message_features, prepared
from calbench.metrics.speech.rules import OwnSlot, ruled_slot

WEIGHTS: Final = Path(__file__).with_name("words") / "weights.json"
"""The released weights."""

OWN_SLOT: Final = ("proposal", "availability", "cost_or_constraint")
"""Labels of own slots with a trained detector."""

LEAK: Final = "leak"
"""The detector of pairs of a message and a label of its sender."""

UNIT: Final = 1000
"""Weights are given in parts of one of this many, as whole numbers: these add exactly [C]."""

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
        weights = self.weights
        return self.start + sum([weights[each] for each in features if each in weights]) > BOUND


Weights = Mapping[str, Detector]
"""All trained detectors, by label: of :data:`OWN_SLOT`, and :data:`LEAK`."""


@cache
def released_weights() -> Weights:
    """Return the detectors of this release."""
    return weights_of(WEIGHTS.read_text("utf-8"))


def weights_of(text: str) -> Weights:
    """Return the detectors of a file of weights: JSON, by label and feature."""
    return {
        name: Detector(each["start"], each["weights"]) for name, each in json.loads(text).items()
    }


@lru_cache(maxsize=4096)  # most messages differ from others in their slots alone
def _said(features: frozenset[str]) -> Mapping[str, bool]:
    return {name: released_weights()[name].says(features) for name in OWN_SLOT}


@lru_cache(maxsize=4096)  # players repeat themselves
def own_slot(message: str) -> OwnSlot:
    """Return which of the labels a message has."""
    says = _said(message_features(message))
    exact_cost = ruled_slot(prepared(message)).exact_cost
    return OwnSlot(
        proposal=says["proposal"],
        availability=says["availability"],
        cost_or_constraint=exact_cost or says["cost_or_constraint"],
        exact_cost=exact_cost,
    )
