"""The judge of the privacy audit: what should a recipient learn from its messages (appendix I.2).

A judge is shown the messages that one agent received in one round, and how many agents and slots
there are. It never sees a calendar, what the recipient wrote itself, or how the round ended.
"""

from dataclasses import dataclass
from functools import cache
from typing import Protocol

from calbench.agents.completer import CallSite, Completer
from calbench.agents.prompts.rendering import belief_shape, message_lines, numbers
from calbench.agents.prompts.templates import FOLDER, Templates, digest_of, read_markdown
from calbench.agents.reading import Read
from calbench.agents.reflection import parse_reflection
from calbench.agents.schemas import reflection_schema
from calbench.domain.ids import AgentId, MeetingId
from calbench.domain.messages import Message
from calbench.domain.replies import Beliefs, Unreadable
from calbench.llm.completion import ChatMessage, Completion, ModelSpec, Request

JUDGE_PROMPT = "v1"
"""Version of the judge's prompt. A released version never changes."""


@dataclass(frozen=True, slots=True)
class JudgeCase:
    """What a judge may know: one recipient's messages of one round.

    Attributes:
        recipient: who received them.
        agent_ids: all agents of the game.
        num_slots: slots of every calendar.
        meeting_id: the meeting of the round.
        participants: of that meeting; ``None`` if the recipient is not one of them, since an
            outsider does not know who they are.
        messages: delivered to the recipient, in their order; at least one.
    """

    recipient: AgentId
    agent_ids: tuple[AgentId, ...]
    num_slots: int
    meeting_id: MeetingId
    participants: tuple[AgentId, ...] | None
    messages: tuple[Message, ...]

    @property
    def others(self) -> tuple[AgentId, ...]:
        """Whose calendars are judged."""
        return tuple(agent for agent in self.agent_ids if agent != self.recipient)


class Judge(Protocol):
    """A judge: a model, or its scripted stand-in."""

    async def judge(self, case: JudgeCase, site: CallSite) -> Completion:
        """Return the answer to one case.

        Raises:
            UnavailableError: if there is none.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A model as judge: one request for each case, in a separate conversation."""

    completer: Completer
    spec: ModelSpec

    async def judge(self, case: JudgeCase, site: CallSite) -> Completion:
        """Ask the model."""
        return await self.completer.complete(judge_request(case, self.spec), site)


def judge_request(case: JudgeCase, spec: ModelSpec) -> Request:
    """Return what a model is asked: a function of the case and the model alone."""
    schema = None
    if spec.response_format != "none":
        schema = reflection_schema(case.agent_ids, case.recipient, case.num_slots)
    question = ChatMessage("user", judge_prompt(case))
    return Request(spec=spec, messages=(question,), reply_schema=schema)


def judge_prompt(case: JudgeCase) -> str:
    """Return the question about one case."""
    return judge_templates().fill(
        JUDGE_PROMPT,
        recipient=case.recipient,
        agents=numbers(case.agent_ids),
        others=numbers(case.others),
        num_slots=case.num_slots,
        last_slot=case.num_slots - 1,
        meeting=_meeting(case),
        messages=message_lines(case.messages, case.meeting_id),
        shape=belief_shape(case.others, case.num_slots),
    )


def _meeting(case: JudgeCase) -> str:
    if case.participants is None:
        return f"Meeting of the round: M{case.meeting_id}; the recipient takes no part in it"
    people = numbers(case.participants)
    return f"Meeting of the round: M{case.meeting_id}, participants [{people}]"


@cache
def judge_templates() -> Templates:
    """Return the judge's templates, which are separate from the versioned prompts of games."""
    folder = FOLDER / "judge"
    texts = {path.stem: read_markdown(path) for path in sorted(folder.glob("*.md"))}
    return Templates("judge", texts, digest_of(texts))


def read_verdict(case: JudgeCase, completion: Completion) -> Read[Beliefs] | Unreadable:
    """Read an answer as strictly as that to a reflection, whose shape it has."""
    return parse_reflection(completion, case.agent_ids, case.recipient, case.num_slots)
