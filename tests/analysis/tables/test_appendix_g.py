"""The tables of appendix G: by hand, and by a second computation over games that were played."""

from collections import defaultdict
from math import fsum
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from calbench.analysis.registry import Settings
from calbench.analysis.tables.appendix_g import QUANTITIES
from calbench.domain.ids import AgentId, ItemId, MeetingId
from calbench.facts.storage import Facts
from calbench.metrics.game import GameScore
from calbench.metrics.outcomes import AgentRound
from calbench.stats.intervals import Bounds
from calbench.stats.intervals import estimated as estimate
from calbench.stats.resampling import adjusted_p_values, sign_flip_p_values
from calbench.stats.sums import Sums
from tests.analysis.tables.sample import SPEC, TEAMS, mean, scores_of, shown
from tests.facts.measured import lines_of, table_rows
from tests.facts.scored import agent, facts_of_scores, player, score

SAMPLE = Settings(analysis=SPEC)
PATHS = ("completion_regret", "first_speaker", "initiator", "messages_by_meeting", "prior_moves")


def rows_of(facts: Facts, name: str) -> list[dict[str, str]]:
    """Return the rows of one setting."""
    return [row for row in table_rows(facts, f"{name}.csv", SAMPLE) if row["setting"] == "uniform"]


def number(text: str) -> float:
    return float(text) if text else float("nan")


def in_round(index: int, agent_id: int, role: str, **changes: Any) -> AgentRound:
    """Return an agent's round without talk, cost or loss; shown costs are ten times the others."""
    least = changes.get("oracle_cost", 0)
    values: dict[str, Any] = {
        "agent_id": AgentId(agent_id),
        "round": index,
        "meeting_id": MeetingId(index + 1),
        "role": role,
        "is_initiator": False,
        "is_scheduled": True,
        "messages": 0,
        "cost": 0,
        "oracle_cost": 0,
        "shown_cost": 10 * changes.get("cost", 0),
        "shown_oracle_cost": None if least is None else 10 * least,
        "vps": 0.0,
        "moved_meetings": frozenset(),
        "moved_copies": frozenset(),
    }
    return AgentRound(**(values | changes))


def played_rounds(*rounds: AgentRound, num_agents: int = 2, **changes: Any) -> GameScore:
    return score(*[agent()] * num_agents, rounds=rounds, **changes)


SHARE = Bounds(np.zeros(1), np.ones(1))


def test_regret_is_that_of_the_seats_that_got_all_their_meetings(facts: Facts) -> None:
    rows = rows_of(facts, "completion_regret")
    assert [row["player"] for row in rows] == list(TEAMS)
    for row in rows:
        agents = [a for game in scores_of(row["player"]) for a in game.agents if a.assigned]
        full = [a for a in agents if a.scheduled == a.assigned]
        assert (row["seats"], row["full_seats"]) == (str(len(agents)), str(len(full)))
        assert row["mean_excess"] == shown(mean([a.excess_cost / a.scheduled for a in full]))
        by_shown = mean([a.shown_excess_cost / a.scheduled for a in full])
        assert row["mean_excess_shown"] == shown(by_shown)
        games = [
            [a.excess_cost for a in game.agents if 0 < a.assigned == a.scheduled]
            for game in scores_of(row["player"])
        ]
        counts = np.array([[float(len(own))] for own in games])
        nonzero = [[float(sum(cost != 0 for cost in own))] for own in games]
        positive = [[float(sum(cost > 0 for cost in own))] for own in games]
        for name, totals in (("nonzero", nonzero), ("positive", positive)):
            found = estimate(Sums(np.array(totals), counts), SPEC, bounds=SHARE)
            ends = (found.value[0], found.low[0], found.high[0])
            expected = ["" if np.isnan(end) else shown(end) for end in ends]
            assert [row[f"{name}_regret{end}"] for end in ("", "_low", "_high")] == expected
            assert row[f"{name}_regret_interval"] == found.kind[0]


def test_who_never_got_all_its_meetings_has_no_regret(tmp_path: Path) -> None:
    facts = facts_of_scores(tmp_path, [score(agent(scheduled=1))])
    assert lines_of(facts, "completion_regret.csv", SAMPLE) == [
        "uniform,imap,protocol,imap,1,0,0" + "," * 16
    ]


def seats_of(name: str) -> list[tuple[GameScore, int]]:
    return [(game, a.agent_id) for game in scores_of(name) for a in game.agents]


def _known(game: GameScore, agent_id: int, quantity: str, role: str) -> list[float]:
    return [
        getattr(r, quantity)
        for r in game.rounds
        if (r.agent_id, r.role) == (agent_id, role) and getattr(r, quantity) is not None
    ]


def test_first_speakers_are_compared_with_themselves(facts: Facts) -> None:
    every = table_rows(facts, "first_speaker.csv", SAMPLE)
    rows = [row for row in every if row["setting"] == "uniform"]
    assert [(row["player"], row["quantity"]) for row in rows] == [
        (team, quantity) for team in TEAMS for quantity in QUANTITIES
    ]
    for row in rows:
        quantity = row["quantity"]
        led: list[float] = []
        followed: list[float] = []
        by_game: dict[str, list[float]] = defaultdict(list)
        for game, own in seats_of(row["player"]):
            first = _known(game, own, quantity, "first")
            after = _known(game, own, quantity, "subsequent")
            led += first
            followed += after
            if first and after:
                by_game[game.scenario_id].append(fmean(first) - fmean(after))
        differences = [each for own in by_game.values() for each in own]
        assert (row["first"], row["subsequent"]) == (str(len(led)), str(len(followed)))
        assert (row["pairs"], row["scenarios"]) == (str(len(differences)), str(len(by_game)))
        assert row["first_mean"] == shown(mean(led))
        assert row["subsequent_mean"] == shown(mean(followed))
        assert number(row["difference"]) == pytest.approx(
            fmean(differences) if differences else np.nan, abs=1e-4, nan_ok=True
        )
        sums = np.array([[fsum(own)] for own in by_game.values()])
        p_value = sign_flip_p_values(sums, SPEC)[0] if differences else None
        assert row["p"] == shown(p_value)
        assert row["vps_kind"] == ("protocol" if quantity == "vps" else "")
    for quantity in QUANTITIES:
        found = [row for row in every if row["p"] and row["quantity"] == quantity]
        assert [number(row["p_adjusted"]) for row in found] == pytest.approx(
            adjusted_p_values([number(row["p"]) for row in found]).tolist(), abs=2e-3
        )
    assert all(bool(row["p"]) == bool(row["p_adjusted"]) for row in every)


def test_initiators_are_told_apart_from_first_speakers(tmp_path: Path) -> None:
    """Agent 0 initiates each meeting and speaks first in none."""
    games = [
        played_rounds(
            in_round(0, 0, "subsequent", is_initiator=True, vps=6.0, cost=4),
            in_round(0, 1, "first", vps=1.0, cost=1),
            in_round(1, 1, "subsequent", is_initiator=True, vps=3.0),
            in_round(1, 2, "first", vps=2.0),
            scenario=f"s{number}",
            num_agents=3,
        )
        for number in range(5)
    ]
    facts = facts_of_scores(tmp_path, games)
    vps, cost, by_shown = table_rows(facts, "initiator.csv", SAMPLE)
    assert [vps[name] for name in ("initiator", "others", "pairs")] == ["10", "10", "5"]
    assert [vps[name] for name in ("initiator_mean", "others_mean")] == ["4.5000", "1.5000"]
    assert [row["difference"] for row in (vps, cost, by_shown)] == ["2.0000", "-1.0000", "-10.0000"]
    assert table_rows(facts, "first_speaker.csv", SAMPLE)[0]["difference"] == "-2.0000"


def test_messages_stand_by_player_meeting_and_role(tmp_path: Path) -> None:
    words = player("talker", "scripted")
    rounds = (
        in_round(1, 0, "subsequent", messages=5),
        in_round(1, 1, "outsider", messages=1),
        in_round(0, 0, "first", messages=2),
        in_round(0, 1, "subsequent", messages=3),
        in_round(0, 2, "subsequent", messages=4),
    )
    seats = [agent(words), agent(), agent()]
    games = [
        score(*seats, rounds=rounds),
        score(*seats, rounds=rounds[2:3], scenario="s1"),
        score(*seats, rounds=rounds, scenario="s2", is_excluded=True),
    ]
    found = lines_of(facts_of_scores(tmp_path, games), "messages_by_meeting.csv", SAMPLE)
    assert found == [
        "uniform,imap,protocol,imap,0,subsequent,2,1,3.5000,,,few",
        "uniform,imap,protocol,imap,1,outsider,1,1,1.0000,,,few",
        "uniform,talker,scripted,imap,0,first,2,2,2.0000,,,few",
        "uniform,talker,scripted,imap,1,subsequent,1,1,5.0000,,,few",
    ]


def items(*numbers: int) -> frozenset[ItemId]:
    return frozenset(map(MeetingId, numbers))


def test_moves_by_hand(tmp_path: Path) -> None:
    rounds = (
        in_round(0, 0, "first", moved_meetings=items(7), moved_copies=items(3)),
        in_round(1, 0, "outsider", moved_meetings=items(7, 8)),
        in_round(0, 1, "outsider", moved_copies=items(3, 4)),
    )
    games = [
        played_rounds(*rounds),
        played_rounds(num_agents=1, scenario="s1"),
        played_rounds(*rounds, scenario="s2", is_excluded=True),
    ]
    (row,) = table_rows(facts_of_scores(tmp_path, games), "prior_moves.csv", SAMPLE)
    assert (row["agent_games"], row["scenarios"]) == ("3", "2")
    assert (row["meetings_moved"], row["copies_moved"]) == ("0.6667", "1.0000")
    assert (row["meetings_moved_low"], row["meetings_moved_interval"]) == ("", "few")
