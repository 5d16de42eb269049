"""Speed of measuring games: their traces are read, scored, and their facts written.

Rates count the processor time of this process: a busy neighbour does not lower them.
"""

import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from calbench import play_game
from calbench.analysis.scoring import measure_games
from calbench.config.composition import compose_team
from calbench.engine.jobs import Job
from calbench.metrics.measure import DEFAULT_MEASURE
from calbench.metrics.privacy.inference.game import learnt_of
from calbench.metrics.speech.messages import audited_messages, scene_of
from calbench.metrics.speech.secondhand import Spread, spread
from calbench.oracle.ties import optimal_cost_vectors
from calbench.scenarios.difficulty import with_oracle
from calbench.scenarios.models import DifficultyEntry, Scenario
from calbench.traces.outlines import trace_name
from calbench.traces.storage import write_trace
from tests.benchmarks.test_engine_benchmarks import CONFIG, play, report_rate, sampled
from tests.metrics.games import canonical_scenario

pytestmark = pytest.mark.benchmark(timer=time.process_time)

TEAMS = ("imap", "sd-map", "dsm-private", "dsm-welfare", "secure-sum")
SIZE = (5, 3, 5, 16)
UNKNOWN = DifficultyEntry(feasible_count=None, feasible_fraction=None, tertile=None, reason="large")


def solved(topology: tuple[int, int, int, int], count: int) -> list[Scenario]:
    """Return scenarios with an oracle, as a suite has them, but without their difficulty."""
    given = [scenario.updated(difficulty=UNKNOWN) for scenario in sampled(topology, count)]
    return [with_oracle(scenario) for scenario in given]


def played(scenarios: Sequence[Scenario], teams: Sequence[str], folder: Path) -> list[Job]:
    """Play and write every team's games."""
    jobs = []
    for name in teams:
        config = CONFIG.model_copy(update={"team": compose_team(name)})
        for scenario in scenarios:
            path = folder / trace_name(config.team.team_id, scenario.scenario_id, 0)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_trace(path, play(scenario, config))
            jobs.append(Job(scenario, config, path))
    return jobs


@pytest.mark.parametrize("what", ["play", "measure"])
@pytest.mark.parametrize("team", TEAMS)
def test_typed_games_of_five_are_played_and_measured(
    benchmark: BenchmarkFixture, tmp_path: Path, team: str, what: str
) -> None:
    """Goal: measuring takes at most 1.5 times playing and writing."""
    scenarios = solved(SIZE, 40)
    jobs = played(scenarios, [team], tmp_path / "traces")
    if what == "play":
        assert benchmark(played, scenarios, [team], tmp_path / "traces") == jobs
    else:
        found = benchmark(
            measure_games, jobs, tmp_path / "facts", DEFAULT_MEASURE, lambda: None
        ).games
        assert len(found) == len(jobs)
    report_rate(benchmark, "games", len(jobs))


@pytest.mark.parametrize("size", [(5, 3, 5, 16), (20, 3, 20, 64), (50, 3, 50, 160)], ids=str)
@pytest.mark.parametrize("team", [*TEAMS, "mediator", "tell-all"])
def test_what_is_learnt_is_inferred(
    benchmark: BenchmarkFixture, team: str, size: tuple[int, int, int, int]
) -> None:
    """Goal: no more than playing at five agents; grows with messages times slots."""
    config = CONFIG.model_copy(update={"team": compose_team(team)})
    games = [play(scenario, config) for scenario in sampled(size, 40 if size[0] == 5 else 2)]
    found = benchmark(learnt_of, games)
    assert all(any(pair.bits for pair in each.pairs) for each in found)
    report_rate(benchmark, "games", len(games))


@pytest.mark.parametrize("num_meetings", [5, 10, 14])
def test_cost_vectors_are_listed(benchmark: BenchmarkFixture, num_meetings: int) -> None:
    problem = sampled((5, 3, num_meetings, 64), 3)[2].problem
    assert benchmark(optimal_cost_vectors, problem, 0) is not None


def test_second_hand_leaks_are_found(benchmark: BenchmarkFixture) -> None:
    """Goal: under 10 ms a game of speakers who tell their labels, a fifth of its other audits."""
    games = [play_game(canonical_scenario(seed), "oversharer") for seed in range(8)]
    found = [audited_messages(game, scene_of(game)) for game in games]
    for messages in found:
        assert any(message.told for message in messages)

    def spreads() -> list[Spread]:
        return [spread(messages, messages[0].labels) for messages in found]

    assert all(each.steps for each in benchmark(spreads))
    report_rate(benchmark, "games", len(games))
