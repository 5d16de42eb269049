"""What a choice or a total tells about several calendars at once [C].

Their joint posterior is approximated by the product of the agents'. Each is averaged over what the
chosen slot may have cost, with the probability that no other slot is better; exact if slots were
independent of each other.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np

from calbench.metrics.privacy.inference.calendars import Array
from calbench.protocols.clues import Best, Cells, Total

NO_ROOM = 10.0**7
"""Value of a slot without room: above every sum of costs of a scenario's few errands."""


def _values(values: Iterable[int | None]) -> Array:
    return np.array([NO_ROOM if value is None else value for value in values])


def _sums(chances: Sequence[Array], values: Array) -> tuple[Array, Array]:
    """Return the possible sums of several agents' values, and their chances by slot."""
    sums, found = np.zeros(1), np.ones((len(chances[0]) if chances else 1, 1))
    for each in chances:
        sums = (sums[:, None] + values).ravel()
        found = (found[:, :, None] * each[:, None, :]).reshape(len(each), -1)
    return sums, found


def from_total(clue: Total, others: Sequence[Array], cells: Cells) -> Array:
    """Return the weights of an agent's slots, given the total of it and of others."""
    values = _values(cells)
    total = np.array([bad * NO_ROOM + cost for bad, cost in clue.sums])
    sums, found = _sums(others, values)
    fits = sums == (total[:, None] - values)[:, :, None]
    weights: Array = (fits * np.broadcast_to(found, (len(total), len(sums)))[:, None, :]).sum(2)
    return weights


def beside_meeting(chances: Array, held: Array, link: float) -> tuple[Array, Array]:
    """Return an agent's chances where another holds a meeting that the observer does not, or not.

    Args:
        chances: of the agent's slots and cells.
        held: of each slot, the chance that such a meeting of the agent holds it.
        link: the chance that it takes part in the other's.

    Returns:
        Those where the other has one, and those where it has none.
    """
    among, apart = chances * (1 - link), chances.copy()
    among[:, -1] += link
    apart[:, -1] -= link * held
    return among, apart / apart.sum(axis=1, keepdims=True)


def from_best(
    clue: Best, chances: Sequence[Array], own: Sequence[int | None] | None, cells: Cells
) -> Iterator[Array]:
    """Yield the weights of each agent's slots, given which one was chosen from the sums.

    They are averaged over what the chosen slot may have cost, each with its probability that no
    other slot is better.
    """
    slots = np.array(clue.among)
    chances = [each[slots] for each in chances]
    values = _values(clue.values)
    if own is None:
        mine = np.zeros(len(slots))
    else:
        count = dict(zip(cells, clue.values, strict=True))
        mine = _values([count.get(own[slot]) for slot in slots])
    at = clue.among.index(clue.slot)
    finite = [place for place, value in enumerate(values) if value < NO_ROOM]
    cases = list(product(finite, repeat=len(chances))) if mine[at] < NO_ROOM else []
    totals = [float(mine[at] + sum(values[v] for v in case)) for case in cases]
    sizes = np.array(sorted(set(totals)))
    need = sizes[:, None] + (slots < clue.slot) - mine
    need[:, mine >= NO_ROOM] = -np.inf
    per_agent, left = _not_better(chances, values, need)
    fits = np.prod(left[:, np.arange(len(slots)) != at], axis=1)
    weights, told = [], []
    for case, total in zip(cases, totals, strict=True):
        at_choice = [each[at, v] for each, v in zip(chances, case, strict=True)]
        size = int(np.searchsorted(sizes, total))
        weights.append(float(np.prod(at_choice) * fits[size]))
        told.append((case, size))
    forced, chance = _no_room(chances, values, mine) if clue.is_forced else ([], 0.0)
    chance /= len(slots)
    whole = sum(weights) + chance
    for agent, each in enumerate(chances) if whole else ():
        by_size, chosen = np.zeros(len(sizes)), np.zeros(len(values))
        for weight, (case, size) in zip(weights, told, strict=True):
            by_size[size] += weight / whole
            chosen[case[agent]] += weight / whole
        found = np.tensordot(by_size, per_agent[agent], 1)
        found[at] = np.divide(chosen, each[at], out=np.zeros_like(chosen), where=chosen > 0)
        yield found + chance / whole * forced[agent] if chance else found


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
        kept = (is_kept * np.broadcast_to(found, (need.shape[1], len(sums)))[:, None, :]).sum(-1)
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
