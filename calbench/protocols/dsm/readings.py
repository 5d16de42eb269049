"""The ways in which a first offer of DSM can have come about, weighed by matrices [C]."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import Proposals
from calbench.protocols.clues import Told, View, Weights
from calbench.protocols.dsm.clues import MOVED, is_plain, levels_of
from calbench.protocols.dsm.offers import joint_feasibility_of, offer_size
from calbench.protocols.dsm.plans import Plan
from calbench.protocols.dsm.scores import FREE, INFEASIBLE, satisfaction
from calbench.protocols.dsm.settings import DsmSettings

Array = NDArray[np.float64]

MOST_LEVELS = 6
"""Scores of which the readings of an offer are weighed; their number grows with each [C]."""


class _Offer(NamedTuple):
    """A first offer as its reader sees it.

    Attributes:
        plain: slots of its plans that move nothing, in its order.
        omitted: slots that no plan is for.
        num_moved: its plans that move meetings.
        chances: the reader's probability of each cell, of shape (slots, cells).
        levels: the score of each cell.
        scale: the scores of slots with room, descending.
    """

    plain: list[Slot]
    omitted: list[Slot]
    num_moved: int
    chances: Array
    levels: tuple[int, ...]
    scale: tuple[int, ...]


class _Readings(NamedTuple):
    """The ways in which an offer could have come about.

    Attributes:
        scores: of its plans, as places in the scale, of shape (readings, plans).
        leaves_out: of each slot left out, whether one of each cell, and one with a meeting, would
            not have been offered, of shape (readings, slots left out, cells + 1).
        rooms: chance of that for each slot left out, of shape (readings, slots left out).
        shares: probability of each reading.
    """

    scores: NDArray[np.intp]
    leaves_out: NDArray[np.bool_]
    rooms: Array
    shares: Array


@lru_cache(maxsize=1024)
def _leaves_out(levels: tuple[int, ...], left: int, end: int) -> NDArray[np.bool_]:
    """Return whether slots with these scores would not have been offered, of shape (2, levels).

    Args:
        levels: the scores.
        left: the greatest score that a slot left out can have had; ``0`` if none has room.
        end: score of the last plan; of that score only slots after its own are left out.
    """
    score = np.array(levels)
    is_left = (score <= left) & (score < end)
    ways = [is_left, is_left | ((score <= left) & (score == end))]
    return np.array([(score == INFEASIBLE) | each for each in ways])


def offer_told(
    sender: AgentId, content: Proposals, view: View, settings: DsmSettings
) -> Iterator[Told]:
    """Yield the weights of all slots, averaged over the readings of an offer.

    A slot with a meeting has plans of its own, which move it, so it is left out only as an errand
    of the same cost would be.
    """
    plain = [plan.slot for plan in content.plans if is_plain(plan)]
    levels = tuple(levels_of(view))
    readings = None
    is_first = not view.heard(sender, Proposals)
    if is_first and _is_offer(plain, view) and len({*levels}) <= MOST_LEVELS:
        offer = _offer(content, plain, levels, view.chances(sender))
        readings = _readings(offer, len(view.participants) - 1, settings)
    if readings is None:
        yield Told(sender, {slot: view.possible(can_meet=True) for slot in plain})
        return
    slots = _plain_told(offer, readings)
    held: dict[Slot, float] = {}
    can_move = bool(settings.depth) and satisfaction(MOVED) in offer.scale
    weights = readings.shares[:, None] / readings.rooms
    told = (weights[:, :, None] * readings.leaves_out).sum(axis=0)
    for slot, (*cells, by_meeting) in zip(offer.omitted, told.tolist(), strict=True):
        slots[slot] = tuple(cells)
        if can_move:
            held[slot] = by_meeting
    nothing = (0.0,) * len(levels)
    for slot in {plan.slot for plan in content.plans}.difference(plain):
        slots[slot], held[slot] = nothing, 1.0
    yield Told(sender, slots, held)


def _plain_told(offer: _Offer, readings: _Readings) -> dict[Slot, Weights]:
    """Return the weights of the offered slots: how likely each score is, over what it was."""
    is_score = _is_score(offer.levels, offer.scale)
    is_read = readings.scores == np.arange(len(offer.scale))[:, None, None]
    mass = (readings.shares[:, None] * is_read).sum(axis=1).T
    before = offer.chances[offer.plain] @ is_score
    told = np.divide(mass, before, out=np.zeros_like(before), where=before > 0) @ is_score.T
    return dict(zip(offer.plain, map(tuple, told.tolist()), strict=True))


@lru_cache(maxsize=64)
def _is_score(levels: tuple[int, ...], scale: tuple[int, ...]) -> Array:
    """Return 1 where a cell has a score, of shape (cells, scale)."""
    found: Array = (np.array(levels)[:, None] == np.array(scale)).astype(float)
    return found


def _is_offer(plain: Sequence[Slot], view: View) -> bool:
    """Whether slots are some of the calendar's, each once, as the rules have it."""
    return 0 < len(plain) == len({*plain}) and all(0 <= slot < view.num_slots for slot in plain)


def _offer(
    content: Proposals,
    plain: list[Slot],
    levels: tuple[int, ...],
    chances: Iterable[Sequence[float]],
) -> _Offer:
    """Return an offer as it is read."""
    named = {plan.slot for plan in content.plans}
    by_slot = chances if isinstance(chances, np.ndarray) else np.array([*chances])
    omitted = [Slot(slot) for slot in range(len(by_slot)) if slot not in named]
    scale = tuple(sorted({level for level in levels if level}, reverse=True))
    return _Offer(plain, omitted, len(content.plans) - len(plain), by_slot, levels, scale)


def _readings(offer: _Offer, num_responders: int, settings: DsmSettings) -> _Readings | None:
    """Return the possible scores of an offer, with probabilities; ``None`` if there are none."""
    shape = (offer.num_moved, len(offer.omitted), len(offer.chances))
    ways = _ways(tuple(offer.plain), offer.levels, offer.scale, shape, num_responders, settings)
    if ways is None:
        return None
    places, left_out = ways
    is_after = (np.array(offer.omitted, dtype=int) > offer.plain[-1]).astype(int)
    left_out = left_out[:, is_after]
    rooms = (left_out[:, :, :-1] * offer.chances[offer.omitted]).sum(axis=-1)
    before = offer.chances[offer.plain] @ _is_score(offer.levels, offer.scale)
    weights = before[np.arange(len(offer.plain)), places].prod(axis=1) * rooms.prod(axis=1)
    can_be, whole = weights > 0, weights.sum()
    if not whole:
        return None
    return _Readings(places[can_be], left_out[can_be], rooms[can_be], weights[can_be] / whole)


@lru_cache(maxsize=1024)
def _ways(
    plain: tuple[Slot, ...],
    levels: tuple[int, ...],
    scale: tuple[int, ...],
    shape: tuple[int, int, int],
    num_responders: int,
    settings: DsmSettings,
) -> tuple[NDArray[np.intp], NDArray[np.bool_]] | None:
    """Return which scores an offer can have, as in ``_Readings``, and what it then leaves out.

    That is of shape (readings, 2, cells + 1): before the slot of the last plan, and after it.
    Scores descend, and slots ascend among equal ones. Plans that move meetings count for the
    length with the score of a cost of 1.

    Args:
        plain: slots of the plans that move nothing.
        levels: the score of each cell.
        scale: the scores of slots with room.
        shape: plans that move meetings, slots left out, and slots.
        num_responders: of the offer.
        settings: of the protocol.
    """
    size, (num_moved, num_omitted, num_slots) = len(plain), shape
    found, leaves_out = [], []
    for ends in combinations_with_replacement(range(size + 1), len(scale) - 1):
        groups = list(pairwise([0, *ends, size]))
        if any(plain[at:end] != tuple(sorted(plain[at:end])) for at, end in groups):
            continue
        places = [place for place, (at, end) in enumerate(groups) for _ in range(end - at)]
        scores = tuple([scale[place] for place in places])
        of_offer = (num_moved, scale, num_omitted, num_slots)
        left = _greatest_left(scores, *of_offer, num_responders, settings)
        if left is not None:
            found.append(places)
            leaves_out.append(_leaves_out((*levels, satisfaction(MOVED)), left, scores[-1]))
    return (np.array(found), np.array(leaves_out)) if found else None


@lru_cache(maxsize=4096)
def _greatest_left(
    scores: tuple[int, ...],
    num_moved: int,
    scale: tuple[int, ...],
    num_omitted: int,
    num_slots: int,
    num_responders: int,
    settings: DsmSettings,
) -> int | None:
    """Return the greatest score with which plans may be left after such an offer; 0 for none.

    ``None`` if an offer of these plans would have been shorter.
    """
    offered = sorted([*scores, *[satisfaction(MOVED)] * num_moved], reverse=True)
    best: int | None = None
    free = sum(score == FREE for score in offered)
    for level in (0, *sorted(scale)):
        rest = [level] if level and num_omitted else []
        if level > scores[-1] or (level and not rest):
            continue
        plans = [Plan(Slot(0), 0, score) for score in (*offered, *rest)]
        # Free slots that are left out count for q; how many there are is not known.
        numbers = range(1, num_omitted + 1) if level == FREE else range(1)
        shares = [(free + number) / num_slots for number in numbers]
        qs = [joint_feasibility_of(share, num_responders) for share in shares]
        if any(offer_size(plans, q, settings) == len(offered) for q in qs):
            best = level
    return best
