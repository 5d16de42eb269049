"""Experiments whose tables are made from those of another: sweeps, sizes and draws."""

import csv
import shutil

from calbench.config.composition import compose
from calbench.report.experiment import Experiment
from tests.report.samples import role_of
from tests.report.written import text_rows

SEEDS = 2
"""Draws of each suite."""


def rename(results: Experiment, name: str, teams: dict[str, str]) -> Experiment:
    """Return a copy of the tables under another name, with other teams, settings unchanged."""
    tables = results.folder.parent / f"{name}-tables"
    shutil.copytree(results.folder, tables)
    for path in tables.glob("*.csv"):
        with path.open(newline="") as file:
            rows = list(csv.reader(file))
        cells = [[teams.get(cell, cell) for cell in row] for row in rows]
        with path.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(cells)
    return Experiment(name, results.suite, tables, results.folder / "no-traces", role_of(name))


def draws(results: Experiment, name: str) -> Experiment:
    """Make a few differing draws of each team that plays for Table 2 out of one row."""
    teams = [team.team_id for team in compose([f"+experiment={name}"]).teams]
    tables = results.folder.parent / f"{name}-tables"
    tables.mkdir()
    shutil.copyfile(results.folder / "datapackage.json", tables / "datapackage.json")
    for table in ("leaderboard.csv", "sensitivity.csv"):
        (row, *_) = text_rows(results.tables, table)
        with (tables / table).open("w", newline="") as file:
            writer = csv.DictWriter(file, list(row), lineterminator="\n")
            writer.writeheader()
            for seed in range(SEEDS):
                for team in teams:
                    changed = {"setting": f"uniform-seed{seed}", "team": team}
                    if "excess_cost" in row:
                        changed["excess_cost"] = f"{0.2 + 0.1 * seed:.4f}"
                    writer.writerow({**row, **changed})
    return Experiment(name, results.suite, tables, tables / "no-traces", role_of(name))
