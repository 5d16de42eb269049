"""Speed and size of play. Times are reported, never asserted; that memory stays flat is.

Rates count the processor time of this process: a busy neighbour does not lower them.
"""

import gc
import statistics
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from calbench.config.composition import compose_team
from calbench.engine.batch import play_jobs
from calbench.engine.drivers import run
from calbench.engine.jobs import plan_jobs
from calbench.engine.replay import replay
from calbench.engine.seating import seat_policies
from calbench.runs.verification import verify_trace
from calbench.scenarios.difficulty import completed
from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import ScenarioParameters
from calbench.scenarios.sampling import sample_scenario
from calbench.traces.models import GameConfig, Trace
from calbench.traces.storage import trace_bytes
from calbench.traces.store import Batch
from tests.engine.scripts import game_config

TOPOLOGIES = [(5, 3, 5, 16), (20, 3, 20, 64)]
CONFIG = game_config("imap", ("dm",))

pytestmark = pytest.mark.benchmark(timer=time.process_time)

every_topology = pytest.mark.parametrize(
    "topology", TOPOLOGIES, ids=lambda topology: "x".join(map(str, topology))
)

every_protocol = pytest.mark.parametrize("name", ["imap", "sd-map", "dsm-private", "dsm-welfare"])


class Lengths:
    """Makes the bytes of traces and keeps only how many there are."""

    def __init__(self) -> None:
        self.lengths: list[int] = []

    def prepare(self, traces: Sequence[tuple[Path, Trace]]) -> Batch:
        self.lengths += [len(trace_bytes(trace)) for _, trace in traces]
        return Batch()

    def commit(self, batch: Batch) -> None:
        """Nothing is left to do."""


def sampled(topology: tuple[int, int, int, int], count: int) -> list[Scenario]:
    """Sample scenarios of this many agents, participants, meetings and slots."""
    agents, participants, meetings, slots = topology
    parameters = ScenarioParameters(
        num_agents=agents,
        num_slots=slots,
        num_meetings=meetings,
        participants_per_meeting=participants,
        density=0.75,
        blocked=4,
    )
    return [
        sample_scenario(parameters, seed=seed, scenario_id=f"bench-{seed:03}", setting="bench")
        for seed in range(count)
    ]


@pytest.fixture(autouse=True)
def _own_heap() -> Iterator[None]:
    """Keep what the test runner holds out of the garbage collector's way."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def play(scenario: Scenario, config: GameConfig = CONFIG) -> Trace:
    return run(scenario, config, seat_policies(config.team, scenario.num_agents))


def play_each(scenarios: list[Scenario], config: GameConfig = CONFIG) -> int:
    """Play one game after the other, as a run does; return the number of events."""
    return sum(len(play(scenario, config).events) for scenario in scenarios)


def report_rate(benchmark: BenchmarkFixture, unit: str, count: int) -> None:
    if benchmark.stats is not None:
        times = benchmark.stats.stats
        benchmark.extra_info[f"{unit}_per_second"] = round(count / times.median)
        benchmark.extra_info[f"{unit}_per_second_at_best"] = round(count / times.min)


@every_topology
@every_protocol
def test_games_are_played_and_written_as_bytes(
    benchmark: BenchmarkFixture, name: str, topology: tuple[int, int, int, int]
) -> None:
    """As a run does, but that nothing is compressed or put on disk.

    For M meetings of P participants with S slots a game has O(M P) turns a sweep, each of which
    costs O(1) if nothing was heard. Reading a calendar and writing it into a trace are O(S), so
    a game is O(M P S) for the first batch of each meeting; sorting DSM's plans adds O(S log S) a
    meeting, SD-MAP proposes up to S slots one after the other.
    """
    scenarios = sampled(topology, 45 if topology[0] == 5 else 5)
    config = CONFIG.updated(team=compose_team(name))
    jobs = plan_jobs(scenarios, [config], Path("nowhere"))
    store = Lengths()
    benchmark(lambda: play_jobs(jobs, None, lambda _: None, store=store))
    assert min(store.lengths) > 1000 * topology[2]
    report_rate(benchmark, "games", len(scenarios))


@every_topology
def test_imap_traces_are_written_as_bytes(
    benchmark: BenchmarkFixture, topology: tuple[int, int, int, int]
) -> None:
    traces = [play(scenario) for scenario in completed(sampled(topology, 3))]
    sizes = [len(data) for data in benchmark(lambda: [trace_bytes(trace) for trace in traces])]
    benchmark.extra_info["trace_bytes_mean"] = round(statistics.mean(sizes))
    benchmark.extra_info["trace_bytes_greatest"] = max(sizes)
    assert min(sizes) > 0
    if topology[0] == 5:
        assert max(sizes) < 60_000


def test_replay_of_imap_games(benchmark: BenchmarkFixture) -> None:
    traces = [play(scenario) for scenario in sampled(TOPOLOGIES[0], 45)]
    replayed = benchmark(lambda: [replay(trace) for trace in traces])
    assert replayed == traces
    report_rate(benchmark, "games", len(traces))


def test_verification_of_imap_games(benchmark: BenchmarkFixture) -> None:
    traces = [play(scenario) for scenario in completed(sampled(TOPOLOGIES[0], 10))]

    def verify_all() -> int:
        for trace in traces:
            verify_trace(trace)
        return len(traces)

    assert benchmark(verify_all) == len(traces)
    report_rate(benchmark, "traces", len(traces))


@pytest.mark.slow
def test_memory_stays_flat_over_ten_thousand_games() -> None:
    scenarios = sampled(TOPOLOGIES[0], 50)
    play_each(scenarios)
    tracemalloc.start()
    try:
        held = []
        for _ in range(10):
            for _ in range(20):
                play_each(scenarios)
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    # A game's events take some 100 kB: keeping one game in a hundred would show.
    assert held[-1] - held[0] < 1_000_000
