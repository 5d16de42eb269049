"""What a choice or a total tells about several calendars at once [C].

Their joint posterior is approximated by the product of the agents'. Each is averaged over what the
chosen slot may have cost, with the probability that no other slot is better; exact if slots were
independent of each other.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from calbench.metrics.privacy.inference.calendars import Array, over_cells
from calbench.protocols.clues import Best, Cells, Total

NO_ROOM = 10.0**7
"""Value of a slot without room: above every sum of costs of a scenario's few errands."""

MOST_AT_ONCE = 2**19
"""Sums, slots and cells of choices that are weighed at once, or combinations of their cells: some
MB [C]."""


@lru_cache(maxsize=64)
def _values(values: tuple[int | None, ...]) -> Array:
    return np.array([NO_ROOM if value is None else value for value in values])


@lru_cache(maxsize=64)
def _grid(values: tuple[float, ...], number: int) -> Array:
    """Return the sums of all combinations of several agents' values, of shape (values, ...)."""
    return sum((each for each in np.meshgrid(*[values] * number, indexing="ij")), np.zeros(()))


@lru_cache(maxsize=64)
def _sizes(values: tuple[float, ...], number: int) -> tuple[Array, NDArray[np.intp]]:
    """Return the different sums, ascending, and the place of each combination's among them."""
    sizes, places = np.unique(_grid(values, number), return_inverse=True)
    return sizes, places.reshape((len(values),) * number)


def _joint(chances: Sequence[Array]) -> Array:
    """Return the chances of all combinations of cells, of shape (..., cells, cells, ...)."""
    found = chances[0]
    for place, each in enumerate(chances[1:], start=1):
        found = found[..., None] * each.reshape(*each.shape[:-1], *[1] * place, -1)
    return found


def _sums(chances: Sequence[Array], values: Array) -> tuple[Array, Array]:
    """Return the possible sums of several agents' values, and their chances by slot."""
    sums = _grid(tuple(values.tolist()), len(chances)).ravel()
    if not chances:
        return sums, np.ones((1, 1, 1))
    found = _joint(chances)
    return sums, found.reshape(*chances[0].shape[:-1], -1)


def _by_size(sums: Array, chances: Array) -> tuple[Array, Array]:
    """Return the different sums with their chances; those without room are all alike."""
    sizes, places = np.unique(np.minimum(sums, NO_ROOM), return_inverse=True)
    if len(sizes) == len(sums):
        return sums, chances
    return sizes, chances @ np.eye(len(sizes))[places]


def from_total(clues: Sequence[Total], others: Sequence[Array], cells: Cells) -> Array:
    """Return the weights of an agent's slots, given totals of it and of others.

    Args:
        clues: the totals.
        others: chances of the others' cells, each of shape (clues, slots, cells).
        cells: what a slot can cost.
    """
    values = _values(tuple(cells))
    totals = np.array([[bad * NO_ROOM + cost for bad, cost in clue.sums] for clue in clues])
    sums, found = _sums(others, values)
    fits = sums == (totals[:, :, None] - values)[..., None]
    weights: Array = (fits * found[..., None, :]).sum(axis=-1)
    return weights


def from_best(
    clues: Sequence[Best],
    chances: Array,
    own: Sequence[Sequence[int | None] | None],
    cells: Cells,
) -> tuple[Array, NDArray[np.bool_]]:
    """Return the weights of agents' slots, given which ones were chosen from the sums.

    They are averaged over what the chosen slot may have cost, each with its probability that no
    other slot is better. As long as the sums of one choice times the slots it is from, times the
    cells of an agent and the different sums of the others.

    Args:
        clues: which slot, and from which ones; all from as many, by the same values.
        chances: of each agent's slots and cells, of shape (clues, agents, slots, cells).
        own: the observer's costs, where they are in the sums.
        cells: what a slot can cost.

    Returns:
        Of shape (clues, agents, slots of the clue, cells), and whether the choice can be.
    """
    values, num_agents = _values(clues[0].values), chances.shape[1]
    has_room = values < NO_ROOM
    sizes, _ = _sizes(tuple(values[has_room].tolist()), num_agents)
    slots = len(clues[0].among)
    of_one = max(len(sizes) * slots * len(values), len(values) ** num_agents)
    most = max(1, MOST_AT_ONCE // of_one)
    found = [
        _from_best(clues[at : at + most], chances[at : at + most], own[at : at + most], cells)
        for at in range(0, len(clues), most)
    ]
    weights, can_be = (np.concatenate(each) for each in zip(*found, strict=True))
    return weights, can_be


def _from_best(
    clues: Sequence[Best],
    chances: Array,
    own: Sequence[Sequence[int | None] | None],
    cells: Cells,
) -> tuple[Array, NDArray[np.bool_]]:
    """Return the same of so many that they fit the memory."""
    count, num_agents = chances.shape[:2]
    each, values = np.arange(count), _values(clues[0].values)
    slots, chosen = np.array([clue.among for clue in clues]), np.array([c.slot for c in clues])
    at = np.array([clue.among.index(clue.slot) for clue in clues])
    by_agent = [
        np.take_along_axis(chances[:, agent], slots[:, :, None], 1) for agent in range(num_agents)
    ]
    mine = _own(clues, own, dict(zip(cells, values.tolist(), strict=True)))
    has_room = values < NO_ROOM
    sizes, places = _sizes(tuple(values[has_room].tolist()), num_agents)
    before = slots < chosen[:, None]
    need = (mine[each, at, None] + sizes)[:, :, None] + before[:, None] - mine[:, None]
    need = np.where((mine >= NO_ROOM)[:, None], -np.inf, need)
    per_agent, left = _not_better(by_agent, values, need)
    left[each, :, at] = 1.0
    at_choice = _joint([known[each, at][:, has_room] for known in by_agent])
    fits = left.prod(axis=2)[:, places.ravel()].reshape(at_choice.shape)
    possible = (mine[each, at] < NO_ROOM).reshape(-1, *[1] * num_agents)
    weights = (at_choice * fits * possible).reshape(count, -1)
    forced, chance = np.zeros(()), np.zeros(count)
    if clues[0].is_forced:
        forced, chance = _no_room(by_agent, values, mine)
        chance = chance / slots.shape[1]
    whole = weights.sum(axis=1) + chance
    can_be = whole > 0
    weights = weights / np.where(can_be, whole, 1.0)[:, None]
    chance = chance / np.where(can_be, whole, 1.0)
    sums = places.ravel() + len(sizes) * each[:, None]
    by_size = np.bincount(sums.ravel(), weights.ravel(), count * len(sizes))
    of_all = np.array(per_agent).reshape(num_agents, count, len(sizes), -1)
    found = (by_size.reshape(1, count, 1, -1) @ of_all).reshape(num_agents, *by_agent[0].shape)
    shape = at_choice.shape
    for agent, known in enumerate(by_agent):
        others = tuple({*range(1, num_agents + 1)} - {agent + 1})
        told = np.zeros((count, len(values)))
        told[:, has_room] = weights.reshape(shape).sum(axis=others)
        here = known[each, at]
        found[agent, each, at] = np.divide(told, here, out=np.zeros_like(told), where=told > 0)
    found += chance[:, None, None] * forced
    return found.swapaxes(0, 1), can_be


def _own(
    clues: Sequence[Best],
    own: Sequence[Sequence[int | None] | None],
    values: Mapping[int | None, float],
) -> Array:
    """Return what the observer's own slots count in each sum, of shape (clues, slots)."""
    nothing = [0.0] * len(clues[0].among)
    return np.array(
        [
            nothing if costs is None else [values.get(costs[slot], NO_ROOM) for slot in clue.among]
            for clue, costs in zip(clues, own, strict=True)
        ]
    )


def _not_better(chances: Sequence[Array], values: Array, need: Array) -> tuple[list[Array], Array]:
    """Return for each agent's cells the relative chance that slots are no better than needed.

    Args:
        chances: of each agent's slots and cells, of shape (choices, slots, cells).
        values: of the cells.
        need: least sum of values, of shape (choices, cases, slots).

    Returns:
        For each agent of shape (choices, cases, slots, cells); beside it the chance itself.
    """
    per_agent, left = [], np.ones(need.shape)
    for place, each in enumerate(chances):
        sums, found = _by_size(*_sums([*chances[:place], *chances[place + 1 :]], values))
        kept = np.zeros((*need.shape, len(values)))
        for at, total in enumerate(sums.tolist()):  # few: summing over a short axis takes longer
            is_kept = total + values >= need[..., None]
            kept += is_kept * found[:, None, :, None, at]
        left = over_cells(kept, each[:, None])
        per_agent.append(kept / np.where(left > 0, left, 1.0)[..., None])
    return per_agent, left


def _no_room(chances: Sequence[Array], values: Array, mine: Array) -> tuple[Array, Array]:
    """Return the same, and the chance of it, if no slot has room for all."""
    has_room = [each[..., values < NO_ROOM].sum(axis=-1) for each in chances]
    all_room = np.prod(has_room, axis=0) * (mine < NO_ROOM)
    per_agent = []
    for place in range(len(chances)):
        rest = np.prod([*has_room[:place], *has_room[place + 1 :], mine < NO_ROOM], axis=0)
        none = 1 - np.where(values < NO_ROOM, 1.0, 0.0) * rest[..., None]
        per_agent.append(none / np.where(all_room < 1, 1 - all_room, 1.0)[..., None])
    return np.array(per_agent), np.prod(1 - all_room, axis=-1)
