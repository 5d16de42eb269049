"""Additive secret sharing modulo a prime: the arithmetic of secure sum [C].

A vector is split into shares; each share is uniform, and only all of them together reveal it.
In the sum of encoded vectors each slot shows how many vectors are infeasible there and what the
others cost together: an infeasible slot is encoded as a number above every sum of costs.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from calbench.domain.ids import AgentId
from calbench.domain.randomness import Stream

MODULUS = 2**40 - 87
"""The greatest prime below 2^40 [C]: exact in every JSON reader, and for meetings of up to
1,048 participants at the greatest cost a file may hold, 1,000,000."""

_BITS = 40
"""Of a random number, which is drawn again if it is not below :data:`MODULUS`."""

Residues = tuple[int, ...]
"""Numbers modulo :data:`MODULUS`, one for each slot."""


def infeasible_mark(count: int) -> int:
    """Return INF for ``count`` participants: the greatest with ``count * INF < MODULUS``."""
    return (MODULUS - 1) // count


def encoded(costs: Sequence[int | None], count: int) -> Residues:
    """Return a cost vector as numbers; infeasible is INF.

    A cost so great that ``count`` of them could reach INF is infeasible too; files hold none up to
    the meeting size of :data:`MODULUS`. So a sum of costs stays below INF.
    """
    mark = infeasible_mark(count)
    return tuple([mark if cost is None or cost * count >= mark else cost for cost in costs])


def infeasible_count(total: int, count: int) -> int:
    """Return how many of the vectors in a total are infeasible at a slot."""
    return total // infeasible_mark(count)


def uniform(chance: Stream, num_slots: int) -> Residues:
    """Draw exactly uniform residues: 40 random bits, drawn again if not below the modulus."""
    values: list[int] = []
    while len(values) < num_slots:
        value = chance.below(1 << _BITS)
        if value < MODULUS:
            values.append(value)
    return tuple(values)


def remainder(secret: Sequence[int], masks: Iterable[Sequence[int]], modulus: int) -> Residues:
    """Return the share that is kept: the secret minus the masks, which are sent."""
    return tuple(
        [(value - sum(mask)) % modulus for value, *mask in zip(secret, *masks, strict=True)]
    )


def added(vectors: Iterable[Sequence[int]], modulus: int) -> Residues:
    """Return the sum of vectors by slot."""
    return tuple([sum(column) % modulus for column in zip(*vectors, strict=True)])


def total_of(
    agents: Collection[AgentId],
    sums: Mapping[AgentId, Residues],
    received: Mapping[AgentId, Residues],
    given: Collection[Residues],
) -> Residues | None:
    """Return the sum of other agents' vectors, as who has all their parts can compute it.

    Their partial sums hold their vectors without the shares that it received, plus those that it
    gave.

    Args:
        agents: all others.
        sums: the first partial sum of each.
        received: the first share from each.
        given: a share to each.

    Returns:
        The total; ``None`` while a part is missing, or if there is nobody else.
    """
    if not agents or not {*agents} <= sums.keys() & received.keys() or len(given) < len(agents):
        return None
    parts = [by_agent[agent] for by_agent in (sums, received) for agent in agents]
    return remainder(added(parts, MODULUS), given, MODULUS)
