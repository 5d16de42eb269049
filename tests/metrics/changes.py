"""The belief updates of a round, one by one."""

from collections.abc import Iterator
from typing import NamedTuple

from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import Route
from calbench.metrics.privacy.loss import RoundBeliefs


class BeliefChange(NamedTuple):
    """One update as it happened. ``source`` is the kind of the message that caused it."""

    event_index: int
    target: AgentId
    observer: AgentId
    slot: Slot
    source: str
    channel: Route
    evidence: float
    strength: float
    before: float
    after: float


def changes_of(beliefs: RoundBeliefs) -> Iterator[BeliefChange]:
    """Yield the updates of a round in order."""
    for index, target, observer, source, channel, evidence, strength, steps in beliefs.heard:
        for (slot, told), (before, after) in zip(evidence, steps, strict=True):
            yield BeliefChange(
                index, target, observer, slot, source, channel, told, strength, before, after
            )
