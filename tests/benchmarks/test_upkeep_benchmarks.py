"""Time to take up a run whose games are measured. Times are reported, not asserted."""

import shutil
import time
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from calbench.analysis.scoring import ALL_FACTS
from calbench.analysis.upkeep import keep_up
from calbench.api import play_game
from calbench.metrics.measure import DEFAULT_MEASURE
from calbench.traces.storage import write_trace
from tests.analysis.small_run import Game
from tests.metrics.games import canonical_scenario

pytestmark = pytest.mark.benchmark(timer=time.process_time)

NUM_GAMES, NUM_NEW = 200, 10


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> list[Game]:
    folder = tmp_path_factory.mktemp("traces")
    found = []
    for number in range(NUM_GAMES):
        scenario = canonical_scenario(number, f"uniform-{number:03d}")
        found.append(Game(folder / f"{number}.json", "imap", scenario.scenario_id))
        write_trace(found[-1].path, play_game(scenario, "imap"))
    return found


def measure(games: list[Game], folder: Path) -> int:
    """Return how many games there are facts of."""
    return len(keep_up(games, folder, DEFAULT_MEASURE, lambda: None, None, ALL_FACTS).traces)


def test_games_are_measured_from_scratch(
    benchmark: BenchmarkFixture, games: list[Game], tmp_path: Path
) -> None:
    def empty() -> tuple[tuple[list[Game], Path], dict[str, object]]:
        shutil.rmtree(tmp_path / "facts", ignore_errors=True)
        return (games, tmp_path / "facts"), {}

    measured = benchmark.pedantic(measure, setup=empty, rounds=3)  # type: ignore[no-untyped-call]
    assert measured == NUM_GAMES


def test_finished_run_is_taken_up(
    benchmark: BenchmarkFixture, games: list[Game], tmp_path: Path
) -> None:
    measure(games, tmp_path)
    assert benchmark(measure, games, tmp_path) == NUM_GAMES


def test_run_that_grew_is_measured_where_it_is_new(
    benchmark: BenchmarkFixture, games: list[Game], tmp_path: Path
) -> None:
    measure(games[:-NUM_NEW], tmp_path / "before")

    def grown() -> tuple[tuple[list[Game], Path], dict[str, object]]:
        shutil.rmtree(tmp_path / "facts", ignore_errors=True)
        shutil.copytree(tmp_path / "before", tmp_path / "facts")
        return (games, tmp_path / "facts"), {}

    measured = benchmark.pedantic(measure, setup=grown, rounds=5)  # type: ignore[no-untyped-call]
    assert measured == NUM_GAMES
