"""How busy 64 workers of a Dask cluster are kept by the games of one run.

``python -m tests.benchmarks.many_workers [GAMES [WORKERS]]``, with the extra ``cluster``. No
machine at hand has 64 processors, so the run is simulated by discrete events. What it takes is
measured in processor time, which does not depend on who else uses the machine: the time of real
games (three of each team, played and measured); of cutting, planning, sending and keeping each task
by the one process that owns the run; and of Dask for each task, its scheduler, client and worker
together, all of which the simulation lets the scheduler do alone, one task after the other.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from calbench.analysis.scoring import ALL_FACTS
from calbench.config.composition import compose
from calbench.engine.batch import parts_of, planned, played
from calbench.engine.jobs import Job, plan_jobs
from calbench.facts.fact import measured
from calbench.metrics.measure import DEFAULT_MEASURE
from calbench.oracle.cache import OracleCache
from calbench.pool import Pool, mapped
from calbench.pool.tasks import TASKS_AHEAD
from calbench.scenarios.suites import build_suite
from calbench.traces.models import Trace
from calbench.traces.store import ShardStore

SAMPLED = 3
"""Scenarios on which real games are played."""

DASK_TASKS = 300
"""Empty tasks by which Dask's own time is measured."""

OVERRIDES = [
    "suite=large-20",
    "suite.tertiles=false",
    f"suite.num_scenarios={SAMPLED}",
    "teams=[imap,sd-map,dsm-welfare,dsm-private,mediator,secure-sum,tell-all,first-free,silent]",
]


class Costs(NamedTuple):
    """Processor seconds: of a game, and what stands between the workers and their tasks."""

    game: float
    plan: float
    send: float
    keep: float
    dask: float


def sample(folder: Path) -> tuple[list[Job], list[tuple[Path, Trace]], float]:
    """Play and measure real games; return them and the processor time of one."""
    spec = compose(OVERRIDES)
    jobs = plan_jobs(build_suite(spec.suite), spec.game_configs, folder)
    start, oracle, traces = time.process_time(), OracleCache(), []
    for job in jobs:
        traces.append((job.path, played(job.scenario, job.config)))
        game = measured(traces[-1][1], DEFAULT_MEASURE, oracle)
        for fact in ALL_FACTS:
            fact.of(game)
    return jobs, traces, (time.process_time() - start) / len(jobs)


def repeated(jobs: Sequence[Job]) -> Iterator[Job]:
    """Yield games again and again, each time on scenarios of their own."""
    while True:
        copies = {job.scenario_id: job.scenario.model_copy() for job in jobs}
        for job in jobs:
            yield Job(copies[job.scenario_id], job.config, job.path)


def dask_seconds() -> float:
    """Return the processor time that Dask takes for a task of its own."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, processes=False, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        pool = Pool(client.get_executor(pure=False), 2)
        list(mapped(str, range(DASK_TASKS), pool))  # warm
        start = time.process_time()
        list(mapped(str, range(DASK_TASKS), pool))
        return (time.process_time() - start) / DASK_TASKS


def busy(parts: Sequence[int], costs: Costs, count: int) -> float:
    """Return the share of the workers' time in which they play.

    The client sends tasks until there are so many ahead, then takes results in order, each of which
    lets it send another; the scheduler serves one task at a time.

    Args:
        parts: games of each task.
        costs: of everything.
        count: workers.
    """
    client, scheduler = costs.plan, 0.0
    idle = [0.0] * count
    done: list[float] = []
    for number, games in enumerate(parts):
        if number >= count * TASKS_AHEAD:
            client = max(client, done[number - count * TASKS_AHEAD]) + costs.keep
        client += costs.send
        scheduler = max(scheduler, client) + costs.dask
        end = max(heappop(idle), scheduler) + games * costs.game
        heappush(idle, end)
        done.append(end)
    for end in done[-count * TASKS_AHEAD :]:
        client = max(client, end) + costs.keep
    return sum(parts) * costs.game / count / client


def main(games: int, count: int) -> None:
    """Say how busy the workers are."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "traces"
        jobs, traces, seconds = sample(folder)
        many = list(islice(repeated(jobs), games))
        start = time.process_time()
        parts = parts_of(many)
        with planned(many) as plan:
            planning = time.process_time() - start
            for part in parts:
                plan.task(part)
            sending = (time.process_time() - start - planning) / len(parts)
        size = max(map(len, parts))
        store = ShardStore(folder)
        batch = store.prepare((traces * (size // len(traces) + 1))[:size])
        start = time.process_time()
        for _ in range(20):
            store.commit(batch)
        keeping = (time.process_time() - start) / 20
    costs = Costs(seconds, planning, sending, keeping, dask_seconds())
    print(*(f"{name} {1000 * cost:.2f} ms" for name, cost in costs._asdict().items()), sep=", ")
    share = busy([len(part) for part in parts], costs, count)
    print(f"{games} games in {len(parts)} tasks, {count} workers: busy for {share:.0%}")


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*given, *(10_000, 64)[len(given) :])
