"""Ranks, letters, the oracle and money beside the leaderboard."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from calbench.analysis.registry import Settings
from calbench.analysis.tables.leaderboard import READABILITY
from calbench.analysis.tables.standings import RANK_ENDS, ranks
from calbench.facts.games import SCORES
from calbench.facts.storage import Facts
from calbench.metrics.game import GameScore
from calbench.metrics.optimum import OptimumReach
from calbench.metrics.usage import Tokens
from calbench.stats.spec import AnalysisSpec
from tests.analysis.tables.sample import BY_HAND, VALUE_BY_MEASURE
from tests.facts.measured import facts_of_games, table_rows
from tests.facts.scored import agent, facts_of_scores, game, player, score
from tests.llm.asking import price

SETTINGS = Settings(analysis=AnalysisSpec())
STANDS = ("rank_low", "rank_high", "ranked", "letters")
QUIET = player("quiet", "degenerate")
TIMES = 10


def games_of(team: str, excess: Sequence[int], **changes: Any) -> list[GameScore]:
    """Return a game a scenario, with this excess cost; its oracle pays 3."""
    seat = changes.pop("seat", player(team))
    return [
        score(
            agent(seat, **({"excess_cost": each} | changes)),
            scenario=f"s{number}",
            team=team,
            optimum=OptimumReach(3, is_searched=True, loss=None),
        )
        for number, each in enumerate(excess)
    ]


def four_teams() -> list[GameScore]:
    """Return games: ``best`` and ``near`` are alike, ``worst`` pays much, ``quiet`` most."""
    return [
        *games_of("worst", [20] * TIMES),
        *games_of("best", [0] * TIMES),
        *games_of("near", [0] * (TIMES - 1) + [1]),
        *games_of("quiet", [90] * TIMES, seat=QUIET),
    ]


def standings(facts: Facts, settings: Settings = SETTINGS) -> dict[str, dict[str, str]]:
    return {row["team"]: row for row in table_rows(facts, "standings.csv", settings)}


def stands(row: dict[str, str], measure: str = "excess_cost") -> tuple[str, ...]:
    return tuple(row[f"{measure}_{part}"] for part in STANDS)


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    teams = ["worst", "best", "near", "quiet"]
    return facts_of_scores(tmp_path_factory.mktemp("facts"), four_teams(), teams)


def test_ranks_claim_what_comparisons_show(facts: Facts) -> None:
    table = standings(facts)
    assert list(table) == ["worst", "best", "near", "quiet", "oracle"]
    assert stands(table["best"]) == ("1", "2", "3", "a")
    assert stands(table["near"]) == ("1", "2", "3", "a")
    assert stands(table["worst"]) == ("3", "3", "3", "")
    # Where all are the same, everybody shares every rank.
    for team in ("best", "near", "worst"):
        assert stands(table[team], "coordination") == ("1", "3", "3", "a")


def pair(
    a: str,
    b: str,
    gap: float,
    verdict: str,
    measure: str = "excess_cost",
    setting: str = "s",
    remark: str = "",
) -> dict[str, object]:
    return {
        "setting": setting,
        "team_a": a,
        "team_b": b,
        "measure": measure,
        "difference": gap,
        "verdict": verdict,
        "remark": remark,
    }


PAIRS = (
    pair("a", "b", -0.1, "tied"),
    pair("b", "c", -0.1, "not told apart"),
    pair("a", "c", -0.2, "different", remark="within the margin"),
    pair("a", "d", -0.9, "different"),
    pair("b", "d", -0.8, "different"),
    pair("c", "d", -0.7, "different"),
    pair("a", "b", 5.0, "different", measure="messages"),
    pair("a", "b", 5.0, "different", setting="other"),
    pair("a", "x", 5.0, "different"),  # of a team without rank
    pair("e", "a", 5.0, "not tested", remark="two instruments"),
)


def ranked(
    teams: str, pairs: Sequence[dict[str, object]], measure: str = "excess_cost"
) -> list[list[object]]:
    """Return team, best and worst rank, how many have one, and letters."""
    rows = pd.DataFrame({"setting": "s", "team": list(teams), "kinds": "protocol"})
    found = ranks(rows, pd.DataFrame(pairs))[[f"{measure}{end}" for end in RANK_ENDS]]
    return [[team, *row] for team, row in zip(teams, found.to_numpy(), strict=True) if row[0] > 0]


def test_one_may_be_not_told_apart_from_two_that_differ() -> None:
    assert ranked("abcde", PAIRS) == [
        ["a", 1, 2, 4, "a"],
        ["b", 1, 3, 4, "a b"],
        ["c", 2, 3, 4, "b"],
        ["d", 4, 4, 4, ""],
    ]


@pytest.mark.parametrize(
    ("verdict", "remark", "is_ranked"),
    [
        ("identical", "", True),
        ("not tested", "too few scenarios", True),
        ("not tested", "degenerate team", False),
        ("not tested", "no common scenario", False),
        ("not tested", "two instruments", False),
    ],
)
def test_who_may_not_be_compared_is_not_ranked(
    verdict: str, remark: str, *, is_ranked: bool
) -> None:
    found = ranked("ab", [pair("a", "b", 3.0, verdict, remark=remark)])
    assert found == ([["a", 1, 2, 2, "a"], ["b", 1, 2, 2, "a"]] if is_ranked else [])


@pytest.mark.parametrize(("measure", "ranks"), [("coordination", [1, 2]), ("messages", [2, 1])])
def test_better_is_what_the_measure_says(measure: str, ranks: list[int]) -> None:
    found = ranked("ab", [pair("a", "b", 9.0, "different", measure)], measure=measure)
    assert [row[1] for row in found] == [row[2] for row in found] == ranks


def test_degenerate_baselines_and_the_oracle_have_no_rank(facts: Facts) -> None:
    table = standings(facts)
    for team in ("quiet", "oracle"):
        for measure in VALUE_BY_MEASURE:
            assert stands(table[team], measure) == ("", "", "", "")
    assert table["quiet"]["excess_cost"] == "90.0000"


def test_the_level_is_one_less_the_confidence(facts: Facts) -> None:
    """A p-value that is the level does not count as below it."""
    rows = table_rows(facts, "comparisons.csv", SETTINGS)
    (p_value,) = {
        row["p_adjusted"]
        for row in rows
        if (row["team_a"], row["team_b"], row["measure"]) == ("worst", "best", "excess_cost")
    }
    assert 0.001 < float(p_value) < 0.05
    at = SETTINGS.analysis.model_copy(update={"confidence": 1 - float(p_value)})
    below = SETTINGS.analysis.model_copy(update={"confidence": 1 - float(p_value) - 1e-4})
    assert stands(standings(facts, Settings(analysis=at))["worst"]) == ("1", "3", "3", "a")
    assert stands(standings(facts, Settings(analysis=below))["worst"]) == ("3", "3", "3", "")


def test_a_team_that_was_not_compared_has_no_rank(tmp_path: Path) -> None:
    """Its loss was measured in another way than that of the others."""
    games = [
        *games_of("a", [0] * TIMES, excess_vps=4.0),
        *games_of("b", [0] * TIMES, excess_vps=1.0),
        *games_of("c", [0] * TIMES, excess_vps=0.0, vps_kind="reflection"),
        *games_of("d", [0] * TIMES, excess_vps=0.0, vps_kind="expected"),
    ]
    table = standings(facts_of_scores(tmp_path, games))
    assert stands(table["a"], "excess_vps") == ("2", "2", "2", "")
    assert stands(table["b"], "excess_vps") == ("1", "1", "2", "")
    for team in "cd":  # each alone with its instrument
        assert stands(table[team], "excess_vps") == ("", "", "", "")
        assert stands(table[team], "excess_cost") == ("1", "4", "4", "a")


def test_teams_of_settings_do_not_mix(tmp_path: Path) -> None:
    games = [*games_of("a", [0] * TIMES), *games_of("b", [9] * TIMES)]
    other = [score(*each.agents, scenario=each.scenario_id, team=each.team_id, setting="varied")
             for each in games_of("b", [0] * TIMES)]  # fmt: skip
    rows = table_rows(facts_of_scores(tmp_path, [*games, *other]), "standings.csv", SETTINGS)
    assert [(row["setting"], row["team"], *stands(row)) for row in rows] == [
        ("uniform", "a", "1", "1", "2", ""),
        ("uniform", "b", "2", "2", "2", ""),
        ("uniform", "oracle", "", "", "", ""),
        ("varied", "b", "", "", "", ""),
    ]


BASIS = (*(column.name for column in READABILITY), "vps_agreed")
"""What VPS rests on, and what stands beside it: only in leaderboard.csv."""


def test_estimates_and_n_are_those_of_the_leaderboard(facts: Facts) -> None:
    table = standings(facts)
    for row in table_rows(facts, "leaderboard.csv", SETTINGS):
        found = table[row["team"]]
        assert {name: found[name] for name in row if name not in BASIS} == {
            name: value for name, value in row.items() if name not in BASIS
        }
    for row in table_rows(facts, "agent_game_counts.csv", SETTINGS):
        assert table[row["team"]][f"{row['measure']}_n"] == row["agent_games"]


def test_scenarios_and_channels_say_what_may_be_compared(tmp_path: Path) -> None:
    games = [score(scenario=name, team=team) for name, team in
             (("s1", "a"), ("s0", "a"), ("s1", "b"))]  # fmt: skip
    facts = facts_of_games(
        tmp_path, [game(each, ("dm", "all_agent_groupchat")) for each in games], facts=SCORES
    )
    rows = table_rows(facts, "standings.csv", SETTINGS)
    digest = sha256(b"digest of s0digest of s1").hexdigest()
    assert {(row["suite_digest"], row["channels"]) for row in rows} == {
        (digest, "dm all_agent_groupchat")
    }


def test_kinds_and_lost_games(tmp_path: Path) -> None:
    words, model = player("zed", "scripted"), player("gpt", "model", "openai/gpt")
    games = [
        score(agent(words), agent(model), agent(words), team="mixed"),
        score(agent(words), scenario="s1", team="mixed", is_excluded=True),
        score(team="plain"),
    ]
    table = standings(facts_of_scores(tmp_path, games))
    assert table["mixed"]["kinds"] == "model scripted"  # by name of the players
    assert (table["mixed"]["games"], table["mixed"]["games_excluded"]) == ("1", "1")
    assert (table["plain"]["kinds"], table["plain"]["games_excluded"]) == ("protocol", "0")


def test_the_oracle_pays_what_it_pays(tmp_path: Path) -> None:
    """Once a scenario whose optimum is known; who has no meeting is in no mean of coordination."""
    known = OptimumReach(3, is_searched=True, loss=None)
    games = [
        score(agent(), agent(assigned=0), team="a", optimum=known),
        score(agent(), agent(), team="b", optimum=known),
        score(agent(), agent(), agent(), scenario="s1", team="a", optimum=known),
        score(agent(), scenario="s2", team="a"),
        score(agent(assigned=0), scenario="s3", setting="empty", optimum=known),
    ]
    rows = table_rows(facts_of_scores(tmp_path, games), "standings.csv", SETTINGS)
    assert [(row["setting"], row["team"]) for row in rows] == [
        ("empty", "imap"), ("uniform", "a"), ("uniform", "b"), ("uniform", "oracle")
    ]  # fmt: skip
    oracle = rows[-1]
    assert (oracle["kinds"], oracle["scenarios"]) == ("reference", "2")
    assert oracle["suite_digest"] == rows[1]["suite_digest"]
    assert {name: (oracle[name], oracle[f"{name}_n"]) for name in BY_HAND} == {
        "coordination": ("100.0000", "4"),
        "excess_cost": ("0.0000", "5"),
        "excess_cost_per_meeting": ("0.0000", "4"),
        "adjusted_excess_cost": ("0.0000", "4"),
        "messages": ("", ""),
        "fairness": ("0.0000", "5"),
        "vps_beyond_chance": ("", ""),
        "excess_vps": ("", ""),
        "excess_vps_participants": ("", ""),
    }
    assert (oracle["cost_ratio"], oracle["cost_ratio_interval"]) == ("1.0000", "exact")
    assert rows[0]["cost_ratio"] == ""
    assert oracle["exact"].split() == [name for name in VALUE_BY_MEASURE if oracle[name]]
    for name in ("games", "games_excluded", "vps_kind", "calls", "price_usd", "excess_cost_low"):
        assert oracle[name] == ""


PRICES = {"m/a": price(2.0, 0.5, 8.0), "m/b": price(1.0, 1.0, 1.0)}


def spoken(model: str, sent: int, received: int, **changes: Any) -> GameScore:
    tokens = Tokens(calls=2, input_tokens=sent, cached_tokens=100, output_tokens=received)
    seat = player(model.rpartition("/")[2], "model", model)
    return score(agent(seat, tokens=tokens), agent(), **{"team": "mixed", **changes})


def test_money_is_that_of_all_players_of_a_team(tmp_path: Path) -> None:
    games = [
        spoken("m/a", 1000, 50),
        spoken("m/b", 3000, 70, scenario="s1"),
        spoken("m/b", 3000, 70, scenario="s2"),
        score(team="typed"),
    ]
    table = standings(
        facts_of_scores(tmp_path, games), Settings(SETTINGS.measure, SETTINGS.analysis, PRICES)
    )
    row = table["mixed"]
    assert [row[name] for name in ("calls", "input_tokens", "cached_tokens", "output_tokens")] == [
        "6", "7000", "300", "190",
    ]  # fmt: skip
    price = (900 * 2 + 100 * 0.5 + 50 * 8 + 2 * (3000 + 70)) / 1e6
    assert row["price_usd"] == f"{price:.6f}"
    assert row["price_usd_per_game"] == f"{price / 3:.6f}"
    assert [table["typed"][name] for name in ("calls", "price_usd", "price_usd_per_game")] == [
        ""
    ] * 3


def test_one_unknown_price_leaves_the_sum_unknown(tmp_path: Path) -> None:
    games = [spoken("m/a", 1000, 50), spoken("m/c", 3000, 70, scenario="s1")]
    settings = Settings(SETTINGS.measure, SETTINGS.analysis, PRICES)
    row = standings(facts_of_scores(tmp_path, games), settings)["mixed"]
    assert (row["input_tokens"], row["price_usd"], row["price_usd_per_game"]) == ("4000", "", "")


def test_calls_of_excluded_games_have_no_price_a_game(tmp_path: Path) -> None:
    settings = Settings(SETTINGS.measure, SETTINGS.analysis, PRICES)
    row = standings(
        facts_of_scores(tmp_path, [spoken("m/a", 1000, 50, is_excluded=True)]), settings
    )
    assert (row["mixed"]["games"], row["mixed"]["calls"]) == ("0", "0")
    assert (row["mixed"]["price_usd"], row["mixed"]["price_usd_per_game"]) == ("0.000000", "")
