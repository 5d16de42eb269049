"""``calbench rescore``: all tables from traces alone.

Takes files, folders of them and whole runs, mixed: slices of a cohort are scored together. Traces
are read strictly and scored; then they are replayed, as ``calbench verify`` does, to say of each
team whether all of its games hold, unless the command is quiet.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table

from calbench.analysis.summary.runs import verified_word
from calbench.cli.run import SHOWN, summary_tables
from calbench.cli.words import Status, Words, names
from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from calbench.console import is_quiet, show, verdict, warn
from calbench.pool import workers
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
from calbench.runs.measured import PUBLISHED, rescore
from calbench.runs.recorded import TEAM_ORDER, read_games
from calbench.runs.results import TABLES_FOLDER, read_run
from calbench.runs.slices import run_name
from calbench.runs.verification import verified_teams
from calbench.terminal import new_table

TABLE1 = "table1.csv"
"""Means of players over all their seats in mixed teams."""

HEADS = ("Run", "Team", "games", "verified")


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
    show(*verified_tables(paths, spec))
    verdict(f"{count} games scored: {out}/leaderboard.csv and others beside it", is_good=True)
    return Status.DONE


def verified_tables(paths: Sequence[Path], spec: RunSpec) -> Iterator[Table]:
    """Yield a table of whose games hold, by run and team, unless the command is quiet.

    Those of a published experiment are what ``calbench prove`` compares.
    """
    if is_quiet():
        return
    title = "Games that hold, as calbench verify checks them"
    table = new_table(title, HEADS, left=2, wraps=True)
    for path in dict.fromkeys(paths):
        if str(path).startswith(PUBLISHED):
            table.add_row(str(path), "", "", "published")
            continue
        games = read_games([path])
        count = Counter(game.team_id for game in games)
        with workers(spec.jobs, spec.executor, games=len(games)) as pool:
            for team, holds in verified_teams(games, pool).items():
                table.add_row(run_name(path), team, str(count[team]), verified_word(holds))
    yield table


def _rescored(paths: Sequence[Path], out: Path, teams: Sequence[str], spec: RunSpec) -> int:
    """Write the tables of some traces, and warn of what they say went wrong."""
    count = rescore(paths, out, teams, spec)
    for line in (*faults_of(out), *excluded_games(read_run(out).games())):
        warn(line)
    return count
