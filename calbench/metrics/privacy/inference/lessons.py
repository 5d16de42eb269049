"""What observers are told and book, in an order in which much of it is taken in at once [C].

Lessons about different pairs do not touch each other. So each stands in the first stage of its
round behind all earlier ones about its pairs, bookings in the round's last, and those of a stage,
of many games, are a few calls of NumPy on all of them: for one message alone they would take as
long as for hundreds. The stages are about as many as the rounds times what a pair hears in one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from calbench.domain.ids import Slot
from calbench.metrics.privacy.inference.calendars import Array
from calbench.metrics.privacy.inference.knowledge import Books, Knowledge
from calbench.metrics.privacy.inference.sums import from_best, from_total
from calbench.protocols.clues import Best, OneOf, Total, Weights

Rows = NDArray[np.intp]


NO_HELD: Mapping[Slot, float] = MappingProxyType({})


class Heard(NamedTuple):
    """Slots of one agent, of which an observer heard something.

    Attributes:
        number: of what was heard, by whom, in the order of the game.
        row: the pair of target and observer.
        told: by slot, the weights of its cells.
        held: of some, the weight if a meeting holds it; else that of no room.
    """

    number: int
    row: int
    told: Mapping[Slot, Weights]
    held: Mapping[Slot, float] = NO_HELD


class Chosen(NamedTuple):
    """A choice by the calendars of some targets, and the observer's costs if they count in it."""

    number: int
    rows: Sequence[int]
    clue: Best
    own: Sequence[int | None] | None


class Mixed(NamedTuple):
    """A message of one agent that can have come about in several ways."""

    number: int
    row: int
    clue: OneOf


class Summed(NamedTuple):
    """A total over some targets."""

    number: int
    rows: Sequence[int]
    clue: Total


class Asked(NamedTuple):
    """A message whose rules want to know what its observer knows when it hears it.

    Attributes:
        rows: of all that the observer knows.
        row: of the sender, if it is among them.
        lessons: what it teaches, by the chances of a row.
    """

    rows: Sequence[int]
    row: int | None
    lessons: "Callable[[Callable[[int], Array]], Iterable[Given]]"


class Booked(NamedTuple):
    """The bookings of a round, as observers know of them.

    Attributes:
        rows: of pairs of which more will be heard.
        chance: of each, that the target holds the meeting.
        number: of each, which of the observer's hidden meetings it is; -1 for none of them.
        takes: of each that is one, how likely the target has each set of these, by now.
        common: slots of meetings of both, agreed upon, by the place in ``rows``.
        apart: slots of meetings in which the target takes no part, likewise.
        chance_apart: that nobody takes part in such a meeting and in another of the target's.
        size: participants of the meeting.
        books: of each row, in which of the slots with room for all it is.
        observers: of each row, the first row of its observer.
    """

    rows: Sequence[int]
    chance: Sequence[float]
    number: Sequence[int]
    takes: Sequence[Array]
    common: Mapping[int, Slot]
    apart: Mapping[int, Slot]
    chance_apart: float
    size: int
    books: Sequence[Books]
    observers: Sequence[int]


class Linked(NamedTuple):
    """What a round's talk of some agents tells of meetings that others of them held before it.

    Attributes:
        number: of the last message that the observer heard.
        rows: of all that the observer knows.
        partners: how likely each of them has each hidden meeting with each set of partners, of
            shape (rows, meetings, sets).
        size: participants of such a meeting.
    """

    number: int
    rows: Sequence[int]
    partners: Array
    size: int


Given = Heard | Mixed | Chosen | Summed | Linked | Booked
Lesson = Given | Asked


STAGES = 2**32
"""Of each round, more than anybody hears in one; in the last all games' bookings are taken in, in
the one before what talk tells of earlier meetings."""


class Lessons:
    """Lessons about the pairs of some games, by the stage in which they are taken in."""

    def __init__(self) -> None:
        self._count, self._round = 0, 0
        self._next: list[int] = []
        self._stages: dict[int, list[Lesson]] = {}

    def begin(self, num_rows: int) -> int:
        """Begin a game, which is read before the next; return the row of the first of its pairs."""
        first = len(self._next)
        self._next += [0] * num_rows
        self.begin_round(0)
        return first

    def begin_round(self, number: int) -> None:
        """Let the next lessons belong to this round of the game."""
        self._round = number * STAGES

    def number(self) -> int:
        """Return the next number of what is heard, of all games."""
        self._count += 1
        return self._count

    def add(self, lesson: Lesson) -> None:
        """Put a lesson behind all earlier ones about its pairs."""
        after, stage = self._next, self._round
        if isinstance(lesson, (Heard, Mixed)):
            rows: Sequence[int] = (lesson.row,)
            stage = max(stage, after[lesson.row])
        else:
            rows = lesson.rows
            stage = max([stage, *[after[row] for row in rows]])
            if isinstance(lesson, (Linked, Booked)):
                stage += STAGES - 1 - isinstance(lesson, Linked) - stage % STAGES
        self._stages.setdefault(stage, []).append(lesson)
        for row in rows:
            after[row] = stage + 1

    def take_in(self, known: Knowledge) -> "Steps":
        """Take in all of them; before, nothing is known but what each observer begins with."""
        moved: list[Steps] = []
        last_round = 0
        for stage, lessons in sorted(self._stages.items()):
            if stage // STAGES > last_round:
                known.begin_round()
                last_round = stage // STAGES
            asked = [each for each in lessons if isinstance(each, Asked)]
            given = [each for each in lessons if not isinstance(each, Asked)]
            answers = [*zip_longest(*_answered(asked, known))] if asked else []
            for answer in answers or [()]:
                given += [each for each in answer if each is not None]
                moved += _take_in(given, known)
                given = []
        if not moved:
            nothing = np.zeros(0, dtype=int)
            return _steps(known, nothing, nothing)
        found = Steps(*(np.concatenate(each) for each in zip(*moved, strict=True)))
        # What a message told in several steps counts once: as it was after the last of them.
        order = np.lexsort((found.rows, found.numbers))
        numbers, rows = found.numbers[order], found.rows[order]
        is_last = np.append((np.diff(numbers) != 0) | (np.diff(rows) != 0), True)
        return Steps(*[each[order[is_last]] for each in found])


class Steps(NamedTuple):
    """The weights of targets' first calendars after what was heard, in the order of the game.

    Attributes:
        numbers: of what was heard.
        rows: which pair it moved.
        weights: where no hidden meeting holds the slot, of shape (steps, slots, cells).
        hidden: where each of them does, of each cell with room.
        takes: how likely each set of hidden meetings is the target's.
    """

    numbers: Rows
    rows: Rows
    weights: Array
    hidden: Array
    takes: Array


def _steps(known: Knowledge, numbers: Rows, rows: Rows) -> Steps:
    """Return what is known of pairs after what was heard."""
    return Steps(numbers, rows, *known.apart(rows))


class _Entries(NamedTuple):
    """What is heard at once: of each slot of a pair, the weights of its cells and of a meeting."""

    numbers: Sequence[int] | Rows
    rows: Sequence[int] | Rows
    at: Sequence[int] | Rows
    slots: Rows
    told: Array
    held: Array


def _take_in(lessons: Sequence[Given], known: Knowledge) -> Iterator[Steps]:
    """Take in lessons that do not touch each other; yield what they moved."""
    by_kind: dict[type[Any], list[Any]] = {}
    for lesson in lessons:
        by_kind.setdefault(type(lesson), []).append(lesson)
    if Booked in by_kind:
        _book(by_kind[Booked], known)
    for linked in _by_form(by_kind.get(Linked, []), lambda each: (each.partners.shape, each.size)):
        rows = np.array([each.rows for each in linked])
        at = known.link(rows, np.array([each.partners for each in linked]), linked[0].size)
        if len(at[0]):
            yield _steps(known, np.array([each.number for each in linked])[at[0]], rows[at])
    found: list[_Entries] = []
    if Heard in by_kind:
        found.append(_of_slots(by_kind[Heard]))
    if Mixed in by_kind:
        found += _of_ways(by_kind[Mixed], known)
    if Chosen in by_kind:
        found += _of_choices(by_kind[Chosen], known)
    if Summed in by_kind:
        found += _of_totals(by_kind[Summed], known)
    if found:
        joined = _Entries(*(np.concatenate(each) for each in zip(*found, strict=True)))
        known.hear(joined.at, joined.slots, joined.told, joined.held)
        yield _steps(known, np.asarray(joined.numbers), np.asarray(joined.rows))


def _answered(asked: Sequence[Asked], known: Knowledge) -> Iterator[Iterable[Given]]:
    """Yield what messages teach, by what their observers know."""
    rows = [each.row for each in asked if each.row is not None]
    chances = dict(zip(rows, known.present(rows), strict=True)) if rows else {}

    def chances_of(row: int) -> Array:
        """Return what is known of a pair; mostly it is the sender's."""
        found: Array = chances[row] if row in chances else known.present([row])[0]
        return found

    for each in asked:
        yield each.lessons(chances_of)


def _of_slots(lessons: Sequence[Heard]) -> _Entries:
    """Return what was heard of single agents."""
    numbers, rows, by_slot, _ = zip(*lessons, strict=True)
    cells = [*chain.from_iterable(told.values() for told in by_slot)]
    weights = np.fromiter(chain.from_iterable(cells), float).reshape(len(cells), -1)
    slots = [*chain.from_iterable(by_slot)]
    by_meeting = weights[:, -1].copy()
    at = 0
    for each in lessons:
        for place, slot in enumerate(each.told if each.held else (), at):
            by_meeting[place] = each.held.get(slot, by_meeting[place])
        at += len(each.told)
    counts = [len(told) for told in by_slot]
    return _Entries(
        numbers, rows, np.repeat(rows, counts), np.array(slots, dtype=int), weights, by_meeting
    )


def _of_ways(lessons: Sequence[Mixed], known: Knowledge) -> Iterator[_Entries]:
    """Yield what messages told that came about in one of several ways.

    Each way is as likely as all of its slots together, each by itself. Its weights count over what
    the slot may have been by it.
    """
    for own in _by_form(lessons, lambda each: len(each.clue.slots)):
        ways = np.concatenate([each.clue.ways for each in own])
        counts = [len(each.clue.ways) for each in own]
        begin, at = np.cumsum([0, *counts[:-1]]), np.repeat(np.arange(len(own)), counts)
        slots = np.array([each.clue.slots for each in own])
        rows = np.array([each.row for each in own])
        chances = np.take_along_axis(known.present(rows), slots[:, :, None], 1)
        likely = (ways[..., :-1] * chances[at]).sum(axis=-1)
        each_way = likely.prod(axis=1)
        whole = np.add.reduceat(each_way, begin)
        share = each_way / np.where(whole > 0, whole, 1.0)[at]
        over = np.divide(share[:, None], likely, out=np.zeros_like(likely), where=likely > 0)
        told = np.add.reduceat(over[..., None] * ways, begin)
        can_be = np.flatnonzero(whole > 0)
        if len(can_be):
            numbers = np.array([each.number for each in own])[can_be]
            told, held, rows = told[can_be, :, :-1], told[can_be, :, -1], rows[can_be]
            yield _of_all(numbers, rows[:, None], slots[can_be], told[:, None], held[:, None])
        others = [own[place] for place in np.flatnonzero(whole <= 0) if own[place].clue.otherwise]
        if others:
            yield _of_slots([Heard(each.number, each.row, each.clue.otherwise) for each in others])


def _of_choices(lessons: Sequence[Chosen], known: Knowledge) -> Iterator[_Entries]:
    """Yield what choices told of their targets; those of one form are inferred from together."""
    for own in _by_form(
        lessons,
        lambda each: (len(each.rows), len(each.clue.among), each.clue.values, each.clue.is_forced),
    ):
        rows, chances = _known_of(own, known)
        clues = [each.clue for each in own]
        told, can_be = from_best(clues, chances, [each.own for each in own], known.cells)
        numbers = np.array([each.number for each in own])
        slots = np.array([clue.among for clue in clues])
        held = told[..., -1]
        yield _of_all(numbers[can_be], rows[can_be], slots[can_be], told[can_be], held[can_be])


def _of_totals(lessons: Sequence[Summed], known: Knowledge) -> Iterator[_Entries]:
    """Yield what totals told; those of one form are inferred from together."""
    for own in _by_form(lessons, lambda each: (len(each.rows), len(each.clue.sums))):
        rows, chances = _known_of(own, known)
        clues, targets = [each.clue for each in own], range(rows.shape[1])
        told = np.stack(
            [
                from_total(
                    clues, [chances[:, other] for other in targets if other != at], known.cells
                )
                for at in targets
            ],
            axis=1,
        )
        numbers = np.array([each.number for each in own])
        slots = np.broadcast_to(np.arange(told.shape[2]), (len(own), told.shape[2]))
        yield _of_all(numbers, rows, slots, told, told[..., -1])


L = TypeVar("L")


def _by_form(lessons: Iterable[L], form: Callable[[L], object]) -> Iterable[list[L]]:
    """Return lessons in groups of one form."""
    found: dict[object, list[L]] = {}
    for each in lessons:
        found.setdefault(form(each), []).append(each)
    return found.values()


def _known_of(lessons: Sequence[Chosen] | Sequence[Summed], known: Knowledge) -> tuple[Rows, Array]:
    """Return the rows of lessons, of shape (lessons, targets), and the chances of their cells."""
    rows = np.array([each.rows for each in lessons])
    return rows, known.present(rows.ravel()).reshape(*rows.shape, -1, len(known.cells))


def _of_all(numbers: Rows, rows: Rows, slots: Rows, told: Array, held: Array) -> _Entries:
    """Return what lessons of several targets told of the same slots of each of them.

    Args:
        numbers: of the lessons.
        rows: of their targets, of shape (lessons, targets).
        slots: of shape (lessons, slots).
        told: of shape (lessons, targets, slots, cells).
        held: of shape (lessons, targets, slots).
    """
    at, each_slot = np.broadcast_arrays(rows[:, :, None], slots[:, None])
    weights = told.reshape(-1, told.shape[-1])
    numbers = np.repeat(numbers, rows.shape[1])
    return _Entries(numbers, rows.ravel(), at.ravel(), each_slot.ravel(), weights, held.ravel())


def _book(lessons: Sequence[Booked], known: Knowledge) -> None:
    """Note the bookings of rounds in what their observers know."""
    rows = np.array([*chain.from_iterable(each.rows for each in lessons)], dtype=int)
    chance = np.array([*chain.from_iterable(each.chance for each in lessons)], dtype=float)
    number = np.array([*chain.from_iterable(each.number for each in lessons)], dtype=int)
    takes = np.zeros((len(rows), known.takes.shape[1]))
    sets = [*chain.from_iterable(each.takes for each in lessons)]
    for place, each in zip(np.flatnonzero(number >= 0).tolist(), sets, strict=True):
        takes[place, : len(each)] = each
    observers = np.array([*chain.from_iterable(each.observers for each in lessons)], dtype=int)
    books = [*chain.from_iterable(each.books for each in lessons)]
    counts = [len(each.rows) for each in lessons]
    begin = [0, *np.cumsum(counts).tolist()]
    size = np.repeat([each.size for each in lessons], counts)
    apart = [
        (at + place, slot, each.chance_apart)
        for at, each in zip(begin, lessons, strict=False)
        for place, slot in each.apart.items()
    ]
    common = [
        (at + place, slot)
        for at, each in zip(begin, lessons, strict=False)
        for place, slot in each.common.items()
    ]
    if apart:
        places, slots, chances = (np.array(each) for each in zip(*apart, strict=True))
        known.book_apart(rows[places], slots, chances)
    if common:
        places, slots = (np.array(each) for each in zip(*common, strict=True))
        chance[places] = known.book(rows[places], slots)
    may_be = np.flatnonzero(chance)
    known.book_somewhere(
        rows[may_be],
        chance[may_be],
        size[may_be],
        [books[at] for at in may_be.tolist()],
        observers[may_be],
        number[may_be],
        takes[may_be],
    )
