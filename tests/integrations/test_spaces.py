"""What an agent sees and does as numbers, by hand."""

from typing import Any

from calbench.integrations.spaces import length_of, mask_of, turn_of, vector_of
from calbench.types import (
    PASS,
    AgentId,
    DirectMessage,
    HiddenMeeting,
    Meeting,
    MeetingId,
    Message,
    Observation,
    ParticipantMessage,
    Phase,
    Text,
)
from tests.factories import calendar, costs_told, is_allowed

MEETING = Meeting(MeetingId(1), (AgentId(0), AgentId(1)), 5)
OUTSIDE = HiddenMeeting(MeetingId(1), 5)


def said(sender: int, content: Any) -> Message:
    agent = AgentId(sender)
    return Message(agent, (AgentId(0),), "dm", MEETING.meeting_id, content)


def seen(
    phase: Phase, *, meeting: Meeting | HiddenMeeting = MEETING, row: str = ".E3B."
) -> Observation:
    agents = (AgentId(0), AgentId(1), AgentId(2))
    told = (
        said(1, Text(text="Slot 1 would cost me 10. Slot 2 is not possible for me.")),
        said(0, Text(text="Let us take slot 3")),
        said(2, costs_told({0: None, 9: 4})),
    )
    return Observation(
        AgentId(0), agents, phase, meeting, 0, calendar(row), told, (), (), 2, 7, 1, None, (),
        frozenset({"dm", "participant_groupchat"}), 13,
    )  # fmt: skip


def test_numbers_are_those_of_the_page() -> None:
    vector = vector_of(seen(Phase.CHEAP_TALK), 3, 5).tolist()
    assert len(vector) == length_of(3, 5) == 2 * 3 + 7 + 5 * 4
    me, phase, numbers, people = vector[:3], vector[3:6], vector[6:10], vector[10:13]
    assert (me, phase, numbers, people) == ([1, 0, 0], [1, 0, 0], [5, 7, 1, 13], [1, 1, 0])
    assert vector[13:18] == [1, 4, -1, 1, 0]
    assert vector[18:23] == [0, 0, 0, 1, 0]
    assert vector[23:28] == [0, 11, -1, 0, 0]
    assert vector[28:33] == [-1, 0, 0, 0, 0]
    assert vector_of(seen(Phase.VOLUNTARY, meeting=OUTSIDE), 3, 5).tolist()[10:13] == [0, 0, 0]


def test_mask_holds_what_the_rules_allow() -> None:
    assert mask_of(seen(Phase.CHEAP_TALK), 5).tolist() == [1, 1, 1, 1, 1, 0]
    assert mask_of(seen(Phase.CHEAP_TALK, meeting=OUTSIDE), 5).tolist() == [1, 0, 0, 0, 0, 0]
    for phase, allowed in ((Phase.DECISION, [1, 2, 4]), (Phase.VOLUNTARY, [2])):
        view = seen(phase)
        mask = mask_of(view, 5).tolist()
        assert [action for action in range(1, 6) if mask[action]] == allowed
        meeting = MEETING if phase is Phase.DECISION else None
        for action in range(1, 5):
            batch = turn_of(action, view).actions
            if batch:
                allowed_so = is_allowed(view.calendar, batch, meeting)  # type: ignore[arg-type]
                assert allowed_so == bool(mask[action]), action
    full = mask_of(seen(Phase.DECISION, row="E3E3B"), 5)
    assert full.tolist() == [1, 0, 0, 0, 0, 0]


def test_talk_is_true_and_goes_over_what_is_open() -> None:
    view = seen(Phase.CHEAP_TALK)
    texts = [turn_of(action, view).actions[0].content.text for action in (1, 2, 3)]  # type: ignore[union-attr]
    assert texts == [
        "Slot 0 is free for me.",
        "Slot 1 would cost me 3.",
        "Slot 2 is not possible for me.",
    ]
    assert isinstance(turn_of(1, view).actions[0], ParticipantMessage)
    (message,) = turn_of(1, view._replace(channels=frozenset({"dm"}))).actions
    assert isinstance(message, DirectMessage)
    assert message.to == 1
    assert turn_of(0, view) is turn_of(5, view) is PASS
