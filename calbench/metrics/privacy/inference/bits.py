"""What was learnt in a game, in bits: of pairs, by message, and how right the chances are [C]."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import fsum
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from calbench.domain.ids import AgentId
from calbench.metrics.privacy.inference.calendars import Array, Prior, posterior

DIGITS, AGENT_DIGITS = 4, 2
"""Decimals of a pair and of an agent that are kept: the same on every machine."""

CERTAIN = 1e-9
"""Probability below which a slot is certain not to be so."""

Pair = tuple[AgentId, AgentId]
"""A target and its observer, in this order."""

NOTHING = 0.0, 0.0, 0
"""Bits, bits with costs and certain slots of a pair of which nothing was heard."""


class PairBits(NamedTuple):
    """What an observer learnt of a target in a game.

    Attributes:
        target: the agent it is about.
        observer: who learnt it.
        bits: whether slots have room for a meeting.
        bits_costs: also what their errands cost.
        certain_slots: slots of which the observer is certain whether they have room.
        outcome_bits: what it would know from the slots of its own scheduled meetings alone.
    """

    target: AgentId
    observer: AgentId
    bits: float
    bits_costs: float
    certain_slots: int
    outcome_bits: float


class Known(TypedDict, total=False):
    """What all others learnt of an agent, as in :class:`PairBits`."""

    bits: float
    bits_costs: float
    certain_slots: int
    outcome_bits: float


def told_by(pairs: Iterable[PairBits]) -> dict[AgentId, Known]:
    """Return the sums over observers by target; bits are rounded."""
    found: dict[AgentId, list[PairBits]] = {}
    for pair in pairs:
        found.setdefault(pair.target, []).append(pair)
    return {
        target: Known(
            bits=round(fsum(each.bits for each in own), AGENT_DIGITS),
            bits_costs=round(fsum(each.bits_costs for each in own), AGENT_DIGITS),
            certain_slots=sum(each.certain_slots for each in own),
            outcome_bits=round(fsum(each.outcome_bits for each in own), AGENT_DIGITS),
        )
        for target, own in found.items()
    }


class Band(NamedTuple):
    """The chances of room of one size, of all pairs of a game of which something was heard.

    Attributes:
        band: the least of them, in percent; the last band also has 100%.
        slots: how many there are, one for each slot and pair.
        stated: their sum.
        found: how many of the slots have room.
    """

    band: int
    slots: int
    stated: float
    found: int


WIDTH = 10
"""Percent in a band [C]."""

BANDS = tuple(range(0, 100, WIDTH))
"""Bands by their least chance, in percent."""


class Learnt(NamedTuple):
    """What was learnt in a game; of a target of which nothing can be inferred there is no pair.

    Attributes:
        pairs: ordered by target and observer.
        chances: by the same, each slot's posterior chance of having room.
        bands: how right these chances are, see :class:`Band`, ascending.
        told: what each message told all who heard it of all others, in bits whether slots have
            room, by the index of its event; none of a message by unknown rules. They add up to
            ``bits`` of all targets as :func:`told_by` rounds them.
    """

    pairs: tuple[PairBits, ...]
    chances: Mapping[Pair, Array]
    bands: tuple[Band, ...]
    told: Mapping[int, float]


UNKNOWN = Learnt((), {}, (), {})
"""Where nothing can be inferred, or was to be."""


class Step(NamedTuple):
    """What an observer knows of a target after it heard a message: see :class:`PairBits`."""

    event_index: int
    pair: Pair
    bits: float
    bits_costs: float
    certain_slots: int


def by_event(steps: Sequence[Step]) -> dict[int, float]:
    """Return what each message added to the bits of all targets, as these are rounded."""
    bits: dict[AgentId, dict[Pair, float]] = {}
    sums: dict[AgentId, float] = {}
    told: dict[int, float] = {}
    for step in steps:
        target, _ = step.pair
        of_pairs = bits.setdefault(target, {})
        if of_pairs.get(step.pair) == step.bits:  # as most, once all is known
            continue
        of_pairs[step.pair] = step.bits
        total = round(fsum(of_pairs.values()), AGENT_DIGITS)
        added = total - sums.get(target, 0.0)
        told[step.event_index] = round(told.get(step.event_index, 0.0) + added, AGENT_DIGITS)
        sums[target] = total
    return told


def bits_of(
    truth: NDArray[np.intp], before: Array, after: Array
) -> Iterator[tuple[float, float, int]]:
    """Yield bits, bits with costs, and the number of certain slots of each calendar.

    Args:
        truth: the place in the cells of each slot, of shape (calendars, slots).
        before: chances of cells, of shape (calendars, slots, cells).
        after: the same after all that was heard.
    """
    is_blocked = truth == before.shape[2] - 1
    room = [np.where(is_blocked, each[..., -1], 1 - each[..., -1]) for each in (after, before)]
    is_certain = (after[..., -1] < CERTAIN) | (after[..., -1] > 1 - CERTAIN)
    cells = [np.take_along_axis(each, truth[..., None], 2)[..., 0] for each in (after, before)]
    return zip(_log(*room), _log(*cells), is_certain.sum(axis=1).tolist(), strict=True)


def _log(after: Array, before: Array) -> list[float]:
    """Return by calendar the sum of logarithms of the ratios, rounded.

    A truth that is held impossible counts as one in 10^9.
    """
    ratios = np.maximum(after, CERTAIN) / np.maximum(before, CERTAIN)
    return [round(each, DIGITS) + 0.0 for each in np.log2(ratios).sum(axis=-1).tolist()]


@lru_cache(maxsize=1024)
def outcome_bits(prior: Prior, shared: int, blocked: int) -> float:
    """Return the bits of an observer who knows that so many of the slots have room, rounded."""
    weights = np.ones((1, prior.num_slots, len(prior.cells)))
    weights[0, :shared, -1] = 0.0
    after, before = posterior(prior, weights)[0, :, -1], np.full(prior.num_slots, prior.chances[-1])
    is_blocked = np.arange(prior.num_slots) >= prior.num_slots - blocked
    found = [np.where(is_blocked, each, 1 - each) for each in (after, before)]
    return _log(*[each[None] for each in found])[0]


def bands_of(
    stated: Array, has_room: NDArray[np.bool_], games: NDArray[np.intp], num_games: int
) -> Iterator[list[Band]]:
    """Yield by game the bands that have slots.

    Args:
        stated: chances of room, which are rounded, so that machines agree on them, of shape
            (calendars, slots).
        has_room: whether each slot has room.
        games: of the calendars.
        num_games: how many there are.
    """
    stated = stated.round(DIGITS)
    number = np.minimum((stated * 100).round(2) // WIDTH, len(BANDS) - 1).astype(int)
    place = (number + games[:, None] * len(BANDS)).ravel()
    of_all = [None, stated.ravel(), has_room.ravel()]
    counted = [np.bincount(place, each, num_games * len(BANDS)).tolist() for each in of_all]
    for start in range(0, num_games * len(BANDS), len(BANDS)):
        own = [each[start : start + len(BANDS)] for each in counted]
        yield [
            Band(band, int(slots), round(total, DIGITS), int(found))
            for band, slots, total, found in zip(BANDS, *own, strict=True)
            if slots
        ]
