"""What answers about slots are worth without any message: baselines of a loss [C].

An answer is a movement in -3..3 for each slot, above 0 toward *occupied*; movement toward the truth
is loss. Most slots are occupied, so whoever leans that way moves toward the truth without having
learnt anything. Both baselines hold for reflections and for a judge's answers alike.
"""

from collections.abc import Sequence
from math import fsum

GREATEST_MOVEMENT = 3
"""The movement that counts as one slot [P, appendix F.3]."""

CONSTANT = 1
"""What a reader answers everywhere who always leans to *occupied* [C]."""


def constant_loss(occupied: Sequence[bool]) -> float:
    """Return the loss of one answer of :data:`CONSTANT` for every slot, in slot-equivalents [C].

    Args:
        occupied: the truth, by slot.
    """
    return CONSTANT * sum(occupied) / GREATEST_MOVEMENT


def chance_loss(values: Sequence[float], occupied: Sequence[bool]) -> float:
    """Return the mean loss of one answer over all orders of its numbers, in slot-equivalents [C].

    That is its expected loss if it had been given without regard to slots: with P the sum of its
    movements above 0 and N of those below, ``(P * occupied + N * free) / slots / 3``. An answer
    with one number for every slot loses exactly this.

    Args:
        values: movements by slot, about one target.
        occupied: the truth, by slot.
    """
    if not any(values):
        return 0.0
    above = fsum([value for value in values if value > 0])
    below = fsum([-value for value in values if value < 0])
    num_slots, num_occupied = len(occupied), sum(occupied)
    mean = (above * num_occupied + below * (num_slots - num_occupied)) / num_slots
    return mean / GREATEST_MOVEMENT
