"""From traces to verdicts: by the scripted judge, as the pipeline does, or by whoever is asked."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from calbench.agents.judging import Judge
from calbench.analysis.judge.cases import cases_of
from calbench.analysis.judge.scripted import scripted_verdict
from calbench.analysis.judge.tables import JudgeTables
from calbench.analysis.judge.verdicts import Verdict, verdict_of
from calbench.analysis.scoring import Recorded, team_ids
from calbench.stats.spec import DEFAULT_ANALYSIS, AnalysisSpec
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.traces.models import Trace
from calbench.traces.storage import read_trace


def scripted_verdicts(trace: Trace) -> tuple[Verdict, ...]:
    """Return what the scripted judge makes of a game."""
    return tuple(verdict_of(case, scripted_verdict(case.case)) for case in cases_of(trace))


def write_judge_tables(
    games: Sequence[Recorded],
    folder: Path,
    tick: Callable[[], None],
    measure: MeasureSpec = DEFAULT_MEASURE,
    spec: AnalysisSpec = DEFAULT_ANALYSIS,
) -> None:
    """Write the tables of the judge audit of a run, by the scripted judge.

    Args:
        games: those of a run; tables list teams as they first come here.
        folder: where the tables go.
        tick: called once for each game.
        measure: prior of the primary measure, and the floor.
        spec: settings of the estimates.

    Raises:
        CalbenchError: one line about a trace that does not fit.
    """
    with JudgeTables(folder, team_ids(games), measure=measure, spec=spec) as tables:
        for game in games:
            trace = read_trace(game.path)
            tables.add(trace, scripted_verdicts(trace))
            tick()
        tables.write()


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
