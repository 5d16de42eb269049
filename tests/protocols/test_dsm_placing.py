"""From an announced DSM plan to batches (paper, appendix D.3)."""

import pytest

from calbench.domain.actions import PASS, Action, Turn
from calbench.domain.calendars import Calendar, HiddenMeeting, Meeting
from calbench.domain.ids import MeetingId, Slot
from calbench.domain.messages import (
    Content,
    Decision,
    MeetingMove,
    OfferedPlan,
    PlanDecision,
    Proposals,
)
from calbench.domain.observations import Observation, Phase
from calbench.protocols.base import JUSTIFICATION
from calbench.protocols.dsm import Dsm
from tests.engine.scripts import book, move
from tests.factories import calendar
from tests.protocols.observations import TRIO, booked, meeting, message, observation

X, Y = meeting(7, 0, 1), meeting(8, 0, 1)


def moved(held: int, from_slot: int, to_slot: int) -> MeetingMove:
    return MeetingMove(
        meeting_id=MeetingId(held), from_slot=Slot(from_slot), to_slot=Slot(to_slot), cost=1
    )


def announced(slot: int, *moves: MeetingMove, plan_id: int = 0) -> PlanDecision:
    return PlanDecision(plan_id=plan_id, slot=Slot(slot), moves=moves)


def deciding(
    held: Calendar, *heard: PlanDecision, agent: int = 1, attempt: int = 0, sender: int = 0
) -> Turn:
    seen = observation(
        agent,
        "",
        phase=Phase.DECISION,
        messages=[message(sender, content, agent) for content in heard],
        attempt=attempt,
    )
    return Dsm().act(seen._replace(calendar=held))


def turn(*actions: object) -> Turn:
    return Turn(actions)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("row", "slot", "expected"),
    [
        # The agreed slot is free, or an errand can land.
        ("E1..E1", 2, turn(book(1, 2))),
        ("E1.E1", 2, turn(move(102, 2, 1, JUSTIFICATION), book(1, 2))),
        # Else the lowest slot that can be placed is taken, if there is one.
        *(
            ("E1B1..E1", slot, turn(move(101, 0, 2, JUSTIFICATION), book(1, 0)))
            for slot in (1, -1, 5, 10**20)
        ),
        ("E1B1", 0, PASS),
    ],
)
def test_agreed_slot_is_taken_or_the_lowest_placeable(row: str, slot: int, expected: Turn) -> None:
    assert deciding(calendar(row), announced(slot)) == expected


@pytest.mark.parametrize(
    ("heard", "expected"),
    [
        # The meeting at the agreed slot moves to its announced target.
        (announced(0, moved(8, 1, 3), moved(7, 0, 3)), (move(7, 0, 3, JUSTIFICATION), book(1, 0))),
        # No move is announced for the meeting in the way, or its target is taken.
        (announced(0), ()),
        (announced(0, moved(8, 1, 3)), ()),
        *((announced(0, moved(7, 0, target)), ()) for target in (1, 2, 0, 9)),
    ],
)
def test_meeting_at_the_agreed_slot_moves_as_it_was_announced(
    heard: PlanDecision, expected: tuple[Action, ...]
) -> None:
    assert deciding(booked("..E1.", {0: X, 1: Y}), heard) == Turn(expected)


def test_lowest_placeable_slot_moves_no_meeting_even_an_announced_one() -> None:
    held = booked(".B1.", {0: X})
    assert deciding(held, announced(1, moved(7, 0, 2))) == PASS
    assert deciding(calendar("E1B1"), announced(0), attempt=1) == PASS


def test_participant_moves_no_meeting_that_stands_elsewhere() -> None:
    held = booked("..E1.", {1: Y})
    assert deciding(held, announced(0, moved(8, 1, 3))) == turn(book(1, 0))


def test_empty_batch_without_a_decision_of_the_initiator() -> None:
    held = calendar("...")
    assert deciding(held) == PASS
    assert deciding(held, announced(1), sender=2) == PASS
    other: Content = Decision(slot=Slot(1))
    seen = observation(1, "...", phase=Phase.DECISION, messages=[message(0, other, 1)])
    assert Dsm().act(seen) == PASS


def test_retry_takes_the_placeable_slot_of_its_number_counted_from_zero() -> None:
    # Placeable are 0 (errand), 2 (meeting), 3 and 4.
    held = booked("E1B1...", {2: X})
    for heard in ((), (announced(1, moved(7, 2, 3)),)):
        assert [deciding(held, *heard, attempt=attempt) for attempt in (1, 2, 3, 4)] == [
            PASS,
            turn(book(1, 3)),
            turn(book(1, 4)),
            PASS,
        ]


def leading(held: Calendar, *said: PlanDecision, meeting: Meeting = TRIO) -> Turn:
    seen = observation(
        0,
        "",
        phase=Phase.DECISION,
        meeting=meeting,
        messages=[message(0, content, 1) for content in said],
    )
    return Dsm().act(seen._replace(calendar=held))


def test_initiator_performs_the_whole_chain_whatever_it_told_others() -> None:
    # Ids: 0 slot 3; 1 slot 0, 7 to 3; 2 slot 1, 8 to 3; 3 slot 0, 7 to 1 and 8 to 3.
    held = booked("..B1.", {0: X, 1: Y})
    assert leading(held, announced(0, plan_id=3)) == turn(
        move(7, 0, 1, JUSTIFICATION), move(8, 1, 3, JUSTIFICATION), book(1, 0)
    )
    assert leading(held, announced(3, plan_id=0)) == turn(book(1, 3))
    assert leading(calendar("...")) == PASS


def test_initiator_takes_its_own_best_plan_when_it_meets_nobody() -> None:
    alone = meeting(1, 0)
    assert leading(calendar("E1B1."), meeting=alone) == turn(book(1, 2))
    assert leading(calendar("E1B1"), meeting=alone) == PASS


def volunteering(held: Calendar, heard: PlanDecision, proposer: int = 0) -> Turn:
    offer = Proposals(plans=(OfferedPlan(plan_id=0, slot=Slot(0), moves=(), vacated=()),))
    seen: Observation = observation(
        3,
        "",
        phase=Phase.VOLUNTARY,
        meeting=HiddenMeeting(MeetingId(1), 1),
        messages=[message(proposer, offer, 3), message(0, heard, 3)],
    )
    return Dsm().act(seen._replace(calendar=held))


def test_outsider_moves_all_its_announced_meetings() -> None:
    held = booked("....", {0: X, 1: Y})
    assert volunteering(held, announced(0, moved(7, 0, 1), moved(8, 1, 3))) == turn(
        move(7, 0, 1, JUSTIFICATION), move(8, 1, 3, JUSTIFICATION)
    )
    # From where its own copy stands.
    elsewhere = volunteering(booked("....", {2: X}), announced(0, moved(7, 0, 3)))
    assert elsewhere == turn(move(7, 2, 3, JUSTIFICATION))


def test_outsider_moves_nothing_it_does_not_hold_or_cannot_place() -> None:
    assert volunteering(booked("....", {1: Y}), announced(0, moved(7, 0, 3))) == PASS
    assert volunteering(booked("...E1", {0: X}), announced(0, moved(7, 0, 3))) == PASS
    both = announced(0, moved(7, 0, 2), moved(8, 1, 3))
    assert volunteering(booked("...E1", {0: X, 1: Y}), both) == PASS
    assert volunteering(booked("....", {0: X}), announced(0)) == PASS


def test_outsider_follows_whoever_sent_it_proposals_first() -> None:
    held = booked("....", {0: X})
    assert volunteering(held, announced(0, moved(7, 0, 3)), proposer=2) == PASS
