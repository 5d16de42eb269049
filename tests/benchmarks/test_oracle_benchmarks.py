"""Speed of the oracle, and of the canonical suites: 150 candidates and 45 oracles each.

Times are reported, never asserted, but for both suites, which take under 20 s.
"""

import math

from pytest_benchmark.fixture import BenchmarkFixture

from calbench.config.composition import compose
from calbench.domain.randomness import stream
from calbench.oracle.count import Estimate, count_feasible, estimate_fraction
from calbench.oracle.problem import Problem
from calbench.oracle.solve import Optimal, solve_best, solve_worst
from calbench.scenarios.models import Scenario
from calbench.scenarios.suites import build_suite
from tests.oracle.problems import drawn_problem, problem_of


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


def test_oracle_of_a_100_by_128(benchmark: BenchmarkFixture) -> None:
    assert benchmark(_extremes, drawn_problem(100, 40, 128, blocked=16))


def test_estimate_of_a_50_by_128(benchmark: BenchmarkFixture) -> None:
    problem = drawn_problem(100, 50, 128, blocked=16)
    assert isinstance(benchmark(estimate_fraction, problem, 0), Estimate)


def _extremes(problem: Problem) -> bool:
    """Solve for the best and the worst schedule; whether both were proven."""
    return isinstance(solve_best(problem), Optimal) and isinstance(solve_worst(problem), Optimal)


GREATEST_TIME_S = 20.0


def both_suites() -> tuple[tuple[Scenario, ...], ...]:
    names = ("uniform", "varied")
    specs = [compose([f"suite={name}"]).suite for name in names]
    return tuple(build_suite(spec) for spec in specs)


def test_both_canonical_suites_are_generated_in_time(benchmark: BenchmarkFixture) -> None:
    suites = benchmark(both_suites)
    assert [len(suite) for suite in suites] == [45, 45]
    if benchmark.stats is not None:
        assert benchmark.stats.stats.max < GREATEST_TIME_S
