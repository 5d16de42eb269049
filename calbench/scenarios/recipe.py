"""The paper's own tasks, drawn again from their seeds, and how its 90 were chosen (section 3).

A half of 45, uniform or varied, is chosen from three pools of 100 candidates; a pool is named after
a density, which splits the seeds and touches no calendar. Each candidate mixes three densities and
three blocked counts among its agents. The generator is Python's Mersenne Twister, and the order of
draws is part of the recipe: everything here is [R], the authors' release, rebuilt from a
description of it; with offset 0 the choice is theirs, seed by seed.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations
from math import comb
from random import Random
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from calbench.scenarios.models import (
    SCHEMA_VERSION,
    ErrandEntry,
    IncomingMeetingEntry,
    Scenario,
    Tertile,
)
from calbench.scenarios.parameters import RECIPE, ScenarioShape

SHAPE = ScenarioShape()
"""Five agents, 16 slots, five meetings of three [P]; what errands cost is the half's."""

NUM_AGENTS, NUM_SLOTS, NUM_MEETINGS = SHAPE.num_agents, SHAPE.num_slots, SHAPE.num_meetings
SIZE = SHAPE.participants_per_meeting

DENSITIES: tuple[float, ...] = RECIPE["density_choices"]
BLOCKED: tuple[int, ...] = RECIPE["blocked_choices"]
"""Shares of the movable slots that are filled, and blocked counts: each agent has one of each."""

SHARE = NUM_MEETINGS * SIZE // NUM_AGENTS
"""Meetings of every agent."""

POOLS, POOL = 3, 100
"""Pools of a half, and candidates of each."""

FIRST_SEED = {1: 320_000, 3: 420_000}
"""Least seed of a half, by the greatest accounting cost of its errands: uniform, varied."""

SEEDS_OF_POOL, SEEDS_OF_SUITE = 1000, 1_000_000
"""How far the seeds of pools lie apart, and those of suites with other seeds [C]."""

DENSITY_STREAM, BLOCKED_STREAM = 17, 31
"""Added to the seed for the draws of densities and of blocked counts."""

FIRST_ERRAND_ID = 1000
"""Added to the number of an errand, so that it is no meeting's [C]; play does not depend on it."""

BUCKETS: tuple[tuple[Tertile, int], ...] = (("easy", 33), ("medium", 33), ("hard", 34))
"""How many candidates of a pool are in each third, the easiest first."""

OF_BUCKET = 5
"""Scenarios chosen from each third of each pool."""

EVEN = NUM_AGENTS
"""How often an agent has each of the nine pairs of density and blocked count, if all are even."""

Triple = tuple[int, ...]
Option = TypeVar("Option")


class Task(NamedTuple):
    """A candidate of a half, and what is drawn of it before the calendars.

    Attributes:
        levels: greatest accounting cost of an errand, 1 (uniform) or 3 (varied).
        seed: of all draws.
        densities: by agent.
        blocked: by agent.
    """

    levels: int
    seed: int
    densities: tuple[float, ...]
    blocked: tuple[int, ...]


def task(levels: int, suite_seed: int, number: int) -> Task:
    """Return one candidate of a half.

    Args:
        levels: 1 or 3, see :class:`Task`.
        suite_seed: 0 for the paper's; others draw fresh candidates by the same recipe [C].
        number: 0 to 299, pool by pool.
    """
    pool, place = divmod(number, POOL)
    seed = FIRST_SEED[levels] + SEEDS_OF_SUITE * suite_seed + SEEDS_OF_POOL * pool + place
    offset = pool + place
    return Task(
        levels,
        seed,
        _rotated(DENSITIES, offset, Random(seed + DENSITY_STREAM)),
        _rotated(BLOCKED, offset, Random(seed + BLOCKED_STREAM)),
    )


def _rotated(choices: Sequence[Option], offset: int, chance: Random) -> tuple[Option, ...]:
    """Return a choice for each agent: in turn from an offset, then shuffled."""
    drawn = [choices[(offset + agent) % len(choices)] for agent in range(NUM_AGENTS)]
    chance.shuffle(drawn)
    return tuple(drawn)


def drawn(own: Task, *, scenario_id: str, setting: str) -> Scenario:
    """Draw the scenario of a task, without oracle and difficulty.

    Args:
        own: the task.
        scenario_id: its name.
        setting: its setting.
    """
    lists = _participants(Random(own.seed))
    orders = _speakers(lists, Random(own.seed))
    chance = Random(own.seed)
    costs = [chance.randint(1, 1) for _ in lists]
    witness = _witness(lists, chance)
    calendars = []
    for agent in range(NUM_AGENTS):
        slots = sorted(slot for of, slot in zip(lists, witness, strict=True) if agent in of)
        calendars.append(_calendar(agent, slots, own, chance))
    return Scenario(
        schema_version=SCHEMA_VERSION,
        scenario_id=scenario_id,
        setting=setting,
        seed=own.seed,
        num_slots=NUM_SLOTS,
        calendars=tuple(calendars),
        prior_meetings=(),
        meetings=tuple(
            IncomingMeetingEntry(
                meeting_id=number, participants=of, speaker_order=order, duration=1, cost=cost
            )
            for number, (of, order, cost) in enumerate(zip(lists, orders, costs, strict=True), 1)
        ),
        witness={str(number): slot for number, slot in enumerate(witness, 1)},
        params={
            "recipe": "paper",
            "pref_level": own.levels,
            "density": list(own.densities),
            "blocked": list(own.blocked),
        },
    )


def _participants(chance: Random) -> list[Triple]:
    """Return five triples in which every agent appears three times, the least busy first."""
    triples = list(combinations(range(NUM_AGENTS), SIZE))
    chance.shuffle(triples)
    counts = [0] * NUM_AGENTS

    def options(_: int) -> list[Triple]:
        admitted = [each for each in triples if all(counts[agent] < SHARE for agent in each)]
        keys = [(sum(counts[agent] for agent in each), chance.random()) for each in admitted]
        return _in_order(admitted, keys)

    def count(triple: Triple, step: int) -> None:
        for agent in triple:
            counts[agent] += step

    return _searched(NUM_MEETINGS, options, count)


def _speakers(lists: Sequence[Triple], chance: Random) -> list[Triple]:
    """Return the order of speakers of each meeting: everybody opens one, the others ascend."""
    shuffled = []
    for participants in lists:
        members = list(participants)
        chance.shuffle(members)
        shuffled.append(members)
    opened = [0] * NUM_AGENTS

    def options(meeting: int) -> list[int]:
        keys = [(opened[agent], chance.random()) for agent in shuffled[meeting]]
        return [agent for agent in _in_order(shuffled[meeting], keys) if not opened[agent]]

    def count(agent: int, step: int) -> None:
        opened[agent] += step

    openers = _searched(len(lists), options, count)
    return [
        (first, *(agent for agent in participants if agent != first))
        for first, participants in zip(openers, lists, strict=True)
    ]


def _in_order(options: Sequence[Option], keys: Sequence[tuple[int, float]]) -> list[Option]:
    """Return options by their keys; equal ones stay as they are."""
    return [options[place] for place in sorted(range(len(options)), key=keys.__getitem__)]


def _searched(
    depth: int,
    options: Callable[[int], list[Option]],
    count: Callable[[Option, int], None],
) -> list[Option]:
    """Search depth first for a list of options, drawing them anew at every visit."""
    chosen: list[Option] = []
    waiting: list[Iterator[Option]] = [iter(options(0))]
    while len(chosen) < depth:
        option = next(waiting[-1], None)
        if option is not None:
            chosen.append(option)
            count(option, 1)
            if len(chosen) < depth:
                waiting.append(iter(options(len(chosen))))
        else:  # back up
            waiting.pop()
            count(chosen.pop(), -1)
    return chosen


def _witness(lists: Sequence[Triple], chance: Random) -> list[int]:
    """Return a slot for each meeting, at which none of its participants has another one."""
    taken: list[set[int]] = [set() for _ in range(NUM_AGENTS)]
    witness: list[int] = []
    for participants in lists:
        closed = set[int]().union(*(taken[agent] for agent in participants))
        slot = chance.choice([slot for slot in range(NUM_SLOTS) if slot not in closed])
        witness.append(slot)
        for agent in participants:
            taken[agent].add(slot)
    return witness


def _calendar(
    agent: int, witness: Sequence[int], own: Task, chance: Random
) -> tuple[ErrandEntry | None, ...]:
    """Draw a calendar: blocked slots, slots kept free, errands on the witness and off it."""
    num_blocked = own.blocked[agent]
    movable = round((NUM_SLOTS - len(witness) - num_blocked) * own.densities[agent])
    forced = witness[: min(len(witness), movable)]
    others = [slot for slot in range(NUM_SLOTS) if slot not in witness]
    blocked = chance.sample(others, num_blocked)
    absorbing = chance.sample([slot for slot in others if slot not in blocked], len(forced))
    closed = {*absorbing, *forced, *blocked}
    rest = [slot for slot in range(NUM_SLOTS) if slot not in closed]
    filled = [*forced, *chance.sample(rest, movable - len(forced))]
    slots = sorted([*blocked, *filled])
    costs = [chance.randint(1, own.levels) for _ in slots]
    if own.levels > 1:  # a balanced list replaces what was drawn
        costs = [1 + place % own.levels for place in range(len(slots))]
        Random(own.seed + agent).shuffle(costs)
    entries: list[ErrandEntry | None] = [None] * NUM_SLOTS
    for number, (slot, cost) in enumerate(zip(slots, costs, strict=True), 1):
        entries[slot] = ErrandEntry(
            errand_id=FIRST_ERRAND_ID + NUM_SLOTS * agent + number,
            cost=cost,
            shown_cost=SHAPE.shown_costs[cost - 1],
            blocked=slot in blocked,
        )
    return tuple(entries)


def choice(tasks: Sequence[Task], fractions: Sequence[float]) -> list[tuple[int, Tertile]]:
    """Choose the 45 scenarios of a half, bucket by bucket: pool, then easy, medium and hard.

    In each third of a pool, ranked by fraction (highest first) and seed, the five are taken that
    keep the pairs of density and blocked count even over the agents: the least greatest range of
    an agent's nine counts, then sum of ranges, squared distance from even, sum of ranks, ranks.
    Counts go over everything chosen before. All subsets of a bucket are compared: 278,256 of 34.

    Args:
        tasks: all 300 of a half, pool by pool.
        fractions: feasible fraction of each, 0 to 1.

    Returns:
        Number among the tasks, and the third from which it was chosen, in the paper's order.
    """
    pairs = np.array([_pairs(each) for each in tasks])
    before = np.zeros(pairs.shape[1:], dtype=np.int16)
    chosen: list[tuple[int, Tertile]] = []
    for pool in range(POOLS):
        numbers = range(pool * POOL, (pool + 1) * POOL)
        ranked = sorted(numbers, key=lambda number: (-fractions[number], tasks[number].seed))
        for tertile, size in BUCKETS:
            bucket, ranked = ranked[:size], ranked[size:]
            best = _most_even(before, pairs[bucket])
            before += pairs[[bucket[rank] for rank in best]].sum(axis=0, dtype=np.int16)
            chosen += [(bucket[rank], tertile) for rank in best]
    return chosen


def _pairs(own: Task) -> npt.NDArray[np.int16]:
    """Return a vector of nine for each agent: one at its pair of density and blocked count."""
    found = np.zeros((NUM_AGENTS, len(DENSITIES) * len(BLOCKED)), dtype=np.int16)
    for agent, (density, blocked) in enumerate(zip(own.densities, own.blocked, strict=True)):
        found[agent, DENSITIES.index(density) * len(BLOCKED) + BLOCKED.index(blocked)] = 1
    return found


def _most_even(before: npt.NDArray[np.int16], pairs: npt.NDArray[np.int16]) -> tuple[int, ...]:
    """Return the ranks of the subset of a bucket that keeps the counts most even."""
    subsets = _subsets(len(pairs))
    counts = before[:, :, None] + _sums(np.moveaxis(pairs, 0, 2))
    ranges = counts.max(axis=1) - counts.min(axis=1)
    left = _least(np.arange(len(subsets)), ranges.max(axis=0))
    left = _least(left, ranges[:, left].sum(axis=0))
    left = _least(left, ((counts[..., left] - EVEN) ** 2).sum(axis=(0, 1)))
    left = _least(left, subsets[left].sum(axis=1))
    return tuple(int(rank) for rank in subsets[left[0]])  # subsets come in lexicographic order


def _least(left: npt.NDArray[np.intp], values: npt.NDArray[np.integer]) -> npt.NDArray[np.intp]:
    """Return those of some subsets whose value is the least."""
    found: npt.NDArray[np.intp] = left[values == values.min()]
    return found


def _sums(values: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
    """Return the sum of every five along the last axis, in lexicographic order of the five.

    Those of one more that begin with an item are it and those of its successors, which are the
    last of all: (agents, pairs, ranks) becomes (agents, pairs, subsets) in whole slices.
    """
    size = values.shape[-1]
    sums = values
    for taken in range(1, OF_BUCKET):
        after = [
            sums[..., sums.shape[-1] - comb(size - 1 - first, taken) :] for first in range(size)
        ]
        sums = np.concatenate(
            [values[..., [first]] + rest for first, rest in enumerate(after)], axis=-1
        )
    return sums


@cache
def _subsets(size: int) -> npt.NDArray[np.intp]:
    """Return every five of so many ranks, in lexicographic order."""
    return np.array(list(combinations(range(size), OF_BUCKET)))
