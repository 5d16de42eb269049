"""DSM's order of choice, worked out by hand (paper, appendix D.3)."""

from calbench.domain.ids import AgentId, Slot
from calbench.protocols.dsm.offers import Rank, best_rank
from calbench.protocols.dsm.plans import Displacement, Plan
from tests.protocols.bookings import meeting

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
