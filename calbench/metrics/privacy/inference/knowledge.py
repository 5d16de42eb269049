"""What observers know of others while the game goes on and calendars change [C].

A slot where both booked is held by that meeting. A booking of which the observer knows no slot
makes every slot a little more likely to be held, and an errand that gave way to land on a free one.
How many such meetings an agent holds is known, mostly, and what its partners say of a slot tells
whether it is one of theirs.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calbench.metrics.privacy.inference.calendars import (
    HELD,
    LEAST,
    Array,
    Counts,
    Prior,
    over_cells,
)

Rows = Sequence[int] | NDArray[np.intp]
"""Places of pairs of an observer and a target."""

MOST_ROOM = 0.9
"""Greatest probability that a slot has room for all: others may hold a meeting of their own [C]."""

DOUBT = 0.1
"""How far from a whole number of hidden meetings the mean may be that is taken for it [C]: each
that was agreed upon with the observer may be elsewhere, see ``HELD``."""

ROUNDS = 4
"""Steps to the factor by which that number is reached [C]: the median is within .2% of it then, and
twice as many steps change no team's bits by .1%."""

MOST_FITS = 100.0
"""How much likelier at most a meeting is where one that takes part in it has no room [C]: as if one
slot of a hundred had none."""

LEAST_MOVE = 1e-3
"""Factor less 1 from which on something was told of a slot that a meeting may hold [C]: less moves
no bit that is published."""

MOST_FACTOR = 1e6
"""Greatest such factor [C]."""

LEAST_OTHERS = 1e-9
"""Fewest others of whom something is known: a sum less one of its parts is seldom 0."""


class Knowledge:
    """What observers know of targets, a row for each pair of them.

    A slot of the first calendar is one of the cells. If it was not blocked, a meeting may hold it
    by now; if it was free, an errand that gave way may have landed on it. The likelihood of
    everything heard is kept for each of these states.

    Attributes:
        cells: what a slot can cost.
        open: likelihood of each cell, of shape (rows, slots, cells), where nothing changed.
        held: the same where a meeting holds the slot.
        landed: of each slot that was free, where an errand landed, of shape (rows, slots).
        left: how likely a slot could be another meeting's, for those that the observer holds.
        is_common: slots of common meetings that were agreed upon, of shape (rows, slots).
        is_linked: whether what one agent says tells of another's meetings.
        is_counted: of each row, whether it is known how many meetings of others the target holds.
        elsewhere: how many meetings each target is to hold in other slots, in the mean.
        fits: of each slot, how much likelier what was heard in this round is if a meeting holds it.
        linked: the same of what partners said of it since the last booking.
        is_heard: of each row, whether anything was heard of the target.
    """

    __slots__ = (
        "_shares",
        "cells",
        "elsewhere",
        "fits",
        "held",
        "is_common",
        "is_counted",
        "is_heard",
        "is_linked",
        "landed",
        "left",
        "linked",
        "open",
    )

    def __init__(self, prior: Prior, before: Array, *, is_linked: bool = True) -> None:
        self.cells, self._shares = prior.cells, prior.chances
        self.open = before.copy()
        self.held = np.zeros_like(before)
        self.landed = np.zeros(before.shape[:2])
        self.left = np.ones(before.shape[:2])
        self.is_common = np.zeros(before.shape[:2], dtype=bool)
        self.is_linked = is_linked
        self.elsewhere = np.zeros(len(before))
        self.is_counted = np.ones(len(before), dtype=bool)
        self.fits = np.ones(before.shape[:2])
        self.linked = np.ones(before.shape[:2])
        self.is_heard = np.zeros(len(before), dtype=bool)

    def weights(self, rows: Rows) -> Array:
        """Return the likelihood of each cell of each slot of the first calendar."""
        return _weights(self.open[rows], self.held[rows], self.landed[rows])

    def hear(self, rows: Rows, slots: Rows, told: Array, held: Array) -> None:
        """Weigh the states by what was told of present calendars, each slot of a pair by itself.

        Args:
            rows: of the pairs.
            slots: of each of these, which slot it was about.
            told: the weights of their cells, of shape (rows, cells).
            held: the weights if a meeting holds them.
        """
        at = np.asarray(rows), np.asarray(slots)
        before = self._whole(at) if self.is_linked else None
        may_hold = over_cells(self.held[at]) > 0
        is_open, is_held = self.open[at] * told, self.held[at] * held[:, None]
        landed = self.landed[at] * _of_errands(told)
        most = landed
        for cell in np.flatnonzero(self._shares > 0).tolist():  # few: faster than over an axis
            most = np.maximum(most, np.maximum(is_open[:, cell], is_held[:, cell]))
        is_possible = most > 0
        if not is_possible.all():  # a contradiction, by a broken rule, tells nothing
            most = np.where(is_possible, most, 1.0)
            landed = np.where(is_possible, landed, self.landed[at])
            is_open = np.where(is_possible[:, None], is_open, self.open[at])
            is_held = np.where(is_possible[:, None], is_held, self.held[at])
        self.open[at] = is_open / most[:, None]
        self.held[at] = is_held / most[:, None]
        self.landed[at] = landed / most
        self.is_heard[at[0]] = True
        if before is not None:
            likely = self._whole(at) * most / np.maximum(before, LEAST)
            fits = held / np.maximum(likely, LEAST)
            self.fits[at] *= np.where(is_possible & may_hold, fits, 1.0)
        self._count(at[0][may_hold])

    def begin_round(self) -> None:
        """Forget how well meetings fitted what was heard: there is one more of them now."""
        self.fits[:] = 1.0

    def link(self, rows: NDArray[np.intp], partners: Array) -> tuple[NDArray[np.intp], ...]:
        """Take in what talk of a round tells of others' meetings that were held before it.

        A hidden meeting of an agent is in no slot where one who takes part in it has no meeting,
        and it is the likelier in one where that one has no room.

        Args:
            rows: of all pairs of an observer, of shape (observers, pairs).
            partners: how likely another takes part in it, of shape (observers, pairs, pairs).

        Returns:
            The places in ``rows`` of the pairs that this tells more of.
        """
        fits, before = self.fits[rows].clip(0.0, MOST_FITS), self.linked[rows]
        after = before * (1 + partners[..., None] * (fits - 1)[:, None]).prod(axis=2)
        after = np.where(self.is_common[rows], before, after.clip(0.0, MOST_FITS))
        self.linked[rows] = after
        # It is not together with its partners, mostly by a message that was lost: then all is open.
        factor = (1 + HELD * (after - 1)) / (1 + HELD * (before - 1))
        at = (rows.ravel(),)
        is_open = (over_cells(self.open[at]) + self.landed[at] > 0).reshape(factor.shape)
        is_either = is_open & (over_cells(self.held[rows]) > 0)
        moved = (is_either & (np.abs(factor - 1) > LEAST_MOVE)).any(axis=2)
        self.held[rows] *= factor[..., None]
        self._count(rows[moved])
        return np.nonzero(moved & self.is_heard[rows])

    def apart(self, rows: Rows) -> tuple[Array, Array, Counts]:
        """Return the weights where no hidden meeting holds the slot, where one does, their number.

        Hidden is a meeting of which the observer knows no slot. Their number is 0 where it is not
        known.
        """
        is_common, held = self.is_common[rows][..., None], self.held[rows]
        here = np.where(is_common, held, 0.0)
        hidden = np.where(is_common, 0.0, held)
        return _weights(self.open[rows], here, self.landed[rows]), hidden, self._number(rows)

    def _number(self, rows: Rows) -> Counts:
        number = np.rint(self.elsewhere[rows])
        is_known = self.is_counted[rows] & (np.abs(self.elsewhere[rows] - number) < DOUBT)
        found: Counts = np.where(is_known, number, 0).astype(int)
        return found

    def _count(self, rows: Rows) -> None:
        """Let so many slots be held by hidden meetings, in the mean, as there are such meetings."""
        rows = np.unique(rows)
        rows = rows[self._number(rows) > 0]
        weights, held, number = self.apart(rows)
        rest, by_meeting = over_cells(weights, self._shares), over_cells(held, self._shares)
        may_hold = by_meeting > 0
        # More of them may surely be held if a meeting is not where it was agreed upon.
        can_be = (may_hold.sum(axis=1) >= number) & ((may_hold & (rest <= 0)).sum(axis=1) <= number)
        if not can_be.any():
            return
        rows, number = rows[can_be], number[can_be]
        rest, by_meeting = rest[can_be], by_meeting[can_be]
        factor = np.ones((len(rows), 1))
        for _ in range(ROUNDS):
            now = by_meeting * factor
            found = (now / np.maximum(now + rest, LEAST)).sum(axis=1)
            factor *= (number / np.maximum(found, LEAST))[:, None]
            factor = factor.clip(1 / MOST_FACTOR, MOST_FACTOR)
        self.held[rows] *= np.where(self.is_common[rows], 1.0, factor)[..., None]

    def _whole(self, at: tuple[NDArray[np.intp], ...]) -> Array:
        """Return the likelihood of slots, whatever they are."""
        found = over_cells(self.open[at] + self.held[at], self._shares)
        found += self.landed[at] * self._shares[0]
        return found

    def present(self, rows: Rows) -> Array:
        """Return the chances of present calendars, each slot by itself."""
        now = self.open[rows] * self._shares
        landed = self.landed[rows] * self._shares[0]
        now[..., 1:-1] += (landed / max(1, now.shape[-1] - 2))[..., None]
        now[..., -1] += over_cells(self.held[rows], self._shares)
        found: Array = now / over_cells(now)[..., None]
        return found

    def chance_held(self, rows: Rows) -> Array:
        """Return by slot the chance that a meeting holds it now, each by itself."""
        of_all = np.maximum(over_cells(self.weights(rows), self._shares), LEAST)
        found: Array = over_cells(self.held[rows], self._shares) / of_all
        return found

    def book(self, rows: Rows, slots: Rows) -> Array:
        """Note that targets were to hold a meeting at a slot each, which was agreed upon.

        Returns:
            The chance that it is elsewhere, as the slot had no room: see :meth:`book_somewhere`.
        """
        elsewhere: Array = 1 - HELD * self._room((rows, slots))
        open_: Array = self.open[rows, slots]
        room = open_[:, :-1] * self._shares[:-1]
        gave_way = room[:, 1:].sum(axis=1) / np.maximum(room.sum(axis=1), LEAST)
        chance = np.zeros_like(self.landed[rows])
        chance[np.arange(len(rows)), slots] = HELD
        self.is_common[rows, slots] = True
        self._hold(rows, chance, gave_way * (1 - elsewhere))
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

    def book_somewhere(
        self,
        rows: Rows,
        chance: Array,
        size: NDArray[np.intp],
        is_first: NDArray[np.bool_],
        observers: NDArray[np.intp],
    ) -> None:
        """Note that targets may hold a meeting at a slot that the observer does not know.

        Args:
            rows: of the pairs.
            chance: of that, by row.
            size: participants of the meeting, by row.
            is_first: by row, whether it is the first slot with room for all, else any that has.
            observers: by row, one and the same number for all of an observer.
        """
        self.elsewhere[rows] += chance
        self.linked[rows] = 1.0
        room = self._room(rows)
        left = room * self.left[rows]
        where: Array = left / _not_0(left.sum(axis=1))
        if is_first.any():
            of_others = _of_others(left, chance, observers, 1 - self._shares[-1])
            all_room = np.minimum(left * of_others ** (size - 1)[:, None], MOST_ROOM)
            where = np.where(is_first[:, None], all_room * _none_before(all_room), where)
        share = self._shares[1:-1].sum() / max(LEAST, 1 - self._shares[-1])
        held = np.minimum(HELD, chance[:, None] * where / np.maximum(room, LEAST))
        self._hold(rows, held, chance * share)

    def _room(self, at: Rows | tuple[Rows, Rows]) -> Array:
        """Return the chance of slots to have room now, each by itself."""
        open_, landed = self.open[at], self.landed[at]
        room = over_cells(open_[..., :-1], self._shares[:-1]) + landed * self._shares[0]
        of_all = over_cells(_weights(open_, self.held[at], landed), self._shares)
        found: Array = room / np.maximum(of_all, LEAST)
        return found

    def _hold(self, rows: Rows, chance: Array, gave_way: Array) -> None:
        """Let a meeting take slots, each with a chance, and an errand the first free one."""
        open_, held, landed = self.open[rows], self.held[rows], self.landed[rows]
        held[..., :-1] += open_[..., :-1] * chance[..., None]
        held[..., 0] += landed * chance
        open_[..., :-1] *= 1 - chance[..., None]
        landed *= 1 - chance
        of_all = over_cells(_weights(open_, held, landed), self._shares)
        free = open_[..., 0] * self._shares[0] / np.maximum(of_all, LEAST)
        lands = gave_way[:, None] * _none_before(free)
        landed += open_[..., 0] * lands
        open_[..., 0] *= 1 - lands
        self.open[rows], self.held[rows], self.landed[rows] = open_, held, landed


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


def _of_others(left: Array, chance: Array, observers: NDArray[np.intp], otherwise: float) -> Array:
    """Return by row and slot how likely one other who may take part could meet there.

    Args:
        left: by row and slot, how likely the target could.
        chance: by row, that the target takes part.
        observers: by row, one and the same number for all of an observer.
        otherwise: where the observer knows of no other.
    """
    _, group = np.unique(observers, return_inverse=True)
    own = left * chance[:, None]
    sums = np.zeros((len(own), own.shape[1]))  # more rows than there are observers
    np.add.at(sums, group, own)
    rest = (np.bincount(group, chance, len(own))[group] - chance)[:, None]
    others: Array = np.divide(
        sums[group] - own, rest, out=np.full_like(own, otherwise), where=rest > LEAST_OTHERS
    )
    return others.clip(0.0, 1.0)


def _not_0(sums: Array) -> Array:
    """Return divisors of rows."""
    found: Array = np.maximum(sums, LEAST)[:, None]
    return found


def _of_errands(told: Array) -> Array:
    """Return the mean weight of all costs of errands."""
    of_errands = told[..., 1:-1]
    number = of_errands.shape[-1]
    return over_cells(of_errands) / number if number else np.zeros(len(told))
