"""The language agent: a conversation that only grows, and replies that say how they came about."""

import asyncio
import json
from collections.abc import Callable

import pytest

from calbench.agents.base import CallSite
from calbench.agents.language import NO_REPLY, LanguageAgent
from calbench.agents.prompts import load_prompts, load_variant
from calbench.agents.schemas import envelope_schema, reflection_schema, tied_schema
from calbench.domain.actions import PASS, DirectMessage
from calbench.domain.ids import AgentId
from calbench.domain.messages import CHANNELS, Text
from calbench.domain.observations import Observation, Phase
from calbench.domain.replies import Beliefs, Reply, Unreadable
from calbench.domain.usage import Usage
from calbench.errors import UnavailableError
from calbench.llm.completion import (
    ChatMessage,
    Completion,
    ModelSpec,
    Request,
    ResponseFormat,
    TokenLogprob,
)
from calbench.llm.replies.record import named
from tests.agents.replies import DM, completion, envelope
from tests.golden.prompts.samples import AGENTS, REFUSALS, briefing, observation

PROMPTS = load_prompts("v1")
SPEC = ModelSpec(model="test/model")

BELIEFS = json.dumps({"beliefs": {str(agent): [0] * 11 for agent in (1, 2, 3, 4)}})


class Recorder:
    """A source of text that answers by a function and notes what it was asked."""

    def __init__(self, answer: Callable[[Request, CallSite], Completion]) -> None:
        self._answer = answer
        self.requests: list[Request] = []
        self.sites: list[CallSite] = []

    async def complete(self, request: Request, site: CallSite) -> Completion:
        self.requests.append(request)
        self.sites.append(site)
        return self._answer(request, site)


def answering(*completions: Completion) -> Recorder:
    """Return a source that gives these completions one after the other."""
    left = iter(completions)
    return Recorder(lambda _request, _site: next(left))


def agent_of(
    recorder: Recorder, spec: ModelSpec = SPEC, variant_text: str | None = None, version: str = "v1"
) -> LanguageAgent:
    prompts = load_prompts(version)
    agent = LanguageAgent("tester", recorder, spec, prompts, variant_text, "game-1")
    agent.introduce(briefing(*CHANNELS, num_slots=11))
    return agent


def ask(agent: LanguageAgent, *observations: Observation) -> list[Reply]:
    async def in_turn() -> list[Reply]:
        return [await agent.act(one) for one in observations]

    return asyncio.run(in_turn())


def test_introduction_gives_the_system_prompt_with_its_variant() -> None:
    variant = load_variant("nosy", "v1")
    agent = LanguageAgent("tester", answering(), SPEC, PROMPTS, variant.text, "game-1")
    prompt = agent.introduce(briefing("dm"))
    assert prompt == PROMPTS.system(briefing("dm"), variant.text)
    assert prompt.endswith(variant.text)
    assert agent.thread == (ChatMessage("system", prompt),)


def test_agent_that_was_not_introduced_is_not_asked() -> None:
    agent = LanguageAgent("tester", answering(), SPEC, PROMPTS, None, "game-1")
    with pytest.raises(RuntimeError, match="introduced"):
        ask(agent, observation())


def test_reply_says_how_it_came_about() -> None:
    usage = Usage(input_tokens=9, cached_tokens=0, output_tokens=2)
    given_text = f"Sure: {envelope(DM)}"
    recorder = answering(completion(given_text, usage=usage, key="ab12"))
    agent = agent_of(recorder)
    (reply,) = ask(agent, observation(turn_index=2))
    assert reply.turn.actions == (DirectMessage(to=AgentId(2), content=Text(text="7 is easy")),)
    assert reply.prompt == PROMPTS.message(observation(turn_index=2), is_first=True)
    assert reply.usage == usage
    assert reply.reply_keys == ("ab12",)
    assert reply.recovered == "prefixed"
    assert reply.unreadable is None
    assert reply.beliefs is None
    assert agent.thread[1:] == (
        ChatMessage("user", reply.prompt),
        ChatMessage("assistant", given_text),
    )
    assert recorder.sites == [CallSite("tester", "game-1", AgentId(0), 2, Phase.CHEAP_TALK, 2, 0)]


@pytest.mark.parametrize(
    ("given_completion", "problem"),
    [
        (completion("I pass."), "not_json"),
        (completion(None, "context_exceeded"), "context_exceeded"),
        (completion(envelope(DM), "length"), "truncated"),
    ],
)
def test_unreadable_reply_does_nothing_and_is_told_next_time(
    given_completion: Completion, problem: str
) -> None:
    agent = agent_of(answering(given_completion, completion(envelope()), completion(envelope())))
    later = observation(turn_index=1)
    bad, good, after = ask(agent, observation(), later, later)
    assert bad.turn == PASS
    assert bad.unreadable is not None
    assert bad.unreadable.problem == problem
    assert good.prompt == PROMPTS.message(later, is_first=False, unreadable=bad.unreadable)
    assert after.prompt == PROMPTS.message(later, is_first=False)


def test_conversation_holds_the_raw_text_or_a_placeholder() -> None:
    agent = agent_of(answering(completion("I pass."), completion(" \n"), completion("\ud800")))
    ask(agent, *[observation()] * 3)
    said = [message.content for message in agent.thread if message.role == "assistant"]
    assert said == ["I pass.", NO_REPLY, "\ufffd"]


def test_first_question_of_a_round_is_its_start() -> None:
    agent = agent_of(Recorder(lambda _request, _site: completion(envelope())))
    first, second = observation(), observation(turn_index=1)
    next_round = observation(round_index=3)
    prompts = [reply.prompt for reply in ask(agent, first, second, next_round)]
    assert prompts == [
        PROMPTS.message(first, is_first=True),
        PROMPTS.message(second, is_first=False),
        PROMPTS.message(next_round, is_first=True),
    ]


def test_retry_is_part_of_the_conversation() -> None:
    recorder = Recorder(lambda _request, _site: completion(envelope()))
    agent = agent_of(recorder)
    conflict = "Expected exactly 1 schedule action, got 0"
    retry = observation(Phase.DECISION, attempt=1, conflict=conflict)
    ask(agent, observation(Phase.DECISION), retry)
    assert recorder.requests[1].messages[:-1] == agent.thread[:3]
    assert conflict in agent.thread[3].content
    assert [site.attempt for site in recorder.sites] == [0, 1]


def test_reflection_reads_beliefs_and_is_forgotten() -> None:
    recorder = answering(
        completion(envelope(DM)), completion(BELIEFS, key="cd34"), completion(envelope())
    )
    agent = agent_of(recorder)
    first, second = observation(), observation(round_index=3)
    _, reply, after = ask(agent, first, observation(Phase.REFLECTION), second)
    assert reply.turn == PASS
    assert reply.beliefs == Beliefs({str(other): (0,) * 11 for other in (1, 2, 3, 4)})
    assert reply.prompt == PROMPTS.message(observation(Phase.REFLECTION))
    assert reply.reply_keys == ("cd34",)
    asked = recorder.requests[1].messages
    assert asked == (*agent.thread[:3], ChatMessage("user", reply.prompt))
    assert recorder.requests[2].messages[:3] == agent.thread[:3]
    assert len(agent.thread) == 5
    assert after.prompt == PROMPTS.message(second, is_first=True)


def test_reflection_changes_nothing_that_is_told_later() -> None:
    recorder = answering(
        completion("oops"), completion("oops"), completion(envelope()), completion(envelope())
    )
    agent = agent_of(recorder)
    reflection = observation(Phase.REFLECTION, refusals=REFUSALS[:1])
    later = observation(round_index=3, refusals=REFUSALS[1:2])
    bad, measured, told, after = ask(
        agent, observation(), reflection, later, observation(round_index=3)
    )
    assert measured.beliefs is None
    assert measured.unreadable == Unreadable("not_json", "no JSON object in the reply")
    expected = later._replace(refusals=REFUSALS[:2])
    assert told.prompt == PROMPTS.message(expected, is_first=True, unreadable=bad.unreadable)
    assert after.prompt == PROMPTS.message(observation(round_index=3), is_first=False)


@pytest.mark.parametrize("response_format", ["none", "json_object", "json_schema"])
@pytest.mark.parametrize("logprobs", [False, True])
def test_request_carries_schema_and_logprobs_where_asked(
    response_format: ResponseFormat, logprobs: bool
) -> None:
    spec = ModelSpec(model="test/model", response_format=response_format, logprobs=logprobs)
    tokens = tuple(TokenLogprob(letter, 0.0) for letter in BELIEFS)
    recorder = answering(completion(envelope()), completion(BELIEFS, logprobs=tokens))
    _, reply = ask(agent_of(recorder, spec), observation(), observation(Phase.REFLECTION))
    talk, reflection = recorder.requests
    assert not talk.logprobs
    assert reflection.logprobs == logprobs
    if response_format == "none":
        assert talk.reply_schema is None
        assert reflection.reply_schema is None
    else:
        assert talk.reply_schema == envelope_schema(observation())
        assert reflection.reply_schema == reflection_schema(AGENTS, AgentId(0), 11)
    assert reply.beliefs is not None
    assert reply.beliefs.expected is not None


@pytest.mark.parametrize("response_format", ["json_object", "json_schema"])
@pytest.mark.parametrize("is_tied", [False, True])
@pytest.mark.parametrize("version", ["v1", "v2", "v3"])
def test_schema_is_that_of_the_edition_unless_a_model_is_not_tied(
    version: str, is_tied: bool, response_format: ResponseFormat
) -> None:
    spec = ModelSpec(model="test/model", response_format=response_format, is_tied=is_tied)
    views = [observation(phase) for phase in Phase]
    answers = [
        completion(BELIEFS if view.phase is Phase.REFLECTION else envelope()) for view in views
    ]
    recorder = answering(*answers)
    ask(agent_of(recorder, spec, version=version), *views)
    is_counted = response_format == "json_object"
    for view, request in zip(views, recorder.requests, strict=True):
        if view.phase is Phase.REFLECTION:
            asked = view.agent_ids, view.agent_id, len(view.calendar)
            expected = reflection_schema(*asked, has_chances=version == "v3")
        elif version == "v1" or not is_tied:
            expected = envelope_schema(view, is_counted=is_counted)
        else:
            most = spec.sampling.max_tokens
            expected = tied_schema(
                view, is_counted=is_counted, max_tokens=most, is_into_free=version == "v3"
            )
        assert request.reply_schema == expected


def test_key_of_ties_is_recorded_only_where_they_are_off() -> None:
    assert "is_tied" not in SPEC.model_dump(mode="json")
    free = SPEC.model_copy(update={"is_tied": False})
    assert free.model_dump(mode="json") == SPEC.model_dump(mode="json") | {"is_tied": False}


def test_reflections_may_have_a_bound_of_their_own_which_enters_their_keys_alone() -> None:
    requests = []
    for bound in (None, 900):
        recorder = answering(completion(envelope()), completion(BELIEFS))
        spec = SPEC.model_copy(update={"reflection_max_tokens": bound})
        ask(agent_of(recorder, spec), observation(), observation(Phase.REFLECTION))
        requests.append(recorder.requests)
    (talk, reflection), (same_talk, longer) = requests
    assert named(talk).key == named(same_talk).key
    assert named(reflection).key != named(longer).key
    assert reflection.spec.sampling == SPEC.sampling
    assert longer.spec.sampling == SPEC.sampling.model_copy(update={"max_tokens": 900})
    assert "reflection_max_tokens" not in SPEC.model_dump(mode="json")


def test_call_that_fails_leaves_the_conversation_as_it_was() -> None:
    def answer(_request: Request, site: CallSite) -> Completion:
        if site.turn_index == 1:
            raise UnavailableError("provider_fault", "gone")
        return completion(envelope())

    agent = agent_of(Recorder(answer))
    ask(agent, observation())
    before = agent.thread
    with pytest.raises(UnavailableError):
        ask(agent, observation(turn_index=1))
    assert agent.thread == before
