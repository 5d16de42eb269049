"""``calbench [key=value ...]``: one run and its summary in the terminal."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from calbench.analysis.measures import MEASURE_BY_NAME
from calbench.cli.jobs import Sweep, for_each_job
from calbench.cli.words import Status, program_name
from calbench.config.spec import RunSpec
from calbench.console import show, tell, verdict, warn
from calbench.report.tables import Row, read_table
from calbench.runs.faults import closed_channels, faults_of, is_nothing_read
from calbench.runs.folder import SWEEP_FIGURES, write_sweep
from calbench.runs.play import RunSummary, execute
from calbench.terminal import new_table
from calbench.traces.catalog import TRACES_FOLDER
from calbench.traces.shards import SHARD_GLOB

SHOWN = {
    "coordination": "Coord %",
    "excess_cost": "Excess",
    "messages": "Messages",
    "fairness": "Fairness",
    "excess_vps": "VPS",
}
"""Measures of the terminal's table, by column of ``leaderboard.csv``."""

RANKING = "adjusted_excess_cost"
"""The measure that ranks the board [C]."""

REASONS_SHOWN = 3
"""Most reasons for excluded games that the summary names [C]; each trace has its own."""


def main(overrides: Sequence[str], options: Mapping[str, Any]) -> int:
    """Play what Hydra composes of a command line."""
    return for_each_job(overrides, options, _run, _run_job, _show_sweep)


def _run(spec: RunSpec) -> int:
    summary = execute(spec)
    report(spec, summary)
    status = status_of(summary)
    verdict(_verdict(spec, summary), is_good=status == Status.DONE)
    return status


def _run_job(spec: RunSpec) -> int:
    """Play a job of a sweep: its numbers are in the table over all jobs."""
    summary = execute(spec)
    for line in _warnings(spec, summary):
        warn(line)
    tell(_verdict(spec, summary))
    return status_of(summary)


def status_of(summary: RunSummary) -> Status:
    """Return the status of a run: some of its games may be void."""
    is_void = summary.halted or is_nothing_read(summary.tables)
    return Status.EXCLUDED if is_void else Status.DONE


def report(spec: RunSpec, summary: RunSummary) -> None:
    """Print the summary tables and where the results are."""
    show(*summary_tables(summary.tables / "leaderboard.csv", spec.analysis.confidence))
    out = Path(spec.out)
    totals = summary.totals
    if totals.calls or totals.replayed or totals.failed:
        tell(
            f"{totals.calls} replies paid for, {totals.replayed} replayed, "
            f"{totals.failed} not given"
        )
        show(*standing_tables(spec))
    for line in _warnings(spec, summary):
        warn(line)
    shown, traces = shlex.quote(str(out)), out / TRACES_FOLDER
    if any(traces.glob(SHARD_GLOB)):
        tell(f"Traces   {traces}/*.jsonl.zst: {program_name()} traces ls {shown}")
    else:
        tell(f"Traces   {traces}/<team>/<scenario>.json")
    tell(f"Tables   {out}/tables/leaderboard.csv and others beside it")
    tell(f"Verify   {program_name()} verify {shlex.quote(f'{out}/traces')}")
    tell(f"Show     {program_name()} view {shown}")
    if spec.name == "taste":
        tell(f"Next     {program_name()} +experiment=varied")


def standing_tables(spec: RunSpec) -> Iterator[Table]:
    """Yield how each team with a model stands beside the published ones on its scenarios.

    Paired tests of the measure that ranks the board, corrected as those of ``calbench compare``.
    """
    from calbench.cli.compare import HEADS, PAIR, difference_cells
    from calbench.runs.measured import beside_published

    compared = beside_published(Path(spec.out), spec)
    if compared is None:
        tell("No published team played these scenarios on these channels and by these limits")
        return
    rows = compared.differences[compared.differences["measure"] == RANKING]
    setting, theirs, ours = PAIR
    ranked = MEASURE_BY_NAME[RANKING].title
    for (where, team), found in rows.groupby([setting, ours], sort=False):
        title = f"{where}: {ranked} of {team} (B) minus that of each published team (A)"
        cells = ((row[theirs], *difference_cells(row)) for row in found.to_dict("records"))
        yield new_table(title, ("Team", *HEADS), cells, wraps=True)


def _verdict(spec: RunSpec, summary: RunSummary) -> str:
    """Return what the run did, at what price, and where it is."""
    parts = [f"{summary.played} games played, {summary.kept} kept from before"]
    parts += [f"{summary.halted} excluded"] * bool(summary.halted)
    asked = summary.totals.calls or summary.totals.failed
    parts += [f"{summary.money} spent"] * bool(asked and summary.money)
    return f"{'; '.join(parts)}: {spec.out}"


def _warnings(spec: RunSpec, summary: RunSummary) -> Iterator[str]:
    """Yield what keeps the numbers of a run from meaning what they seem to."""
    yield from closed_channels(spec.game_configs)
    yield from faults_of(summary.tables)
    if summary.totals.unreadable:
        yield summary.totals.unreadable
    if summary.halted:
        yield (
            f"{summary.halted} games are excluded: a provider or the budget cut them short; "
            "the same command plays them again:"
        )
        for why, count in Counter(summary.halts).most_common(REASONS_SHOWN):
            yield f"  {count} by {why}"


def summary_tables(
    results: Path, confidence: float, who: str = "team", seats: str = ""
) -> list[Table]:
    """Return a table of results as the terminal shows it: a table for each setting.

    Args:
        results: ``leaderboard.csv``, or another one with its measures.
        confidence: of the intervals.
        who: column with the names.
        seats: column with their seats in games; they are below the name.
    """
    tables: dict[str, Table] = {}
    for row in read_table(results):
        setting = row["setting"]
        if setting not in tables:
            interval = f"{100 * confidence:g}% interval"
            title = f"{setting}: mean and {interval} over {row['scenarios']} scenarios"
            tables[setting] = new_table(title, (who.capitalize(), *SHOWN.values()))
        name = f"{row[who]}\n{row[seats]} seats" if seats else row[who]
        tables[setting].add_row(name, *(_cell(row, measure) for measure in SHOWN))
    return list(tables.values())


def _show_sweep(sweep: Sweep, status: int) -> None:
    """Write the table over all jobs of a sweep with its figures, and print it."""
    path = write_sweep(sweep.folder, tuple(SHOWN))
    rows = read_table(path)
    names = ["job", *(["setting"] if len({row["setting"] for row in rows}) > 1 else []), "team"]
    heads = (*(name.capitalize() for name in names), *SHOWN.values())
    interval = f"{100 * sweep.runs[0].analysis.confidence:g}% interval"
    cells = (
        (*(row[name] for name in names), *(_cell(row, each) for each in SHOWN)) for row in rows
    )
    show(new_table(f"mean and {interval} over scenarios", heads, cells, left=len(names)))
    tell(f"Jobs     {sweep.folder}/<job>, each the folder of a run")
    tell(f"Figures  {sweep.folder}/{SWEEP_FIGURES}")
    verdict(
        f"{len(sweep.runs)} jobs: {path} has all, with intervals", is_good=status == Status.DONE
    )


def _cell(row: Row, name: str) -> str:
    """Return value over interval, or a dash where a measure is not defined."""
    value, low, high = (
        f"{float(row[key]):.2f}" if row[key] else "-"
        for key in (name, f"{name}_low", f"{name}_high")
    )
    return value if "-" in {value, low, high} else f"{value}\n{low}..{high}"
