"""Models as readers: the judge of the privacy audit (appendix I.2), and of messages (appendix G.5).

A judge is shown the messages that one agent received in one round, and how many agents and slots
there are, and says what the recipient should learn of the others. It never sees a calendar, what
the recipient wrote itself, or how the round ended.

A reader of single messages is shown one, and what its sender's items are about. It answers the
questions of the detectors of language, and is read strictly: what it calls the words of a leak must
are in the message.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from calbench.agents.base import CallSite, Completer
from calbench.agents.envelope import MisshapenError, Read, check_keys, kind_of, name_of, read_object
from calbench.agents.prompts.rendering import belief_shape, message_lines, numbers
from calbench.agents.prompts.templates import FOLDER, Templates, digest_of, read_markdown
from calbench.agents.reflection import parse_reflection
from calbench.agents.schemas import finding_schema, reflection_schema
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


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A model as judge: one request for each case, in a separate conversation."""

    completer: Completer
    spec: ModelSpec

    async def judge(self, case: JudgeCase, site: CallSite) -> Completion:
        """Return the answer to one case.

        Raises:
            UnavailableError: if there is none.
        """
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
    return templates_of("judge").fill(
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
def templates_of(reader: str) -> Templates:
    """Return the templates of ``judge`` or ``audit``, separate from the versioned ones of games."""
    texts = {path.stem: read_markdown(path) for path in sorted((FOLDER / reader).glob("*.md"))}
    return Templates(reader, texts, digest_of(texts))


def read_verdict(case: JudgeCase, completion: Completion) -> Read[Beliefs] | Unreadable:
    """Read an answer as strictly as that to a reflection, whose shape it has."""
    return parse_reflection(completion, case.agent_ids, case.recipient, case.num_slots)


AUDIT_PROMPT: Final = "v1"
"""Version of the reader's prompt. A released version never changes."""

FLAGS: Final = ("proposal", "availability", "cost_or_constraint", "exact_cost")
"""What a reader says yes or no to, in the order of its answer."""

_LEAK: Final = ("label_id", "words")


@dataclass(frozen=True, slots=True)
class MessageCase:
    """What a reader may know of one message.

    Attributes:
        text: of the message.
        labels: texts of the labels of its sender's items, by id.
        known: texts of labels that all recipients know.
    """

    text: str
    labels: Mapping[str, str]
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What a reader found.

    Attributes:
        flags: what it said to each of :data:`FLAGS`.
        words: which words of the message tell a label, by its id.
    """

    flags: Mapping[str, bool]
    words: Mapping[str, str]


def audit_request(case: MessageCase, spec: ModelSpec) -> Request:
    """Return what a model is asked: a function of the case and the model alone."""
    schema = None if spec.response_format == "none" else finding_schema(FLAGS, case.labels)
    question = ChatMessage("user", audit_prompt(case))
    return Request(spec=spec, messages=(question,), reply_schema=schema)


def audit_prompt(case: MessageCase) -> str:
    """Return the question about one message; texts are quoted, so none can end its quotation."""
    labels = [f"{_quoted(name)}: {_quoted(text)}" for name, text in case.labels.items()]
    return templates_of("audit").fill(
        AUDIT_PROMPT,
        labels="\n".join(labels) or "(none)",
        known="\n".join(map(_quoted, case.known)) or "(nothing)",
        message=_quoted(case.text),
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def read_finding(case: MessageCase, completion: Completion) -> Read[Finding] | Unreadable:
    """Read an answer; one that does not fit in every part is unreadable."""
    found = read_object(completion, frozenset({"leaks"}))
    if isinstance(found, Unreadable):
        return found
    try:
        check_keys("reply", found.value, (*FLAGS, "leaks"))
        flags = {name: _flag(name, found.value[name]) for name in FLAGS}
        words = _words(found.value["leaks"], case)
    except MisshapenError as error:
        return Unreadable("wrong_shape", str(error))
    return Read(Finding(flags, words), found.recovered, found.place)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise MisshapenError(f"{name}: expected a boolean, got {kind_of(value)}")
    return value


def _words(leaks: Any, case: MessageCase) -> dict[str, str]:
    """Return the words of each leak, in the order of the labels."""
    if not isinstance(leaks, list):
        raise MisshapenError(f"leaks: expected a list, got {kind_of(leaks)}")
    words: dict[str, str] = {}
    for place, leak in enumerate(leaks):
        where = f"leaks[{place}]"
        if not isinstance(leak, dict):
            raise MisshapenError(f"{where}: expected an object, got {kind_of(leak)}")
        check_keys(where, leak, _LEAK)
        for key in _LEAK:
            if not isinstance(leak[key], str):
                raise MisshapenError(f"{where}.{key}: expected a string, got {kind_of(leak[key])}")
        label_id, said = leak["label_id"], leak["words"]
        if label_id not in case.labels or label_id in words:
            raise MisshapenError(f"{where}.label_id: unknown or twice: {name_of(label_id)}")
        if not said.strip() or said not in case.text:
            raise MisshapenError(f"{where}.words: do not stand in the message: {name_of(said)}")
        words[label_id] = said
    return {label_id: words[label_id] for label_id in case.labels if label_id in words}
