"""Facts of several runs, joined, are those of one run that played all their games."""

from pathlib import Path

import pytest

from calbench.analysis.scoring import ALL_FACTS, measure_games
from calbench.errors import FileError
from calbench.facts.games import SCORES
from calbench.facts.joining import join_facts
from calbench.facts.storage import Facts
from calbench.metrics.measure import DEFAULT_MEASURE
from calbench.traces.storage import write_trace
from tests.cli.runs import files
from tests.report.samples import Game, play, suite_of

TEAMS = ("imap", "tell-all", "silent")


def measured(folder: Path, traces: Path, teams: tuple[str, ...]) -> Facts:
    games = []
    for team in teams:
        for scenario in suite_of("varied", 3):
            path = traces / team / f"{scenario.scenario_id}.json"
            write_trace(path, play(scenario, team))
            games.append(Game(path, team, scenario.scenario_id))
    return measure_games(games, folder, DEFAULT_MEASURE, lambda: None, facts=ALL_FACTS)


@pytest.mark.heavy
def test_joined_facts_are_those_of_one_run_to_the_byte(tmp_path: Path) -> None:
    measured(tmp_path / "whole", tmp_path / "traces", TEAMS)
    first = measured(tmp_path / "first", tmp_path / "traces", TEAMS[1:])
    second = measured(tmp_path / "second", tmp_path / "traces", TEAMS[:1])
    sources = [(each, lambda _: True) for each in (first, second)]

    join_facts(sources, tmp_path / "joined", ALL_FACTS, TEAMS)

    assert files(tmp_path / "joined") == files(tmp_path / "whole")


def test_games_that_are_not_taken_are_left_out_of_every_fact(tmp_path: Path) -> None:
    whole = measured(tmp_path / "whole", tmp_path / "traces", TEAMS)
    few = measured(tmp_path / "few", tmp_path / "traces", TEAMS[:1])
    taken = [(whole, lambda key: key.team == "imap")]
    none = [(few, lambda _: True), (whole, lambda _: False)]

    join_facts(taken, tmp_path / "taken", ALL_FACTS, TEAMS)
    join_facts(none, tmp_path / "none", ALL_FACTS, TEAMS)

    assert files(tmp_path / "taken") == files(tmp_path / "none") == files(tmp_path / "few")


def test_game_without_rows_is_taken_from_among_games_with_rows(tmp_path: Path) -> None:
    teams = ("silent", "imap", "tell-all")
    whole = measured(tmp_path / "whole", tmp_path / "traces", teams)
    silent = measured(tmp_path / "silent", tmp_path / "traces", teams[:1])
    rest = measured(tmp_path / "rest", tmp_path / "traces", teams[1:])

    few = [(whole, lambda key: key.team == "silent")]  # it has no beliefs
    join_facts(few, tmp_path / "few", ALL_FACTS, teams)
    join_facts([(rest, lambda _: True), *few], tmp_path / "all", ALL_FACTS, teams)

    assert silent.table("beliefs").num_rows == 0
    assert files(tmp_path / "few") == files(tmp_path / "silent")
    assert files(tmp_path / "all") == files(tmp_path / "whole")


def test_source_without_a_fact_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    whole = measured(tmp_path / "whole", tmp_path / "traces", TEAMS[:1])
    (tmp_path / "whole" / "shares.parquet").unlink()

    with pytest.raises(FileError, match=r"shares\.parquet: there is no such file"):
        join_facts([(whole, lambda _: True)], tmp_path / "joined", SCORES, TEAMS)
    assert files(tmp_path / "joined") == {}
