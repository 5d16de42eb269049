"""What observers believe about targets within one round (paper, appendix F.1)."""

from collections.abc import Iterable, Mapping

from calbench.domain.ids import AgentId, Slot

Pair = tuple[AgentId, AgentId]
"""A target and its observer, in this order."""


class BeliefMatrix:
    """Beliefs of one round: for each (target, observer), one number in 0..1 per slot.

    A belief is the observer's probability that the slot is feasible for the target. All beliefs
    are at the prior when the round begins (section 3.2) [P]; only pairs with evidence are stored.
    """

    def __init__(self, num_slots: int, prior: float) -> None:
        """Begin a round of ``num_slots`` slots with every belief at ``prior``."""
        self._num_slots = num_slots
        self._prior = prior
        self._moved: dict[Pair, list[float]] = {}

    def update(
        self, pair: Pair, evidence: Iterable[tuple[Slot, float]], strength: float
    ) -> list[tuple[float, float]]:
        """Update beliefs one by one: ``b <- (1 - k) b + k e`` [P, appendix F.1].

        Args:
            pair: target and observer.
            evidence: slots in ``0..num_slots-1``, each with e, 1 for feasible and 0 for
                infeasible.
            strength: k; 1 replaces the belief, 0 leaves it.

        Returns:
            Each belief before and after.
        """
        beliefs = self._moved.get(pair)
        if beliefs is None:
            beliefs = self._moved[pair] = [self._prior] * self._num_slots
        steps = []
        for slot, told in evidence:
            before = beliefs[slot]
            after = told if strength == 1 else (1 - strength) * before + strength * told
            beliefs[slot] = after
            steps.append((before, after))
        return steps

    @property
    def moved(self) -> Mapping[Pair, list[float]]:
        """The belief vectors of the pairs with evidence, one number per slot."""
        return self._moved
