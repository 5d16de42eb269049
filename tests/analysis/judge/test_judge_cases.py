"""What a judge is shown: exactly what was delivered, and nothing else."""

from collections.abc import Sequence

import pytest

from calbench.agents.completion import ModelSpec
from calbench.agents.judging import judge_prompt, judge_request
from calbench.api import play_game
from calbench.domain.ids import AgentId
from calbench.domain.messages import Content, Text
from calbench.metrics.judge.cases import RoundCase, cases_of
from calbench.traces.events import (
    AllAgentGroupchatSent,
    AnnouncementSent,
    DmSent,
    ParticipantGroupchatSent,
)
from calbench.traces.models import Trace
from tests.analysis.judge.games import AGREED, FREE, HARD, OFFER, spoken_game
from tests.metrics.games import canonical_scenario, play_random, with_outcome

DELIVERED = DmSent | ParticipantGroupchatSent | AllAgentGroupchatSent | AnnouncementSent
SPEC = ModelSpec(model="openai/stub")


def told(case: RoundCase) -> list[tuple[int | None, Content]]:
    return [(message.sender, message.content) for message in case.case.messages]


def delivered(trace: Trace, round_index: int, agent: int) -> list[tuple[int | None, Content]]:
    """Read off the events what reached an agent in a round."""
    return [
        (getattr(event, "from_agent", None), event.content)
        for event in trace.events
        if isinstance(event, DELIVERED) and event.round == round_index and agent in event.to_agents
    ]


def test_cases_of_a_small_game_by_hand() -> None:
    cases = cases_of(spoken_game())
    assert [(case.round, case.case.recipient, told(case)) for case in cases] == [
        (0, 0, [(1, Text(text=FREE)), (1, Text(text=AGREED))]),
        (0, 1, [(0, Text(text=OFFER))]),
        (0, 2, [(1, Text(text=FREE))]),
        (1, 2, [(1, Text(text=HARD))]),
    ]
    assert [case.case.participants for case in cases] == [(0, 1), (0, 1), None, (1, 2)]
    after_first = ((True, True, True, False), (False, True, False, False))
    assert cases[0].occupied[:2] == after_first
    assert cases[3].occupied[1:] == ((True, True, False, False), (True, False, False, True))


@pytest.mark.parametrize("team", ["imap", "sd-map", "dsm-private", "secure-sum", "mediator"])
def test_one_case_for_each_recipient_and_round_with_exactly_its_messages(team: str) -> None:
    check_cases(play_game(canonical_scenario(3), team))


def test_so_it_is_where_agents_use_every_channel() -> None:
    check_cases(play_random(canonical_scenario(5), 5))


def check_cases(trace: Trace) -> None:
    cases = {(case.round, case.case.recipient): case for case in cases_of(trace)}
    assert len(cases) == len(cases_of(trace)) > 0
    for round_index in range(len(trace.scenario.meetings)):
        for agent in map(AgentId, range(trace.scenario.num_agents)):
            wanted = delivered(trace, round_index, agent)
            case = cases.get((round_index, agent))
            assert (told(case) if case else []) == wanted
            if case:
                lines = [x for x in judge_prompt(case.case).splitlines() if x.startswith("- [")]
                assert len(lines) == len(wanted)


def requests(trace: Trace) -> Sequence[object]:
    return [judge_request(case.case, SPEC) for case in cases_of(trace)]


def test_a_judge_cannot_tell_calendars_apart() -> None:
    one, other = spoken_game(), spoken_game(("...E", "..BB", "E..E"))
    assert one.scenario.calendars != other.scenario.calendars
    assert one.final_state != other.final_state
    assert requests(one) == requests(other)


def test_excluded_games_have_no_cases() -> None:
    assert cases_of(with_outcome(spoken_game(), "budget_stop")) == ()
