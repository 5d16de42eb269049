"""Messages: who receives them, when they are read, and which are refused."""

from collections.abc import Sequence

import pytest

from calbench.domain.actions import Action
from calbench.domain.messages import CHANNELS, Channel, Message, Text
from calbench.domain.observations import CHEAP_TALK, Refusal
from calbench.scenarios.models import Scenario
from calbench.traces.events import (
    AllAgentGroupchatSent,
    DmSent,
    InvalidToolCall,
    ParticipantGroupchatSent,
)
from calbench.traces.models import GameConfig
from tests.engine.scripts import (
    Game,
    Lines,
    book,
    broadcast,
    decide,
    dm,
    game_config,
    group,
    move,
    play_scripts,
    talk,
    volunteer,
)
from tests.factories import make_scenario

ROWS = ["....."] * 5


def scenario(*meetings: tuple[int, ...]) -> Scenario:
    return make_scenario(ROWS, meetings or [(0, 1, 2)])


def contents(messages: Sequence[Message]) -> list[str]:
    return [message.content.text for message in messages if isinstance(message.content, Text)]


def reasons(game: Game) -> list[str]:
    return [event.reason for event in game.events(InvalidToolCall)]


def test_each_channel_reaches_those_whom_it_is_for() -> None:
    mine: list[Action] = [dm(4, "secret"), group("ours")]
    game = play_scripts(scenario(), {0: {talk(0): mine}, 1: {talk(0): [broadcast("all")]}})
    heard = [
        [text for seen in script.seen if seen.phase is CHEAP_TALK for text in contents(seen.inbox)]
        for script in game.scripts
    ]
    assert heard == [["all"], ["ours"], ["ours", "all"], ["all"], ["secret", "all"]]
    (secret,), (ours,) = game.events(DmSent), game.events(ParticipantGroupchatSent)
    (event,) = game.events(AllAgentGroupchatSent)
    assert [each.to_agents for each in (secret, ours, event)] == [(4,), (1, 2), (0, 2, 3, 4)]
    assert (secret.from_agent, secret.meeting_id, secret.round, secret.turn) == (0, 1, 0, 0)
    assert secret.chars == 6


def test_unread_message_is_not_shown_when_deciding() -> None:
    lines: dict[int, Lines] = {2: {talk(0): [dm(0, "too late")]}}
    game = play_scripts(scenario(), lines, game_config(max_turns=1, retries=1))
    for attempt in (0, 1):
        seen = game.seen(0, decide(attempt))
        assert (seen.messages, seen.earlier, seen.inbox) == ((), (), ())


def test_unread_message_is_not_shown_when_volunteering() -> None:
    lines: dict[int, Lines] = {2: {talk(0): [dm(3, "wake")]}, 4: {talk(0): [dm(3, "late")]}}
    lines[2] = {talk(0): [dm(3, "wake"), dm(4)]}
    game = play_scripts(scenario(), lines, game_config(max_turns=1))
    assert game.speakers() == [[0, 1, 2, 3, 4]]
    seen = game.seen(3, volunteer())
    assert contents(seen.messages) == ["wake"]
    assert seen.inbox == ()


def test_unread_message_is_read_when_its_recipient_next_talks_and_keeps_its_meeting() -> None:
    lines: dict[int, Lines] = {1: {talk(0): [dm(0, "late")]}}
    game = play_scripts(scenario((0, 1), (2, 3), (1, 0)), lines, game_config(max_turns=1))
    assert [ask for ask in (0, 1, 2) if game.was_asked(0, talk(round_index=ask))] == [0, 2]
    seen = game.seen(0, talk(round_index=2))
    assert contents(seen.inbox) == ["late"]
    assert [(m.meeting_id, m.content) for m in seen.earlier] == [(1, Text(text="late"))]
    assert (seen.messages, seen.meeting.meeting_id) == ((), 3)


def test_unread_message_joins_those_of_this_meeting_when_both_wait() -> None:
    lines: dict[int, Lines] = {1: {talk(0): [dm(0, "old")], talk(0, round_index=1): [dm(0, "new")]}}
    game = play_scripts(scenario((0, 1), (1, 0)), lines, game_config(max_turns=1))
    seen = game.seen(0, talk(round_index=1))
    assert contents(seen.inbox) == ["old", "new"]
    assert contents(seen.earlier) == ["old"]
    assert contents(seen.messages) == ["new"]


@pytest.mark.parametrize("cap", [0, 1, 3])
def test_cap_limits_the_messages_of_all_agents_in_a_round(cap: int) -> None:
    lines: dict[int, Lines] = {
        0: {talk(0): [dm(1), group()], talk(0, round_index=1): [dm(1)] * 4},
        1: {talk(0): [broadcast(), dm(0)]},
    }
    game = play_scripts(scenario((0, 1, 2), (0, 1, 2)), lines, game_config(cap=cap))
    in_round = [[e.round for e in game.events(InvalidToolCall)].count(index) for index in (0, 1)]
    assert in_round == [4 - cap, 4 - cap]
    assert set(reasons(game)) == {f"The cap of {cap} messages in this round is reached"}
    assert sum(game.trace.final_state.messages_sent_by_agent) == 2 * cap


CLOSED = "The channel {} is closed in this game"


@pytest.mark.parametrize(
    ("actions", "config", "expected"),
    [
        ([dm(0)], None, ["A message to oneself"]),
        *(([dm(other)], None, [f"There is no agent {other}"]) for other in (5, -1, 10**30)),
        *(
            ([say(text), dm(1, text)], None, ["The message is empty"] * 2)
            for text in ("", " ", "\n\t")
            for say in (broadcast, group)
        ),
        *(
            (
                [dm(1), group(), broadcast()],
                game_config(channels=[each for each in CHANNELS if each not in closed]),
                [CLOSED.format(channel) for channel in closed],
            )
            for closed in (*((each,) for each in CHANNELS), CHANNELS)
        ),
        # What is refused does not count towards the cap.
        (
            [dm(0), dm(9), dm(1), dm(1)],
            game_config(cap=1),
            [
                *("A message to oneself", "There is no agent 9"),
                "The cap of 1 messages in this round is reached",
            ],
        ),
        (
            [book(1, 0), move(101, 0, 1)],
            None,
            [f"{kind} is not allowed in CHEAP_TALK" for kind in ("schedule", "reschedule")],
        ),
    ],
)
def test_action_is_refused_when_talking(
    actions: list[Action], config: GameConfig | None, expected: list[str]
) -> None:
    assert reasons(play_scripts(scenario(), {0: {talk(0): actions}}, config)) == expected


def test_outsider_is_refused_when_it_writes_to_the_participants() -> None:
    game = play_scripts(scenario(), {1: {talk(0): [dm(3)]}, 3: {talk(0): [group()]}})
    reason = "Only participants of the current meeting may write to participant_groupchat"
    assert reasons(game) == [reason]


def test_message_without_recipient_is_refused() -> None:
    alone = make_scenario(["..."], [(0,)])
    game = play_scripts(alone, {0: {talk(0): [group(), broadcast()]}})
    assert reasons(game) == ["The message has no recipient"] * 2


def test_message_is_refused_when_deciding_or_volunteering_and_the_batch_stands() -> None:
    game = play_scripts(scenario(), {0: {decide(): [dm(1), book(1, 2), broadcast()]}})
    assert reasons(game) == [
        f"{kind} is not allowed in DECISION" for kind in ("dm", "all_agent_groupchat")
    ]
    assert game.trace.final_state.calendars[0][2] == 1
    lines: dict[int, Lines] = {0: {talk(0): [dm(3)]}, 3: {volunteer(): [dm(0), group()]}}
    assert reasons(play_scripts(scenario(), lines)) == [
        f"{kind} is not allowed in VOLUNTARY" for kind in ("dm", "participant_groupchat")
    ]


def test_refused_message_is_neither_delivered_nor_counted() -> None:
    opened: tuple[Channel, ...] = ("participant_groupchat", "all_agent_groupchat")
    game = play_scripts(scenario(), {0: {talk(0): [dm(1), dm(3)]}}, game_config(channels=opened))
    assert game.trace.final_state.messages_sent_by_agent == (0,) * 5
    assert game.seen(1, talk(0)).inbox == game.seen(1, decide(0)).messages == ()
    assert not game.scripts[3].seen
    assert game.seen(0, decide(0)).messages == ()


def test_refusals_are_named_once_at_the_next_turn_and_to_nobody_else() -> None:
    actions: list[Action] = [dm(0), dm(1, "good"), book(1, 0)]
    game = play_scripts(scenario(), {0: {talk(0): actions}})
    assert contents(game.seen(1, talk(0)).inbox) == ["good"]
    assert game.seen(0, talk(0)).refusals == ()
    assert game.seen(0, talk(1)).refusals == (
        Refusal(actions[0], "A message to oneself"),
        Refusal(actions[2], "schedule is not allowed in CHEAP_TALK"),
    )
    assert game.seen(0, decide(0)).refusals == ()
    others = [seen for agent in (1, 2) for seen in game.scripts[agent].seen]
    assert others
    assert all(seen.refusals == () for seen in others)


def test_refusals_are_named_in_the_decision_when_talk_ends_first() -> None:
    game = play_scripts(scenario(), {0: {talk(0): [dm(0)]}})
    assert [r.reason for r in game.seen(0, decide(0)).refusals] == ["A message to oneself"]
    assert game.seen(0, decide(1)).refusals == ()


def test_refusals_are_named_at_the_next_attempt_when_deciding() -> None:
    game = play_scripts(scenario(), {0: {decide(0): [dm(1)]}})
    assert [r.action for r in game.seen(0, decide(1)).refusals] == [dm(1)]
    assert game.seen(0, decide(2)).refusals == ()


def test_refusals_of_an_outsider_wait_until_it_is_asked_again() -> None:
    lines: dict[int, Lines] = {0: {talk(0): [dm(3)]}, 3: {volunteer(): [dm(0)]}}
    game = play_scripts(scenario((0, 1), (0, 1), (3, 1)), lines)
    assert [r.action for r in game.seen(3, talk(round_index=2)).refusals] == [dm(0)]
    assert game.seen(3, decide(round_index=2)).refusals == ()


def test_refused_action_is_recorded_with_its_place() -> None:
    game = play_scripts(scenario((0, 1), (1, 0)), {1: {talk(round_index=1): [dm(1, "me")]}})
    (event,) = game.events(InvalidToolCall)
    assert (event.round, event.phase, event.agent_id) == (1, "CHEAP_TALK", 1)
    assert event.action == dm(1, "me")
