"""The tables that explain excess cost agree with the tables of agents and games."""

import csv
from collections import Counter
from pathlib import Path

from calbench.analysis.dictionary import header

from calbench.analysis.tables import Collector
from calbench.metrics.game import GameScore, score_game
from calbench.metrics.measure import METRICS_VERSION
from tests.factories import make_scenario
from tests.metrics.games import (
    book,
    canonical_scenario,
    decide,
    move,
    play_random,
    play_scripts,
    play_team,
    with_outcome,
)


def write(folder: Path, *scores: GameScore) -> None:
    with Collector(folder, ["imap", "random"]) as tables:
        for score in scores:
            tables.add(score)
        tables.write()


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_rows_sum_to_the_excess_of_agents_and_games(tmp_path: Path) -> None:
    scenarios = [canonical_scenario(seed, f"uniform-{seed:03d}") for seed in range(3)]
    games = [play_random(scenario, scenario.seed) for scenario in scenarios]
    write(tmp_path, *map(score_game, [*games, *(play_team(s, "imap") for s in scenarios)]))
    sums: Counter[tuple[str, ...]] = Counter()
    for row in rows(tmp_path / "regret.csv"):
        assert int(row["excess"]) == sum(
            int(row[part]) for part in ("slot_choice", "avoidable_moves", "failed_rounds")
        )
        sums[row["team"], row["scenario_id"], row["agent_id"]] += int(row["excess"])
    stated = {
        (row["team"], row["scenario_id"], row["agent_id"]): int(row["excess_cost"])
        for row in rows(tmp_path / "agent_games.csv")
    }
    assert dict(sums) == stated
    assert any(stated.values())


def test_rows_of_a_game_by_hand(tmp_path: Path) -> None:
    trace = play_scripts(
        make_scenario(["E2..E3", ".E1.."], [(0, 1)]),
        {0: decide(move(101, 0, 1), book(1, 0)), 1: decide(book(1, 0))},
    )
    write(tmp_path, score_game(trace))
    assert (tmp_path / "regret.csv").read_text().splitlines() == [
        ",".join(header("regret.csv")),
        f"test,test,test-000,1,0,0,2,2,2,0,0,{METRICS_VERSION}",
        f"test,test,test-000,1,1,0,2,0,0,0,0,{METRICS_VERSION}",
    ]
    lost = (tmp_path / "optimum_lost.csv").read_text().splitlines()
    assert lost[0] == ",".join(header("optimum_lost.csv"))
    index = next(i for i, event in enumerate(trace.events) if event.type == "batch_applied")
    assert lost[1:] == [f"test,test,test-000,0,2,true,{index},0,DECISION,0,0,2,{METRICS_VERSION}"]


def test_lost_games_have_no_rows(tmp_path: Path) -> None:
    trace = play_team(canonical_scenario(1), "imap")
    write(tmp_path, score_game(with_outcome(trace, "provider_fault")))
    assert rows(tmp_path / "regret.csv") == rows(tmp_path / "optimum_lost.csv") == []
