"""Games are measured wherever there is a process for it."""

import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from calbench.facts.judged import JUDGE_FACTS
from calbench.analysis.scoring import ALL_FACTS, FACT_BY_NAME, measure_games
from calbench.api import play_game
from calbench.metrics.measure import DEFAULT_MEASURE
from calbench.traces.storage import write_trace
from tests.metrics.games import canonical_scenario


@dataclass(frozen=True)
class Game:
    path: Path
    team_id: str
    scenario_id: str


class Elsewhere(Executor):
    """Does what a process does that is handed its task as bytes, at once."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        task, given, named = _copied((fn, args, kwargs))
        found: Future[Any] = Future()
        found.set_result(_copied(task(*given, **named)))
        return found


def _copied(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own bytes


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> list[Game]:
    folder = tmp_path_factory.mktemp("traces")
    found = []
    for team in ("candid", "imap"):
        for number in range(2):
            scenario = canonical_scenario(number, f"uniform-{number:03d}")
            found.append(Game(folder / team / f"{number}.json", team, scenario.scenario_id))
            write_trace(found[-1].path, play_game(scenario, team))
    return found


def test_facts_do_not_depend_on_where_games_are_measured(games: list[Game], tmp_path: Path) -> None:
    facts = (*ALL_FACTS, *JUDGE_FACTS)
    for name, executor in (("here", None), ("there", Elsewhere())):
        measure_games(games, tmp_path / name, DEFAULT_MEASURE, lambda: None, executor, facts)
    for fact in facts:
        file = f"{fact.name}.parquet"
        assert (tmp_path / "here" / file).read_bytes() == (tmp_path / "there" / file).read_bytes()


def test_every_fact_has_a_name_of_its_own() -> None:
    assert len(FACT_BY_NAME) == len(ALL_FACTS) + len(JUDGE_FACTS)


def test_each_game_is_ticked_off(games: list[Game], tmp_path: Path) -> None:
    ticks: list[None] = []
    measure_games(games, tmp_path, DEFAULT_MEASURE, lambda: ticks.append(None))
    assert len(ticks) == len(games)
