"""What a message tells about calendars, by the public rules of its sender's protocol [C].

A class of players that has a method ``tells`` answers the question "which calendars would have said
this?". What it says is about *present* calendars in local costs, as IMAP counts them: 0 is free,
a number what moving an errand costs, ``None`` no place for a meeting (blocked, or held by one).
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

from calbench.domain.calendars import all_slots
from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import Message

Cells = tuple[int | None, ...]
"""What a slot can cost: 0, then each cost of an errand, ascending, then ``None``."""

Weights = tuple[float, ...]
"""For each cell how likely the message is if the slot is so; only their ratios count."""


class Told(NamedTuple):
    """Slots of one agent, each by itself, with the weights of its cells [C].

    >>> Told(AgentId(0), slots={Slot(3): (1.0, 0.0, 0.0)}).slots[Slot(3)]
    (1.0, 0.0, 0.0)

    Attributes:
        agent: whose calendar it is about.
        slots: by slot a weight, from 0 on, for each of the view's ``cells``; only ratios count.
        held: of some of these slots, the weight if a meeting holds it; else that of ``None``.
    """

    agent: AgentId
    slots: Mapping[Slot, Weights]
    held: Mapping[Slot, float] = MappingProxyType({})


class Best(NamedTuple):
    """A slot that was chosen by the vectors of several agents, one's own among them or not [C].

    It has the smallest (sum of values, index) of the slots where no agent's value is ``None``.

    >>> Best(agents=(AgentId(0),), slot=Slot(2), among=(Slot(0), Slot(2)), values=(0, 1, None)).slot
    2

    Attributes:
        agents: whose values were summed.
        slot: the chosen one.
        among: the slots that it was chosen from.
        values: what each of the view's ``cells`` counts in the sum; ``None``: it is not possible.
        is_forced: whether it may also be chosen if no slot is possible for all.
    """

    agents: tuple[AgentId, ...]
    slot: Slot
    among: tuple[Slot, ...]
    values: tuple[int | None, ...]
    is_forced: bool = False


class Total(NamedTuple):
    """For each slot how many of several agents cannot meet there, and what it costs the others [C].

    >>> Total(agents=(AgentId(0), AgentId(2)), sums=((0, 3), (1, 10))).sums[1]
    (1, 10)

    Attributes:
        agents: whose slots are counted.
        sums: for each slot: how many cannot meet there, and what it costs the others, in shown
            cost.
    """

    agents: tuple[AgentId, ...]
    sums: Sequence[tuple[int, int]]


class OneOf(NamedTuple):
    """A message of one agent that can have come about in one of several ways, all as likely [C].

    Which one it was is judged by what the observer knows of the slots when it hears the message.

    >>> OneOf(AgentId(0), (Slot(2),), [[(1.0, 0.0, 0.0, 0.0)], [(0.0, 1.0, 0.0, 0.0)]]).slots
    (2,)

    Attributes:
        agent: whose calendar it is about.
        slots: that it is about.
        ways: for each way and slot the weights of the view's ``cells``, then that of a slot which a
            meeting holds, of shape (ways, slots, cells + 1).
        otherwise: by slot its weights, as of ``Told``, if none of the ways can be.
    """

    agent: AgentId
    slots: tuple[Slot, ...]
    ways: Collection[Collection[Weights]]
    otherwise: Mapping[Slot, Weights] = MappingProxyType({})


Clue = Told | Best | Total | OneOf

C = TypeVar("C")


class View(NamedTuple):
    """What an observer knows when it hears a message [C].

    >>> view = View(AgentId(1), (AgentId(0), AgentId(1)), 16, (0, 1, None), (), lambda agent: [])
    >>> view.equal(0), view.possible(can_meet=True)
    ((1.0, 0.0, 0.0), (1.0, 1.0, 0.0))

    Attributes:
        observer: who hears it.
        participants: of the meeting under discussion; empty for an outsider.
        num_slots: of every calendar.
        cells: the local costs that a slot can have, ascending: 0 if it is free, what moving its
            errand costs, in shown cost, and last ``None``, no room for a meeting.
        messages: earlier ones about this meeting that it sent or heard.
        chances: for an agent, the observer's probability of each cell of each slot now: a row for
            each slot.
        moved: what moving a meeting costs each who takes part, which everybody sees; ``None`` if it
            is not the same for all of them.
    """

    observer: AgentId
    participants: tuple[AgentId, ...]
    num_slots: int
    cells: Cells
    messages: Sequence[Message]
    chances: Callable[[AgentId], Iterable[Sequence[float]]]
    moved: int | None = 1

    def __repr__(self) -> str:
        """Say it in one line; messages by their number."""
        return (
            f"View(observer={self.observer}, participants={self.participants}, "
            f"num_slots={self.num_slots}, cells={self.cells}, {len(self.messages)} messages)"
        )

    def equal(self, cost: int | None) -> Weights:
        """Return the weights of a slot with exactly this cost."""
        return equal_to(self.cells, cost)

    def possible(self, *, can_meet: bool) -> Weights:
        """Return the weights of a slot that has room for the meeting, or none."""
        return _possible(self.cells, can_meet)

    def heard(self, sender: AgentId | None, kind: type[C]) -> list[C]:
        """Return what an agent said about this meeting before, of one kind."""
        return [
            each.content
            for each in self.messages
            if each.sender == sender and isinstance(each.content, kind)
        ]


@lru_cache(maxsize=256)
def equal_to(cells: Cells, cost: int | None) -> Weights:
    """Return the weights of a slot with exactly this cost."""
    return tuple([float(cell == cost) for cell in cells])


@lru_cache(maxsize=64)
def _possible(cells: Cells, can_meet: bool) -> Weights:
    return tuple([float((cell is not None) is can_meet) for cell in cells])


@runtime_checkable
class Telling(Protocol):
    """A policy whose rules say what its messages tell."""

    def tells(self, message: Message, view: View) -> Iterable[Clue]:
        """Yield what a message of such a player tells somebody who hears it."""
        ...


def cheapest_of_all(view: View, slot: Slot) -> Best:
    """Return what IMAP's choice tells: the least sum of all participants' costs."""
    return Best(view.participants, slot, all_slots(view.num_slots), view.cells)
