"""From facts to every table that they allow, and from traces to both."""

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from pathlib import Path

from calbench.analysis.datapackage import write_datapackage
from calbench.analysis.judge_output import write_cases
from calbench.analysis.metric_files import write_metrics
from calbench.analysis.scoring import ALL_FACTS, Recorded, measure_games
from calbench.analysis.settings import Settings
from calbench.analysis.tables import tables_of
from calbench.facts.fact import Fact
from calbench.facts.storage import Facts

SCRATCH = ".facts"
"""Folder of facts that are not kept. What a killed run leaves there, the next one replaces."""


def write_tables(facts: Facts, folder: Path, settings: Settings) -> None:
    """Write every table that facts allow, what they mean, and the leaderboard as numbers alone.

    Args:
        facts: of a run.
        folder: where the tables go.
        settings: of the metrics that made the facts, and of the estimates.

    Raises:
        OutputError: the folder cannot be written.
    """
    tables = tables_of(facts)
    for each in tables:
        each.write(facts, settings, folder)
    if facts.has("judged_cases"):
        write_cases(facts, folder / "judge")
    write_metrics(facts, folder, settings)
    write_datapackage(tables, folder, settings)


def write_all_tables(
    games: Sequence[Recorded],
    folder: Path,
    settings: Settings,
    tick: Callable[[], None],
    executor: Executor | None = None,
    facts: Sequence[Fact] = ALL_FACTS,
) -> None:
    """Measure games and write their tables; the facts are not kept.

    Arguments as in :func:`calbench.analysis.scoring.measure_games` and :func:`write_tables`.
    """
    scratch = folder / SCRATCH
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        measured = measure_games(games, scratch, settings.measure, tick, executor, facts)
        write_tables(measured, folder, settings)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
