"""``calbench [key=value ...]``: one run and its summary in the terminal."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table

from calbench.cli.jobs import for_each_job
from calbench.cli.status import Status, program_name
from calbench.cli.tables import new_table, read_rows, show
from calbench.config.spec import RunSpec
from calbench.console import warn
from calbench.files import printable
from calbench.runs.faults import closed_channels, faults_of
from calbench.runs.play import RunSummary, execute

SHOWN = {
    "coordination": "Coord %",
    "excess_cost": "Excess",
    "messages": "Messages",
    "fairness": "Fairness",
    "excess_vps": "VPS",
}
"""Measures of the terminal's table, by column of ``leaderboard.csv``."""

REASONS_SHOWN = 3
"""Most reasons for excluded games that the summary names [C]; each trace has its own."""


def main(arguments: Sequence[str], overrides: Sequence[str]) -> int:
    """Play what Hydra composes of a command line."""
    return for_each_job(arguments, overrides, _run)


def _run(spec: RunSpec) -> int:
    summary = execute(spec)
    _report(spec, summary)
    return Status.EXCLUDED if summary.halted else Status.DONE


def _report(spec: RunSpec, summary: RunSummary) -> None:
    """Print the summary tables and where the results are."""
    show(*summary_tables(summary.tables / "leaderboard.csv", spec.analysis.confidence))
    out = printable(str(Path(spec.out)))
    totals = summary.totals
    print(
        f"{summary.played} games played, {summary.kept} kept from before; "
        f"US$ {totals.spent_usd:.2f} spent"
    )
    if totals.calls or totals.replayed or totals.failed:
        print(
            f"{totals.calls} replies paid for, {totals.replayed} replayed, "
            f"{totals.failed} not given"
        )
    for line in _warnings(spec, summary):
        warn(line)
    print(f"Traces   {out}/traces/<team>/<scenario>.json")
    print(f"Tables   {out}/tables/leaderboard.csv and others beside it")
    print(f"Verify   {program_name()} verify {out}/traces")
    if spec.name == "taste":
        print(f"Next     {program_name()} +experiment=varied, or dvc repro for the whole site")


def _warnings(spec: RunSpec, summary: RunSummary) -> Iterator[str]:
    """Yield what keeps the numbers of a run from meaning what they seem to."""
    yield from closed_channels(spec.game_configs)
    yield from faults_of(summary.tables)
    if summary.halted:
        yield (
            f"{summary.halted} games are excluded: a provider or the budget cut them short; "
            "the same command plays them again:"
        )
        for why, count in Counter(summary.halts).most_common(REASONS_SHOWN):
            yield f"  {count} by {why}"


def summary_tables(leaderboard: Path, confidence: float) -> list[Table]:
    """Return the leaderboard as the terminal shows it: a table for each setting."""
    tables: dict[str, Table] = {}
    for row in read_rows(leaderboard):
        setting = row["setting"]
        if setting not in tables:
            interval = f"{100 * confidence:g}% interval"
            title = f"{setting}: mean and {interval} over {row['scenarios']} scenarios"
            tables[setting] = new_table(title, ("Team", *SHOWN.values()))
        tables[setting].add_row(row["team"], *(_cell(row, name) for name in SHOWN))
    return list(tables.values())


def _cell(row: dict[str, str], name: str) -> str:
    """Return value over interval, or a dash where a measure is not defined."""
    value, low, high = (
        f"{float(row[key]):.2f}" if row[key] else "-"
        for key in (name, f"{name}_low", f"{name}_high")
    )
    return value if "-" in {value, low, high} else f"{value}\n{low}..{high}"
