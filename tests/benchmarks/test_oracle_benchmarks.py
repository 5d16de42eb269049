"""Speed of the oracle. Times are reported, never asserted."""

import math

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from calbench.domain.randomness import stream
from calbench.oracle.count import Estimate, count_feasible, estimate_fraction
from calbench.oracle.problem import Problem
from calbench.oracle.solve import Optimal, solve_best, solve_worst
from tests.oracle.large import drawn_problem
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


@pytest.mark.parametrize("agents", [25, 50, 100])
def test_oracle_over_agents(benchmark: BenchmarkFixture, agents: int) -> None:
    assert benchmark(_extremes, drawn_problem(agents, 40, 128, blocked=16))


@pytest.mark.parametrize("meetings", [5, 10, 20, 50])
def test_oracle_over_meetings(benchmark: BenchmarkFixture, meetings: int) -> None:
    assert benchmark(_extremes, drawn_problem(100, meetings, 128, blocked=16))


@pytest.mark.parametrize("slots", [64, 128, 256])
def test_oracle_over_slots(benchmark: BenchmarkFixture, slots: int) -> None:
    assert benchmark(_extremes, drawn_problem(100, 40, slots, blocked=slots // 8))


def test_estimate_of_a_50_by_128(benchmark: BenchmarkFixture) -> None:
    problem = drawn_problem(100, 50, 128, blocked=16)
    assert isinstance(benchmark(estimate_fraction, problem, 0), Estimate)


def _extremes(problem: Problem) -> bool:
    """Solve for the best and the worst schedule; whether both were proven."""
    return isinstance(solve_best(problem), Optimal) and isinstance(solve_worst(problem), Optimal)
