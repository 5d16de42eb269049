"""Agents that answer with what a trace recorded, so that a game can be played again."""

import json
import re
from collections import deque
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from calbench.agents.base import place_of
from calbench.agents.envelope import parse_envelope
from calbench.agents.language import Questions, Thread, extended, opened, request_of
from calbench.agents.reflection import PARTIAL, misfit, parse_reflection
from calbench.domain.actions import PASS, Turn
from calbench.domain.messages import Text
from calbench.domain.observations import REFLECTION, Briefing, Observation
from calbench.domain.replies import Beliefs, Reply, Unreadable
from calbench.errors import ReplayError, ReplayMissError
from calbench.llm.completion import Completion, ModelSpec
from calbench.llm.replies.record import named


@dataclass(frozen=True, slots=True)
class RecordedAgent:
    """Repeats what was recorded, prompts included: of an agent that nobody else can ask."""

    system_prompt: str | None
    replies: deque[Reply]

    def introduce(self, briefing: Briefing) -> str | None:
        """Return the recorded prompt."""
        del briefing
        return self.system_prompt

    async def act(self, observation: Observation) -> Reply:
        """Return the next reply.

        Raises:
            ReplayMissError: if none is left.
        """
        return _next(self.replies, observation)


@dataclass(slots=True)
class RecordedSpeaker:
    """Is asked what a language agent is asked, and answers with recorded replies.

    Its prompts are worded anew, so those of a trace can be compared. What it said is as recorded,
    if it can be read from a reply at all.

    Attributes:
        questions: what it is told and asked.
        spec: of a model, each of whose replies has a key; absent for others, which have none.
        replies: in order.
        is_read: whether they were read from texts, or may be turns that no text says.
    """

    questions: Questions
    spec: ModelSpec | None
    replies: deque[Reply]
    is_read: bool = True
    _thread: Thread | None = field(init=False, default=None)
    """The conversation, as long as the trace says all of it: it holds no text of replies."""

    def introduce(self, briefing: Briefing) -> str:
        """Return the prompt, worded anew."""
        prompt = self.questions.system(briefing)
        self._thread = opened(prompt)
        return prompt

    async def act(self, observation: Observation) -> Reply:
        """Return the next reply with the question that it answers.

        Raises:
            ReplayError: if it cannot be a reply to that question.
            ReplayMissError: if none is left.
        """
        recorded = _next(self.replies, observation)
        question = self.questions.question(observation)
        self.questions.answered(observation, recorded.unreadable)
        if self.is_read:
            _check_text(recorded, observation, self.questions.prompts.edition)
        keys = self._keys(recorded, observation, question)
        if observation.phase is not REFLECTION and self._thread is not None:
            is_empty = recorded.unreadable is not None and recorded.unreadable.problem == "empty"
            self._thread = extended(self._thread, question, None) if is_empty else None
        return replace(recorded, prompt=question, reply_keys=keys)

    def _keys(self, recorded: Reply, observation: Observation, question: str) -> tuple[str, ...]:
        """Return the keys that a reply must have, computed if the whole request is known."""
        if self.spec is None:
            return ()
        keys = recorded.reply_keys
        if len(keys) != 1 or not re.fullmatch(r"[0-9a-f]{64}", keys[0]):
            raise ReplayError(f"{place_of(observation)}: a model's reply has one key, a SHA-256")
        if self._thread is None:
            return keys
        edition = self.questions.prompts.edition
        request = request_of(self.spec, self._thread, observation, question, edition=edition)
        return (named(request).key,)


def _next(replies: deque[Reply], observation: Observation) -> Reply:
    if not replies:
        raise ReplayMissError(
            f"round {observation.round_index}, {observation.phase}: "
            f"no recorded turn of agent {observation.agent_id} is left"
        )
    return replies.popleft()


def _check_text(recorded: Reply, observation: Observation, edition: int) -> None:
    """Raise a :class:`ReplayError` if no text of a language model is read as this reply."""
    if recorded.unreadable is not None:
        has_content = recorded.turn != PASS or recorded.beliefs not in (None, Beliefs({}))
        problem = "a reply that could not be read has no content" if has_content else None
    elif observation.phase is REFLECTION:
        problem = _misfit_beliefs(recorded, observation, edition)
    else:
        problem = _misfit_turn(recorded.turn)
    if problem is not None:
        raise ReplayError(f"{place_of(observation)}: no reply reads like this: {problem}")


def _misfit_turn(turn: Turn) -> str | None:
    actions: list[dict[str, Any]] = []
    for action in turn.actions:
        said = asdict(action)
        content = getattr(action, "content", None)
        if isinstance(content, Text):
            said["content"] = content.text
        actions.append(said)
    text = json.dumps({"thinking": turn.thinking, "actions": actions})
    found = parse_envelope(Completion(text=text, finish_reason="stop"))
    if isinstance(found, Unreadable):
        return found.detail
    return None if found.value == turn else "actions: are others when they are read"


def _misfit_beliefs(recorded: Reply, observation: Observation, edition: int) -> str | None:
    beliefs = recorded.beliefs or Beliefs({})
    said = {"beliefs": beliefs.delta, "occupied": beliefs.occupied}
    text = json.dumps({key: lists for key, lists in said.items() if lists is not None})
    asked = observation.agent_ids, observation.agent_id, len(observation.calendar)
    found = parse_reflection(Completion(text=text), *asked, edition=edition)
    if isinstance(found, Unreadable):
        return found.detail
    if beliefs.occupied != found.value.occupied:
        return "chances: are others when they are read"
    if (PARTIAL in (recorded.recovered or "")) != (PARTIAL in (found.recovered or "")):
        return "lists: are missing, or noted as missing"
    if beliefs.expected is not None and beliefs.expected.keys() != beliefs.delta.keys():
        return "expected beliefs: are about others than the changes"
    others = [str(agent) for agent in observation.agent_ids if agent != observation.agent_id]
    return misfit(beliefs, others, len(observation.calendar))
