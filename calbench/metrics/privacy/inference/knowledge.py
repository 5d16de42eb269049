"""What one observer knows of one target while the game goes on and calendars change [C].

A slot where both booked is held by that meeting. A booking of which the observer knows no slot
makes every slot a little more likely to be held, and an errand that gave way to land on a free one.
"""

from collections.abc import Sequence

import numpy as np

from calbench.domain.ids import Slot
from calbench.metrics.privacy.inference.calendars import LEAST, Array, Prior

HELD = 0.98
"""Probability that a slot with room which the observer booked with the target is held by that
meeting, and not another one: the target may not have heard what was agreed [C]."""

MOST_ROOM = 0.9
"""Greatest probability that a slot has room for all: others may hold a meeting of their own [C]."""


class Knowledge:
    """What one observer knows of one target.

    A slot of the first calendar is one of the cells. If it was not blocked, a meeting may hold it
    by now; if it was free, an errand that gave way may have landed on it. The likelihood of
    everything heard is kept for each of these states.

    Attributes:
        open: likelihood of each cell, of shape (slots, cells), where nothing changed.
        held: the same where a meeting holds the slot.
        landed: of each slot that was free, where an errand landed.
        left: by slot, how likely it could be another meeting's, for those that the observer holds.
        rounds: how many rounds' bookings are in it.
    """

    __slots__ = ("_shares", "held", "landed", "left", "open", "rounds")

    def __init__(self, prior: Prior, before: Array) -> None:
        self._shares = prior.chances
        self.open = before.copy()
        self.held = np.zeros_like(before)
        self.landed = np.zeros(len(before))
        self.left = np.ones(len(before))
        self.rounds = 0

    @property
    def weights(self) -> Array:
        """Likelihood of each cell of each slot of the first calendar."""
        found = self.open + self.held
        found[:, 0] += self.landed
        return found

    def hear(self, slots: Sequence[int], told: Array, held: Array | None = None) -> None:
        """Weigh the states by what was told of the present calendar.

        Args:
            slots: that it was about.
            told: the weights of their cells, of shape (slots, cells).
            held: the weights if a meeting holds them; ``None``: those of the last cell.
        """
        at = np.array(slots)
        by_meeting = told[:, -1] if held is None else held
        is_open, is_held = self.open[at] * told, self.held[at] * by_meeting[:, None]
        landed = self.landed[at] * _of_errands(told)
        can_be = self._shares > 0
        states = np.maximum(is_open, is_held)[:, can_be].max(axis=1)
        most = np.maximum(states, landed)
        is_possible = most > 0  # a contradiction, by a broken rule, tells nothing
        rows, scale = at[is_possible], most[is_possible]
        self.open[rows] = is_open[is_possible] / scale[:, None]
        self.held[rows] = is_held[is_possible] / scale[:, None]
        self.landed[rows] = landed[is_possible] / scale

    def present(self) -> Array:
        """Return the chances of the present calendar, each slot by itself."""
        now = self.open * self._shares
        landed = self.landed * self._shares[0]
        now[:, 1:-1] += (landed / max(1, now.shape[1] - 2))[:, None]
        now[:, -1] += self.held @ self._shares
        found: Array = now / now.sum(axis=1, keepdims=True)
        return found

    def chance_held(self) -> Array:
        """Return by slot the chance that a meeting holds it now, each by itself."""
        found: Array = self.held @ self._shares / np.maximum(self.weights @ self._shares, LEAST)
        return found

    def book(self, slot: Slot, size: int, *, is_first: bool) -> None:
        """Note that the target was to hold a meeting at a slot; elsewhere if that had no room.

        Args:
            slot: agreed upon.
            size: participants of the meeting.
            is_first: see :meth:`book_somewhere`.
        """
        elsewhere = 1 - HELD * float(self._room()[slot])
        room = self.open[slot, :-1] * self._shares[:-1]
        gave_way = float(room[1:].sum() / max(room.sum(), LEAST))
        chance = np.zeros(len(self.open))
        chance[slot] = HELD
        self._hold(chance, gave_way * (1 - elsewhere))
        if elsewhere > 0:
            self.book_somewhere(elsewhere, size, is_first=is_first)

    def book_apart(self, slot: Slot, chance: float) -> None:
        """Note that the observer holds a meeting at a slot, in which the target takes no part.

        Another meeting of the target is there only if nobody takes part in both.

        Args:
            slot: where.
            chance: that nobody takes part in both.
        """
        self.left[slot] = chance
        self.held[slot] *= chance

    def book_somewhere(self, chance: float, size: int, *, is_first: bool) -> None:
        """Note that the target may hold a meeting at a slot that the observer does not know.

        Args:
            chance: of that.
            size: participants of the meeting.
            is_first: whether it is the first slot that has room for all, else any that has.
        """
        room = self._room()
        left = room * self.left
        if is_first:
            all_room = np.minimum(left * (1 - self._shares[-1]) ** (size - 1), MOST_ROOM)
            where = all_room * np.cumprod(np.append(1.0, 1 - all_room[:-1]))
        else:
            where = left / max(left.sum(), LEAST)
        share = self._shares[1:-1].sum() / max(LEAST, 1 - self._shares[-1])
        self._hold(np.minimum(HELD, chance * where / np.maximum(room, LEAST)), chance * share)

    def _room(self) -> Array:
        """Return the chance of each slot to have room now, each by itself."""
        landed = self.landed * self._shares[0]
        room = self.open[:, :-1] @ self._shares[:-1] + landed
        found: Array = room / np.maximum(self.weights @ self._shares, LEAST)
        return found

    def _hold(self, chance: Array, gave_way: float) -> None:
        """Let a meeting take slots, each with a chance, and an errand the first free one."""
        self.held[:, :-1] += self.open[:, :-1] * chance[:, None]
        self.held[:, 0] += self.landed * chance
        self.open[:, :-1] *= 1 - chance[:, None]
        self.landed *= 1 - chance
        free = self.open[:, 0] * self._shares[0]
        free = free / np.maximum(self.weights @ self._shares, LEAST)
        lands = gave_way * np.cumprod(np.append(1.0, 1 - free[:-1]))
        self.landed += self.open[:, 0] * lands
        self.open[:, 0] *= 1 - lands


def _of_errands(told: Array) -> Array:
    """Return the mean weight of all costs of errands."""
    found: Array = told[:, 1:-1].mean(axis=1) if told.shape[1] > 2 else np.zeros(len(told))
    return found
