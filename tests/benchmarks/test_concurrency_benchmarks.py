"""How near games at once come to the time of their dependent calls; reported, never asserted.

The stand-in for a model answers from memory, 200 ms after it was asked, so the processor time
is our own. See ``many_games`` for the same through LiteLLM.
"""

import asyncio
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.benchmarks.many_games import DELAY_S, Canned, Reached, games, play, source_of


@pytest.mark.parametrize("count", [16, 64])
@pytest.mark.parametrize("mode", ["live", "record"])
def test_games_at_once(benchmark: BenchmarkFixture, mode: str, count: int, tmp_path: Path) -> None:
    spec, jobs = games(count, "http://127.0.0.1:9/v1")
    canned = Canned()
    asyncio.run(play(spec, jobs, source_of("live", tmp_path, canned)))
    canned.delay_s = DELAY_S

    def measured() -> Reached:
        return asyncio.run(play(spec, jobs, source_of(mode, tmp_path / "r.sqlite", canned)))

    reached: Reached = benchmark.pedantic(measured, rounds=1)  # type: ignore[no-untyped-call]

    assert reached.calls > reached.longest_chain > 0
    benchmark.extra_info["of_ideal"] = round(reached.of_ideal, 3)
    benchmark.extra_info["cpu_ms_per_call"] = round(reached.cpu_ms_per_call, 2)
