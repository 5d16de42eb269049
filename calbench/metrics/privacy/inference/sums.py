"""What a choice or a total tells about several calendars at once [C].

Their joint posterior is approximated by the product of the agents'. Each is averaged over what the
chosen slot may have cost, with the probability that no other slot is better; exact if slots were
independent of each other.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from calbench.metrics.privacy.inference.calendars import Array
from calbench.protocols.clues import Best, Cells, Total

NO_ROOM = 10.0**7
"""Value of a slot without room: above every sum of costs of a scenario's few errands."""


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
    """Return the chances of all combinations of cells, of shape (slots, cells, cells, ...)."""
    found = chances[0] if len(chances) else np.ones(1)
    for place, each in enumerate(chances[1:], start=1):
        found = found[..., None] * each.reshape(len(each), *[1] * place, -1)
    return found


def _sums(chances: Sequence[Array], values: Array) -> tuple[Array, Array]:
    """Return the possible sums of several agents' values, and their chances by slot."""
    sums = _grid(tuple(values.tolist()), len(chances)).ravel()
    found = _joint(chances)
    return sums, found.reshape(len(found), -1)


def from_total(clue: Total, others: Sequence[Array], cells: Cells) -> Array:
    """Return the weights of an agent's slots, given the total of it and of others."""
    values = _values(tuple(cells))
    total = np.array([bad * NO_ROOM + cost for bad, cost in clue.sums])
    sums, found = _sums(others, values)
    fits = sums == (total[:, None] - values)[:, :, None]
    weights: Array = (fits * np.broadcast_to(found, (len(total), len(sums)))[:, None, :]).sum(2)
    return weights


def beside_meeting(chances: Array, held: Array, link: float) -> tuple[Array, Array]:
    """Return an agent's chances where another holds a meeting that the observer does not, or not.

    Args:
        chances: of the agent's slots and cells, or of several agents'.
        held: of each slot, the chance that such a meeting of the agent holds it.
        link: the chance that it takes part in the other's.

    Returns:
        Those where the other has one, and those where it has none.
    """
    among, apart = chances * (1 - link), chances.copy()
    among[..., -1] += link
    apart[..., -1] -= link * held
    return among, apart / apart.sum(axis=-1, keepdims=True)


def from_best(
    clue: Best, chances: Sequence[Array], own: Sequence[int | None] | None, cells: Cells
) -> Array | None:
    """Return the weights of each agent's slots, given which one was chosen from the sums.

    They are averaged over what the chosen slot may have cost, each with its probability that no
    other slot is better.

    Args:
        clue: which slot, and from which ones.
        chances: of each agent's slots and cells.
        own: the observer's costs, if they are in the sums.
        cells: what a slot can cost.

    Returns:
        Of shape (agents, slots of the clue, cells); ``None`` if the choice cannot be.
    """
    slots = np.array(clue.among)
    chances = [each[slots] for each in chances]
    values = _values(clue.values)
    if own is None:
        mine = np.zeros(len(slots))
    else:
        count = dict(zip(cells, clue.values, strict=True))
        mine = _values(tuple([count.get(own[slot]) for slot in slots]))
    at = clue.among.index(clue.slot)
    has_room = values < NO_ROOM
    sizes, places = _sizes(tuple(values[has_room].tolist()), len(chances))
    need = (mine[at] + sizes)[:, None] + (slots < clue.slot) - mine
    need[:, mine >= NO_ROOM] = -np.inf
    per_agent, left = _not_better(chances, values, need)
    left[:, at] = 1.0
    fits = left.prod(axis=1)
    at_choice = _joint([each[None, at, has_room] for each in chances])[0]
    weights = at_choice * fits[places] * (mine[at] < NO_ROOM)
    forced, chance = _no_room(chances, values, mine) if clue.is_forced else ([], 0.0)
    chance /= len(slots)
    whole = float(weights.sum()) + chance
    if not whole:
        return None
    by_size = np.bincount(places.ravel(), weights.ravel() / whole, len(sizes))
    found: Array = by_size @ np.array(per_agent).reshape(len(chances), len(sizes), -1)
    found = found.reshape(len(chances), len(slots), -1)
    for agent, each in enumerate(chances):
        chosen = np.zeros(len(values))
        chosen[has_room] = weights.sum(axis=tuple({*range(weights.ndim)} - {agent})) / whole
        found[agent, at] = np.divide(chosen, each[at], out=np.zeros_like(chosen), where=chosen > 0)
    if chance:
        found += chance / whole * np.array(forced)
    return found


def _not_better(chances: Sequence[Array], values: Array, need: Array) -> tuple[list[Array], Array]:
    """Return for each agent's cells the relative chance that slots are no better than needed.

    Args:
        chances: of each agent's slots and cells.
        values: of the cells.
        need: least sum of values, of shape (cases, slots).

    Returns:
        For each agent of shape (cases, slots, cells); beside it the chance itself.
    """
    per_agent, left = [], np.ones(need.shape)
    for place, each in enumerate(chances):
        sums, found = _sums([*chances[:place], *chances[place + 1 :]], values)
        is_kept = (sums + values[:, None]) >= need[:, :, None, None]
        kept = (is_kept * found[:, None, :]).sum(axis=-1)
        left = (kept * each).sum(axis=2)
        per_agent.append(kept / np.where(left > 0, left, 1.0)[:, :, None])
    return per_agent, left


def _no_room(chances: Sequence[Array], values: Array, mine: Array) -> tuple[list[Array], float]:
    """Return the same, and the chance of it, if no slot has room for all."""
    has_room = [each[:, values < NO_ROOM].sum(axis=1) for each in chances]
    all_room = np.prod(has_room, axis=0) * (mine < NO_ROOM)
    per_agent = []
    for place in range(len(chances)):
        rest = np.prod([*has_room[:place], *has_room[place + 1 :], mine < NO_ROOM], axis=0)
        none = 1 - np.where(values < NO_ROOM, 1.0, 0.0) * rest[:, None]
        per_agent.append(none / np.where(all_room < 1, 1 - all_room, 1.0)[:, None])
    return per_agent, float(np.prod(1 - all_room))
