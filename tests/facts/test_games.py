"""Facts of a score: every column of a game, its agents, meetings, rounds, charges and shares."""

from dataclasses import replace
from typing import Any

import pytest

from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.observations import Phase
from calbench.facts.fact import Fact
from calbench.facts.games import AGENTS, GAMES, REGRET, ROUNDS, RULES_DIGITS, SCORES, SHARES
from calbench.metrics.game import GameScore, VpsShare
from calbench.metrics.optimum import OptimumLoss, OptimumReach
from calbench.metrics.outcomes import AgentRound
from calbench.metrics.regret import MeetingRegret
from calbench.metrics.usage import PROBLEMS, ReplyCounts, Tokens
from tests.facts.scored import agent, game, meeting, player, score


def one(fact: Fact, each: GameScore) -> dict[str, Any]:
    """Return the only row of a fact."""
    values = fact.of(game(each, ("dm", "all_agent_groupchat")))
    assert list(values) == [column.name for column in fact.columns]
    return {name: only for name, (only,) in values.items()}


def rows(fact: Fact, each: GameScore) -> list[tuple[Any, ...]]:
    values = fact.of(game(each))
    assert list(values) == [column.name for column in fact.columns]
    return list(zip(*values.values(), strict=True))


ROUND = AgentRound(
    agent_id=AgentId(1),
    round=2,
    meeting_id=MeetingId(3),
    role="first",
    is_initiator=False,
    is_scheduled=True,
    messages=4,
    cost=9,
    oracle_cost=7,
    shown_cost=90,
    shown_oracle_cost=70,
    vps=1.5,
    moved_meetings=frozenset({MeetingId(7), MeetingId(8)}),
    moved_copies=frozenset({MeetingId(5)}),
)


BY_HAND: dict[str, Any] = {
    "setting": "uniform",
    "bits": 0.0,
    "limits": "text",
    "scenario_id": "s0",
    "team": "imap",
    "replicate": 0,
    "game_id": "uniform/imap/s0",
    "is_excluded": False,
    "meetings": 4,
    "scheduled": 2,
    "cost": 6,
    "oracle_cost": 5,
    "excess_cost": 1,
    "messages": 6,
    "vps": 6.5,
    "excess_vps": 1.5,
    "excess_vps_participants": 0.5,
    "vps_beyond_chance": 0.125,
    "vps_kind": "mixed",
    "scenario_digest": "digest of s0",
    "channels": "dm all_agent_groupchat",
    "agents": 2,
    "slots": 4,
    "optimum": 12,
    "is_searched": True,
    **dict.fromkeys(("event_index", "round", "phase", "agent_id"), None),
    **dict.fromkeys(("least_cost_before", "least_cost_after"), None),
    "cheapest_cost": 0,
    "clashes": 0.0,
    "greedy_cost": 0,
}
"""What the game by hand has beside what it is given."""


def test_a_game_by_hand() -> None:
    reach = OptimumReach(12, is_searched=True, loss=None)
    own: dict[str, Any] = {
        "tertile": "hard",
        "feasible_fraction": 0.25,
        "message_bytes": 77,
        "fairness": 1.5,
        "fairness_least": 1.25,
        "fairness_greatest": 1.75,
        "is_fairness_sampled": True,
        "fairness_vectors": 7,
    }
    found = one(
        GAMES,
        score(
            agent(cost=5, oracle_cost=3, excess_cost=2, messages_sent=4, vps=6.0, excess_vps=1.0,
                  excess_vps_participants=0.5),
            agent(cost=1, oracle_cost=2, excess_cost=-1, messages_sent=2, vps=0.5,
                  vps_kind="reflection", excess_vps=2.0, excess_vps_participants=None,
                  vps_by_chance=0.375),
            meetings=(meeting(1), meeting(2, "no_batch"), meeting(3)),
            num_meetings=4, optimum=reach, **own,
        ),
    )  # fmt: skip
    assert len(str(found.pop("rules_digest"))) == RULES_DIGITS
    assert found == {**own, **BY_HAND}


def test_one_unknown_loss_leaves_the_sum_unknown_and_the_mean_alone() -> None:
    unknown = agent(vps=None, excess_vps=None, excess_vps_participants=None, vps_kind=None)
    found = one(GAMES, score(agent(vps=4.0, excess_vps=3.0), unknown))
    assert (found["vps"], found["excess_vps"]) == (None, 3.0)
    nobody = one(GAMES, score(unknown))
    assert [nobody[name] for name in ("vps", "excess_vps", "vps_kind")] == [None] * 3
    zero = one(GAMES, score(agent(), agent()))
    assert (zero["vps"], zero["excess_vps"]) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("phase", "who", "after", "shown"),
    [(Phase.DECISION, AgentId(1), 14, "DECISION"), (None, None, None, "RESOLUTION")],
)
def test_the_loss_of_the_optimum(
    phase: Phase | None, who: AgentId | None, after: int | None, shown: str
) -> None:
    loss = OptimumLoss(33, 2, phase, who, after)
    found = one(GAMES, score(optimum=OptimumReach(12, is_searched=True, loss=loss)))
    assert (found["event_index"], found["round"], found["phase"]) == (33, 2, shown)
    assert (found["agent_id"], found["least_cost_before"]) == (who, 12)
    assert found["least_cost_after"] == after


SEAT: dict[str, Any] = {
    "assigned": 3,
    "scheduled": 2,
    "cost": 9,
    "oracle_cost": 4,
    "excess_cost": 5,
    "shown_excess_cost": 50,
    "adjusted_excess_cost": 2.5,
    "burden_gap": 1.25,
    "messages_sent": 6,
    "vps": 7.0,
    "excess_vps": 2.0,
    "excess_vps_participants": 1.0,
    "vps_kind": "reflection",
    "vps_agreed": 4.0,
    "vps_by_chance": 5.5,
    "vps_constant": 89.0,
    "reflections_asked": 20,
    "reflections_read": 15,
    "cost_range": 7,
}
"""What a seat by hand is given of its score."""


def test_a_seat_by_hand() -> None:
    seat = player("gpt", "model", "openai/gpt", digest="abc")
    told = seat._replace(is_probing=True)
    unread = tuple(range(10, 10 + len(PROBLEMS)))
    used = {
        "calls": 4,
        "input_tokens": 100,
        "cached_tokens": 30,
        "output_tokens": 20,
        "estimated_calls": 1,
    }
    replies = ReplyCounts(replies=500, recovered=8, unread=unread)
    seated = agent(told, vps_participants=6.0, tokens=Tokens(**used), replies=replies, **SEAT)
    found = one(AGENTS, score(seated))
    expected = {
        **SEAT,
        **used,
        "agent_id": 0,
        "player": "gpt",
        "kind": "model",
        "settings_digest": "abc",
        "model": "openai/gpt",
        "uses_language": True,
        "is_probing": True,
        "base_player": "gpt",
        "vps_beyond_chance": 1.5,
        "readable_share": 0.75,
        "replies": 500,
        "read": 500 - sum(unread),
        "recovered": 8,
        **{str(problem): number for number, problem in enumerate(PROBLEMS, start=10)},
        "meetings_moved": 0,
        "copies_moved": 0,
    }
    assert {name: found[name] for name in expected} == expected


def test_who_is_typed_has_no_replies() -> None:
    found = one(AGENTS, score(agent()))
    assert {found[name] for name in ("replies", "read", "recovered", *PROBLEMS)} == {None}
    assert (found["uses_language"], found["model"], found["calls"]) == (False, None, 0)


def test_moves_are_counted_once_over_the_rounds() -> None:
    again = replace(
        ROUND,
        round=3,
        moved_meetings=frozenset({MeetingId(8), MeetingId(9)}),
        moved_copies=frozenset(),
    )
    values = AGENTS.of(game(score(agent(), agent(), rounds=(ROUND, again))))
    assert values["meetings_moved"] == [0, 3]
    assert values["copies_moved"] == [0, 1]


def test_what_a_score_holds_of_a_game_that_counts() -> None:
    regret = MeetingRegret(MeetingId(4), AgentId(1), None, Slot(2), 3, -1, 5)
    whole: dict[str, Any] = {
        "rounds": (ROUND,),
        "regret": (regret,),
        "vps_shares": (VpsShare("costs", "dm", 2.5),),
    }
    assert rows(ROUNDS, score(**whole)) == [(1, 2, "first", 4, 2, 1.5, False, 20)]
    assert rows(REGRET, score(**whole)) == [(4, 1, None, 2, 7, 3, -1, 5)]
    assert rows(SHARES, score(**whole)) == [("costs", "dm", 2.5)]
    for fact in (ROUNDS, REGRET, SHARES):
        assert rows(fact, score(**whole, is_excluded=True)) == []


def test_facts_of_scores_have_names_of_their_own_and_few_are_large() -> None:
    names = [fact.name for fact in SCORES]
    assert names == ["games", "agents", "meetings", "rounds", "regret", "shares", "authors"]
    assert [fact.name for fact in SCORES if fact.is_large] == ["meetings", "rounds", "regret"]
