"""CHEAP_TALK: who speaks when, and when it ends."""

import pytest

from calbench.domain.messages import Text
from calbench.domain.observations import Phase
from calbench.scenarios.models import Scenario
from tests.engine.scripts import (
    Lines,
    broadcast,
    dm,
    game_config,
    group,
    play_scripts,
    talk,
)
from tests.factories import make_scenario

OPEN = ["....."] * 6


def scenario(*meetings: tuple[int, ...]) -> Scenario:
    return make_scenario(OPEN, meetings or [(2, 0, 1)])


def texts(lines: Lines, agent: int, sweep: int, *, others: dict[int, Lines]) -> list[str]:
    """Play and return what an agent reads at its turn of a sweep."""
    game = play_scripts(scenario(), {**others, agent: lines})
    inbox = game.seen(agent, talk(sweep)).inbox
    return [message.content.text for message in inbox if isinstance(message.content, Text)]


def test_talk_asks_participants_in_speaker_order_when_the_order_is_given_freely() -> None:
    game = play_scripts(scenario((1, 2, 0), (4, 3)), {})
    assert [game.speakers(0), game.speakers(1)] == [[[1, 2, 0]], [[4, 3]]]


def test_talk_ends_for_good_when_a_sweep_is_silent() -> None:
    game = play_scripts(scenario(), {1: {talk(0): [dm(0)], talk(2): [dm(0)]}})
    assert len(game.speakers()) == 2
    assert game.trace.final_state.messages_sent_by_agent == (0, 1, 0, 0, 0, 0)


@pytest.mark.parametrize("cap", [1, 2, 15])
def test_talk_ends_at_the_cap_when_somebody_always_speaks(cap: int) -> None:
    lines = {talk(sweep): [dm(0)] for sweep in range(20)}
    game = play_scripts(scenario(), {1: lines}, game_config(max_turns=cap))
    assert game.speakers() == [[2, 0, 1]] * cap


def test_talk_counts_a_sweep_of_refused_messages_as_silent() -> None:
    game = play_scripts(scenario(), {1: {talk(0): [dm(1), dm(9)], talk(1): [dm(0)]}})
    assert len(game.speakers()) == 1


def test_talk_starts_anew_in_every_round() -> None:
    game = play_scripts(scenario((0, 1), (1, 0)), {0: {talk(0): [dm(1)]}})
    assert [game.speakers(0), game.speakers(1)] == [[[0, 1]] * 2, [[1, 0]]]


def test_speaker_hears_those_who_spoke_before_it_in_the_same_sweep() -> None:
    assert texts({}, 0, 0, others={2: {talk(0): [dm(0, "first")]}}) == ["first"]


def test_speaker_hears_those_who_speak_after_it_in_the_next_sweep() -> None:
    late: dict[int, Lines] = {1: {talk(0): [dm(0, "late")]}}
    assert texts({}, 0, 0, others=late) == []
    assert texts({}, 0, 1, others=late) == ["late"]


def test_speaker_drains_its_whole_inbox_at_its_turn() -> None:
    others: dict[int, Lines] = {
        1: {talk(0): [dm(0, "a"), group("b")]},
        2: {talk(0): [dm(0, "before")], talk(1): [broadcast("c")], talk(2): [dm(1)]},
    }
    assert texts({}, 0, 0, others=others) == ["before"]
    assert texts({}, 0, 1, others=others) == ["a", "b", "c"]
    assert texts({}, 0, 2, others=others) == []


def test_outsider_never_speaks_when_nobody_woke_it() -> None:
    game = play_scripts(scenario(), {2: {talk(0): [group()]}, 5: {talk(0): [broadcast()]}})
    assert game.speakers() == [[2, 0, 1]] * 2
    assert not game.scripts[5].seen


def test_participant_groupchat_wakes_nobody() -> None:
    game = play_scripts(scenario((2, 0)), {2: {talk(0): [group()]}})
    assert game.speakers() == [[2, 0]] * 2
    assert all(not game.scripts[agent].seen for agent in (1, 3, 4, 5))


def test_outsider_woken_by_a_dm_speaks_once_in_that_sweep_and_keeps_its_place() -> None:
    game = play_scripts(scenario(), {2: {talk(0): [dm(4)]}})
    assert game.speakers() == [[2, 0, 1, 4]] * 2


def test_outsider_woken_by_a_dm_reads_it_at_once() -> None:
    game = play_scripts(scenario(), {2: {talk(0): [dm(4, "wake up")]}})
    (message,) = game.seen(4, talk(0)).inbox
    assert message.content == Text(text="wake up")


def test_outsiders_woken_in_one_sweep_are_appended_together_in_ascending_order() -> None:
    lines: dict[int, Lines] = {2: {talk(0): [dm(5)]}, 0: {talk(0): [dm(4), dm(3)]}}
    assert play_scripts(scenario(), lines).speakers() == [[2, 0, 1, 3, 4, 5]] * 2


def test_outsiders_woken_by_woken_outsiders_are_appended_when_the_list_ends_again() -> None:
    lines: dict[int, Lines] = {2: {talk(0): [dm(4), dm(5)]}, 5: {talk(0): [dm(3)]}}
    assert play_scripts(scenario(), lines).speakers() == [[2, 0, 1, 4, 5, 3]] * 2


def test_outsiders_woken_in_a_later_sweep_follow_those_woken_before() -> None:
    lines: dict[int, Lines] = {2: {talk(0): [dm(5)], talk(1): [dm(3)]}}
    full = [2, 0, 1, 5, 3]
    assert play_scripts(scenario(), lines).speakers() == [full[:4], full, full]


def test_outsider_is_appended_once_when_woken_twice() -> None:
    lines: dict[int, Lines] = {2: {talk(0): [dm(4), dm(4), broadcast()], talk(1): [dm(4)]}}
    assert play_scripts(scenario(), lines).speakers() == [[2, 0, 1, 3, 4, 5]] * 3


def test_all_agent_groupchat_wakes_everybody() -> None:
    game = play_scripts(scenario((2, 0)), {0: {talk(0): [broadcast()]}})
    assert game.speakers() == [[2, 0, 1, 3, 4, 5]] * 2


def test_outsider_wakes_its_sender_never_twice_when_it_answers() -> None:
    lines: dict[int, Lines] = {2: {talk(0): [dm(4)]}, 4: {talk(0): [dm(2, "yes")]}}
    game = play_scripts(scenario(), lines)
    assert game.speakers() == [[2, 0, 1, 4]] * 2
    assert [m.content for m in game.seen(2, talk(1)).inbox] == [Text(text="yes")]


def test_outsider_is_asleep_again_in_the_next_round() -> None:
    game = play_scripts(scenario((2, 0), (0, 2)), {2: {talk(0): [dm(4)]}})
    assert [game.speakers(0), game.speakers(1)] == [[[2, 0, 4]] * 2, [[0, 2]]]


def test_outsider_stays_asleep_when_the_message_to_it_is_refused() -> None:
    lines: dict[int, Lines] = {2: {talk(0): [dm(4)]}}
    game = play_scripts(scenario(), lines, game_config(channels=("participant_groupchat",)))
    assert game.speakers() == [[2, 0, 1]]


def test_outsider_woken_in_the_last_sweep_still_speaks_in_it() -> None:
    lines: dict[int, Lines] = {1: {talk(0): [dm(4)]}}
    game = play_scripts(scenario(), lines, game_config(max_turns=1))
    assert game.speakers() == [[2, 0, 1, 4]]


def test_turns_left_count_down_to_zero_at_the_last_sweep() -> None:
    lines = {talk(sweep): [dm(0)] for sweep in range(4)}
    game = play_scripts(scenario(), {1: lines}, game_config(max_turns=4))
    seen = [o for o in game.scripts[0].seen if o.phase is Phase.CHEAP_TALK]
    assert [(o.turn_index, o.turns_left) for o in seen] == [(0, 3), (1, 2), (2, 1), (3, 0)]
