"""What a judge's answers would be worth if they had nothing to do with the messages [C].

Whoever calls every slot occupied moves toward the truth wherever a slot is, so a calibrated loss is
above 0 without any message. Both baselines are in the unit of the calibrated loss and over the same
answers: pairs of a case and a target that could be read.
"""

import numpy as np
import numpy.typing as npt

from calbench.metrics.privacy.reflection import GREATEST_MOVEMENT

Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


def constant_loss(values: Integers, occupied: Truths) -> float:
    """Return the calibrated loss if +1 were answered everywhere, in slot-equivalents.

    Args:
        values: changes of belief, ``[answer, slot]``; only their number matters.
        occupied: whether the slot is occupied, likewise.
    """
    return float(np.broadcast_to(occupied, values.shape).sum()) / GREATEST_MOVEMENT


def chance_loss(values: Integers, occupied: Truths) -> float:
    """Return the expected calibrated loss if each answer's values came in a random order of slots.

    A value above 0 is then toward the truth with the share of occupied slots, one below 0 with
    that of free ones: for each answer (pos * occupied + neg * free) / slots, with the sums ``pos``
    and ``neg`` of the sizes of the two. Arguments as in :func:`constant_loss`; the numerators are
    whole numbers, so the result does not depend on the order of the answers.
    """
    slots = values.shape[-1]
    up, down = np.maximum(values, 0).sum(axis=-1), np.maximum(-values, 0).sum(axis=-1)
    taken = np.asarray(occupied, dtype=np.int64).sum(axis=-1)
    found = int((up * taken + down * (slots - taken)).sum())
    return found / (slots * GREATEST_MOVEMENT) if slots else 0.0
