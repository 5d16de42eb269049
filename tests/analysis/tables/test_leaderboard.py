"""Means of teams against a second computation, and every denominator by hand."""

from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.analysis.estimates import ENDS
from calbench.analysis.measures import MEASURES
from calbench.analysis.registry import Settings
from calbench.analysis.tables import tables_of
from calbench.analysis.tables.leaderboard import cost_ratios
from calbench.domain.messages import Route
from calbench.facts.games import SCORES
from calbench.facts.storage import REPLICATES, Facts
from calbench.metrics.game import GameScore, VpsShare
from calbench.stats.intervals import BOUND, KINDS, NONE, T, estimated
from calbench.stats.sums import Sums
from tests.analysis.tables.sample import (
    BY_HAND,
    SETTINGS,
    SPEC,
    TEAMS,
    VALUE_BY_MEASURE,
    mean,
    played,
    scores_of,
    shown,
    values_of,
)
from tests.facts.measured import facts_of, facts_of_games, lines_of, table_rows, text_of
from tests.facts.scored import agent, facts_of_scores, meeting, player, score
from tests.metrics.games import canonical_scenario, play_team, with_outcome

SAMPLE = Settings(analysis=SPEC)
EVERYBODY: Route = "all_agent_groupchat"
NAMES = tuple(VALUE_BY_MEASURE)


def test_leaderboard_has_exactly_the_public_columns(facts: Facts) -> None:
    first = text_of(facts, "leaderboard.csv", SAMPLE).splitlines()[0]
    assert first.split(",") == [
        *("setting", "team", "games", "scenarios"),
        *(name + end for name in NAMES for end in (*ENDS, "_least", "_greatest")),
        *(f"cost_ratio{end}" for end in ENDS),
        *("vps_kind", "exact", "reflections_asked", "reflections_read", "readable_share"),
        *("is_vps_flagged", "is_vps_ranked", "vps_agreed", "metrics_version"),
    ]
    assert [measure.name for measure in MEASURES] == list(NAMES)


def test_means_are_those_of_a_second_computation(facts: Facts) -> None:
    rows = table_rows(facts, "leaderboard.csv", SAMPLE)
    counts = table_rows(facts, "agent_game_counts.csv", SAMPLE)
    expected = []
    for row in rows:
        scores = scores_of(row["team"], row["setting"])
        assert (row["games"], row["scenarios"]) == ("6", "6")
        for name in NAMES:
            values = values_of(scores, name)
            assert row[name] == shown(mean(values)), (row["team"], name)
            expected.append((row["setting"], row["team"], name, str(len(values))))
    assert [
        (row["setting"], row["team"], row["measure"], row["agent_games"]) for row in counts
    ] == expected


def test_intervals_are_over_scenarios_that_all_teams_share(facts: Facts) -> None:
    rows = table_rows(facts, "leaderboard.csv", SAMPLE)
    for name in ("excess_cost", "messages"):
        for setting in SETTINGS:
            own = [row for row in rows if row["setting"] == setting]
            by_game = [
                [values_of([game], name) for game in scores_of(team, setting)] for team in TEAMS
            ]
            totals = np.array([[fsum(v) for v in games] for games in by_game], dtype=np.float64).T
            counts = np.array([[len(v) for v in games] for games in by_game], dtype=np.float64).T
            found = estimated(Sums(totals, counts), SPEC)
            for place, row in enumerate(own):
                low, high = found.low[place], found.high[place]
                known = not np.isnan(low)
                assert row[f"{name}_low"] == shown(low if known else None)
                assert row[f"{name}_high"] == shown(high if known else None)


def test_each_measure_divides_by_what_it_counts(tmp_path: Path) -> None:
    seats = [
        agent(
            assigned=4, scheduled=2, excess_cost=6, messages_sent=3, adjusted_excess_cost=2.5,
            burden_gap=1.0, excess_vps=4.0, excess_vps_participants=3.0,
        ),
        agent(
            assigned=2, scheduled=0, excess_cost=-1, messages_sent=9, adjusted_excess_cost=None,
            burden_gap=0.5, excess_vps=None, excess_vps_participants=None, vps=None, vps_kind=None,
        ),
        agent(
            assigned=0, scheduled=0, excess_cost=0, messages_sent=5, adjusted_excess_cost=None,
            burden_gap=0.0, excess_vps=1.0, excess_vps_participants=0.0,
        ),
    ]  # fmt: skip
    facts = facts_of_scores(tmp_path, [score(*seats)])
    (row,) = table_rows(facts, "leaderboard.csv")
    assert [row[name] for name in BY_HAND] == [
        "25.0000",  # 50 and 0
        "1.6667",
        "3.0000",
        "2.5000",
        "1.5000",
        "0.5000",
        "",  # typed messages have nothing beyond chance
        "2.5000",
        "1.5000",
    ]
    rows = table_rows(facts, "agent_game_counts.csv")
    counts = {row["measure"]: row["agent_games"] for row in rows}
    assert [counts[name] for name in BY_HAND] == ["2", "3", "1", "1", "1", "3", "0", "2", "2"]
    assert row["vps_kind"] == "protocol"


def paying(cost: int, best: int, number: int, **changes: Any) -> GameScore:
    """Return a game of two agents that paid so much, where the optimum costs ``best``."""
    paid = agent(cost=cost, oracle_cost=best, excess_cost=cost - best)
    return score(paid, agent(), scenario=f"s{number:02d}", **changes)


def test_ratio_of_costs_adds_up_games_first(tmp_path: Path) -> None:
    """A game whose optimum is 0 counts with what was paid in it."""
    pairs = [(4, 2), (3, 0), (0, 0), (5, 4)]
    games = [
        *(paying(*pair, number) for number, pair in enumerate(pairs)),
        *(paying(*pair, number, team="twice") for number, pair in enumerate(2 * pairs)),
        *(paying(each, each, each, team="best") for each in range(5)),
        *(paying(each, 0, each, team="nothing due") for each in range(5)),
        paying(99, 1, 98, is_excluded=True),
    ]
    teams = ["imap", "twice", "best", "nothing due"]
    rows = table_rows(facts_of_scores(tmp_path, games, teams), "leaderboard.csv", SAMPLE)

    found = {row["team"]: tuple(row[f"cost_ratio{end}"] for end in ENDS) for row in rows}
    ratio, mean_best = 12 / 6, 6 / 4
    added = np.array([[ratio + (paid - ratio * best) / mean_best] for paid, best in pairs])
    ends = estimated(Sums(added, np.ones_like(added)), SPEC)
    assert found["imap"] == ("2.0000", "1.0000", shown(float(ends.high[0])), T)
    assert ends.low[0] < 1  # which no game can be
    assert found["twice"][0] == "2.0000"
    assert float(found["twice"][2]) < float(found["imap"][2])
    assert found["best"] == ("1.0000", "", "", "same")
    assert found["nothing due"] == ("", "", "", NONE)


PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=9)
"""The optimum of some games, and what was paid beyond it."""


@given(PAIRS, st.integers(2, 7))
def test_ratio_of_costs_is_that_of_sums_and_has_no_unit(
    pairs: list[tuple[int, int]], scale: int
) -> None:
    def row(factor: int) -> list[float]:
        games = pd.DataFrame(
            {
                "setting": "uniform",
                "team": "imap",
                "scenario_id": [f"s{number}" for number in range(len(pairs))],
                "cost": [factor * (best + more) for best, more in pairs],
                "oracle_cost": [factor * best for best, _ in pairs],
            }
        )
        (found,) = cost_ratios(games, SPEC).to_dict("records")
        return [float(found[f"cost_ratio{end}"]) for end in ENDS[:3]]

    best, more = (sum(each) for each in zip(*pairs, strict=True))
    value, low, high = row(1)
    assert np.isnan(value) == (best == 0)
    assert row(scale) == pytest.approx([value, low, high], nan_ok=True)
    if best:
        assert value == pytest.approx((best + more) / best)
        assert np.isnan(low) or 1 <= low < value + 1e-9 < high + 2e-9


def test_ratio_of_costs_weighs_a_scenario_the_same_however_often_it_is_played() -> None:
    games = pd.DataFrame(
        {
            "setting": "uniform",
            "team": "imap",
            "scenario_id": ["s0", "s0", "s0", "s1"],
            "cost": [4, 4, 4, 1],
            "oracle_cost": [2, 2, 2, 1],
            REPLICATES: [3, 3, 3, 1],
        }
    )

    assert cost_ratios(games, SPEC)["cost_ratio"].tolist() == pytest.approx([5 / 3])


def test_teams_with_only_excluded_games_have_no_numbers(tmp_path: Path) -> None:
    excluded = [with_outcome(play_team(canonical_scenario(9), "imap"), "budget_stop")]
    facts = facts_of(tmp_path, excluded, facts=SCORES)
    (line,) = lines_of(facts, "leaderboard.csv")
    assert line == "uniform,imap,0,0" + "," * (6 * len(NAMES) + 7) + "0,0" + "," * 4
    (sensitivity,) = table_rows(facts, "sensitivity.csv")
    assert (sensitivity["fairness"], sensitivity["fairness_least"]) == ("", "")
    assert (sensitivity["games"], sensitivity["games_sampled"]) == ("0", "0")
    counts = table_rows(facts, "agent_game_counts.csv")
    assert [row["agent_games"] for row in counts] == ["0"] * len(NAMES)


@pytest.mark.parametrize(
    ("scored", "percent", "flagged"),
    [(19, "5.0000", "false"), (18, "5.2632", "true"), (0, "100.0000", "true")],
)
def test_more_than_five_percent_of_excluded_games_are_flagged(
    tmp_path: Path, scored: int, percent: str, flagged: str
) -> None:
    games = [score(scenario=f"s{number:02d}") for number in range(scored)]
    facts = facts_of_scores(tmp_path, [*games, score(scenario="excluded", is_excluded=True)])
    (row,) = table_rows(facts, "outcomes.csv")
    assert (row["games"], row["games_excluded"]) == (str(scored + 1), "1")
    assert (row["excluded_percent"], row["is_flagged"]) == (percent, flagged)


def test_outcomes_count_the_meetings_of_every_game_recorded(tmp_path: Path) -> None:
    ends = ("scheduled", "no_batch", "scheduled", "inconsistent_slots", "earlier_meeting_broken")
    games = [
        score(meetings=tuple(meeting(n, end) for n, end in enumerate(ends, start=1))),  # type: ignore[arg-type]
        score(scenario="s1", meetings=(meeting(1), meeting(2, "budget_stop")), is_excluded=True),
        score(scenario="s0", team="quiet"),
    ]
    assert lines_of(facts_of_scores(tmp_path, games), "outcomes.csv") == [
        # games, excluded, percent, flagged, meetings, then by outcome
        "uniform,imap,2,1,50.0000,true,7,3,1,1,1,0,1",
        "uniform,quiet,1,0,0.0000,false,0,0,0,0,0,0,0",
    ]


def test_sensitivity_weighs_games_by_their_agents(tmp_path: Path) -> None:
    two = [agent(burden_gap=1.0), agent(burden_gap=3.0)]
    three = [agent(burden_gap=4.0)] * 3
    games = [
        score(*two, scenario="s0", fairness_least=1.0, fairness_greatest=3.0),
        score(
            *three, scenario="s1", fairness_least=2.0, fairness_greatest=8.0,
            is_fairness_sampled=True,
        ),
        score(*three, scenario="s2", fairness_least=99.0, fairness_greatest=99.0, is_excluded=True),
    ]  # fmt: skip
    assert lines_of(facts_of_scores(tmp_path, games), "sensitivity.csv") == [
        # (1 x 2 + 2 x 3) / 5, (1 + 3 + 3 x 4) / 5, (3 x 2 + 8 x 3) / 5
        "uniform,imap,1.6000,3.2000,6.0000,2,1,0"
    ]


@pytest.mark.heavy
def test_a_range_of_fairness_over_some_games_only_is_not_given(tmp_path: Path) -> None:
    left_out: dict[str, Any] = {
        "fairness_least": None, "fairness_greatest": None, "is_fairness_sampled": None,
    }  # fmt: skip
    games = [
        score(agent(burden_gap=1.0), scenario="s0", fairness_least=0.5, fairness_greatest=3.0),
        score(agent(burden_gap=2.0), scenario="s1", **left_out),
    ]
    assert lines_of(facts_of_scores(tmp_path, games), "sensitivity.csv") == [
        "uniform,imap,,1.5000,,2,0,1"
    ]


def test_shares_run_over_all_typed_agents(tmp_path: Path) -> None:
    words = player("talker", "scripted")
    games = [
        score(agent(), agent(), vps_shares=(VpsShare("costs", "dm", 6.0),), team="z"),
        score(
            agent(), agent(), scenario="s1", team="z",
            vps_shares=(VpsShare("costs", "dm", 2.0), VpsShare("costs", EVERYBODY, 1.0)),
        ),
        score(
            agent(), agent(words, vps_kind="reflection", vps=9.0), team="a",
            vps_shares=(VpsShare("decision", "dm", 3.0), VpsShare("costs", "dm", 1.0)),
        ),
        score(
            agent(), scenario="s2", team="a", is_excluded=True,
            vps_shares=(VpsShare("x", "dm", 1),),
        ),
        score(agent(words, vps_kind=None, vps=None), scenario="s3", team="words"),
    ]  # fmt: skip
    facts = facts_of_scores(tmp_path, games, ["z", "a"])
    assert lines_of(facts, "vps_shares.csv") == [
        "uniform,z,costs,all_agent_groupchat,0.250000",
        "uniform,z,costs,dm,2.000000",
        "uniform,a,costs,dm,1.000000",
        "uniform,a,decision,dm,3.000000",
    ]


ENDING = "_interval"


@pytest.mark.heavy
def test_no_interval_of_any_table_is_a_point(tmp_path: Path) -> None:
    facts = facts_of_games(tmp_path, played(), TEAMS, SCORES)
    found = set()
    for table in tables_of(facts):
        names = [column.name for column in table.columns if column.name.endswith(ENDING)]
        for row in table_rows(facts, table.path, Settings(analysis=SPEC)) if names else ():
            for name in (each.removesuffix(ENDING) for each in names):
                value, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
                kind = row[f"{name}{ENDING}"]
                found.add(kind)
                assert bool(low) == bool(high) == (kind in {T, BOUND}), (table.path, row)
                assert value or kind == NONE, (table.path, row)
                assert not low or float(low) < float(high), (table.path, row)
                assert not low or float(low) <= float(value) <= float(high), (table.path, row)
    assert {T, BOUND} < found <= set(KINDS)
