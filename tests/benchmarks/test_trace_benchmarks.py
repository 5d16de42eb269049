"""Time to keep a thousand games and to find and read them, as files and in shards.

Times are never asserted; that the work was done is.
"""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from calbench import play_game
from calbench.config.composition import compose
from calbench.engine.jobs import Job, plan_jobs, unfinished
from calbench.scenarios.suites import build_suite
from calbench.traces.catalog import trace_paths
from calbench.traces.models import Format, Trace
from calbench.traces.storage import TraceReader
from calbench.traces.store import open_store

pytestmark = pytest.mark.benchmark(timer=time.process_time)

GAMES = 1_000
PER_TASK = 25


@pytest.fixture(scope="module")
def spec_games() -> tuple[list[Job], list[Trace]]:
    """Return a thousand games of one team, played on the scenarios of a suite under other ids."""
    spec = compose(
        ["suite=former-uniform", "teams=[imap]", "suite.num_scenarios=20", "suite.tertiles=false"]
    )
    scenarios = [
        scenario.updated(scenario_id=f"{scenario.scenario_id}-{again}")
        for scenario in build_suite(spec.suite)
        for again in range(GAMES // 20)
    ]
    jobs = plan_jobs(scenarios, spec.game_configs, Path("traces"))
    return jobs, [play_game(job.scenario, "imap") for job in jobs]


def placed(jobs: list[Job], folder: Path) -> list[Job]:
    """Return the same games in a folder of their own."""
    return [Job(job.scenario, job.config, folder / job.path.relative_to("traces")) for job in jobs]


def keep(folder: Path, jobs: list[Job], traces: list[Trace], form: Format) -> None:
    """Keep all games as tasks do."""
    store = open_store(folder, form)
    pairs = [(job.path, trace) for job, trace in zip(jobs, traces, strict=True)]
    for start in range(0, len(pairs), PER_TASK):
        store.commit(store.prepare(pairs[start : start + PER_TASK]))


def timed(benchmark: BenchmarkFixture, work: Callable[[], object], **more: object) -> None:
    benchmark.pedantic(work, **more)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("form", ["files", "shards"])
def test_keeping(
    benchmark: BenchmarkFixture,
    spec_games: tuple[list[Job], list[Trace]],
    tmp_path: Path,
    form: Format,
) -> None:
    jobs, traces = spec_games
    own = placed(jobs, tmp_path / "traces")
    timed(
        benchmark,
        lambda: keep(tmp_path / "traces", own, traces, form),
        setup=lambda: shutil.rmtree(tmp_path / "traces", ignore_errors=True),
        rounds=3,
    )
    assert len(list(trace_paths(tmp_path))) == GAMES


@pytest.mark.parametrize("form", ["files", "shards"])
def test_finding_and_reading(
    benchmark: BenchmarkFixture,
    spec_games: tuple[list[Job], list[Trace]],
    tmp_path: Path,
    form: Format,
) -> None:
    jobs, traces = spec_games
    own = placed(jobs, tmp_path / "traces")
    keep(tmp_path / "traces", own, traces, form)
    timed(benchmark, lambda: unfinished(own), rounds=3)
    assert unfinished(own) == []
    read = [TraceReader().read(path) for path in trace_paths(tmp_path)]
    assert {trace.scenario.scenario_id for trace in read} == {job.scenario_id for job in jobs}
