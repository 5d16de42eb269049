"""DSM's scores, worked out by hand (paper, appendix D.3)."""

from calbench.domain.calendars import Calendar
from calbench.domain.ids import MeetingId, Slot
from calbench.domain.messages import MeetingMove, OfferedPlan, Proposals
from calbench.protocols.dsm.scores import outsider_score, participant_score, scored
from tests.factories import calendar
from tests.protocols.observations import booked, meeting

X, Y = meeting(7, 0, 2), meeting(8, 0, 3)


def plan(
    slot: int, *moves: tuple[int, int, int, int], vacated: tuple[int, ...] = (), plan_id: int = 0
) -> OfferedPlan:
    """Return an offered plan; a move is (meeting, from, to, cost)."""
    return OfferedPlan(
        plan_id=plan_id,
        slot=Slot(slot),
        moves=tuple(
            MeetingMove(
                meeting_id=MeetingId(held), from_slot=Slot(start), to_slot=Slot(end), cost=cost
            )
            for held, start, end, cost in moves
        ),
        vacated=tuple(Slot(slot) for slot in vacated),
    )


def participant(held: Calendar, *plans: OfferedPlan) -> list[int]:
    return [participant_score(held, each) for each in plans]


def outsider(held: Calendar, *plans: OfferedPlan) -> list[int]:
    return [outsider_score(held, each) for each in plans]


def test_participant_scores_what_stands_in_the_slot() -> None:
    held = booked(".E1E10E100B1.", {5: X})
    assert participant(held, *[plan(slot) for slot in range(6)]) == [11, 10, 1, 1, 0, 0]
    assert participant(calendar("E1E1"), plan(0)) == [10], "not where the errand will land"
    outside = (plan(-1), plan(3), plan(0, (7, 0, 3, 1)), plan(0, (7, 0, -1, 1)))
    assert participant(calendar("..."), *outside) == [0, 0, 0, 0]


def test_meeting_is_infeasible_unless_a_visible_move_takes_it_away() -> None:
    held = booked("..E1.", {0: X, 1: Y})
    assert participant(
        held,
        plan(0, vacated=(0,)),  # somebody else's meeting leaves slot 0; mine stays
        plan(0, (7, 0, 3, 1)),
        plan(0, (8, 1, 3, 1)),  # a move, but of another meeting
        plan(0, (7, 0, 3, 4)),
    ) == [0, 10, 0, 7]


def test_move_is_feasible_when_its_target_is_free_or_vacated() -> None:
    held = booked("..E1.B", {0: X})
    assert participant(
        held,
        plan(0, (7, 0, 3, 1)),  # free
        plan(0, (7, 0, 2, 1)),  # an errand is there
        plan(0, (7, 0, 2, 1), vacated=(2,)),  # so it does, but the plan says it is vacated
        plan(0, (7, 0, 4, 1), vacated=(2,)),
        plan(0, (7, 0, 2, 1), (8, 2, 1, 2)),  # a visible move vacates too
    ) == [10, 0, 10, 0, 8]
    # Its cost counts without a copy of the meeting.
    assert participant(calendar("E3.."), plan(0, (7, 0, 2, 2)), plan(1, (7, 1, 2, 2))) == [6, 9]


def test_outsider_scores_eleven_unless_a_visible_move_concerns_it() -> None:
    held = booked("B.E1.", {1: X})
    assert outsider(
        held,
        plan(0),
        plan(0, vacated=(1,)),
        plan(1, (7, 1, 3, 1)),
        plan(1, (7, 1, 2, 1)),
        plan(1, (7, 1, 2, 1), vacated=(2,)),
        plan(1, (7, 1, 3, 20)),
    ) == [11, 11, 10, 0, 10, 1]


def test_answer_names_every_plan_in_the_order_of_the_offer() -> None:
    offer = Proposals(plans=(plan(2, plan_id=4), plan(0, plan_id=5), plan(1, plan_id=6)))
    answer = scored(calendar(".B1E1"), offer, is_participant=True)
    assert (answer.plan_ids, answer.scores) == ((4, 5, 6), (10, 11, 0))
    assert scored(calendar(".B1E1"), offer, is_participant=False).scores == (11, 11, 11)
