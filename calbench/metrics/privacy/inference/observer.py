"""One observer of a game: what it heard and booked, and what that teaches it [C]."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import (
    Announcement,
    Confirm,
    Decision,
    Message,
    PlanDecision,
    Text,
)
from calbench.metrics.privacy.inference.calendars import HELD, Array, members_of
from calbench.metrics.privacy.inference.lessons import Chosen, Given, Heard, Mixed, Summed
from calbench.metrics.privacy.inference.literal import agreed_in
from calbench.protocols.clues import Best, Cells, Clue, OneOf, Told, Total, Weights
from calbench.scenarios.balance import Participants, balanced_sequences, num_balanced
from calbench.traces.events import Resolution

CHOICES = (Announcement, Confirm, Decision, PlanDecision)
"""Messages that say where a meeting is to be."""

MOST_JOINT = 3
"""Greatest number of other calendars in one sum that is inferred about [C]."""

MOST_DRAWN = 2**18
"""Sequences of participants, times rounds, times pairs of agents, that are gone through at most:
some megabytes [C]. Five agents in five meetings of three are a third of it."""


Drawn = tuple[AgentId, int, int, tuple[Participants | None, ...]]
"""An observer, how many agents there are, how many meet, and by round who, if it takes part."""


Rounds = tuple[tuple[int, bool | None], ...]
"""Some rounds without an observer, by their number among these, and of each whether an agent takes
part, if the observer heard that."""


class Others(NamedTuple):
    """Who takes part in meetings of others, by what their common observer knows of its own.

    Attributes:
        mean: by agent, how likely it takes part in any of them.
        hidden: rounds without the observer.
        joint: by round and two agents, how likely both take part, of shape (rounds, agents,
            agents); ``None`` where everybody is taken to be as likely.
        drawn: what that follows from, see :func:`_joint_of`.
    """

    mean: tuple[float, ...]
    hidden: tuple[int, ...]
    joint: Array | None
    drawn: Drawn

    def takes(self, agent: AgentId, rounds: Rounds) -> Array:
        """Return how likely an agent takes part in each set of all rounds without the observer.

        In those of them that are not among the given rounds it does not.
        """
        return _takes_of(self.drawn, self.mean[agent], self.joint is None, agent, rounds)

    def number_of(self, round_index: int) -> int:
        """Return which of the rounds without the observer this is; -1 for none of them."""
        return self.hidden.index(round_index) if round_index in self.hidden else -1

    def chance(self, agent: AgentId, round_index: int) -> float:
        """Return how likely an agent takes part in the meeting of a round."""
        if self.joint is None or not 0 <= round_index < len(self.joint):
            return self.mean[agent]
        return float(self.joint[round_index, agent, agent])

    def partners(self, agents: Sequence[AgentId], rounds: Sequence[Rounds]) -> Array | None:
        """Return how likely each holds meetings without the observer with each set of partners.

        Of shape (agents, meetings, sets), the sets of as many of these agents as meet, in
        lexicographic order.

        Args:
            agents: some of them.
            rounds: by agent, of the meetings that it may hold.

        Returns:
            ``None`` if there is no such meeting, or everybody is taken to be as likely.
        """
        is_known = self.joint is not None and any(rounds)
        return _partners_of(self.drawn, tuple(agents), tuple(rounds)) if is_known else None

    @property
    def size(self) -> int:
        """How many take part in a meeting, if as many in all."""
        return self.drawn[2]


@lru_cache(maxsize=2048)
def others_of(
    me: AgentId,
    num_agents: int,
    size: float,
    seen: tuple[Participants | None, ...],
    *,
    is_drawn: bool,
) -> Others:
    """Return who takes part in the meetings of others.

    All have as many meetings, or nearly so, and the generator draws who takes part by turns, which
    everybody knows (paper, section 4.1): every sequence that fits is as likely [C]. An observer
    that looks back knows all its own meetings.

    Args:
        me: the observer.
        num_agents: in the game.
        size: participants of a meeting, in the mean.
        seen: by round who takes part, ascending; ``None`` for a meeting of others.
        is_drawn: whether participants are drawn by turns, all meetings of as many.
    """
    hidden = tuple([number for number, each in enumerate(seen) if each is None])
    common = Counter(agent for each in seen if each is not None for agent in each)
    left = [len(seen) * size / num_agents - common[AgentId(each)] for each in range(num_agents)]
    mean = tuple([min(1.0, max(0.0, each) / max(1, len(hidden))) for each in left])
    drawn = (me, num_agents, int(size), seen)
    return Others(mean, hidden, _joint_of(drawn) if is_drawn else None, drawn)


def _hidden_of(drawn: Drawn) -> tuple[int, ...]:
    return tuple([number for number, each in enumerate(drawn[3]) if each is None])


@lru_cache(maxsize=8192)
def _partners_of(drawn: Drawn, agents: tuple[AgentId, ...], rounds: tuple[Rounds, ...]) -> Array:
    """Return by agent, meeting and set how likely it holds the meeting with it, if it does."""
    sets = np.array([*combinations(range(len(agents)), drawn[2])], dtype=int).reshape(-1, drawn[2])
    hidden = _hidden_of(drawn)
    there = _fitting(drawn)[:, hidden][:, :, [*agents]][:, :, sets].all(axis=3).mean(axis=0)
    found = np.zeros((len(agents), len(hidden), len(sets)))
    for place, own in enumerate(rounds):
        for number, _ in own:
            each = there[number] * (sets == place).any(axis=1)
            found[place, number] = each / (each.sum() or 1.0)
    return found


@lru_cache(maxsize=8192)
def _takes_of(drawn: Drawn, mean: float, is_alike: bool, agent: AgentId, rounds: Rounds) -> Array:
    """Return how likely an agent takes part in each set of rounds, see ``Others.takes``."""
    hidden, members = _hidden_of(drawn), members_of(len(rounds)) > 0
    if is_alike:
        chance = np.where(members, mean, 1 - mean).prod(axis=1)
    else:
        there = _fitting(drawn)[:, [hidden[number] for number, _ in rounds], agent]
        places = there @ (1 << np.arange(len(rounds)))
        chance = np.bincount(places, minlength=len(members)).astype(float)
    fits = np.ones(len(chance))
    for place, (_, known) in enumerate(rounds):
        fits *= True if known is None else members[:, place] == known
    found = fits * chance if (fits * chance).any() else fits
    of_all = np.zeros(2 ** len(hidden))
    of_all[members @ np.array([1 << number for number, _ in rounds], dtype=int)] = found
    whole: Array = of_all / of_all.sum()
    return whole


@lru_cache(maxsize=2048)
def _joint_of(drawn: Drawn) -> Array | None:
    """Return how likely two agents take part; ``None`` if no sequence fits, or too many can."""
    _, num_agents, size, seen = drawn
    number = num_balanced(num_agents, len(seen), size)
    if not 0 < number * len(seen) * num_agents**2 <= MOST_DRAWN:
        return None
    fitting = _fitting(drawn).astype(float)
    if not len(fitting):
        return None
    joint: Array = fitting.transpose(1, 2, 0) @ fitting.transpose(1, 0, 2) / len(fitting)
    return joint


@lru_cache(maxsize=512)
def _fitting(drawn: Drawn) -> NDArray[np.bool_]:
    """Return by sequence, round and agent whether it takes part, of those that fit."""
    me, num_agents, size, seen = drawn
    known = _who_takes_part(num_agents, len(seen), size)
    fits = np.ones(len(known), dtype=bool)
    for place, each in enumerate(seen):
        if each is None:
            fits &= ~known[:, place, me]
        else:
            fits &= known[:, place, [*each]].all(axis=1)  # of as many: so these and no others
    found: NDArray[np.bool_] = known[fits]
    return found


@lru_cache(maxsize=64)
def _who_takes_part(num_agents: int, num_meetings: int, size: int) -> NDArray[np.bool_]:
    """Return by sequence, round and agent whether it takes part."""
    sequences = balanced_sequences(num_agents, num_meetings, size)
    found = np.zeros((len(sequences), num_meetings, num_agents), dtype=bool)
    np.put_along_axis(found, np.array(sequences, dtype=int).reshape(*found.shape[:2], -1), True, 2)
    return found


@dataclass
class Observer:
    """One agent as it hears of the others.

    Attributes:
        me: whose knowledge it is.
        cells: what a slot can cost.
        rows: the place of each pair of a target and this observer among all, by target.
        costs: its own local costs now.
        others: who takes part in the meetings of others, as far as that follows.
        round_index: of the round that is played.
        is_together: whether all its own meetings were agreed upon, as those of others are then.
        messages: about this meeting, sent or heard.
    """

    me: AgentId
    cells: Cells
    rows: Mapping[AgentId, int]
    costs: tuple[int | None, ...]
    others: Others
    round_index: int = 0
    is_together: bool = True
    messages: list[Message] = field(default_factory=list)

    def chance(self, target: AgentId) -> float:
        """Return how likely another takes part in this round's meeting, if that is not known."""
        return self.others.chance(target, self.round_index)

    def agreed(self, event: Resolution) -> Slot | None:
        """Return where it booked a round's meeting, if that was agreed upon."""
        slot = event.slot_by_agent.get(str(self.me))
        is_agreed = slot is not None and slot in self._choices()
        self.is_together &= is_agreed
        return slot if is_agreed else None

    def overheard(self) -> tuple[Slot | None, set[AgentId]]:
        """Return where others agreed to meet, if it heard that, and whom it heard talking."""
        slots = [slot for slot in self._choices() if 0 <= slot < len(self.costs)]
        others = [each.sender for each in self.messages if each.sender != self.me]
        return (slots[-1] if slots else None), {each for each in others if each is not None}

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
            return [Summed(number, rows, clue)]
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
