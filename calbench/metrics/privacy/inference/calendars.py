"""How calendars are drawn, as everybody knows, and what follows from likelihoods of slots [C].

Slots of one calendar are exchangeable. How many are blocked is drawn as the generator draws it, and
is taken into account exactly, by a dynamic programme over the slots, and so is how many hold a
meeting by now, where that is known; whether another slot is free or has an errand of some cost is
independent, with the generator's mean shares.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calbench.protocols.clues import Cells
from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import RECIPE

Array = NDArray[np.float64]
Counts = NDArray[np.intp]

HELD = 0.98
"""Probability that a slot with room which the observer booked with the target is held by that
meeting, and not another one: the target may not have heard what was agreed [C]."""

LEAST = 1e-300
"""Instead of 0 as a divisor."""

SAMPLED = {"density": (0.6, 0.75, 0.9), "blocked": (1, 2, 3)}
"""Choices of sampled suites whose agents differ: densities, and blocked counts in eighths of the
slots, see ``conf/suite``."""


@dataclass(frozen=True, eq=False)
class Prior:
    """How a calendar is drawn, as everybody knows; two that are alike are one object.

    Attributes:
        num_slots: of the calendar.
        cells: what a slot can cost, see :data:`~calbench.protocols.clues.Cells`.
        blocked: probability of each number of blocked slots, from 0.
        shares: of all other slots: free, then each cost.
    """

    num_slots: int
    cells: Cells
    blocked: tuple[float, ...]
    shares: tuple[float, ...]

    @cached_property
    def chances(self) -> Array:
        """Probability of each cell of any slot."""
        blocked = sum(count * chance for count, chance in enumerate(self.blocked)) / self.num_slots
        return np.array([*[(1 - blocked) * share for share in self.shares], blocked])

    def can_have(self, blocked: int) -> bool:
        """Whether a calendar may have so many blocked slots, and any other cell."""
        is_drawn = blocked < len(self.blocked) and self.blocked[blocked] > 0
        return is_drawn and len(self.blocked) <= self.num_slots + 1 and min(self.shares) >= 0

    @cached_property
    def by_count(self) -> Array:
        """Probability of one particular set of so many blocked slots."""
        return np.array([p / comb(self.num_slots, n) for n, p in enumerate(self.blocked)])


def prior_of(scenario: Scenario) -> Prior | None:
    """Return how all its calendars were drawn; who has which parameters, nobody knows.

    ``None`` if the scenario does not say so, or is not as it says, or has prior meetings.
    """
    params = scenario.params
    if params is None or scenario.prior_meetings:
        return None
    densities = _choices(params, "density", scenario.num_slots)
    blocked = _choices(params, "blocked", scenario.num_slots)
    if not densities or not blocked:
        return None
    shown = {errand.shown_cost for _, _, errand in scenario.errands} or {1}
    seats = sum(len(meeting.participants) for meeting in scenario.meetings)
    meetings = round(seats / scenario.num_agents)  # all have as many, or nearly so
    is_paper = params.get("recipe") == "paper"
    costs = tuple(sorted(shown))
    is_forced = params.get("force_witness_errand", True) is not False
    prior = _prior(
        scenario.num_slots,
        meetings,
        costs,
        densities,
        blocked,
        is_paper=is_paper,
        is_forced=is_forced,
    )
    held = {
        sum(entry is not None and getattr(entry, "blocked", True) for entry in entries)
        for entries in scenario.calendars
    }
    return prior if all(prior.can_have(number) for number in held) else None


def _choices(params: Mapping[str, Any], name: str, slots: int) -> tuple[float, ...]:
    """Return what a parameter was drawn from, the suite's choices if its agents differ.

    Empty if these are no numbers that a generator takes: a suite may be anybody's.
    """
    value = params.get(name)
    values = value if isinstance(value, list | tuple) else (value,)
    most = 1 if name == "density" else slots
    if not all(isinstance(each, int | float) and 0 <= each <= most for each in values):
        return ()
    if not isinstance(value, list | tuple):
        return tuple(values)
    recipe = tuple(RECIPE[f"{name}_choices"])
    if params.get("recipe") == "paper" and {*value} <= {*recipe}:
        return recipe
    known = [each if name == "density" else each * slots // 8 for each in SAMPLED[name]]
    return tuple(known if {*value} <= {*known} else sorted(value))


@lru_cache(maxsize=256)
def _prior(
    slots: int,
    meetings: int,
    shown: tuple[int, ...],
    densities: tuple[float, ...],
    blocked: tuple[float, ...],
    *,
    is_paper: bool,
    is_forced: bool,
) -> Prior:
    """Count the blocked, occupied and free slots that each pair of parameters gives."""
    counts: list[tuple[int, int, float]] = []
    for density, wanted in product(densities, blocked):
        fixed = int(wanted)
        if is_paper:
            counts.append((fixed, round((slots - meetings - fixed) * density), 1.0))
            continue
        errands = min(round(slots * density), slots - meetings)
        for witness, chance in _on_witness(slots, meetings, errands, is_forced=is_forced):
            number = min(fixed, max(0, errands - witness))
            counts.append((number, errands - number, chance))
    whole = sum(chance for _, _, chance in counts)
    most = max(fixed for fixed, _, _ in counts)
    chances = [sum(c for fixed, _, c in counts if fixed == n) / whole for n in range(most + 1)]
    room = sum(chance * (slots - fixed) for fixed, _, chance in counts)
    full = sum(chance * movable for _, movable, chance in counts) / max(room, LEAST)
    levels = [full / len(shown)] * len(shown)
    return Prior(slots, (0, *shown, None), tuple(chances), (1 - full, *levels))


def _on_witness(
    slots: int, meetings: int, errands: int, *, is_forced: bool
) -> list[tuple[int, float]]:
    """Return how many errands are on witness slots, where none is blocked, with probabilities."""
    if is_forced:
        return [(min(meetings, errands), 1.0)]
    pool = slots - min(meetings, errands)  # as many other slots are kept free
    return [
        (number, comb(meetings, number) * comb(pool - meetings, errands - number))
        for number in range(max(0, errands - pool + meetings), min(meetings, errands) + 1)
    ]


def posterior(
    prior: Prior, weights: Array, held: Array | None = None, hidden: Counts | None = None
) -> Array:
    """Return the probability of each cell of each slot, exactly.

    Args:
        prior: of the calendars.
        weights: likelihood of each cell, of shape (calendars, slots, cells).
        held: beside it, where a meeting of which the observer knows no slot holds the slot.
        hidden: of each calendar, how many such meetings there are; 0 where that is not known.
    """
    if held is None or hidden is None:
        return _posterior(prior, weights, np.zeros_like(weights), 0)[0]
    found = np.empty_like(weights)
    for number in np.unique(hidden).tolist():
        at = np.flatnonzero(hidden == number)
        if number:
            found[at], fits = _posterior(prior, weights[at], held[at], number)
            at = at[~fits]  # so many cannot be held: then nothing is known of their number
        if len(at):
            found[at] = posterior(prior, weights[at] + held[at])
    return found


def _posterior(
    prior: Prior, weights: Array, held: Array, hidden: int
) -> tuple[Array, NDArray[np.bool_]]:
    """Return the same for calendars with as many such meetings, and whether any calendar fits."""
    shares = np.array(prior.shares)
    by_meeting, by_room = held[:, :, :-1] * shares, weights[:, :, :-1] * shares
    # By slot first, and by calendar last: what is read together lies together.
    room, meeting = over_cells(by_room).T.copy(), over_cells(by_meeting).T.copy()
    blocked = weights[:, :, -1].T.copy()
    chance = _by_state(prior, room, meeting, blocked, hidden)
    is_any = chance.sum(axis=0) > 0
    # Without any calendar that fits, by a broken rule, nothing is known of the numbers.
    none = prior.chances[-1]
    alone = [room * (1 - none), meeting * (1 - none), blocked * none]
    chance = np.where(is_any, chance, alone)
    chance /= np.maximum(chance.sum(axis=0), LEAST)
    found = np.empty_like(weights)
    found[:, :, -1] = chance[2].T
    found[:, :, :-1] = by_room * _over(chance[0], room)
    if hidden:
        found[:, :, :-1] += by_meeting * _over(chance[1], meeting)
    return found, is_any.all(axis=0)


def _by_state(prior: Prior, room: Array, meeting: Array, blocked: Array, hidden: int) -> Array:
    """Return how likely each slot has room, holds a hidden meeting or is blocked, relatively.

    By how many are blocked and hold a meeting before each slot, and after it.

    Args:
        prior: of the calendars.
        room: likelihood of each slot with room, of shape (slots, calendars).
        meeting: of each that holds a hidden meeting.
        blocked: of each blocked one.
        hidden: number of these meetings.

    Returns:
        Of shape (3, slots, calendars).
    """
    slots, num = room.shape
    size, most = len(prior.blocked), hidden + 1 + bool(hidden)
    after = np.zeros((slots + 1, size + 1, most + 1, num))
    # One that was agreed upon may be one of them, or one of them another's, if messages were lost.
    doubt = (1 - HELD) ** np.abs(np.arange(most) - hidden)
    after[slots, :size, :most] = prior.by_count[:, None, None] * doubt[:, None]
    for slot in range(slots - 1, -1, -1):
        later, now = after[slot + 1], after[slot, :size, :most]
        now[:] = room[slot] * later[:size, :most] + blocked[slot] * later[1:, :most]
        if hidden:
            now += meeting[slot] * later[:size, 1:]
    before = np.zeros((size, most, num))
    before[0, 0] = 1.0
    chance = np.zeros((3, slots, num))
    for slot in range(slots):
        later = after[slot + 1]
        step = before * room[slot]
        chance[0, slot] = (step * later[:size, :most]).sum(axis=(0, 1))
        chance[2, slot] = blocked[slot] * (before * later[1:, :most]).sum(axis=(0, 1))
        step[1:] += before[:-1] * blocked[slot]
        if hidden:
            chance[1, slot] = meeting[slot] * (before * later[:size, 1:]).sum(axis=(0, 1))
            step[:, 1:] += before[:, :-1] * meeting[slot]
        before = step / np.maximum(step.sum(axis=(0, 1)), LEAST)
    return chance


def _over(chance: Array, weight: Array) -> Array:
    """Return chances over weights, of shape (calendars, slots, 1); 0 where there is no weight."""
    found: Array = np.divide(chance, weight, out=np.zeros_like(chance), where=weight > 0)
    return found.T[:, :, None]


def over_cells(states: Array, weights: Array | None = None) -> Array:
    """Return sums over the last axis: NumPy takes far longer to sum over a short one itself."""
    by_cell = np.ones(states.shape[-1]) if weights is None else weights
    found: Array = states[..., 0] * by_cell[..., 0]
    for cell in range(1, states.shape[-1]):
        found += states[..., cell] * by_cell[..., cell]
    return found


@lru_cache(maxsize=4096)
def beside(prior: Prior, share: float, is_errand: bytes) -> Array:
    """Return the weights of a calendar's cells beside another's errands that can move.

    Args:
        prior: of the calendar.
        share: of the slots where both have an errand because of a common meeting.
        is_errand: by slot, whether the other has one.
    """
    mine = np.frombuffer(is_errand, dtype=bool)
    movable = 1 - prior.chances[0] - prior.chances[-1]
    if not 0 < share < movable or not mine.any():
        return np.ones((prior.num_slots, len(prior.cells)))
    apart = np.full(len(prior.cells), 1 / (1 - share))
    apart[1:-1] = (movable - share) / (1 - share) / movable
    here = min(1.0, share * prior.num_slots / mine.sum())
    together = (1 - here) * apart
    together[1:-1] += here / movable
    found: Array = np.where(mine[:, None], together, apart)
    return found
