"""CHEAP_TALK: who speaks when, and when it ends."""

import pytest

from calbench.domain.messages import Text
from calbench.scenarios.models import Scenario
from tests.engine.scripts import Lines, dm, game_config, group, play_scripts, talk
from tests.factories import make_scenario

OPEN = ["....."] * 6


def scenario(*meetings: tuple[int, ...]) -> Scenario:
    return make_scenario(OPEN, meetings or [(2, 0, 1)])


@pytest.mark.parametrize("cap", [1, 2, 15])
def test_talk_ends_at_the_cap_when_somebody_always_speaks(cap: int) -> None:
    lines = {talk(sweep): [dm(0)] for sweep in range(20)}
    game = play_scripts(scenario(), {1: lines}, game_config(max_turns=cap))
    assert game.speakers() == [[2, 0, 1]] * cap


def test_talk_counts_a_sweep_of_refused_messages_as_silent() -> None:
    game = play_scripts(scenario(), {1: {talk(0): [dm(1), dm(9)], talk(1): [dm(0)]}})
    assert len(game.speakers()) == 1


def test_speaker_hears_who_spoke_before_it_in_a_sweep_and_the_others_in_the_next() -> None:
    game = play_scripts(scenario(), {2: {talk(0): [dm(0, "early")]}, 1: {talk(0): [dm(0, "late")]}})
    inboxes = [game.seen(0, talk(sweep)).inbox for sweep in (0, 1)]
    assert [[each.content for each in inbox] for inbox in inboxes] == [
        [Text(text="early")],
        [Text(text="late")],
    ]


def test_participant_groupchat_wakes_nobody() -> None:
    game = play_scripts(scenario((2, 0)), {2: {talk(0): [group()]}})
    assert game.speakers() == [[2, 0]] * 2
    assert all(not game.scripts[agent].seen for agent in (1, 3, 4, 5))


def test_outsiders_woken_in_one_sweep_keep_their_places_at_its_end_in_ascending_order() -> None:
    lines: dict[int, Lines] = {2: {talk(0): [dm(5)]}, 0: {talk(0): [dm(4), dm(3)]}}
    assert play_scripts(scenario(), lines).speakers() == [[2, 0, 1, 3, 4, 5]] * 2


def test_outsider_stays_asleep_when_the_message_to_it_is_refused() -> None:
    lines: dict[int, Lines] = {2: {talk(0): [dm(4)]}}
    game = play_scripts(scenario(), lines, game_config(channels=("participant_groupchat",)))
    assert game.speakers() == [[2, 0, 1]]
