"""Speed of the oracle. Times are reported, never asserted."""

import math

from pytest_benchmark.fixture import BenchmarkFixture

from calbench.domain.randomness import stream
from calbench.oracle.count import count_feasible
from calbench.oracle.problem import Problem
from calbench.oracle.solve import Optimal, solve_best
from tests.oracle.problems import problem_of


def _topology(num_agents: int, num_slots: int, num_meetings: int, cells: str) -> Problem:
    """Three neighbours a meeting, on calendars drawn from ``cells`` with room to spare."""
    chance = stream(0, "benchmark")
    rows = []
    for _ in range(num_agents):
        drawn = [chance.choice(cells) for _ in range(num_slots)]
        for slot in chance.sample(range(num_slots), 3 * num_meetings // num_agents + 1):
            drawn[slot] = "."
        rows.append("".join(drawn))
    return problem_of(
        rows, [tuple((i + step) % num_agents for step in range(3)) for i in range(num_meetings)]
    )


def test_count_of_an_open_5_by_16(benchmark: BenchmarkFixture) -> None:
    assert benchmark(count_feasible, _topology(5, 16, 5, ".")) == 524_160


def test_count_of_an_open_12_by_64(benchmark: BenchmarkFixture) -> None:
    assert benchmark(count_feasible, _topology(12, 64, 12, ".")) == math.perm(64, 12)


def test_best_of_a_5_by_16(benchmark: BenchmarkFixture) -> None:
    assert isinstance(benchmark(solve_best, _topology(5, 16, 5, ".11223B")), Optimal)
