"""SD-MAP moves earlier meetings out of the way: games worked out by hand (appendix D.2)."""

import pytest

from calbench.domain.actions import PASS, Turn
from calbench.domain.calendars import HiddenMeeting, Meeting
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import (
    Confirm,
    Content,
    Fail,
    Propose,
    ProposeReply,
    RescheduleReply,
    RescheduleRequest,
    SlotStatus,
)
from calbench.domain.observations import Phase
from calbench.protocols.sd_map.policy import SdMap
from tests.engine.scripts import book
from tests.protocols.observations import message
from tests.protocols.sd_maps import (
    OLD,
    batches,
    confirm,
    moved,
    outcomes,
    play,
    propose,
    said,
    scheduled,
    seen,
    sent,
    target,
    target_confirm,
    target_fail,
    target_reply,
    words,
)


def test_old_meeting_moves_when_an_outside_initiator_repairs_it() -> None:
    # Agents 3 and 4 have slot 0 alone: they weigh more, so the first meeting makes way.
    rows = ["....", "....", "....", ".BBB", ".BBB"]
    trace = play(rows, [(0, 1, 2), (1, 3, 4)], weights=(1, 1, 1, 5, 5))
    assert outcomes(trace) == ["scheduled", "scheduled"]
    assert sent(trace, 1) == [
        (0, 1, 3, "propose", (0,)),
        (0, 1, 4, "propose", (0,)),
        (0, 3, 1, "reply", (0, "PENDING")),
        (0, 4, 1, "reply", (0, "PENDING")),
        (1, 1, 3, "confirm", (0,)),
        (1, 1, 4, "confirm", (0,)),
        (1, 1, 0, "reschedule_request", (1, 0)),
        # Agent 0 is woken and speaks at the end of the sweep; agent 2 then likewise.
        (1, 0, 1, "propose_reschedule", (1, 0, 1)),
        (1, 0, 2, "propose_reschedule", (1, 0, 1)),
        (1, 2, 0, "reschedule_reply", (1, 1, "PENDING")),
        (2, 1, 0, "reschedule_reply", (1, 1, "PENDING")),
        (2, 0, 1, "confirm_reschedule", (1, 1)),
        (2, 0, 2, "confirm_reschedule", (1, 1)),
    ]
    assert batches(trace, 1) == {
        0: (0, moved(1, 0, 1)),
        1: (0, moved(1, 0, 1), book(2, 0)),
        2: (0, moved(1, 0, 1)),
        3: (0, book(2, 0)),
        4: (0, book(2, 0)),
    }
    assert [calendar.index(1) for calendar in trace.final_state.calendars[:3]] == [1, 1, 1]
    assert trace.final_state.cost_by_agent == (1, 1, 1, 0, 0)


@pytest.mark.parametrize(("max_turns", "succeeds"), [(3, False), (4, True)])
def test_move_is_never_confirmed_in_the_last_sweep(max_turns: int, succeeds: bool) -> None:
    # As above: all have accepted when agent 0 speaks in sweep 2.
    rows = ["....", "....", "....", ".BBB", ".BBB"]
    trace = play(
        rows, [(0, 1, 2), (1, 3, 4)], weights=(1, 1, 1, 5, 5), max_turns=max_turns, retries=1
    )
    kinds = [kind for *_, kind, _ in sent(trace, 1)]
    assert ("confirm_reschedule" in kinds) == succeeds
    assert "fail_reschedule" not in kinds
    assert outcomes(trace)[1] == ("scheduled" if succeeds else "inconsistent_slots")
    if not succeeds:
        # Slot 1 is still marked by what agent 1 promised, so slot 3 is its number 1.
        assert batches(trace, 1) == {1: (1, book(2, 3)), 3: (0, book(2, 0)), 4: (0, book(2, 0))}
        assert [calendar.index(1) for calendar in trace.final_state.calendars[:3]] == [0, 0, 0]


def test_initiator_of_both_meetings_repairs_by_itself_and_walks_on_after_a_refusal() -> None:
    # The prior meeting of 0 and 3 is at slot 0; agent 3 can move to slot 2 only.
    trace = play(
        ["...", ".BB", ".BB", ".B."], [(0, 1, 2)], prior=[((0, 3), 0)], weights=(1, 1, 1, 1)
    )
    assert outcomes(trace) == ["scheduled"]
    assert sent(trace)[4:] == [
        (1, 0, 1, "confirm", (0,)),
        (1, 0, 2, "confirm", (0,)),
        (1, 0, 3, "propose_reschedule", (2, 0, 1)),
        (1, 3, 0, "reschedule_reply", (2, 1, "IMPOSSIBLE")),
        (2, 0, 3, "propose_reschedule", (2, 0, 2)),
        (2, 3, 0, "reschedule_reply", (2, 2, "PENDING")),
        (3, 0, 3, "confirm_reschedule", (2, 2)),
    ]
    assert batches(trace) == {
        0: (0, moved(2, 0, 2), book(1, 0)),
        1: (0, book(1, 0)),
        2: (0, book(1, 0)),
        3: (0, moved(2, 0, 2)),
    }


def test_old_meeting_stays_and_the_bumper_retries_when_its_repair_fails() -> None:
    # Agent 1 bumps the prior meeting it leads, but agent 3 has nowhere to go.
    trace = play([".BB", "...", ".BB", ".BB"], [(0, 1, 2)], prior=[((1, 3), 0)])
    assert sent(trace)[4:] == [
        (1, 0, 1, "confirm", (0,)),
        (1, 0, 2, "confirm", (0,)),
        (1, 1, 3, "propose_reschedule", (2, 0, 1)),
        (1, 3, 1, "reschedule_reply", (2, 1, "IMPOSSIBLE")),
        (2, 1, 3, "propose_reschedule", (2, 0, 2)),
        (2, 3, 1, "reschedule_reply", (2, 2, "IMPOSSIBLE")),
        (3, 1, 3, "fail_reschedule", (2,)),
    ]
    # Its first batch is empty; its own free slots are 1 and 2, and the first retry takes 2.
    assert batches(trace) == {0: (0, book(1, 0)), 1: (1, book(1, 2)), 2: (0, book(1, 0))}
    assert outcomes(trace) == ["inconsistent_slots"]
    assert trace.final_state.calendars[1] == (2, None, 1)
    assert trace.final_state.calendars[3][0] == 2


def test_fail_reschedule_goes_out_at_once_when_there_is_no_target_at_all() -> None:
    trace = play([".BB", ".BB", ".BB", "..."], [(0, 1, 2)], prior=[((1, 3), 0)], retries=0)
    assert sent(trace)[-1] == (1, 1, 3, "fail_reschedule", (2,))
    assert outcomes(trace) == ["no_batch"]


def test_only_the_first_request_for_an_old_meeting_counts() -> None:
    # All of the old meeting but its initiator bump it.
    request = RescheduleRequest(old_meeting_id=MeetingId(7), slot=Slot(0))
    old = Meeting(MeetingId(7), (AgentId(0), AgentId(1), AgentId(2)), 1)
    hidden = HiddenMeeting(MeetingId(1), 1)
    first = seen(0, "...", new=[message(1, request, 0)], held={0: old}, meeting=hidden)
    turn = SdMap().act(first)
    assert [(to, said(content)) for to, content in words(turn)] == [(1, (7, 0, 1)), (2, (7, 0, 1))]
    past = [message(1, request, 0), target(1, by=0, to=1), target(1, by=0, to=2)]
    again = seen(0, "...", past, [message(2, request, 0)], held={0: old}, meeting=hidden)
    assert SdMap().act(again) == PASS
    both = [message(1, request, 0), message(2, request, 0)]
    assert SdMap().act(seen(0, "...", new=both, held={0: old}, meeting=hidden)) == turn
    stranger = [message(4, request, 0)]
    assert SdMap().act(seen(0, "...", new=stranger, held={0: old}, meeting=hidden)) == PASS


def test_two_repairs_of_a_round_never_take_one_target() -> None:
    # Agent 2 leads two old meetings, and both have to go.
    old, other = (
        Meeting(MeetingId(number), tuple(map(AgentId, group)), 1)
        for number, group in ((7, (2, 3)), (8, (2, 4)))
    )
    requests = [
        message(3, RescheduleRequest(old_meeting_id=MeetingId(7), slot=Slot(0)), 2),
        message(4, RescheduleRequest(old_meeting_id=MeetingId(8), slot=Slot(0)), 2),
    ]
    hidden = HiddenMeeting(MeetingId(1), 1)
    held = {0: old, 1: other}
    turn = SdMap().act(seen(2, ".....", new=requests, held=held, meeting=hidden))
    assert [(to, said(content)) for to, content in words(turn)] == [(3, (7, 0, 2)), (4, (8, 0, 3))]
    # Slot 2 is refused for the first: its mark is gone, and the other one may try it.
    past = [*requests, target(2, by=2, to=3), target(3, by=2, to=4, old=8)]
    refused = [
        target_reply(2, "IMPOSSIBLE", by=3, to=2),
        target_reply(3, "IMPOSSIBLE", by=4, to=2, old=8),
    ]
    turn = SdMap().act(seen(2, ".....", past, refused, held=held, meeting=hidden))
    assert [(to, said(content)) for to, content in words(turn)] == [(3, (7, 0, 3)), (4, (8, 0, 2))]


def test_promised_target_is_refused_to_another_repair_until_the_first_one_fails() -> None:
    held = {0: OLD}
    asked, other = target(2, by=0, to=1), target(2, by=3, to=1, old=8)
    turn = SdMap().act(seen(1, "....", [confirm(0)], [asked, other], held=held))
    statuses = [content.status for _, content in words(turn) if hasattr(content, "status")]
    assert statuses == ["PENDING", "IMPOSSIBLE"]
    past = [confirm(0), asked, target_reply(2, "PENDING", by=1, to=0)]
    for end, status in ((target_fail(by=0, to=1), "PENDING"), (None, "IMPOSSIBLE")):
        new = [other] if end is None else [end, other]
        ((to, reply),) = words(SdMap().act(seen(1, "....", past, new, held=held)))
        assert (to, said(reply)) == (3, (8, 2, status))
    confirmed = [*past, target_confirm(2, by=0, to=1)]
    ((_, reply),) = words(SdMap().act(seen(1, "....", confirmed, [other], held=held)))
    assert said(reply) == (8, 2, "IMPOSSIBLE")


@pytest.mark.parametrize(
    ("slot", "status"), [(0, "IMPOSSIBLE"), (1, "IMPOSSIBLE"), (2, "IMPOSSIBLE"), (3, "PENDING")]
)
def test_target_must_be_free_and_not_the_new_slot(slot: int, status: SlotStatus) -> None:
    # The old meeting failed on this outsider's calendar, so the new slot 0 is free there.
    asked = target(slot, by=0, to=3)
    turn = SdMap().act(seen(3, ".E1B.", new=[asked], meeting=HiddenMeeting(MeetingId(1), 1)))
    reply = RescheduleReply(old_meeting_id=MeetingId(7), target=Slot(slot), status=status)
    assert words(turn) == [(0, reply)]


@pytest.mark.parametrize("end", [None, Fail(), Confirm(slot=Slot(0))])
def test_marks_of_the_new_meeting_end_with_confirm_and_fail(end: Content | None) -> None:
    pending = ProposeReply(slot=Slot(1), status="PENDING")
    past = [propose(1), message(1, pending, 0), *([] if end is None else [message(0, end, 1)])]
    turn = SdMap().act(seen(1, "....", past, phase=Phase.DECISION, attempt=1))
    # Own slots 0, 1, 2, 3, or 0, 2, 3 while slot 1 is marked; the first retry takes the second.
    assert scheduled(turn) == (2 if end is None else 1)


def test_initiator_drops_its_mark_on_a_refusal() -> None:
    asked = [propose(0, 1), propose(0, 2)]
    refusal = message(1, ProposeReply(slot=Slot(0), status="IMPOSSIBLE"), 0)
    for past, slot in ((asked, 2), ([*asked, refusal], 1)):
        turn = SdMap().act(seen(0, "....", past, phase=Phase.DECISION, attempt=1))
        assert scheduled(turn) == slot


def test_retry_list_leaves_out_targets_and_what_confirmed_moves_vacate() -> None:
    # The old meeting moves from 1 to 2; another one at 0 is not repaired, so it retries.
    held = {0: Meeting(MeetingId(8), (AgentId(1), AgentId(3)), 1), 1: OLD}
    past = [
        confirm(0),
        target(2, by=0, to=1),
        target_reply(2, "PENDING", by=1, to=0),
        target_confirm(2, by=0, to=1),
    ]
    assert SdMap().act(seen(1, "...E1.", past, held=held, phase=Phase.DECISION)) == PASS
    # Own slots: the errand at 3, and 4.
    for attempt, slot in ((1, 4), (2, None)):
        turn = SdMap().act(
            seen(1, "...E1.", past, held=held, phase=Phase.DECISION, attempt=attempt)
        )
        expected = PASS if slot is None else Turn((moved(7, 1, 2), book(1, slot)))
        assert turn == expected


@pytest.mark.parametrize(("row", "landing"), [("E1...", 2), ("E1.E1.", 1), ("E1.B.", 1)])
def test_errand_lands_where_a_confirmed_move_leaves_if_nothing_else_is_left(
    row: str, landing: int
) -> None:
    # The old meeting is at slot 1 and moves to slot 3.
    past = [
        confirm(0),
        target(3, by=0, to=1),
        target_reply(3, "PENDING", by=1, to=0),
        target_confirm(3, by=0, to=1),
    ]
    turn = SdMap().act(seen(1, row, past, held={1: OLD}, phase=Phase.DECISION))
    assert turn.actions == (moved(7, 1, 3), moved(101, 0, landing), book(1, 0))


def test_move_of_a_meeting_that_failed_here_is_left_out() -> None:
    past = [
        target(2, by=0, to=3),
        target_reply(2, "PENDING", by=3, to=0),
        target_confirm(2, by=0, to=3),
    ]
    hidden = HiddenMeeting(MeetingId(1), 1)
    for held, turn in (({}, PASS), ({1: OLD}, Turn((moved(7, 1, 2),)))):
        made = seen(3, "....", past, held=held, meeting=hidden, phase=Phase.VOLUNTARY)
        assert SdMap().act(made) == turn


def test_initiator_without_a_copy_repairs_with_those_it_once_asked() -> None:
    request = RescheduleRequest(old_meeting_id=MeetingId(7), slot=Slot(0))
    once = [
        message(0, Propose(slot=Slot(1)), 1, meeting_id=7),
        message(0, Propose(slot=Slot(1)), 2, meeting_id=7),
        message(0, Fail(), 2, meeting_id=7),
    ]
    hidden = HiddenMeeting(MeetingId(9), 1)
    new = [message(1, request, 0, meeting_id=9)]
    turn = SdMap().act(seen(0, "...", new=new, meeting=hidden, earlier=once))
    assert [(to, said(content)) for to, content in words(turn)] == [(1, (7, 0, 1)), (2, (7, 0, 1))]
    assert SdMap().act(seen(0, "...", new=new, meeting=hidden)) == PASS
