"""The language agent: one conversation for the whole game (paper, appendix A.3).

What it is told and asked does not depend on who answers: :class:`Questions` words it.
"""

from dataclasses import dataclass, field, replace

from calbench.agents.base import CallSite, Completer
from calbench.agents.envelope import parse_envelope
from calbench.agents.prompts import Prompts
from calbench.agents.reflection import parse_reflection
from calbench.agents.schemas import Schema, envelope_schema, reflection_schema, tied_schema
from calbench.domain.actions import PASS
from calbench.domain.observations import REFLECTION, Briefing, Observation, Refusal
from calbench.domain.replies import Reply, Unreadable
from calbench.llm.completion import ChatMessage, Completion, ModelSpec, Request, well_formed

NO_REPLY = "(no reply)"
"""Replaces a reply without text in the conversation [C]: providers refuse empty turns."""

Thread = tuple[ChatMessage, ...]


@dataclass(slots=True)
class Questions:
    """Words the messages to one agent of one game.

    They follow from its observations and from which of its replies could not be read: the same of
    both gives the same messages, which lets a verifier compare those of a trace.

    Attributes:
        prompts: the version of the prompts.
        variant_text: appended to the system prompt word for word.
    """

    prompts: Prompts
    variant_text: str | None
    _round_index: int | None = None
    _unreadable: Unreadable | None = None
    _untold: tuple[Refusal, ...] = ()

    def system(self, briefing: Briefing) -> str:
        """Start from the beginning; return the exact system prompt."""
        self._round_index = None
        self._unreadable = None
        self._untold = ()
        return self.prompts.system(briefing, self.variant_text)

    def question(self, observation: Observation) -> str:
        """Return the exact message that asks for the turn, or in a reflection for beliefs."""
        if observation.phase is REFLECTION:
            return self.prompts.message(observation)
        if self._untold:
            observation = observation._replace(refusals=self._untold + observation.refusals)
        return self.prompts.message(
            observation,
            is_first=observation.round_index != self._round_index,
            unreadable=self._unreadable,
        )

    def answered(self, observation: Observation, unreadable: Unreadable | None) -> None:
        """Note that a question was answered, and why the answer could not be read."""
        if observation.phase is REFLECTION:
            # What a measurement says is forgotten with it, so refusals are repeated next time.
            self._untold += observation.refusals
            return
        self._round_index = observation.round_index
        self._unreadable = unreadable
        self._untold = ()


@dataclass(slots=True)
class LanguageAgent:
    """Asks for a completion in every turn, and keeps the conversation.

    The conversation only grows: every request extends the one before it, which providers can
    cache. A reflection is asked at its end and then forgotten,
    question and answer (appendix F.3). A call that fails leaves the conversation as it was.

    Attributes:
        player: name of the player, for errors.
        completer: where text comes from.
        spec: what defines the replies.
        prompts: the version of the prompts.
        variant_text: appended to the system prompt word for word.
        game_id: for errors.
        thread: the conversation so far.
    """

    player: str
    completer: Completer
    spec: ModelSpec
    prompts: Prompts
    variant_text: str | None
    game_id: str
    thread: Thread = ()
    _questions: Questions = field(init=False)

    def __post_init__(self) -> None:
        self._questions = Questions(self.prompts, self.variant_text)

    def introduce(self, briefing: Briefing) -> str:
        """Start the conversation; return the exact system prompt."""
        prompt = self._questions.system(briefing)
        self.thread = opened(prompt)
        return prompt

    async def act(self, observation: Observation) -> Reply:
        """Ask for the turn, or in a reflection for beliefs.

        Raises:
            UnavailableError: if there is no completion.
        """
        if not self.thread:
            raise RuntimeError("a language agent is introduced before it is asked")
        question = self._questions.question(observation)
        request = request_of(
            self.spec, self.thread, observation, question, edition=self.prompts.edition
        )
        site = CallSite(
            player=self.player,
            game_id=self.game_id,
            agent_id=observation.agent_id,
            round_index=observation.round_index,
            phase=observation.phase,
            turn_index=observation.turn_index,
            attempt=observation.attempt,
        )
        completion = await self.completer.complete(request, site)
        reply = replied(observation, question, completion, self.prompts.edition)
        if observation.phase is not REFLECTION:
            self.thread = extended(self.thread, question, completion.text)
        self._questions.answered(observation, reply.unreadable)
        return reply


def opened(system_prompt: str) -> Thread:
    """Return a conversation in which nothing was asked yet."""
    return (ChatMessage("system", system_prompt),)


def extended(thread: Thread, question: str, text: str | None) -> Thread:
    """Return a conversation with a further question and the text of its reply."""
    answer = well_formed(text or "")
    return (
        *thread,
        ChatMessage("user", question),
        ChatMessage("assistant", answer if answer.strip() else NO_REPLY),
    )


def request_of(
    spec: ModelSpec, thread: Thread, observation: Observation, question: str, *, edition: int
) -> Request:
    """Return the request that asks a question at the end of a conversation.

    Args:
        spec: what is asked.
        thread: the conversation so far.
        observation: what the question is about.
        question: the message.
        edition: of the prompts, see :attr:`Prompts.edition
            <calbench.agents.prompts.messages.Prompts.edition>`.
    """
    return Request(
        spec=spec.of_reflections if observation.phase is REFLECTION else spec,
        messages=(*thread, ChatMessage("user", question)),
        reply_schema=_schema(spec, observation, edition),
        logprobs=spec.logprobs and observation.phase is REFLECTION,
    )


def _schema(spec: ModelSpec, observation: Observation, edition: int) -> Schema | None:
    if spec.response_format == "none":
        return None
    if observation.phase is REFLECTION:
        num_slots = len(observation.calendar)
        asked = observation.agent_ids, observation.agent_id, num_slots
        return reflection_schema(*asked, has_chances=edition > 2)
    # Servers that take a schema there know more of it than strict modes do.
    is_counted = spec.response_format == "json_object"
    if edition == 1 or not spec.is_tied:
        return envelope_schema(observation, is_counted=is_counted)
    return tied_schema(
        observation,
        is_counted=is_counted,
        max_tokens=spec.sampling.max_tokens,
        is_into_free=edition > 2,
    )


def replied(observation: Observation, question: str, completion: Completion, edition: int) -> Reply:
    """Read a completion as the answer to a question: turn or beliefs, or why it has neither."""
    keys = () if completion.key is None else (completion.key,)
    reply = Reply(PASS, question, completion.usage, keys)
    if observation.phase is not REFLECTION:
        turn = parse_envelope(completion)
        if isinstance(turn, Unreadable):
            return replace(reply, unreadable=turn)
        return replace(reply, turn=turn.value, recovered=turn.recovered)
    asked = observation.agent_ids, observation.agent_id, len(observation.calendar)
    beliefs = parse_reflection(completion, *asked, edition=edition)
    if isinstance(beliefs, Unreadable):
        return replace(reply, unreadable=beliefs)
    return replace(reply, recovered=beliefs.recovered, beliefs=beliefs.value)
