"""The language agent: one conversation for the whole game (paper, appendix A.3)."""

from dataclasses import dataclass, replace

from calbench.agents.completer import CallSite, Completer
from calbench.agents.envelope import parse_envelope
from calbench.agents.prompts import Prompts
from calbench.agents.reflection import parse_reflection
from calbench.agents.schemas import envelope_schema, reflection_schema
from calbench.domain.actions import PASS
from calbench.domain.observations import REFLECTION, Briefing, Observation, Refusal
from calbench.domain.replies import Reply, Unreadable
from calbench.llm.completion import ChatMessage, Completion, ModelSpec, Request, well_formed

NO_REPLY = "(no reply)"
"""Replaces a reply without text in the conversation [C]: providers refuse empty turns."""


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
    thread: tuple[ChatMessage, ...] = ()
    _round_index: int | None = None
    _unreadable: Unreadable | None = None
    _untold: tuple[Refusal, ...] = ()

    def introduce(self, briefing: Briefing) -> str:
        """Start the conversation; return the exact system prompt."""
        prompt = self.prompts.system(briefing, self.variant_text)
        self.thread = (ChatMessage("system", prompt),)
        self._round_index = None
        self._unreadable = None
        self._untold = ()
        return prompt

    async def act(self, observation: Observation) -> Reply:
        """Ask for the turn, or in a reflection for beliefs.

        Raises:
            UnavailableError: if there is no completion.
        """
        if not self.thread:
            raise RuntimeError("a language agent is introduced before it is asked")
        if observation.phase is REFLECTION:
            return await self._reflect(observation)
        untold = self._untold + observation.refusals
        question = self.prompts.message(
            observation._replace(refusals=untold),
            is_first=observation.round_index != self._round_index,
            unreadable=self._unreadable,
        )
        completion = await self._complete(observation, question)
        answer = well_formed(completion.text or "")
        self.thread += (
            ChatMessage("user", question),
            ChatMessage("assistant", answer if answer.strip() else NO_REPLY),
        )
        self._round_index = observation.round_index
        self._untold = ()
        found = parse_envelope(completion)
        if isinstance(found, Unreadable):
            self._unreadable = found
            return replace(_reply(question, completion), unreadable=found)
        self._unreadable = None
        return replace(_reply(question, completion), turn=found.value, recovered=found.recovered)

    async def _reflect(self, observation: Observation) -> Reply:
        # What a measurement says is forgotten with it, so refusals are repeated in the next turn.
        self._untold += observation.refusals
        question = self.prompts.message(observation)
        completion = await self._complete(observation, question)
        agent_ids, me = observation.agent_ids, observation.agent_id
        found = parse_reflection(completion, agent_ids, me, len(observation.calendar))
        if isinstance(found, Unreadable):
            return replace(_reply(question, completion), unreadable=found)
        return replace(_reply(question, completion), beliefs=found.value, recovered=found.recovered)

    async def _complete(self, observation: Observation, question: str) -> Completion:
        is_reflection = observation.phase is REFLECTION
        schema = None
        if self.spec.response_format != "none":
            schema = (
                reflection_schema(
                    observation.agent_ids, observation.agent_id, len(observation.calendar)
                )
                if is_reflection
                else envelope_schema(
                    # Servers that take a schema there know more of it than strict modes do.
                    observation,
                    is_counted=self.spec.response_format == "json_object",
                )
            )
        request = Request(
            spec=self.spec,
            messages=(*self.thread, ChatMessage("user", question)),
            reply_schema=schema,
            logprobs=self.spec.logprobs and is_reflection,
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
        return await self.completer.complete(request, site)


def _reply(question: str, completion: Completion) -> Reply:
    keys = () if completion.key is None else (completion.key,)
    return Reply(PASS, prompt=question, usage=completion.usage, reply_keys=keys)
