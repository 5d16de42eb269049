"""From a game to verdicts: by the scripted judge, or by whoever is asked."""

import asyncio

from calbench.agents.judging import Judge
from calbench.metrics.judge.cases import cases_of
from calbench.metrics.judge.scripted import scripted_verdict
from calbench.metrics.judge.verdicts import Verdict, verdict_of
from calbench.traces.models import Trace


def scripted_verdicts(trace: Trace) -> tuple[Verdict, ...]:
    """Return what the scripted judge makes of a game."""
    return tuple(verdict_of(case, scripted_verdict(case.case)) for case in cases_of(trace))


async def verdicts_of(trace: Trace, judge: Judge, player: str) -> tuple[Verdict, ...]:
    """Ask a judge about all cases of a game at once.

    Args:
        trace: the game.
        judge: who is asked.
        player: its name, for errors.

    Raises:
        UnavailableError: if a case cannot be asked; the others are asked nonetheless.
        CalbenchError: as the source of text raises it.
    """
    cases = cases_of(trace)
    # Whatever fails, the others come home: they are paid for.
    found = await asyncio.gather(
        *(judge.judge(case.case, case.site(player)) for case in cases), return_exceptions=True
    )
    verdicts = []
    for case, completion in zip(cases, found, strict=True):
        if isinstance(completion, BaseException):
            raise completion
        verdicts.append(verdict_of(case, completion))
    return tuple(verdicts)
