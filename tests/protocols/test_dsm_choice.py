"""DSM's order of choice, worked out by hand (paper, appendix D.3)."""

from calbench.domain.ids import AgentId, Slot
from calbench.protocols.dsm.offers import Rank, best_rank, required
from calbench.protocols.dsm.plans import Displacement, Plan, own_plans
from tests.protocols.bookings import booked, meeting

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


def test_feasible_plans_come_before_better_sums() -> None:
    plans = [plain(0, 11), plain(1, 1)]
    assert chosen(plans, {0: 11, 1: 1}, {0: 0, 1: 1}) == 1


def test_smallest_shortfall_wins_then_the_lower_slot() -> None:
    plans = [plain(3, 11), plain(5, 11), plain(1, 10)]
    assert chosen(plans, {0: 10, 1: 11, 2: 11}, {0: 11, 1: 11, 2: 11}) == 1
    assert chosen(plans, {0: 11, 1: 10, 2: 11}, {0: 10, 1: 11, 2: 11}) == 2
    assert chosen(plans, {0: 11, 1: 10, 2: 10}, {0: 11, 1: 11, 2: 11}) == 0


def test_first_of_the_order_is_taken_when_nothing_is_feasible() -> None:
    plans = [plain(3, 11), plain(1, 10)]
    assert chosen(plans, {0: 0, 1: 0}, {0: 11, 1: 11}) == 0
    assert chosen(plans, {0: 0, 1: 1}, {0: 10, 1: 0}) == 0
    assert chosen(plans, {0: 0, 1: 2}, {0: 0, 1: 0}) == 1


def test_fewer_who_decide_win_when_the_shortfall_is_equal() -> None:
    # Both fall short by 2: the errand at slot 5 asks two others, the meeting at slot 0 three.
    moving = Plan(Slot(0), 0, 10, (Displacement(X, Slot(0), Slot(3)),))
    plans = [moving, plain(5, 10)]
    assert chosen(plans, {0: 11, 1: 10}, {0: 11, 1: 11}, {0: 10, 1: 0}) == 1
    assert chosen(plans, {0: 11, 1: 9}, {0: 11, 1: 11}, {0: 10, 1: 0}) == 0


def test_lower_index_wins_among_equal_plans_of_one_slot() -> None:
    first = Plan(Slot(0), 0, 10, (Displacement(X, Slot(0), Slot(3)),))
    second = Plan(Slot(0), 1, 10, (Displacement(X, Slot(0), Slot(5)),))
    same = {0: 11, 1: 11}
    assert chosen([first, second], same, same, {0: 10, 1: 10}) == 0
    assert chosen([first, second], same, same, {0: 9, 1: 10}) == 1


def test_plan_needs_the_participants_and_the_outsiders_it_concerns() -> None:
    plans = list(own_plans(booked("..B.", {0: X, 1: Y}), 2, 4))
    assert [required(plan, NEW, RESPONDERS) for plan in plans] == [
        (1, 4),
        (1, 4, 2),
        (1, 4, 3),
        (1, 4, 2, 3),
        (1, 4, 2, 3),
    ]


def test_nothing_is_chosen_while_a_score_is_missing() -> None:
    plans = [plain(0, 11), Plan(Slot(1), 0, 10, (Displacement(X, Slot(1), Slot(3)),))]
    both = {0: 11, 1: 11}
    assert chosen(plans, both, both) is None
    assert chosen(plans, both, both, {0: 11}) is None
    assert chosen(plans, both, both, {1: 11}) == 0
