"""The scripted judge: sentences by their words, speech acts by what they mean."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench import play_game
from calbench.agents.judging import JudgeCase, judge_prompt, judge_request, read_verdict
from calbench.domain.canonical import canonical_json
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import (
    Announcement,
    Channel,
    Confirm,
    Content,
    CostReport,
    CostRequest,
    Decision,
    Fail,
    FailReschedule,
    Message,
    OfferedPlan,
    PartialSum,
    Proposals,
    Propose,
    ProposeReply,
    Scores,
    Share,
    Text,
)
from calbench.domain.replies import Unreadable
from calbench.llm.completion import Completion, ModelSpec
from calbench.metrics.judge.cases import RoundCase, case_json, cases_of
from calbench.metrics.judge.scripted import READINGS, readings, scripted_deltas, scripted_verdicts
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


def read(text: str) -> dict[int, int]:
    return {slot: delta for slot, delta, _ in readings(text)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Slot 3 does not work for me.", {3: 3}),
        ("Slot 5 is free for me.", {5: -3}),
        ("I'm free at slots 2 and 4, but slot 7 is blocked for me.", {2: -3, 4: -3, 7: 3}),
        ("For me slots 1, 2 and 9 would be easy.", {1: -2, 2: -2, 9: -2}),
        ("Slot 6 would be possible for me.", {6: 1}),
        ("Slot 6 would be inconvenient for me.", {6: 1}),
        ("Moving things out of slot 8 would be costly for me.", {8: 2}),
        ('I have "Free swim at the pool" at slot 4.', {4: 3}),
        ("How about slot 11?", {11: -1}),
        ("Could you do slot 2 or 3?", {2: -1, 3: -1}),
        ("Agreed, slot 12.", {12: 3}),
        ("Let's settle on slot 1.", {1: 3}),
        ("Could we move our meeting M2 from slot 9 to slot 4?", {9: 2, 4: -1}),
        ("Agreed, I will move M2 from slot 9 to slot 4.", {4: 3}),
        ("Slot 3 is free for me and slot 4 is impossible for me.", {3: -3, 4: 3}),
        ("Agent 4 told me that slot 2 is busy.", {}),
        ("What would suit you instead?", {}),
        ("It costs 3 to move that.", {}),
        ("", {}),
    ],
)
def test_sentences(text: str, expected: dict[int, int]) -> None:
    assert read(text) == expected


def case(*messages: tuple[int | None, Content], takes_part: bool = True) -> JudgeCase:
    channel: Channel = "dm"
    return JudgeCase(
        recipient=AgentId(0),
        agent_ids=tuple(map(AgentId, range(3))),
        num_slots=6,
        meeting_id=MeetingId(1),
        participants=tuple(map(AgentId, range(3))) if takes_part else None,
        messages=tuple(
            Message(
                None if sender is None else AgentId(sender),
                (AgentId(0),),
                channel,
                MeetingId(1),
                content,
            )
            for sender, content in messages
        ),
    )


def beliefs(found: JudgeCase) -> dict[str, tuple[int, ...]]:
    """Return the scripted judge's answer, which is one that a model could give."""
    delta = {str(agent): values for agent, values in scripted_deltas(found).items()}
    answer = read_verdict(
        found, Completion(text=json.dumps({"beliefs": delta}), finish_reason="stop")
    )
    assert not isinstance(answer, Unreadable)
    assert answer.recovered is None
    assert answer.value.delta == delta
    return delta


def slots(*numbers: int) -> tuple[Slot, ...]:
    return tuple(map(Slot, numbers))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (CostReport(slots=slots(0, 1, 2), costs=(None, 0, 5)), (3, -3, 2, 0, 0, 0)),
        (Decision(slot=Slot(4)), (0, 0, 0, 0, 3, 0)),
        (Propose(slot=Slot(1)), (0, -1, 0, 0, 0, 0)),
        (ProposeReply(slot=Slot(1), status="IMPOSSIBLE"), (0, 3, 0, 0, 0, 0)),
        (ProposeReply(slot=Slot(1), status="PENDING"), (0, -1, 0, 0, 0, 0)),
        (Confirm(slot=Slot(2)), (0, 0, 3, 0, 0, 0)),
        (
            Proposals(plans=(OfferedPlan(plan_id=7, slot=Slot(3), moves=(), vacated=()),)),
            (0, 0, 0, -1, 0, 0),
        ),
        (Scores(plan_ids=(7,), scores=(0,)), (0, 0, 0, 0, 0, 0)),
        (Text(text="Slot 99 is free for me, slot 5 is not possible for me"), (0, 0, 0, 0, 0, 3)),
    ],
)
def test_messages_tell_of_their_senders(content: Content, expected: tuple[int, ...]) -> None:
    assert beliefs(case((2, content))) == {"1": (0,) * 6, "2": expected}


@pytest.mark.parametrize("slot", [1, 2**70])
def test_cases_are_written_as_canonical_json(slot: int) -> None:
    """Whatever is said; numbers of more than 64 bits are written another way."""
    offered = OfferedPlan(plan_id=7, slot=Slot(slot), moves=(), vacated=())
    content = Proposals(plans=(offered,))
    trace = spoken_game()
    verdict = scripted_verdicts(trace)[0]
    told = replace(verdict.round_case.case, messages=case((2, content)).messages)
    found = case_json(trace, replace(verdict, round_case=replace(verdict.round_case, case=told)))
    assert found == canonical_json(json.loads(found))
    assert json.loads(found)["messages"][0]["content"] == json.loads(
        canonical_json(asdict(content))
    )


def test_an_announcement_tells_participants_of_all_participants() -> None:
    said = (None, Announcement(slot=Slot(1)))
    chosen = (0, 3, 0, 0, 0, 0)
    assert beliefs(case(said)) == {"1": chosen, "2": chosen}
    assert beliefs(case(said, takes_part=False)) == {"1": (0,) * 6, "2": (0,) * 6}


def test_the_later_word_stands_unless_it_is_less_firm() -> None:
    def of(*texts: str) -> int:
        return beliefs(case(*((1, Text(text=text)) for text in texts)))["1"][2]

    free, bad, ask, done = (
        *("Slot 2 is free for me.", "Slot 2 is impossible for me."),
        *("How about slot 2?", "Agreed, slot 2."),
    )
    assert [of(free, bad), of(bad, free)] == [3, -3]
    assert [of(bad, ask), of(ask, bad)] == [3, 3]
    assert [of(done, free), of(free, done)] == [3, 3]


@pytest.mark.parametrize(
    "act",
    [
        CostRequest(slots(1)),
        Share(values=(1, 2, 3, 4, 5, 6)),
        PartialSum(values=(1, 2, 3, 4, 5, 6)),
        Scores((1,), (3,)),
        Fail(),
        FailReschedule(old_meeting_id=MeetingId(1)),
    ],
)
def test_speech_act_without_a_reading_tells_the_judge_nothing(act: Content) -> None:
    kinds = {kind for part in get_args(Content) for kind in (get_args(part) or (part,))}
    assert set(READINGS) <= kinds - {type(act)}
    assert beliefs(case((1, act)))["1"] == (0,) * 6


@given(st.lists(st.tuples(st.sampled_from([1, 2]), st.text(max_size=200)), min_size=1, max_size=4))
def test_any_text_gives_a_readable_answer_in_bounds(messages: list[tuple[int, str]]) -> None:
    found = beliefs(case(*((sender, Text(text=text)) for sender, text in messages)))
    assert set(found) == {"1", "2"}
    assert all(len(each) == 6 and all(abs(n) <= 3 for n in each) for each in found.values())
    silent = {"1", "2"} - {str(sender) for sender, _ in messages}
    assert all(not any(found[agent]) for agent in silent)
