"""How calendars are drawn, as everybody knows, and what follows from likelihoods of slots [C].

Slots of one calendar are exchangeable. How many are blocked is drawn as the generator draws it, and
is taken into account exactly, by a dynamic programme over the slots, and so is which
meetings they hold by now; whether another slot is free or has an errand of some cost is
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
    prior: Prior, weights: Array, hidden: Array | None = None, takes: Array | None = None
) -> Array:
    """Return the probability of each cell of each slot, exactly.

    Args:
        prior: of the calendars.
        weights: likelihood of each cell, of shape (calendars, slots, cells).
        hidden: beside it, where each hidden meeting holds the slot, if it is had, of each cell with
            room, of shape (calendars, meetings, slots, cells - 1).
        takes: how likely each set of these is had, of shape (calendars, sets); see
            :func:`members_of`.
    """
    if hidden is None or takes is None:
        num, slots, cells = weights.shape
        hidden, takes = np.zeros((num, 0, slots, cells - 1)), np.ones((num, 1))
    found = np.empty_like(weights)
    sizes = [1 << each for each in range(hidden.shape[1] + 1)]
    last = takes.shape[1] - 1 - (takes[:, ::-1] > 0).argmax(axis=1)
    for number, (least, size) in enumerate(zip([0, *sizes], sizes, strict=False)):
        at = np.flatnonzero((last >= least) & (last < size))
        if len(at):
            own = hidden[at, :number]
            found[at], fits = _posterior(prior, weights[at], own, takes[at, :size])
            at, own = at[~fits], own[~fits]
        if number and len(at):  # so many cannot be held: then nothing is known of their number
            either = weights[at]
            either[..., :-1] += own.sum(axis=1)
            found[at] = posterior(prior, either)
    return found


def _posterior(
    prior: Prior, weights: Array, hidden: Array, takes: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """Return the same for calendars with as many such meetings, and whether any calendar fits."""
    shares = np.array(prior.shares)
    by_meeting, by_room = hidden * shares, weights[:, :, :-1] * shares
    # By slot first, and by calendar last: what is read together lies together.
    room, meeting = over_cells(by_room).T.copy(), over_cells(by_meeting).transpose(1, 2, 0).copy()
    blocked = weights[:, :, -1].T.copy()
    chance = _by_state(prior, room, meeting, blocked, takes @ _kept(len(meeting)))
    is_any = chance.sum(axis=0) > 0
    # Without any calendar that fits, by a broken rule, nothing is known of the numbers.
    none = prior.chances[-1]
    alone = np.concatenate([room[None] * (1 - none), meeting * 0, blocked[None] * none])
    chance = np.where(is_any, chance, alone)
    chance /= np.maximum(chance.sum(axis=0), LEAST)
    found = np.empty_like(weights)
    found[:, :, -1] = chance[-1].T
    found[:, :, :-1] = by_room * _over(chance[0], room)
    for number, each in enumerate(meeting):
        found[:, :, :-1] += by_meeting[:, number] * _over(chance[1 + number], each)
    return found, is_any.all(axis=0)


@lru_cache(maxsize=16)
def members_of(number: int) -> Array:
    """Return whether each of so many is in each set, of shape (sets, number).

    It is in a set if its bit of the set's place is 1.
    """
    return (np.arange(2**number)[:, None] >> np.arange(number) & 1).astype(float)


@lru_cache(maxsize=16)
def _kept(number: int) -> Array:
    """Return which sets of hidden meetings are held as likely, by the set that is had.

    Each that is had is not held with a chance of ``1 - HELD``: messages may have been lost.
    """
    members = members_of(number).astype(bool)
    is_part = (~members[None] | members[:, None]).all(axis=2)
    held, had = members.sum(axis=1)[None], members.sum(axis=1)[:, None]
    return np.where(is_part, HELD**held * (1 - HELD) ** (had - held).clip(0), 0.0)


def _by_state(prior: Prior, room: Array, meeting: Array, blocked: Array, takes: Array) -> Array:
    """Return how likely each slot has room, holds each hidden meeting or is blocked, relatively.

    By how many are blocked and which meetings are held before each slot, and after it.

    Args:
        prior: of the calendars.
        room: likelihood of each slot with room, of shape (slots, calendars).
        meeting: of each that holds each hidden meeting, of shape (meetings, slots, calendars).
        blocked: of each blocked one.
        takes: how likely each set of these meetings is held, of shape (calendars, sets).

    Returns:
        Of shape (meetings + 2, slots, calendars).
    """
    slots, num = room.shape
    size, sets = len(prior.blocked), np.arange(takes.shape[1])
    steps = [(sets[~sets >> at & 1 == 1], at) for at in range(len(meeting))]
    after = np.zeros((slots + 1, size + 1, len(sets), num))
    after[slots, :size] = prior.by_count[:, None, None] * takes.T
    for slot in range(slots - 1, -1, -1):
        later, now = after[slot + 1], after[slot, :size]
        now[:] = room[slot] * later[:size] + blocked[slot] * later[1:]
        for without, at in steps:
            now[:, without] += meeting[at, slot] * later[:size, without | 1 << at]
    before = np.zeros((size, len(sets), num))
    before[0, 0] = 1.0
    chance = np.zeros((len(meeting) + 2, slots, num))
    for slot in range(slots):
        later = after[slot + 1]
        step = before * room[slot]
        chance[0, slot] = (step * later[:size]).sum(axis=(0, 1))
        chance[-1, slot] = blocked[slot] * (before * later[1:]).sum(axis=(0, 1))
        step[1:] += before[:-1] * blocked[slot]
        for without, at in steps:
            own, into = meeting[at, slot] * before[:, without], without | 1 << at
            chance[1 + at, slot] = (own * later[:size, into]).sum(axis=(0, 1))
            step[:, into] += own
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
