import csv
from collections.abc import Sequence
from functools import cache
from math import fsum
from pathlib import Path
from statistics import fmean

import pytest
from calbench.analysis.first_speaker import FirstSpeakerBook
from calbench.analysis.proportions import wilson
from calbench.analysis.significance import adjusted_p_values, sign_flip_p_value

from calbench.analysis.tables import Collector
from calbench.metrics.game import GameScore, score_game
from calbench.metrics.outcomes import LOST
from calbench.oracle.cache import OracleCache
from calbench.stats.spec import AnalysisSpec
from tests.metrics.games import canonical_scenario, play_random, play_team, with_outcome
from tests.metrics.language_games import small_reflected_game

TEAMS = ("imap", "sd-map", "random")
SPEC = AnalysisSpec(bootstrap_resamples=50, permutations=99)
NAMES = (
    "comparisons",
    "completion_regret",
    "first_speaker",
    "messages_by_meeting",
    "prior_moves",
)


@cache
def scores() -> tuple[GameScore, ...]:
    oracle = OracleCache()
    return tuple(
        score_game(
            play_random(scenario, scenario.seed) if team == "random" else play_team(scenario, team),
            oracle=oracle,
        )
        for scenario in (canonical_scenario(seed, f"uniform-{seed:03d}") for seed in range(6))
        for team in TEAMS
    )


def collect(folder: Path, games: Sequence[GameScore]) -> dict[str, list[dict[str, str]]]:
    with Collector(folder, TEAMS, SPEC) as collector:
        for game in games:
            collector.add(game)
        collector.write()
    tables = {}
    for name in NAMES:
        with (folder / f"{name}.csv").open(newline="") as file:
            tables[name] = list(csv.DictReader(file))
    return tables


def seats_of(player: str) -> list[tuple[GameScore, int]]:
    return [
        (game, agent.agent_id)
        for game in scores()
        for agent in game.agents
        if agent.player.name == player
    ]


def number(text: str) -> float:
    return float(text) if text else float("nan")


def test_comparisons_hold_every_pair_once_and_agree_with_the_leaderboard(tmp_path: Path) -> None:
    rows = collect(tmp_path, scores())["comparisons"]
    with (tmp_path / "leaderboard.csv").open(newline="") as file:
        board = {row["team"]: row for row in csv.DictReader(file)}
    pairs = [(row["team_a"], row["team_b"]) for row in rows]
    assert list(dict.fromkeys(pairs)) == [
        ("imap", "sd-map"),
        ("imap", "random"),
        ("sd-map", "random"),
    ]
    assert all(row["setting"] == "uniform" for row in rows)
    for row in rows:
        if row["measure"] == "excess_cost":
            a, b = (number(board[row[side]]["excess_cost"]) for side in ("team_a", "team_b"))
            assert number(row["difference"]) == pytest.approx(a - b, abs=2e-4)
            assert row["scenarios"] == "6"
    p_values = [number(row["p"]) for row in rows]
    # Rounded to four digits before they are adjusted here.
    assert [number(row["p_adjusted"]) for row in rows] == pytest.approx(
        adjusted_p_values(p_values), abs=2e-3
    )


def test_losses_measured_in_different_ways_are_not_compared(tmp_path: Path) -> None:
    words = score_game(small_reflected_game())
    scenario = small_reflected_game().scenario
    with Collector(tmp_path, ["words", "imap"], SPEC) as collector:
        collector.add(words)
        collector.add(score_game(play_team(scenario, "imap")))
        collector.write()
    with (tmp_path / "comparisons.csv").open(newline="") as file:
        measures = {row["measure"] for row in csv.DictReader(file)}
    assert "excess_cost" in measures
    assert not {measure for measure in measures if "vps" in measure}


def test_regret_is_that_of_the_seats_that_got_all_their_meetings(tmp_path: Path) -> None:
    for row in collect(tmp_path, scores())["completion_regret"]:
        agents = [game.agents[agent] for game, agent in seats_of(row["player"])]
        full = [a for a in agents if a.assigned and a.scheduled == a.assigned]
        assert (row["seats"], row["full_seats"]) == (str(len(agents)), str(len(full)))
        if full:
            assert number(row["mean_excess"]) == pytest.approx(
                fmean(a.excess_cost / a.scheduled for a in full), abs=1e-4
            )
            share = wilson(sum(a.excess_cost != 0 for a in full), len(full), SPEC)
            assert share is not None
            assert [number(row[f"nonzero_regret{end}"]) for end in ("", "_low", "_high")] == (
                pytest.approx([share.value, share.low, share.high], abs=1e-4)
            )
            assert number(row["positive_regret"]) <= number(row["nonzero_regret"])


def test_first_speakers_are_compared_with_themselves(tmp_path: Path) -> None:
    rows = collect(tmp_path, scores())["first_speaker"]
    p_values = []
    for row in rows:
        quantity = row["quantity"]
        led: list[float] = []
        followed: list[float] = []
        by_game: dict[str, list[float]] = {}
        for game, agent in seats_of(row["player"]):
            own = [r for r in game.rounds if r.agent_id == agent and r.role != "outsider"]
            known = [r for r in own if getattr(r, quantity) is not None]
            first = [getattr(r, quantity) for r in known if r.role == "first"]
            after = [getattr(r, quantity) for r in known if r.role == "subsequent"]
            led += first
            followed += after
            if first and after:
                by_game.setdefault(game.scenario_id, []).append(fmean(first) - fmean(after))
        differences = [d for own in by_game.values() for d in own]
        assert (row["first"], row["subsequent"]) == (str(len(led)), str(len(followed)))
        assert row["pairs"] == str(len(differences))
        if differences:
            assert number(row["first_mean"]) == pytest.approx(fmean(led), abs=1e-4)
            assert number(row["subsequent_mean"]) == pytest.approx(fmean(followed), abs=1e-4)
            assert number(row["difference"]) == pytest.approx(fmean(differences), abs=1e-4)
            p_values.append(sign_flip_p_value([fsum(own) for own in by_game.values()], SPEC))
            assert number(row["p"]) == pytest.approx(p_values[-1], abs=1e-4)
        assert row["vps_kind"] == ("protocol" if quantity == "vps" else "")
    found = [number(row["p_adjusted"]) for row in rows if row["p"]]
    assert found == pytest.approx(adjusted_p_values(p_values), abs=1e-4)


def test_first_speakers_of_a_small_game_by_hand() -> None:
    book = FirstSpeakerBook()
    score = score_game(small_reflected_game())
    book.add(("plain", 0, "words", score.scenario_id), score)
    vps, cost = book.rows(SPEC)
    assert vps[:7] == [*("plain", "talker", "scripted", "words", "vps"), 2, 2]
    assert [vps[7], vps[10], vps[15]] == pytest.approx([13 / 6, 1 / 2, 5 / 3])
    assert vps[13:15] == [1, 1]
    assert [cost[7], cost[10], cost[15]] == pytest.approx([0, 1 / 2, 0])
    assert vps[-3:] == [1.0, 1.0, "reflection"]


def test_messages_are_those_of_the_meetings(tmp_path: Path) -> None:
    rows = collect(tmp_path, scores())["messages_by_meeting"]
    assert len(rows) == len(TEAMS) * 5 * 3
    for team in TEAMS:
        games = [game for game in scores() if game.team_id == team]
        for index in range(5):
            own = [r for r in rows if (r["player"], r["meeting_index"]) == (team, str(index))]
            assert [row["role"] for row in own] == ["first", "subsequent", "outsider"]
            assert [row["agent_rounds"] for row in own] == ["6", "12", "12"]
            sent = fsum(number(row["messages"]) * number(row["agent_rounds"]) for row in own)
            assert sent == pytest.approx(sum(g.meetings[index].messages for g in games), abs=1e-2)


def test_moves_of_earlier_meetings_count_each_meeting_once(tmp_path: Path) -> None:
    rows = collect(tmp_path, scores())["prior_moves"]
    moved = {}
    for row in rows:
        counts = [
            len({m for r in game.rounds if r.agent_id == agent for m in r.moved_meetings})
            for game, agent in seats_of(row["player"])
        ]
        moved[row["player"]] = sum(counts)
        assert row["agent_games"] == "30"
        assert number(row["meetings_moved"]) == pytest.approx(fmean(counts), abs=1e-4)
    assert moved["imap"] == 0 < moved["random"]


def test_lost_games_add_nothing(tmp_path: Path) -> None:
    scenario = canonical_scenario(9, "uniform-009")
    lost = score_game(with_outcome(play_team(scenario, "imap"), min(LOST)))
    assert lost.is_lost
    with_lost, without = tmp_path / "with", tmp_path / "without"
    collect(with_lost, [*scores(), lost])
    collect(without, scores())
    for name in NAMES:
        assert (with_lost / f"{name}.csv").read_bytes() == (without / f"{name}.csv").read_bytes()
