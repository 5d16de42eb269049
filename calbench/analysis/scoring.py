"""From the traces of a run to its tables, one trace at a time.

Games on one scenario are scored together, so that they share oracle answers which are then
forgotten: memory grows with neither games nor scenarios.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path

from calbench.analysis.privacy import PrivacyTables
from calbench.analysis.reflections import ReflectionTables
from calbench.analysis.spec import DEFAULT_ANALYSIS, AnalysisSpec
from calbench.analysis.tables import Collector
from calbench.analysis.usage import Prices
from calbench.engine.batch import Job
from calbench.metrics.game import GameScore, score_game
from calbench.metrics.measure import MeasureSpec
from calbench.oracle.cache import OracleCache
from calbench.traces.storage import read_trace


def write_tables(
    jobs: Sequence[Job],
    folder: Path,
    measure: MeasureSpec,
    spec: AnalysisSpec,
    tick: Callable[[], None],
    executor: Executor | None = None,
    prices: Prices | None = None,
) -> None:
    """Score every game of a run and write its tables.

    Args:
        jobs: the games; each has its trace on disk.
        folder: where the tables go.
        measure: settings of the metrics.
        spec: settings of the estimates.
        tick: called once for each game.
        executor: where to score; ``None`` scores here. The tables do not depend on it.
        prices: what models' tokens cost, where known.
    """
    score = partial(_scores, measure=measure)
    groups = _by_scenario(jobs)
    with Collector(folder, team_ids(jobs), spec, prices) as tables:
        for scores in map(score, groups) if executor is None else executor.map(score, groups):
            for game in scores:
                tables.add(game)
                tick()
        tables.write()


def _scores(jobs: Sequence[Job], measure: MeasureSpec) -> list[GameScore]:
    """Score the games on one scenario, which share oracle answers."""
    oracle = OracleCache()
    return [score_game(read_trace(job.path), measure=measure, oracle=oracle) for job in jobs]


def write_privacy_tables(
    jobs: Sequence[Job],
    folder: Path,
    measure: MeasureSpec,
    tick: Callable[[], None],
    spec: AnalysisSpec = DEFAULT_ANALYSIS,
) -> None:
    """Write the four VPS tables of a run (paper, appendix F.5), and two of reflections.

    Args:
        jobs: the games; each has its trace on disk.
        folder: where the tables go.
        measure: prior and floor.
        tick: called once for each game.
        spec: settings of the estimates.
    """
    teams = team_ids(jobs)
    with (
        PrivacyTables(folder, teams, measure) as tables,
        ReflectionTables(folder, teams, spec) as reflections,
    ):
        for job in jobs:
            trace = read_trace(job.path)
            tables.add(trace)
            reflections.add(trace)
            tick()
        tables.write()
        reflections.write()


def team_ids(jobs: Sequence[Job]) -> list[str]:
    """Return the teams of a run in the order they were named."""
    return list(dict.fromkeys(job.config.team.team_id for job in jobs))


def _by_scenario(jobs: Sequence[Job]) -> Iterator[list[Job]]:
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.scenario.scenario_id, []).append(job)
    yield from groups.values()
