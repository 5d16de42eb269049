"""``calbench rescore``: all tables from traces alone.

Takes files, folders of them and whole runs, mixed: slices of a cohort are scored together. Traces
are read strictly but not replayed, as ``calbench verify`` does.
"""

from collections.abc import Sequence
from pathlib import Path

from calbench.analysis.output import write_all_tables
from calbench.analysis.registry import Settings
from calbench.analysis.scoring import facts_of
from calbench.cli.run import summary_tables
from calbench.cli.words import Status, Words, names
from calbench.config.composition import compose
from calbench.config.groups import PRICES
from calbench.config.spec import RunSpec
from calbench.console import progress, show, verdict, warn
from calbench.endings import pruned
from calbench.folders import claimed, scratch_folder
from calbench.llm.prices import read_prices
from calbench.pool import workers
from calbench.runs.faults import excluded_games, faults_of
from calbench.runs.folder import (
    KEPT,
    KEYS,
    SWEEP_KEY,
    SWEEP_TABLE,
    check_folder,
    job_folders,
    write_sweep_table,
)
from calbench.runs.recorded import TEAM_ORDER, RecordedGame, TraceHead, read_games, team_rank
from calbench.runs.results import TABLES_FOLDER, read_run
from calbench.runs.slices import pooled, told_apart

TABLE1 = "table1.csv"
"""Means of players over all their seats in mixed teams."""


def main(words: Words) -> int:
    """Write the tables."""
    out, paths = Path(words.options["out"]), words.paths
    teams = names(words.options["teams"]) if "teams" in words.options else TEAM_ORDER
    spec = compose(words.settings)
    jobs = job_folders(paths[0]) if len(paths) == 1 else []
    if jobs:
        kept = [SWEEP_TABLE, *(f"*/{TABLES_FOLDER}/{name}" for name in KEPT)]
        check_folder(out, kept, {SWEEP_TABLE: SWEEP_KEY})
        count = sum(_rescored([job], out / job.name / TABLES_FOLDER, teams, spec) for job in jobs)
        write_sweep_table(out)
        line = f"{count} games of {len(jobs)} jobs scored: {out}/{SWEEP_TABLE} over all jobs"
        verdict(line, is_good=True)
        return Status.DONE
    count = _rescored(paths, out, teams, spec)
    show(*summary_tables(out / TABLE1, spec.analysis.confidence, "player", "agent_games"))
    verdict(f"{count} games scored: {out}/leaderboard.csv and others beside it", is_good=True)
    return Status.DONE


def _rescored(paths: Sequence[Path], out: Path, teams: Sequence[str], spec: RunSpec) -> int:
    """Write the tables of some traces, and warn of what they say went wrong."""
    count = rescore(paths, out, teams, spec)
    for line in (*faults_of(out), *excluded_games(read_run(out).games())):
        warn(line)
    return count


def rescore(paths: Sequence[Path], out: Path, teams: Sequence[str], spec: RunSpec) -> int:
    """Write all tables of the traces below some paths; return how many games they hold.

    Args:
        paths: trace files, folders of them, or folders of runs.
        out: where the tables go; those of privacy below ``privacy``.
        teams: order in which tables list teams; others follow by name.
        spec: its facts, judge, settings of metrics and estimates, and workers count.

    Raises:
        CalbenchError: one line about what does not fit; nothing was written.
    """
    check_folder(out, KEPT, KEYS)
    found = read_games(paths)
    with pruned(out), claimed(out):
        check_folder(out, KEPT, KEYS)
        return _write(found, out, teams, spec)


def _write(found: Sequence[RecordedGame], out: Path, teams: Sequence[str], spec: RunSpec) -> int:
    """Write all tables of some games into a folder that is held; return how many there are."""
    settings = Settings(spec.measure, spec.analysis, read_prices(PRICES).models)
    facts = facts_of(spec.facts, spec.judge)
    with scratch_folder("rescore") as scratch:
        games, lines = told_apart(found, scratch / "renamed")
        for line in (*lines, *pooled(games)):
            warn(line)
        rank = team_rank(teams)
        games.sort(key=lambda game: (*rank(game.team_id), *_place(game.head)))
        with (
            workers(spec.jobs, spec.executor, games=len(games)) as pool,
            progress("measured", len(games)) as tick,
        ):
            write_all_tables(games, out, settings, tick, pool, facts)
    return len(games)


def _place(head: TraceHead) -> tuple[str, str, int]:
    """Return the place of a game among those of its team, in whichever folder it is."""
    return head.setting, head.scenario_id, head.replicate
