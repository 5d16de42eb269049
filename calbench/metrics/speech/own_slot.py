"""What an agent says about its own slots: proposals, availability, costs (appendix G.5).

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
"""

from functools import lru_cache

from calbench.metrics.speech.rules import NAMES, NOTHING, OwnSlot, ruled_slot
from calbench.metrics.speech.trained.features import message_features, prepared
from calbench.metrics.speech.trained.weights import released_weights

__all__ = ["NAMES", "NOTHING", "OwnSlot", "own_slot"]


@lru_cache(maxsize=4096)  # players repeat themselves
def own_slot(message: str) -> OwnSlot:
    """Return which of the labels a message has."""
    features = message_features(message)
    says = {name: model.says(features) for name, model in released_weights().own_slot.items()}
    exact_cost = ruled_slot(prepared(message)).exact_cost
    return OwnSlot(
        proposal=says["proposal"],
        availability=says["availability"],
        cost_or_constraint=exact_cost or says["cost_or_constraint"],
        exact_cost=exact_cost,
    )
