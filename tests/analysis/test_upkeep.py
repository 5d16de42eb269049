"""What is measured is not measured again, and the facts are those of a measurement from scratch."""

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.analysis.scoring import measure_games
from calbench.analysis.upkeep import keep_up
from calbench.api import play_game
from calbench.facts.games import SCORES
from calbench.facts.kept import MANIFEST, TRACES
from calbench.facts.messages import MESSAGES
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.pool import Pool
from calbench.traces.storage import write_trace
from tests.analysis.small_run import Game
from tests.metrics.games import canonical_scenario

FACTS = (*SCORES, MESSAGES)
NUM_GAMES = 6


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> list[Game]:
    folder = tmp_path_factory.mktemp("traces")
    found = []
    for team in ("imap", "silent"):
        for number in range(NUM_GAMES // 2):
            scenario = canonical_scenario(number, f"uniform-{number:03d}")
            found.append(Game(folder / team / f"{number}.json", team, scenario.scenario_id))
            write_trace(found[-1].path, play_game(scenario, team))
    return found


class Counting(Executor):
    """Does tasks at once, and counts the games that are measured."""

    def __init__(self) -> None:
        self.measured = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if isinstance(fn, partial):  # traces are read by a plain function
            self.measured += len(args[0])
        found: Future[Any] = Future()
        found.set_result(fn(*args, **kwargs))
        return found


def kept_up(
    folder: Path,
    games: Sequence[Game],
    measure: MeasureSpec = DEFAULT_MEASURE,
    tick: Callable[[], None] = lambda: None,
) -> int:
    """Keep up the facts of a folder; return how many games were measured."""
    counting = Counting()
    keep_up(games, folder, measure, tick, Pool(counting, 1), FACTS)
    return counting.measured


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def measured(games: Sequence[Game], measure: MeasureSpec = DEFAULT_MEASURE) -> dict[str, bytes]:
    """Return the facts of games, measured from scratch."""
    with TemporaryDirectory() as folder:
        measure_games(games, Path(folder), measure, lambda: None, None, FACTS)
        return contents(Path(folder))


def facts_in(folder: Path) -> dict[str, bytes]:
    """Return the facts of a folder, without what is noted of them."""
    return {name: data for name, data in contents(folder).items() if name not in {MANIFEST, TRACES}}


calls = st.lists(
    st.lists(st.integers(0, NUM_GAMES - 1), unique=True).map(tuple), min_size=2, max_size=4
)


@pytest.mark.heavy
@settings(max_examples=20)
@given(calls)
def test_facts_are_those_of_a_measurement_from_scratch_whatever_came_before(
    games: list[Game], calls: list[tuple[int, ...]]
) -> None:
    """Games come and go in any order; each is measured only if it was not there a call before."""
    before: set[int] = set()
    with TemporaryDirectory() as folder:
        for numbers in calls:
            wanted = [games[number] for number in numbers]
            assert kept_up(Path(folder), wanted) == len(set(numbers) - before)
            assert facts_in(Path(folder)) == measured(wanted)
            before = set(numbers)


@pytest.fixture
def grown(games: list[Game], tmp_path: Path) -> tuple[Path, Path]:
    """Return facts of some games, and of all of them."""
    kept_up(tmp_path / "some", games[:4])
    kept_up(tmp_path / "all", games)
    return tmp_path / "some", tmp_path / "all"


def test_what_is_noted_does_not_depend_on_what_came_before(
    games: list[Game], grown: tuple[Path, Path]
) -> None:
    some, every = grown
    kept_up(some, games)
    assert contents(some) == contents(every)


@pytest.mark.heavy
@settings(max_examples=10)
@given(st.sets(st.sampled_from([*(f"{fact.name}.parquet" for fact in FACTS), TRACES])))
def test_a_process_killed_while_files_take_their_places_costs_time_alone(
    games: list[Game], tmp_path_factory: pytest.TempPathFactory, moved: set[str]
) -> None:
    folder = tmp_path_factory.mktemp("facts")
    kept_up(folder / "some", games[:4])
    kept_up(folder / "all", games)
    for name in moved:
        shutil.copyfile(folder / "all" / name, folder / "some" / name)
    kept_up(folder / "some", games)
    assert contents(folder / "some") == contents(folder / "all")


@pytest.mark.heavy
@pytest.mark.parametrize("done", range(NUM_GAMES))
def test_a_process_that_ends_while_it_measures_leaves_what_was_there(
    games: list[Game], grown: tuple[Path, Path], done: int
) -> None:
    some, _ = grown
    before = contents(some)
    left = [None] * done

    def tick() -> None:
        if not left:
            raise KeyboardInterrupt
        left.pop()

    with pytest.raises(KeyboardInterrupt):
        kept_up(some, games, tick=tick)
    assert contents(some) == before
    assert kept_up(some, games) == 2


def test_a_changed_trace_is_measured_again(games: list[Game], tmp_path: Path) -> None:
    kept_up(tmp_path / "facts", games)
    other = tmp_path / "other.json"
    write_trace(other, play_game(canonical_scenario(9, "uniform-000"), "imap"))
    changed = [Game(other, "imap", "uniform-000"), *games[1:]]
    assert kept_up(tmp_path / "facts", changed) == 1
    assert facts_in(tmp_path / "facts") == measured(changed)


def test_a_moved_trace_is_not_measured_again(games: list[Game], tmp_path: Path) -> None:
    kept_up(tmp_path / "facts", games)
    moved = [
        Game(Path(shutil.copy(game.path, tmp_path / f"{number}.json")), *_names(game))
        for number, game in enumerate(games)
    ]
    assert kept_up(tmp_path / "facts", moved) == 0


def _names(game: Game) -> tuple[str, str]:
    return game.team_id, game.scenario_id


def test_one_game_twice_is_refused_as_if_it_was_not_kept(games: list[Game], tmp_path: Path) -> None:
    kept_up(tmp_path, games)
    with pytest.raises(ValueError, match="two games are called"):
        kept_up(tmp_path, [*games, games[0]])


def test_other_settings_measure_every_game_again_and_say_so(
    games: list[Game], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept_up(tmp_path, games)
    other = MeasureSpec(vps_floor=1.0)
    assert kept_up(tmp_path, games, other) == NUM_GAMES
    assert "facts of other settings or another version" in capsys.readouterr().err
    assert facts_in(tmp_path) == measured(games, other)


def test_other_facts_replace_those_that_were_kept(games: list[Game], tmp_path: Path) -> None:
    kept_up(tmp_path, games)
    keep_up(games, tmp_path, DEFAULT_MEASURE, lambda: None, None, SCORES)
    assert "messages.parquet" not in contents(tmp_path)


@pytest.mark.heavy
@pytest.mark.parametrize("name", [MANIFEST, TRACES, "games.parquet", "messages.parquet"])
@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b"PAR1 no parquet"])
def test_damaged_facts_are_measured_again_and_named(
    games: list[Game],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    data: bytes,
) -> None:
    kept_up(tmp_path, games)
    expected = contents(tmp_path)
    (tmp_path / name).write_bytes(data)
    assert kept_up(tmp_path, games) == NUM_GAMES
    (line,) = capsys.readouterr().err.splitlines()
    assert name in line
    assert "are not used" in line
    assert contents(tmp_path) == expected


def test_what_a_killed_process_left_half_written_is_removed(
    games: list[Game], tmp_path: Path
) -> None:
    kept_up(tmp_path, games[:1])
    before = contents(tmp_path)
    (tmp_path / ".games.parquet.part").write_bytes(b"half")
    assert kept_up(tmp_path, games[:1]) == 0
    assert contents(tmp_path) == before


def test_foreign_facts_are_not_believed(
    games: list[Game], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept_up(tmp_path, games)
    expected = contents(tmp_path)
    shutil.copyfile(tmp_path / "games.parquet", tmp_path / "judged_cases.parquet")
    assert kept_up(tmp_path, games) == NUM_GAMES
    assert "judged_cases.parquet: not one of ours" in capsys.readouterr().err
    assert contents(tmp_path) == expected
