"""Games are measured wherever there is a process for it."""

from pathlib import Path

import pytest

from calbench import play_game
from calbench.analysis.scoring import ALL_FACTS, measure_games
from calbench.facts.judged import JUDGE_FACTS
from calbench.metrics.measure import DEFAULT_MEASURE
from calbench.pool import Pool
from calbench.traces.storage import write_trace
from tests.analysis.small_run import Elsewhere, Game
from tests.metrics.games import canonical_scenario


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


@pytest.mark.heavy
def test_facts_do_not_depend_on_where_games_are_measured(games: list[Game], tmp_path: Path) -> None:
    facts = (*ALL_FACTS, *JUDGE_FACTS)
    for name, pool in (("here", None), ("there", Pool(Elsewhere(), 2))):
        measure_games(games, tmp_path / name, DEFAULT_MEASURE, lambda: None, pool, facts)
    for fact in facts:
        here, there = (tmp_path / name / f"{fact.name}.parquet" for name in ("here", "there"))
        assert here.exists() == there.exists() == (fact.name != "chances")
        if here.exists():
            assert here.read_bytes() == there.read_bytes()


def test_each_game_is_ticked_off(games: list[Game], tmp_path: Path) -> None:
    ticks: list[None] = []
    measure_games(games, tmp_path, DEFAULT_MEASURE, lambda: ticks.append(None))
    assert len(ticks) == len(games)
