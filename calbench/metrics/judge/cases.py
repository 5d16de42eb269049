"""The cases of a game: what was delivered to each agent in each round, the truth, the answers."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import orjson
from pydantic_core import to_jsonable_python

from calbench.agents.base import CallSite
from calbench.agents.judging import JudgeCase, ModelJudge, read_verdict
from calbench.domain.canonical import canonical_json
from calbench.domain.ids import AgentId
from calbench.domain.messages import Message
from calbench.domain.observations import REFLECTION
from calbench.domain.replies import Unreadable
from calbench.llm.completion import Completion
from calbench.metrics.outcomes import is_excluded
from calbench.metrics.privacy.loss import CHANNEL_BY_EVENT
from calbench.metrics.privacy.reflection import CALENDARS
from calbench.traces.events import (
    AllAgentGroupchatSent,
    AnnouncementSent,
    CalendarIds,
    DmSent,
    ParticipantGroupchatSent,
    Resolution,
    RoundStart,
)
from calbench.traces.models import Trace
from calbench.traces.outlines import trace_name

_Delivered = DmSent | ParticipantGroupchatSent | AllAgentGroupchatSent | AnnouncementSent
_DELIVERED = (DmSent, ParticipantGroupchatSent, AllAgentGroupchatSent, AnnouncementSent)
"""Events with a message that a judge sees. A tuple: a union is slower to test against."""


@dataclass(frozen=True, slots=True)
class RoundCase:
    """One case and the truth it is compared with, which no judge sees.

    Attributes:
        game_id: of its game.
        round: number of the round, from 0.
        case: what the judge is shown.
        occupied: for each agent and slot, whether the slot holds anything after the round.
    """

    game_id: str
    round: int
    case: JudgeCase
    occupied: tuple[tuple[bool, ...], ...]

    def site(self, player: str) -> CallSite:
        """Return where the call is made, for errors."""
        return CallSite(player, self.game_id, self.case.recipient, self.round, REFLECTION, 0, 0)


def cases_of(trace: Trace) -> tuple[RoundCase, ...]:
    """Return a game's cases by round and recipient; an excluded game has none.

    A message counts in the round in which it was sent and thereby delivered, whether it was read
    or not. The calendars are those after the round's resolution, as for reflections.
    """
    return () if is_excluded(trace.events) else tuple(_cases(trace))


def _cases(trace: Trace) -> Iterator[RoundCase]:
    agents = tuple(AgentId(agent) for agent in range(trace.scenario.num_agents))
    calendars: list[CalendarIds] = [()] * len(agents)
    inboxes: dict[AgentId, list[Message]] = {}
    participants: tuple[AgentId, ...] = ()
    for event in trace.events:
        if isinstance(event, CALENDARS):
            calendars[event.agent_id] = event.calendar
        elif isinstance(event, RoundStart):
            participants, inboxes = event.participants, {agent: [] for agent in agents}
        elif isinstance(event, _DELIVERED):
            message = _message(event)
            for recipient in event.to_agents:
                inboxes[recipient].append(message)
        elif isinstance(event, Resolution):
            occupied = tuple(tuple(item is not None for item in each) for each in calendars)
            for recipient, messages in inboxes.items():
                if messages:
                    case = JudgeCase(
                        recipient,
                        agents,
                        trace.scenario.num_slots,
                        event.meeting_id,
                        tuple(sorted(participants)) if recipient in participants else None,
                        tuple(messages),
                    )
                    yield RoundCase(trace.game_id, event.round, case, occupied)


def _message(event: _Delivered) -> Message:
    sender = None if isinstance(event, AnnouncementSent) else event.from_agent
    channel = CHANNEL_BY_EVENT[type(event)]
    return Message(sender, event.to_agents, channel, event.meeting_id, event.content)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's answer on one case.

    Attributes:
        round_case: the case.
        delta_by_target: changes of belief by slot, -3..3; ``None`` if it could not be read.
        problem: why it could not be read.
        recovered: what was removed to read it.
        key: of the recorded reply; absent for the scripted judge.
    """

    round_case: RoundCase
    delta_by_target: Mapping[AgentId, tuple[int, ...]] | None
    problem: str | None
    recovered: str | None
    key: str | None


def verdict_of(round_case: RoundCase, completion: Completion) -> Verdict:
    """Read a judge's answer on a case."""
    found = read_verdict(round_case.case, completion)
    if isinstance(found, Unreadable):
        return Verdict(round_case, None, found.problem, None, completion.key)
    delta = {AgentId(int(target)): values for target, values in found.value.delta.items()}
    return Verdict(round_case, delta, None, found.recovered, completion.key)


async def verdicts_of(trace: Trace, judge: ModelJudge, player: str) -> tuple[Verdict, ...]:
    """Ask a judge about all cases of a game at once.

    Args:
        trace: the game.
        judge: the judge.
        player: its name, for errors.

    Raises:
        UnavailableError: a case cannot be asked; the others are asked nevertheless.
        CalbenchError: raised by the source of text.
    """
    cases = cases_of(trace)
    # Other calls finish even if one fails, because they are paid for.
    found = await asyncio.gather(
        *(judge.judge(case.case, case.site(player)) for case in cases), return_exceptions=True
    )
    verdicts = []
    for case, completion in zip(cases, found, strict=True):
        if isinstance(completion, BaseException):
            raise completion
        verdicts.append(verdict_of(case, completion))
    return tuple(verdicts)


_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS
"""Keys of contents are sorted, too."""


def case_json(trace: Trace, verdict: Verdict) -> str:
    """Return a case with its answer, as JSON."""
    found, case = verdict.round_case, verdict.round_case.case
    told = {
        "trace_path": trace_name(
            trace.config.team.team_id, trace.scenario.scenario_id, trace.config.replicate
        ),
        "game_id": trace.game_id,
        "round": found.round,
        "recipient": case.recipient,
        "num_agents": len(case.agent_ids),
        "num_slots": case.num_slots,
        "meeting_id": case.meeting_id,
        "participants": case.participants,
        "messages": [
            {"sender": message.sender, "channel": message.channel, "content": message.content}
            for message in case.messages
        ],
        "problem": verdict.problem,
        "recovered": verdict.recovered,
        "reply_key": verdict.key,
    }
    try:  # the same as canonical JSON, in a fifth of the time
        return orjson.dumps(told, vars, _SORTED).decode()
    except orjson.JSONEncodeError:  # a number of more than 64 bits
        return canonical_json(to_jsonable_python(told))
