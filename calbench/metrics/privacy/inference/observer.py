"""One observer of a game: what it heard and booked, and what it knows of every other agent [C]."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb
from typing import NamedTuple

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
from calbench.metrics.privacy.inference.calendars import Array, Prior
from calbench.metrics.privacy.inference.knowledge import HELD, Knowledge
from calbench.metrics.privacy.inference.literal import agreed_in
from calbench.metrics.privacy.inference.sums import beside_meeting, from_best, from_total
from calbench.protocols.clues import Best, Clue, Told, Total
from calbench.traces.events import Resolution

CHOICES = (Announcement, Confirm, Decision, PlanDecision)
"""Messages that say where a meeting is to be."""

MOST_JOINT = 3
"""Greatest number of other calendars in one sum that is inferred about [C]."""


class Booked(NamedTuple):
    """What an observer knows of the bookings of a round.

    Attributes:
        participants: of its meeting; empty if the observer takes no part.
        size: how many they are.
        slot: where the observer booked what was agreed upon, if it did.
    """

    participants: tuple[AgentId, ...]
    size: int
    slot: Slot | None


@dataclass
class Observer:
    """One agent as it learns of the others.

    Attributes:
        me: whose knowledge it is.
        priors: of all calendars, by agent.
        first: weights of a calendar's cells by the observer's own calendar, by agent.
        met_apart: by agent, how likely it takes part in a meeting in which the observer does not.
        books_first: whether an agent books the first slot that suits all, by agent.
        costs: its own local costs now.
        messages: about this meeting, sent or heard.
        moved: agents of whom it learnt something since this was last emptied.
    """

    me: AgentId
    priors: Sequence[Prior]
    first: Sequence[Array]
    met_apart: Sequence[float]
    books_first: Sequence[bool]
    costs: tuple[int | None, ...]
    messages: list[Message] = field(default_factory=list)
    moved: set[AgentId] = field(default_factory=set)
    _booked: list[Booked] = field(default_factory=list)
    _known: dict[AgentId, Knowledge] = field(default_factory=dict)

    def of(self, agent: AgentId) -> Knowledge:
        """Return what it knows of an agent by now; begun when something is first heard."""
        if agent not in self._known:
            self._known[agent] = Knowledge(self.priors[agent], self.first[agent])
        known = self._known[agent]
        for booked in self._booked[known.rounds :]:
            self._book(agent, known, booked)
        known.rounds = len(self._booked)
        return known

    def weights(self, agent: AgentId) -> Array:
        """Return the weights of an agent's first calendar, which bookings do not change."""
        return self.of(agent).weights

    def _hear(
        self, agent: AgentId, slots: Sequence[int], told: Array, held: Array | None = None
    ) -> None:
        self.of(agent).hear(slots, told, held)
        self.moved.add(agent)

    def chances(self, agent: AgentId) -> Array:
        """Return the chances of an agent's present calendar, each slot by itself."""
        return self.of(agent).present()

    def book(self, event: Resolution, participants: tuple[AgentId, ...]) -> None:
        """Note what it knows of a round's bookings: its own slot, if that was agreed upon."""
        size = len(participants)
        if self.me not in participants:
            self._booked.append(Booked((), size, None))
            return
        slot = event.slot_by_agent.get(str(self.me))
        is_agreed = slot is not None and any(
            (isinstance(each.content, CHOICES) and each.content.slot == slot)
            or (isinstance(each.content, Text) and slot in agreed_in(each))
            for each in self.messages
        )
        self._booked.append(Booked(participants, size, slot if is_agreed else None))

    def _book(self, agent: AgentId, known: Knowledge, booked: Booked) -> None:
        is_first = self.books_first[agent]
        if not booked.participants:
            known.book_somewhere(self.met_apart[agent], booked.size, is_first=is_first)
        elif agent not in booked.participants:
            if booked.slot is not None:
                known.book_apart(booked.slot, self._disjoint(booked.size))
        elif booked.slot is not None:
            known.book(booked.slot, booked.size, is_first=is_first)
        else:
            known.book_somewhere(1.0, booked.size, is_first=is_first)

    def _disjoint(self, size: int) -> float:
        """Return the chance that a meeting of another shares nobody with one of the observer's.

        Both are of as many; the other takes no part in the observer's, nor the reverse. It is not
        0: some protocols move meetings.
        """
        others = len(self.priors) - 2
        apart = comb(max(0, others - size + 1), size - 1) / max(1, comb(others, size - 1))
        return max(1 - HELD, apart)

    def _learn_of_many(self, clue: Best | Total, others: Sequence[AgentId]) -> None:
        """Take in what a sum over many calendars tells of each: where all have room, or none."""
        cells = len(self.priors[self.me].cells)
        room = np.array([[*[1.0] * (cells - 1), 0.0]])
        slots: list[tuple[Slot, Array]] = []
        if isinstance(clue, Total):
            for slot, (bad, _) in enumerate(clue.sums):
                if bad in (0, len(others)):
                    slots.append((Slot(slot), 1 - room if bad else room))
        elif not clue.is_forced:
            slots = [(clue.slot, room)]
        for agent in others:
            for slot, told in slots:
                self._hear(agent, [slot], told)

    def learn(self, clue: Clue) -> None:
        """Take in what a message told."""
        if isinstance(clue, Told):
            if clue.agent != self.me and clue.slots:
                told = np.array(list(clue.slots.values()), dtype=float)
                held = [clue.held.get(at, row[-1]) for at, row in clue.slots.items()]
                self._hear(clue.agent, [*clue.slots], told, np.array(held))
            return
        others = [agent for agent in clue.agents if agent != self.me]
        if len(others) > MOST_JOINT:
            self._learn_of_many(clue, others)
            return
        if isinstance(clue, Total):
            self._learn_total(clue, others)
            return
        cells, chances = self.priors[self.me].cells, [self.chances(agent) for agent in others]
        own = self.costs if self.me in clue.agents else None
        found = list(from_best(clue, chances, own, cells))
        for agent, told in zip(others, found, strict=False):
            self._hear(agent, clue.among, told)

    def _learn_total(self, clue: Total, others: Sequence[AgentId]) -> None:
        """Take in a total; who has no room because of a meeting is not alone in it."""
        link = min(1.0, len(others) / max(1, len(self.priors) - 2))
        pairs = [
            beside_meeting(self.chances(agent), self.of(agent).chance_held(), link)
            for agent in others
        ]
        cells = self.priors[self.me].cells
        told = []
        for place in range(len(others)):
            rest = [*pairs[:place], *pairs[place + 1 :]]
            among, apart = (from_total(clue, [each[way] for each in rest], cells) for way in (0, 1))
            told.append((apart, among[:, -1]))
        for agent, (weights, held) in zip(others, told, strict=True):
            self._hear(agent, range(len(clue.sums)), weights, held)
