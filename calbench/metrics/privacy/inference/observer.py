"""One observer of a game: what it heard and booked, and what it knows of every other agent [C]."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb

import numpy as np

from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import (
    Announcement,
    Confirm,
    Decision,
    Message,
    PlanDecision,
    Text,
)
from calbench.metrics.privacy.inference.calendars import Array
from calbench.metrics.privacy.inference.knowledge import HELD, Knowledge
from calbench.metrics.privacy.inference.literal import agreed_in
from calbench.metrics.privacy.inference.sums import beside_meeting, from_best, from_total
from calbench.protocols.clues import Best, Cells, Clue, Told, Total
from calbench.traces.events import Resolution

CHOICES = (Announcement, Confirm, Decision, PlanDecision)
"""Messages that say where a meeting is to be."""

MOST_JOINT = 3
"""Greatest number of other calendars in one sum that is inferred about [C]."""


@dataclass
class Observer:
    """One agent as it learns of the others.

    Attributes:
        me: whose knowledge it is.
        num_agents: in the game.
        cells: what a slot can cost.
        known: what all observers know.
        rows: the place in ``known`` of what this one knows, by target.
        costs: its own local costs now.
        messages: about this meeting, sent or heard.
        moved: agents of whom it learnt something since this was last emptied.
    """

    me: AgentId
    num_agents: int
    cells: Cells
    known: Knowledge
    rows: Mapping[AgentId, int]
    costs: tuple[int | None, ...]
    messages: list[Message] = field(default_factory=list)
    moved: set[AgentId] = field(default_factory=set)

    def places(self, agents: Iterable[AgentId]) -> list[int]:
        """Return the rows of targets."""
        return [self.rows[agent] for agent in agents]

    def chances(self, agent: AgentId) -> Array:
        """Return the chances of an agent's present calendar, each slot by itself."""
        found: Array = self.known.present(self.places([agent]))[0]
        return found

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

    def learn(self, clue: Clue) -> None:
        """Take in what a message told."""
        if isinstance(clue, Told):
            if clue.agent != self.me and clue.slots:
                told = np.array([*clue.slots.values()], dtype=float)
                held = [clue.held.get(at, row[-1]) for at, row in clue.slots.items()]
                self._hear([clue.agent], [*clue.slots], told, np.array(held))
            return
        others = [agent for agent in clue.agents if agent != self.me]
        if not others:
            return
        if len(others) > MOST_JOINT:
            self._learn_of_many(clue, others)
        elif isinstance(clue, Total):
            self._learn_total(clue, others)
        else:
            own = self.costs if self.me in clue.agents else None
            chances = [*self.known.present(self.places(others))]
            found = from_best(clue, chances, own, self.cells)
            if found is not None:
                self._hear(others, clue.among, found)

    def _hear(
        self,
        agents: Sequence[AgentId],
        slots: Sequence[int],
        told: Array,
        held: Array | None = None,
    ) -> None:
        self.known.hear(self.places(agents), slots, told, held)
        self.moved.update(agents)

    def _learn_of_many(self, clue: Best | Total, others: Sequence[AgentId]) -> None:
        """Take in what a sum over many calendars tells of each: where all have room, or none."""
        room = np.array([*[1.0] * (len(self.cells) - 1), 0.0])
        slots: dict[int, Array] = {}
        if isinstance(clue, Total):
            ends = {0: room, len(others): 1 - room}
            slots = {at: ends[bad] for at, (bad, _) in enumerate(clue.sums) if bad in ends}
        elif not clue.is_forced:
            slots = {clue.slot: room}
        if slots:
            self._hear(others, [*slots], np.array([*slots.values()]))

    def _learn_total(self, clue: Total, others: Sequence[AgentId]) -> None:
        """Take in a total; who has no room because of a meeting is not alone in it."""
        link = min(1.0, len(others) / max(1, self.num_agents - 2))
        rows = self.places(others)
        ways = beside_meeting(self.known.present(rows), self.known.chance_held(rows), link)
        told, held = [], []
        for place in range(len(others)):
            among, apart = (
                from_total(clue, [*np.delete(each, place, axis=0)], self.cells) for each in ways
            )
            told.append(apart)
            held.append(among[:, -1])
        self._hear(others, range(len(clue.sums)), np.array(told), np.array(held))


def chance_apart(num_agents: int, size: int) -> float:
    """Return the chance that a meeting of another shares nobody with one of the observer's.

    Both are of as many; the other takes no part in the observer's, nor the reverse. It is not
    0: some protocols move meetings.
    """
    others = num_agents - 2
    apart = comb(max(0, others - size + 1), size - 1) / max(1, comb(others, size - 1))
    return max(1 - HELD, apart)
