"""DSM's offers and the choice among them, worked out by hand (paper, appendix D.3)."""

import pytest

from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import MeetingMove, Proposals
from calbench.protocols.dsm.plans import (
    Displacement,
    Plan,
    Rank,
    best_rank,
    joint_feasibility,
    offer_size,
    offers,
    own_plans,
)
from calbench.protocols.dsm.settings import DsmSettings
from tests.factories import calendar
from tests.protocols.observations import booked, meeting

X, Y = meeting(7, 0, 2), meeting(8, 0, 3)
WELFARE = DsmSettings()


@pytest.mark.parametrize(
    ("row", "responders", "q"),
    [
        (".E1B.", 1, 0.5),
        (".E1B.", 2, 0.25),
        ("....", 2, 0.9025),  # one responder counts as 0.95 at most
        ("....", 0, 0.95),  # nobody to ask: 1, cut to 0.95
        ("E1E1E1B", 1, 0.05),  # one responder counts as 0.05 at least
        ("E1E1E1B", 2, 0.01),  # 0.0025, raised to 0.01
    ],
)
def test_joint_feasibility_is_the_free_share_to_the_power_of_responders(
    row: str, responders: int, q: float
) -> None:
    assert joint_feasibility(calendar(row), responders) == pytest.approx(q)


def size(settings: DsmSettings, row: str = ".E1B.", q: float = 0.5) -> int:
    return offer_size(list(own_plans(calendar(row), 2, 4)), q, settings)


def test_offer_size_maximises_the_utility() -> None:
    # Own scores 11, 11, 10 and q = 1/2: p = 1/2, 3/4, 7/8 and v = 1, 1, 32/33. Without a bonus
    # p v - (1 - p) is 0, 0.5 and 0.7235; each plan disclosed costs theta.
    for theta, best in ((0.0, 3), (0.2, 3), (0.25, 2), (0.5, 1), (0.51, 1)):
        assert size(DsmSettings(w=0.0, theta=theta)) == best


def test_offer_size_stays_within_its_bounds() -> None:
    assert size(DsmSettings(lmax=2)) == 2
    assert size(DsmSettings(lmin=2, theta=10.0)) == 2
    assert size(DsmSettings(lmin=9)) == 3
    assert offer_size([], 0.5, WELFARE) == 0


def move(held: int, from_slot: int, to_slot: int, cost: int = 1) -> MeetingMove:
    return MeetingMove(
        meeting_id=MeetingId(held), from_slot=Slot(from_slot), to_slot=Slot(to_slot), cost=cost
    )


def seen(proposals: Proposals) -> list[tuple[int, int, tuple[MeetingMove, ...], tuple[int, ...]]]:
    return [(plan.plan_id, plan.slot, plan.moves, plan.vacated) for plan in proposals.plans]


def test_recipient_sees_the_moves_of_its_own_meetings_and_what_others_vacate() -> None:
    batch = list(own_plans(booked("..B.", {0: X, 1: Y}), 2, 4))[2:4]
    bystander, in_x, in_y = offers(batch, 2, [AgentId(1), AgentId(2), AgentId(3)])
    assert seen(bystander) == [(2, 1, (), (1,)), (3, 0, (), (0, 1))]
    assert seen(in_x) == [(2, 1, (), (1,)), (3, 0, (move(7, 0, 1),), (1,))]
    assert seen(in_y) == [(2, 1, (move(8, 1, 3),), ()), (3, 0, (move(8, 1, 3),), (0,))]


NEW = meeting(1, 0, 1, 4)
X, Y = meeting(7, 0, 2), meeting(8, 0, 3)
RESPONDERS = (AgentId(1), AgentId(4))


def plain(slot: int, score: int) -> Plan:
    return Plan(Slot(slot), 0, score)


def chosen(plans: list[Plan], *columns: dict[int, int]) -> int | None:
    """Return the id chosen when agents 1, 4, 2, 3 gave these scores by plan id."""
    by_agent = dict(zip(map(AgentId, (1, 4, 2, 3)), columns, strict=False))
    best = best_rank(plans, NEW, RESPONDERS, by_agent)
    return None if best is None else best.plan_id


def test_rank_counts_the_initiator_in_the_sum_and_in_the_number() -> None:
    # Two responders: 11 * 3 - (10 + 8 + own 9) = 6.
    scores = {AgentId(1): {0: 10}, AgentId(4): {0: 8}}
    ranked = best_rank([plain(2, 9)], NEW, RESPONDERS, scores)
    assert ranked == Rank(
        is_infeasible=False, shortfall=6, burden=3, slot=Slot(2), index_in_slot=0, plan_id=0
    )
    refused = best_rank([plain(2, 9)], NEW, RESPONDERS, scores | {AgentId(4): {0: 0}})
    assert refused is not None
    assert (refused.is_infeasible, refused.shortfall) == (True, 14)


def test_smallest_shortfall_wins_then_the_lower_slot() -> None:
    plans = [plain(3, 11), plain(5, 11), plain(1, 10)]
    assert chosen(plans, {0: 10, 1: 11, 2: 11}, {0: 11, 1: 11, 2: 11}) == 1
    assert chosen(plans, {0: 11, 1: 10, 2: 11}, {0: 10, 1: 11, 2: 11}) == 2
    assert chosen(plans, {0: 11, 1: 10, 2: 10}, {0: 11, 1: 11, 2: 11}) == 0


def test_fewer_who_decide_win_when_the_shortfall_is_equal() -> None:
    # Both fall short by 2: the errand at slot 5 asks two others, the meeting at slot 0 three.
    moving = Plan(Slot(0), 0, 10, (Displacement(X, Slot(0), Slot(3)),))
    plans = [moving, plain(5, 10)]
    assert chosen(plans, {0: 11, 1: 10}, {0: 11, 1: 11}, {0: 10, 1: 0}) == 1
    assert chosen(plans, {0: 11, 1: 9}, {0: 11, 1: 11}, {0: 10, 1: 0}) == 0
