"""Secure sum's numbers: encoded costs, shares of them, and their totals."""

from collections import Counter
from itertools import product

from calbench.domain.randomness import stream
from calbench.domain.sharing import (
    MODULUS,
    added,
    encoded,
    infeasible_count,
    infeasible_mark,
    uniform,
)
from calbench.scenarios.models import GREATEST_COST
from tests.protocols.secure_sums import INF, SHOWN


def test_modulus_is_a_prime_above_every_encoded_total() -> None:
    assert MODULUS < 2**40
    assert all(MODULUS % divisor for divisor in range(2, 2**20))
    for count in (1, 2, 3, 50, 1048):
        mark = infeasible_mark(count)
        assert count * GREATEST_COST < mark
        assert count * mark < MODULUS


def test_infeasible_slots_are_counted_and_costs_kept_apart() -> None:
    for vector in product(SHOWN, repeat=3):
        (total,) = added([encoded((cost,), 3) for cost in vector], MODULUS)
        assert infeasible_count(total, 3) == vector.count(None)
        assert total % INF == sum(cost for cost in vector if cost is not None)


def test_cost_is_encoded_as_infeasible_when_so_many_could_reach_the_mark() -> None:
    greatest = (INF - 1) // 3
    assert encoded((greatest, greatest + 1, 0), 3) == (greatest, INF, 0)


def test_draws_cover_the_residues_evenly() -> None:
    values = uniform(stream(1, "test"), 20_000)
    assert 0 <= min(values) <= max(values) < MODULUS
    counts = Counter(value * 10 // MODULUS for value in values)
    assert all(abs(counts[tenth] - 2000) < 200 for tenth in range(10))
    assert len({value & 1023 for value in values}) == 1024
