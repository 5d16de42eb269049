"""How long the canonical suites take: 150 candidates and 45 oracles each, under 20 s for both."""

from pytest_benchmark.fixture import BenchmarkFixture

from calbench.config.composition import compose
from calbench.scenarios.models import Scenario
from calbench.scenarios.suites import build_suite

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
