"""One observer of a game: what it heard and booked, and what that teaches it [C]."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb

from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import (
    Announcement,
    Confirm,
    Decision,
    Message,
    PlanDecision,
    Text,
)
from calbench.metrics.privacy.inference.knowledge import HELD
from calbench.metrics.privacy.inference.lessons import Chosen, Given, Heard, Mixed, Summed
from calbench.metrics.privacy.inference.literal import agreed_in
from calbench.protocols.clues import Best, Cells, Clue, OneOf, Told, Total, Weights
from calbench.traces.events import Resolution

CHOICES = (Announcement, Confirm, Decision, PlanDecision)
"""Messages that say where a meeting is to be."""

MOST_JOINT = 3
"""Greatest number of other calendars in one sum that is inferred about [C]."""


@dataclass
class Observer:
    """One agent as it hears of the others.

    Attributes:
        me: whose knowledge it is.
        num_agents: in the game.
        cells: what a slot can cost.
        rows: the place of each pair of a target and this observer among all, by target.
        costs: its own local costs now.
        messages: about this meeting, sent or heard.
    """

    me: AgentId
    num_agents: int
    cells: Cells
    rows: Mapping[AgentId, int]
    costs: tuple[int | None, ...]
    messages: list[Message] = field(default_factory=list)

    def agreed(self, event: Resolution) -> Slot | None:
        """Return where it booked a round's meeting, if that was agreed upon."""
        slot = event.slot_by_agent.get(str(self.me))
        return slot if slot is not None and slot in self._choices() else None

    def overheard(self) -> tuple[Slot | None, set[AgentId]]:
        """Return where others agreed to meet, if it heard that, and whom it heard talking."""
        slots = [slot for slot in self._choices() if 0 <= slot < len(self.costs)]
        speakers = {each.sender for each in self.messages if each.sender is not None}
        return (slots[-1] if slots else None), speakers

    def _choices(self) -> Iterator[Slot]:
        """Yield the slots where the meeting is to be by what it sent or heard, in order."""
        for each in self.messages:
            if isinstance(each.content, CHOICES):
                yield each.content.slot
            elif isinstance(each.content, Text):
                yield from sorted(agreed_in(each))

    def lessons(self, clue: Clue, number: int) -> Sequence[Given]:
        """Return what a clue of a message with this number teaches."""
        if isinstance(clue, (Told, OneOf)):
            return self._of_one(clue, number) if clue.agent != self.me else ()
        rows = [self.rows[agent] for agent in clue.agents if agent != self.me]
        if len(rows) > MOST_JOINT:
            return self._of_many(clue, rows, number)
        if not rows:
            return ()
        if isinstance(clue, Total):
            return [Summed(number, rows, clue, min(1.0, len(rows) / max(1, self.num_agents - 2)))]
        return [Chosen(number, rows, clue, self.costs if self.me in clue.agents else None)]

    def _of_one(self, clue: Told | OneOf, number: int) -> Sequence[Heard | Mixed]:
        """Return what a clue about one other agent teaches."""
        row = self.rows[clue.agent]
        if isinstance(clue, OneOf):
            return [Mixed(number, row, clue)]
        return [Heard(number, row, clue.slots, clue.held)] if clue.slots else ()

    def _of_many(self, clue: Best | Total, rows: Sequence[int], number: int) -> Sequence[Heard]:
        """Return what a sum over many calendars tells of each: where all have room, or none."""
        room = (*[1.0] * (len(self.cells) - 1), 0.0)
        none = tuple([1 - each for each in room])
        slots: dict[Slot, Weights] = {}
        if isinstance(clue, Total):
            ends = {0: room, len(rows): none}
            slots = {Slot(at): ends[bad] for at, (bad, _) in enumerate(clue.sums) if bad in ends}
        elif not clue.is_forced:
            slots = {clue.slot: room}
        return [Heard(number, row, slots) for row in rows] if slots else ()


def chance_apart(num_agents: int, size: int) -> float:
    """Return the chance that a meeting of another shares nobody with one of the observer's.

    Both are of as many; the other takes no part in the observer's, nor the reverse. It is not
    0: some protocols move meetings.
    """
    others = num_agents - 2
    apart = comb(max(0, others - size + 1), size - 1) / max(1, comb(others, size - 1))
    return max(1 - HELD, apart)
