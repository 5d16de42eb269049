"""What the command does once Hydra has composed its configuration."""

import csv
import sys
from collections import Counter
from pathlib import Path

import hydra
from omegaconf import DictConfig
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from calbench.config import RunSpec, run_spec
from calbench.console import INTERRUPTED, say, say_error
from calbench.errors import CalbenchError
from calbench.files import printable, shorten
from calbench.run import InterruptedRunError, RunSummary, execute
from calbench.teams import CONF

SHOWN = {
    "coordination": "Coord %",
    "excess_cost": "Excess",
    "messages": "Messages",
    "fairness": "Fairness",
    "excess_vps": "VPS",
}
"""Measures of the terminal's table, by column of ``leaderboard.csv``."""

REASONS_SHOWN = 3
"""Most reasons why games were cut short that the summary names [C]: every trace has its own."""

REASON_LENGTH = 160
"""Most characters of one of them [C]."""


@hydra.main(config_path=str(CONF), config_name="config", version_base="1.3")
def launch(config: DictConfig) -> None:
    """Run one configuration; a user's mistake ends with one line and a status."""
    try:
        spec = run_spec(config)
        summary = execute(spec)
    except InterruptedRunError as stop:
        say(str(stop))
        sys.exit(INTERRUPTED)
    except CalbenchError as error:
        say_error(error)
        sys.exit(2)
    _report(spec, summary)


def _report(spec: RunSpec, summary: RunSummary) -> None:
    """Print the summary tables and say where everything is."""
    console = Console(highlight=False)
    for table in summary_tables(summary.tables / "leaderboard.csv"):
        console.print(table)
    out = printable(str(Path(spec.out)))
    tally = summary.tally
    print(
        f"{summary.played} games played, {summary.kept} kept from before; "
        f"US$ {tally.spent_usd:.2f} spent"
    )
    if tally.calls or tally.replayed or tally.failed:
        print(
            f"{tally.calls} replies paid for, {tally.replayed} replayed, {tally.failed} not given"
        )
    if summary.halted:
        print(
            f"{summary.halted} games were cut short by a provider or the budget and are not "
            "scored; the same command goes on from there:"
        )
        for why, count in Counter(summary.halts).most_common(REASONS_SHOWN):
            print(f"  {count} by {shorten(printable(why), REASON_LENGTH)}")
    print(f"Traces   {out}/traces/<team>/<scenario>.json")
    print(f"Tables   {out}/tables/leaderboard.csv and others beside it")
    print(f"Verify   python -m calbench.verify {out}/traces")
    if spec.name == "taste":
        print("Next     python -m calbench +experiment=varied, or dvc repro for the whole site")


def summary_tables(leaderboard: Path) -> list[Table]:
    """Return the leaderboard as the terminal shows it: a table for each setting."""
    with leaderboard.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    tables: dict[str, Table] = {}
    for row in rows:
        setting = row["setting"]
        if setting not in tables:
            tables[setting] = _new_table(setting, row["scenarios"])
        tables[setting].add_row(row["team"], *(_cell(row, name) for name in SHOWN))
    return list(tables.values())


def _new_table(setting: str, num_scenarios: str) -> Table:
    title = f"{setting}: mean and 95% interval over {num_scenarios} scenarios"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("Team", no_wrap=True)
    for heading in SHOWN.values():
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _cell(row: dict[str, str], name: str) -> str:
    """Return value over interval, or a dash where a measure is not defined."""
    value, low, high = (
        f"{float(row[key]):.2f}" if row[key] else "-"
        for key in (name, f"{name}_low", f"{name}_high")
    )
    return value if "-" in {value, low, high} else f"{value}\n{low}..{high}"
