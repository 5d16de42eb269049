"""``calbench [key=value ...]``: one run and its summary in the terminal."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from calbench.cli.jobs import for_each_job
from calbench.cli.status import Status, program_name
from calbench.cli.tables import new_table, read_rows, show
from calbench.config.spec import RunSpec
from calbench.files import printable
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
    if summary.halted:
        print(
            f"{summary.halted} games are excluded: a provider or the budget cut them short; "
            "the same command plays them again:"
        )
        for why, count in Counter(summary.halts).most_common(REASONS_SHOWN):
            print(f"  {count} by {why}")
    print(f"Traces   {out}/traces/<team>/<scenario>.json")
    print(f"Tables   {out}/tables/leaderboard.csv and others beside it")
    print(f"Verify   {program_name()} verify {out}/traces")
    if spec.name == "taste":
        print(f"Next     {program_name()} +experiment=varied, or dvc repro for the whole site")


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
