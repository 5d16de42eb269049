"""``calbench rescore``: all tables from traces alone.

Takes files, folders of them and whole runs, mixed: slices of a cohort are scored together. Traces
are read strictly but not replayed, as ``calbench verify`` does.
"""

from collections.abc import Sequence
from pathlib import Path

from calbench.cli.run import SHOWN, summary_tables
from calbench.cli.words import Status, Words, names
from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from calbench.console import show, verdict, warn
from calbench.runs.faults import excluded_games, faults_of
from calbench.runs.folder import (
    KEPT,
    SWEEP_FIGURES,
    SWEEP_KEY,
    SWEEP_TABLE,
    check_folder,
    job_folders,
    write_sweep,
)
from calbench.runs.measured import rescore
from calbench.runs.recorded import TEAM_ORDER
from calbench.runs.results import TABLES_FOLDER, read_run

TABLE1 = "table1.csv"
"""Means of players over all their seats in mixed teams."""


def main(words: Words) -> int:
    """Write the tables."""
    out, paths = Path(words.options["out"]), words.paths
    teams = names(words.options["teams"]) if "teams" in words.options else TEAM_ORDER
    spec = compose(words.settings)
    jobs = job_folders(paths[0]) if len(paths) == 1 else []
    if jobs:
        kept = [SWEEP_TABLE, SWEEP_FIGURES, *(f"*/{TABLES_FOLDER}/{name}" for name in KEPT)]
        check_folder(out, kept, {SWEEP_TABLE: SWEEP_KEY})
        count = sum(_rescored([job], out / job.name / TABLES_FOLDER, teams, spec) for job in jobs)
        write_sweep(out, tuple(SHOWN))
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
