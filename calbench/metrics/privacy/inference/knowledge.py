"""What observers know of others while the game goes on and calendars change [C].

A slot where both booked is held by that meeting. A hidden meeting is one without the observer, of
which it knows no slot: it is where the rules of its members put it, for all that is known of their
calendars, and what its other members say of a slot tells whether it is there. An errand that gave
way lands on a free slot.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calbench.metrics.privacy.inference.calendars import (
    HELD,
    LEAST,
    Array,
    Prior,
    members_of,
    over_cells,
)

Rows = Sequence[int] | NDArray[np.intp]
"""Places of pairs of an observer and a target."""

Books = Literal["first", "cheapest", "anywhere"]
"""Where a meeting is among slots with room for all: the first, the first of least cost, or any."""

MOST_SUMS = 24
"""Sums of costs that are told apart; of more, costs count by their order alone [C]."""

MOST_FITS = 100.0
"""How much likelier at most a meeting is where one that takes part in it has no room [C]: as if one
slot of a hundred had none."""

LEAST_MOVE = 1e-3
"""Factor less 1 from which on something was told of a slot that a meeting may hold [C]: less moves
no bit that is published."""

LEAST_OTHERS = 1e-9
"""Fewest others of whom something is known: a sum less one of its parts is seldom 0."""


class Knowledge:
    """What observers know of targets, a row for each pair of them.

    A slot of the first calendar is one of the cells. If it was not blocked, a meeting may hold it
    by now; if it was free, an errand that gave way may have landed on it. The likelihood of
    everything heard is kept for each of these states. Hidden is a meeting without the observer of
    which it knows no slot: for each of them, the likelihood is that of its being there.

    Attributes:
        cells: what a slot can cost.
        open: likelihood of each cell, of shape (rows, slots, cells), where nothing changed.
        held: the same where a meeting holds the slot that is not hidden.
        landed: of each slot that was free, where an errand landed, of shape (rows, slots).
        hidden: likelihood of each cell with room, if the target has a hidden meeting, and there, of
            shape (rows, meetings, slots, cells with room).
        takes: how likely the target has each set of them, of shape (rows, sets): of a set's place,
            the bit of each of its meetings is 1.
        left: how likely a slot could be another meeting's, for those that the observer holds.
        is_common: slots of common meetings that were agreed upon, of shape (rows, slots).
        fits: of each slot, how much likelier what was heard in this round is if a hidden meeting
            holds it.
        is_heard: of each row, whether anything was heard of the target.
    """

    __slots__ = (
        "_shares",
        "cells",
        "fits",
        "held",
        "hidden",
        "is_common",
        "is_heard",
        "landed",
        "left",
        "open",
        "takes",
    )

    def __init__(self, prior: Prior, before: Array, num_hidden: int = 0) -> None:
        """Begin with what the observers know by their own calendars.

        Args:
            prior: of the calendars.
            before: weights of the cells, of shape (rows, slots, cells).
            num_hidden: of an observer's hidden meetings, at most.
        """
        num, slots, cells = before.shape
        self.cells, self._shares = prior.cells, prior.chances
        self.open = before.copy()
        self.held = np.zeros_like(before)
        self.landed = np.zeros((num, slots))
        self.hidden = np.zeros((num, num_hidden, slots, cells - 1))
        self.takes = np.zeros((num, 2**num_hidden))
        self.takes[:, 0] = 1.0
        self.left = np.ones((num, slots))
        self.is_common = np.zeros((num, slots), dtype=bool)
        self.fits = np.ones((num, slots))
        self.is_heard = np.zeros(num, dtype=bool)

    def hear(self, rows: Rows, slots: Rows, told: Array, held: Array) -> None:
        """Weigh the states by what was told of present calendars, each slot of a pair by itself.

        Args:
            rows: of the pairs.
            slots: of each of these, which slot it was about.
            told: the weights of their cells, of shape (rows, cells).
            held: the weights if a meeting holds them.
        """
        at = np.asarray(rows), np.asarray(slots)
        hidden_at = at[0], slice(None), at[1]
        before = self._whole(at)
        is_open, is_held = self.open[at] * told, self.held[at] * held[:, None]
        may_hold = (self.hidden[hidden_at] > 0).any(axis=(1, 2))
        is_hidden = self.hidden[hidden_at] * held[:, None, None]
        landed = self.landed[at] * _of_errands(told)
        most = np.maximum(landed, is_hidden.max(axis=(1, 2), initial=0.0))
        for cell in np.flatnonzero(self._shares > 0).tolist():  # few: faster than over an axis
            most = np.maximum(most, np.maximum(is_open[:, cell], is_held[:, cell]))
        is_possible = most > 0
        if not is_possible.all():  # a contradiction, by a broken rule, tells nothing
            most = np.where(is_possible, most, 1.0)
            landed = np.where(is_possible, landed, self.landed[at])
            is_open = np.where(is_possible[:, None], is_open, self.open[at])
            is_held = np.where(is_possible[:, None], is_held, self.held[at])
            no_way = ~is_possible[:, None, None]
            is_hidden = np.where(no_way, self.hidden[hidden_at], is_hidden)
        self.open[at] = is_open / most[:, None]
        self.held[at] = is_held / most[:, None]
        self.hidden[hidden_at] = is_hidden / most[:, None, None]
        self.landed[at] = landed / most
        self.is_heard[at[0]] = True
        likely = self._whole(at) * most / np.maximum(before, LEAST)
        fits = held / np.maximum(likely, LEAST)
        is_open_yet = is_possible & may_hold & (before > 0)  # else it was known to be there
        self.fits[at] *= np.where(is_open_yet, fits, 1.0)

    def begin_round(self) -> None:
        """Forget how well meetings fitted what was heard: there is one more of them now."""
        self.fits[:] = 1.0

    def link(
        self, rows: NDArray[np.intp], partners: Array, size: int
    ) -> tuple[NDArray[np.intp], ...]:
        """Take in what talk of a round tells of others' meetings that were held before it.

        A hidden meeting of an agent is in no slot where one who takes part in it has no meeting,
        and it is the likelier in one where that one has no room.

        Args:
            rows: of all pairs of an observer, of shape (observers, pairs).
            partners: how likely each has each hidden meeting with each set of partners, of shape
                (observers, pairs, meetings, sets), see ``Others.partners``.
            size: participants of a meeting.

        Returns:
            The places in ``rows`` of the pairs that this tells more of.
        """
        is_common = self.is_common[rows]
        fits = np.where(is_common, 1.0, self.fits[rows].clip(0.0, MOST_FITS))
        factor = np.ones((*partners.shape[:3], fits.shape[2]))
        factor -= partners.sum(axis=3)[..., None]
        for place, members in enumerate(combinations(range(rows.shape[1]), size)):
            for each in members:
                rest = [member for member in members if member != each]
                is_there = fits[:, rest].prod(axis=1)[:, None]
                factor[:, each] += partners[:, each, :, place, None] * is_there
        # It is not together with its partners, mostly by a message that was lost: then all is open.
        factor = 1 + HELD * (factor.clip(0.0, MOST_FITS) - 1)
        factor = np.where(is_common[:, :, None], 1.0, factor)
        at = (rows.ravel(),)
        is_open = (over_cells(self.open[at]) + self.landed[at] > 0).reshape(is_common.shape)
        hidden = self.hidden[rows, : factor.shape[2]]
        is_either = is_open[:, :, None] & (over_cells(hidden) > 0)
        moved = (is_either & (np.abs(factor - 1) > LEAST_MOVE)).any(axis=(2, 3))
        self.hidden[rows, : factor.shape[2]] = hidden * factor[..., None]
        return np.nonzero(moved & self.is_heard[rows])

    def apart(self, rows: Rows) -> tuple[Array, Array, Array]:
        """Return the weights where no hidden meeting holds the slot, where each does, and sets."""
        weights = _weights(self.open[rows], self.held[rows], self.landed[rows])
        return weights, self.hidden[rows], self.takes[rows]

    def _whole(self, at: Rows | tuple[NDArray[np.intp], ...]) -> Array:
        """Return the likelihood of slots, whatever they are, if no hidden meeting is there."""
        found = over_cells(self.open[at] + self.held[at], self._shares)
        found += self.landed[at] * self._shares[0]
        return found

    def where(self, rows: Rows) -> Array:
        """Return the chance of each hidden meeting in each slot, of shape (rows, meetings, slots).

        Each by itself, and as if no other slot could be another's.
        """
        likely = np.maximum(self._whole(rows), LEAST)[:, None]
        found: Array = over_cells(self.hidden[rows], self._shares[:-1]) / likely
        fit = found.sum(axis=2)
        chance = self.takes[rows] @ members_of(found.shape[1])
        both = chance * fit
        found /= np.maximum(fit, LEAST)[..., None]
        found *= (both / np.maximum(1 - chance + both, LEAST))[..., None]
        return found

    def present(self, rows: Rows) -> Array:
        """Return the chances of present calendars, each slot by itself."""
        now = self.open[rows] * self._shares
        landed = self.landed[rows] * self._shares[0]
        now[..., 1:-1] += (landed / max(1, now.shape[-1] - 2))[..., None]
        now[..., -1] += over_cells(self.held[rows], self._shares)
        is_hidden = self.where(rows).sum(axis=1).clip(0.0, 1.0)
        now *= ((1 - is_hidden) / np.maximum(over_cells(now), LEAST))[..., None]
        now[..., -1] += is_hidden
        now[..., -1] += over_cells(now) <= 0  # what cannot be
        found: Array = now / over_cells(now)[..., None]
        return found

    def book(self, rows: Rows, slots: Rows) -> Array:
        """Note that targets were to hold a meeting at a slot each, which was agreed upon.

        Returns:
            The chance that it is elsewhere, as the slot had no room: see :meth:`book_somewhere`.
        """
        at = np.arange(len(rows)), np.asarray(slots)
        room = self.present(rows)[..., :-1]
        elsewhere: Array = 1 - HELD * over_cells(room[at])
        gave_way = room[at][:, 1:].sum(axis=1) / np.maximum(over_cells(room[at]), LEAST)
        chance = np.zeros_like(room)
        chance[at] = HELD
        self.is_common[rows, slots] = True
        self.held[rows, :, :-1] += self._take(rows, chance)
        self._land(rows, gave_way * (1 - elsewhere))
        return elsewhere

    def book_apart(self, rows: Rows, slots: Rows, chance: Array | float) -> None:
        """Note that observers hold a meeting at a slot each, in which the target takes no part.

        Another meeting of the target is there only if nobody takes part in both.

        Args:
            rows: of the pairs.
            slots: where.
            chance: that nobody takes part in both, of each.
        """
        self.left[rows, slots] = chance
        self.held[rows, slots] *= np.asarray(chance)[..., None]
        self.hidden[np.asarray(rows), :, np.asarray(slots)] *= np.asarray(chance)[..., None, None]

    def book_somewhere(
        self,
        rows: Rows,
        chance: Array,
        size: NDArray[np.intp],
        books: Sequence[Books],
        observers: NDArray[np.intp],
        number: NDArray[np.intp],
        takes: Array,
    ) -> None:
        """Note that targets may hold a meeting at a slot that the observer does not know.

        Args:
            rows: of the pairs.
            chance: of that, by row.
            size: participants of the meeting, by row.
            books: by row, in which of the slots with room for all.
            observers: by row, one and the same number for all of an observer.
            number: by row, of the hidden meeting among these; -1 if it is not one of them.
            takes: by row, how likely the target has each set of them by now.
        """
        rows = np.asarray(rows)
        room, left = self.present(rows)[..., :-1], self.left[rows][..., None]
        own = room * left
        where: Array = np.broadcast_to(left / _not_0(own.sum(axis=(1, 2))), own.shape).copy()
        kinds = {*zip(books, size.tolist(), strict=True)}
        of_kind = {kind: np.array([each == kind for each in books]) for kind, _ in kinds}
        if {*of_kind} != {"anywhere"}:
            others = _of_others(own, chance, observers, self._shares[:-1])
        for kind, count in kinds:
            if kind != "anywhere":
                at = np.flatnonzero(of_kind[kind] & (size == count))
                costs = [(cell or 0) * (kind == "cheapest") for cell in self.cells[:-1]]
                where[at] = left[at] * _chosen(own[at], others[at], tuple(costs), count)
        gave_way = chance * (room * where)[..., 1:].sum(axis=(1, 2))
        stray, at = np.flatnonzero(number < 0), np.flatnonzero(number >= 0)
        whole = self._whole(rows[at])
        taken = self._take(rows, np.minimum(HELD, chance[:, None, None] * where))
        self.held[rows[stray], :, :-1] += taken[stray]
        # Where it is, over where it is not, is as likely as it is there: so slots with room stay
        # as likely as before, and the meeting is where the rule says.
        is_there = over_cells(taken[at], self._shares[:-1]) / np.maximum(whole, LEAST)
        others = self._whole(rows[at]) / np.maximum(whole, LEAST)
        others /= np.maximum(is_there.sum(axis=1), LEAST)[:, None]
        self.hidden[rows[at], number[at]] = taken[at] * others[..., None]
        self.takes[rows[at]] = takes[at]
        self._land(rows, gave_way)

    def _take(self, rows: Rows, chance: Array) -> Array:
        """Let a meeting take slots, each with a chance by its cell; return what it took."""
        open_, landed = self.open[rows], self.landed[rows]
        of_errands = _of_room_errands(chance)
        taken: Array = open_[..., :-1] * chance
        taken[..., 0] += landed * of_errands
        open_[..., :-1] *= 1 - chance
        self.open[rows], self.landed[rows] = open_, landed * (1 - of_errands)
        return taken

    def _land(self, rows: Rows, gave_way: Array) -> None:
        """Let an errand that gave way, with a chance, land on the first free slot."""
        free = self.open[rows][..., 0]
        chance = free * self._shares[0] / np.maximum(self._whole(rows), LEAST)
        chance *= 1 - self.where(rows).sum(axis=1).clip(0.0, 1.0)
        lands = gave_way[:, None] * _none_before(chance)
        self.landed[rows] += free * lands
        self.open[rows, :, 0] = free * (1 - lands)


def _weights(open_: Array, held: Array, landed: Array) -> Array:
    """Return the likelihood of each cell, whatever became of its slot."""
    found = open_ + held
    found[..., 0] += landed
    return found


def _none_before(chance: Array) -> Array:
    """Return by slot the chance that no earlier one is it."""
    found = np.ones_like(chance)
    np.cumprod(1 - chance[:, :-1], axis=1, out=found[:, 1:])
    return found


def _of_others(own: Array, chance: Array, observers: NDArray[np.intp], otherwise: Array) -> Array:
    """Return by row, slot and cell how likely one other who may take part could meet there.

    Args:
        own: how likely the target could.
        chance: by row, that the target takes part.
        observers: by row, one and the same number for all of an observer.
        otherwise: by cell, where the observer knows of no other.
    """
    _, group = np.unique(observers, return_inverse=True)
    weighted = own * chance[:, None, None]
    sums = np.zeros_like(own)  # more rows than there are observers
    np.add.at(sums, group, weighted)
    rest = (np.bincount(group, chance, len(own))[group] - chance)[:, None, None]
    others: Array = np.divide(
        sums[group] - weighted,
        rest,
        out=np.broadcast_to(otherwise, own.shape).copy(),
        where=rest > LEAST_OTHERS,
    )
    return others.clip(0.0, 1.0)


def _chosen(own: Array, others: Array, costs: tuple[int, ...], size: int) -> Array:
    """Return by slot and cell how likely a meeting is there, if the cell is so.

    It is in the first of the slots with the least total cost of all who take part.

    Args:
        own: chances of the target's cells with room, of shape (rows, slots, cells).
        others: the same of each other who takes part.
        costs: of the cells.
        size: participants of the meeting.
    """
    steps = _sums(costs, size)
    beside = np.ones((*own.shape[:2], 1))
    for places in steps[:-1]:
        beside = _added(beside, others, places)
    total = _added(beside, own, steps[-1])
    more = (1 - total.cumsum(axis=-1)).clip(0.0, 1.0)  # or no room for all
    before, after = np.ones_like(more), np.ones_like(more)
    np.cumprod(more[:, :-1], axis=1, out=before[:, 1:])
    at_least = (more + total)[:, :0:-1]
    np.cumprod(at_least, axis=1, out=after[:, -2::-1])
    is_best = before * after
    found = np.stack([(beside * is_best[..., each]).sum(axis=-1) for each in steps[-1].T], axis=-1)
    return found / _not_0((own * found).sum(axis=(1, 2)))


def _added(sums: Array, cells: Array, places: NDArray[np.intp]) -> Array:
    """Return the chances of sums with one cell more."""
    found = np.zeros((*sums.shape[:-1], int(places.max()) + 1))
    for cell, each in enumerate(places.T):
        found[..., each] += sums * cells[..., [cell]]
    return found


@lru_cache(maxsize=256)
def _sums(costs: tuple[int, ...], size: int) -> list[NDArray[np.intp]]:
    """Return for each of so many summands the places of its sums, of shape (sums before, costs)."""
    sums, found, ranks = [0], [], tuple(range(len(costs)))
    for _ in range(size):
        each = np.add.outer(sums, costs)
        values, places = np.unique(each, return_inverse=True)
        if len(values) > MOST_SUMS and costs != ranks:
            return _sums(ranks, size)
        found.append(places.reshape(each.shape))
        sums = values.tolist()
    return found


def _not_0(sums: Array) -> Array:
    """Return divisors of rows."""
    found: Array = np.maximum(sums, LEAST)[:, None, None]
    return found


def _of_errands(told: Array) -> Array:
    """Return the mean weight of all costs of errands, of cells the last of which has no room."""
    return _of_room_errands(told[..., :-1])


def _of_room_errands(told: Array) -> Array:
    """Return the same of cells with room alone."""
    number = told.shape[-1] - 1
    return over_cells(told[..., 1:]) / number if number else np.zeros(told.shape[:-1])
