"""DSM's points, worked out by hand (paper, appendix D.3)."""

import json

import pytest

from calbench.domain.canonical import canonical_json
from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import Message, OfferedPlan, PlanDecision, Proposals, Scores
from calbench.protocols.dsm.account import (
    FIRST_BUDGET,
    account,
    availability,
    budget_before,
    flexibility,
    negotiation,
    reward,
    scoring_cost,
)
from tests.protocols.observations import message

ME = AgentId(0)


def test_offers_are_counted_cost_what_they_concede_and_are_read_as_digits() -> None:
    # 11 - s for 1 <= s <= 11, nothing for an infeasible offer.
    assert [scoring_cost([score]) for score in (0, 1, 5, 10, 11)] == [0, 10, 6, 1, 0]
    assert [scoring_cost(scores) for scores in ([11, 0, 10, 1], [])] == [11, 0]
    assert [availability(scores) for scores in ([11, 0, 10, 0], [])] == [2, 0]
    # Three feasible offers, base 4: 2 * 4^1 * 2 + 1 * 4^0 = 17.
    assert [flexibility(scores) for scores in ([2, 1, 2, 0], [0, 0])] == [17, 0]
    assert flexibility([11]) == 11 * 2**10


@pytest.mark.parametrize(
    ("score", "available", "offers", "points"),
    [(0, 3, 5, 0), (11, 3, 5, 0), (10, 1, 5, 1), (10, 3, 5, 3), (1, 4, 3, 12), (5, 1, 1, 6)],
)
def test_reward_repays_the_concession_and_flexibility(
    score: int, available: int, offers: int, points: int
) -> None:
    assert reward(score, available, offers) == points


def offer(*plan_ids: int) -> Proposals:
    return Proposals(
        plans=tuple(
            OfferedPlan(plan_id=number, slot=Slot(number), moves=(), vacated=())
            for number in plan_ids
        )
    )


def answer(**score_by_plan: int) -> Scores:
    numbers = {int(name[1:]): score for name, score in score_by_plan.items()}
    return Scores(plan_ids=tuple(numbers), scores=tuple(numbers.values()))


def decision(plan_id: int) -> PlanDecision:
    return PlanDecision(plan_id=plan_id, slot=Slot(plan_id), moves=())


def talk(meeting_id: int = 1) -> list:  # type: ignore[type-arg]
    """Two batches to agents 1, 2 and, as a bystander of the first, 3."""
    return [
        message(0, offer(0, 1), 1, meeting_id=meeting_id),
        message(0, offer(0, 1), 2, meeting_id=meeting_id),
        message(0, offer(0, 1), 3, meeting_id=meeting_id),
        message(1, answer(p0=0, p1=10), 0, meeting_id=meeting_id),
        message(2, answer(p0=11, p1=0), 0, meeting_id=meeting_id),
        message(3, answer(p0=11, p1=9), 0, meeting_id=meeting_id),
        message(0, offer(2), 1, meeting_id=meeting_id),
        message(0, offer(2), 2, meeting_id=meeting_id),
        message(1, answer(p2=10), 0, meeting_id=meeting_id),
        message(2, answer(p2=4), 0, meeting_id=meeting_id),
    ]


def test_account_is_canonical_json_whatever_the_numbers_of_agents() -> None:
    heard = negotiation([message(0, offer(0), agent) for agent in (2, 10, 1)], ME)
    text = account(heard, 0, (AgentId(2),), 100)
    assert list(json.loads(text)["points"]["responders"]) == ["1", "10", "2"]
    assert text == canonical_json(json.loads(text))


def test_budget_is_recomputed_from_earlier_announcements() -> None:
    earlier = [
        *talk(7),
        message(0, decision(2), 1, meeting_id=7),
        message(0, decision(2), 2, meeting_id=7),
        # A meeting led by somebody else, and one that was never announced.
        message(5, offer(0), 0, meeting_id=8),
        message(0, answer(p0=3), 5, meeting_id=8),
        message(5, decision(0), 0, meeting_id=8),
        *talk(9),
    ]
    assert budget_before([], ME) == FIRST_BUDGET == 100
    assert budget_before(earlier, ME) == 101


def test_an_answer_that_is_read_late_counts_for_its_meeting() -> None:
    """Agent 3's consent was not needed: it pays for its score and earns nothing."""
    early = (
        message(0, offer(0), 1, meeting_id=7),
        message(0, offer(0), 3, meeting_id=7),
        message(0, decision(0), 1, meeting_id=7),
    )
    late = message(3, answer(p0=4), 0, meeting_id=7)
    assert budget_before(early, ME) == 100
    assert budget_before((*early, late), ME) == 107


def test_points_of_a_game_that_goes_on_are_those_of_its_whole_transcript() -> None:
    earlier: tuple[Message, ...] = ()
    budgets = []
    for about in (7, 8, 9):
        earlier += (*talk(about), message(0, decision(2), 1, 2, meeting_id=about))
        budgets.append(budget_before(earlier, ME))
    assert budgets == [101, 102, 103]


def test_first_answer_stands_and_other_numbers_are_no_scores() -> None:
    heard = negotiation(
        [
            message(0, offer(0, 1), 1),
            message(1, answer(p0=12, p1=3), 0),
            message(1, answer(p0=-1, p1=9), 0),
        ],
        ME,
    )
    assert heard.scores == {1: {1: 3}}
    assert not heard.is_answered
    assert heard.num_offered == 2


def test_budget_never_falls_below_zero() -> None:
    poor = account(negotiation(talk(), ME), 2, (AgentId(1), AgentId(2)), 0)
    assert json.loads(poor)["points"]["budget"] == 1
    dear = [message(0, offer(0, 1, 2), 1), message(1, answer(p0=10, p1=11, p2=11), 0)]
    assert json.loads(account(negotiation(dear, ME), 0, (AgentId(1),), 1))["points"] == {
        "responders": {
            "1": {
                "availability": 3,
                "flexibility": 10 * 4**9 + 22 * 4**10,
                "scoring_cost": 1,
                "reward": 3,
            }
        },
        "collected": 1,
        "paid": 3,
        "budget": 0,
    }
