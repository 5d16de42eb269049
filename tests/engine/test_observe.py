"""What an agent is shown, and what it never is."""

from calbench.domain.calendars import Booking, Errand, HiddenMeeting, Meeting
from calbench.domain.ids import AgentId, ErrandId, MeetingId
from calbench.domain.messages import CHANNELS
from calbench.domain.observations import Observation, Phase
from tests.engine.scripts import (
    Lines,
    book,
    broadcast,
    decide,
    dm,
    game_config,
    play_scripts,
    talk,
    volunteer,
)
from tests.factories import make_scenario

SCENARIO = make_scenario(
    ["E3B2..", ".E2..", "..E1.", "...."], [(1, 0), (2, 1)], prior=[((2, 3), 1, 5)], meeting_cost=2
)
FIRST = Meeting(MeetingId(1), (AgentId(0), AgentId(1)), 2)
PRIOR = Meeting(MeetingId(3), (AgentId(2), AgentId(3)), 5)


def test_agent_sees_its_meeting_its_calendar_and_who_is_in_the_game() -> None:
    game = play_scripts(SCENARIO, {}, game_config(channels=("dm", "all_agent_groupchat")))
    assert [game.seen(0, ask).meeting for ask in (talk(), decide(), decide(3))] == [FIRST] * 3
    seen = game.seen(0, talk())
    assert seen.calendar == (
        Errand(ErrandId(101), 100, blocked=False),
        Errand(ErrandId(102), 10, blocked=True),
        None,
        None,
    )
    assert game.seen(2, talk(round_index=1)).calendar[1] == Booking(PRIOR)
    assert seen.agent_ids == (0, 1, 2, 3)
    assert seen.channels == {"dm", "all_agent_groupchat"} < set(CHANNELS)
    assert len(seen) == len(Observation._fields), "the engine puts its fields together by place"


def test_outsider_sees_only_number_and_cost_of_the_meeting() -> None:
    game = play_scripts(SCENARIO, {0: {talk(): [broadcast()]}})
    for ask in (talk(), talk(1), volunteer()):
        assert game.seen(3, ask).meeting == HiddenMeeting(MeetingId(1), 2)
    assert game.seen(0, talk()).turns_left == 14
    assert game.seen(0, decide()).turns_left == game.seen(3, volunteer()).turns_left == 0


def test_agent_sees_its_calendar_as_its_last_batch_left_it() -> None:
    lines: dict[int, Lines] = {1: {decide(): [book(1, 3)]}}
    seen = play_scripts(SCENARIO, lines).seen(1, talk(round_index=1))
    assert seen.calendar[3] == Booking(FIRST)


def test_agent_sees_round_phase_sweep_and_attempt() -> None:
    lines: dict[int, Lines] = {1: {talk(): [dm(3)]}}
    game = play_scripts(SCENARIO, lines, game_config(max_turns=3, retries=1))
    seen = [o for script in (game.scripts[1], game.scripts[3]) for o in script.seen]
    places = [(o.agent_id, o.round_index, o.phase, o.turn_index, o.attempt) for o in seen]
    assert places == [
        (1, 0, Phase.CHEAP_TALK, 0, 0),
        (1, 0, Phase.CHEAP_TALK, 1, 0),
        (1, 0, Phase.DECISION, 0, 0),
        (1, 0, Phase.DECISION, 0, 1),
        (1, 1, Phase.CHEAP_TALK, 0, 0),
        (1, 1, Phase.DECISION, 0, 0),
        (1, 1, Phase.DECISION, 0, 1),
        (3, 0, Phase.CHEAP_TALK, 0, 0),
        (3, 0, Phase.CHEAP_TALK, 1, 0),
        (3, 0, Phase.VOLUNTARY, 0, 0),
    ]
