"""What a judge answered on the cases of a game."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache

from calbench.agents.judging import Judge, read_verdict
from calbench.domain.canonical import canonical_json
from calbench.domain.ids import AgentId
from calbench.domain.replies import Unreadable
from calbench.llm.completion import Completion
from calbench.metrics.judge.cases import RoundCase, cases_of
from calbench.traces.models import Trace
from calbench.traces.storage import trace_name


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


async def verdicts_of(trace: Trace, judge: Judge, player: str) -> tuple[Verdict, ...]:
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


_content = lru_cache(maxsize=256)(asdict)
"""A message's content as a dictionary; it is in the cases of all its recipients."""


def case_json(trace: Trace, verdict: Verdict) -> str:
    """Return a case with its answer, as JSON."""
    found, case = verdict.round_case, verdict.round_case.case
    return canonical_json(
        {
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
                {
                    "sender": message.sender,
                    "channel": message.channel,
                    "content": _content(message.content),
                }
                for message in case.messages
            ],
            "problem": verdict.problem,
            "recovered": verdict.recovered,
            "reply_key": verdict.key,
        }
    )
