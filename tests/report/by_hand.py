"""Tables small enough to check by hand, and what pages show of them."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from calbench.report.experiment import Experiment
from calbench.report.role import Role
from calbench.report.site import Site
from calbench.report.tables import Tables
from tests.report.samples import NOTHING, SOURCES

HOSTILE = "<b onclick=x>{{1}}"


def table(path: Path, lines: str) -> None:
    """Write a table; blanks separate cells, a dot is empty, a plus continues the line before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for line in re.sub(r"\n\s*\+", " ", lines).strip().splitlines():
            writer.writerow(["" if cell == "." else cell for cell in line.split()])


def results(folder: Path, name: str = "uniform", *, has_games: bool = False) -> Experiment:
    """Return an experiment whose tables are in a folder; without games nothing links to them."""
    role = Role(games="all" if has_games else 0)
    return Experiment(name, folder / "suite.jsonl", folder, folder / "traces", role)


def site_with(
    experiments: Sequence[Experiment], summary: Path = NOTHING, published: Path = NOTHING
) -> Site:
    """Return a site of these experiments."""
    return Site(SOURCES, tuple(experiments), Tables(summary), Tables(published))


def section(page: str, anchor: str) -> str:
    """Return the text of a page from the heading with an anchor to the next heading."""
    found = re.search(rf"{{#{anchor}}}\n(.*?)(?=\n## |\Z)", page, re.DOTALL)
    assert found is not None, anchor
    return found[1]
