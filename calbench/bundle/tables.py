"""The tables of a bundle, and the Frictionless Data Package that describes them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pyarrow import parquet

from calbench.analysis.datapackage import MISSING, field, name_of, resource
from calbench.analysis.registry import Declared, write_frames
from calbench.analysis.summary import EXPERIMENT
from calbench.analysis.together import MARK, SUMMARY_FOLDER, Together, tables_together
from calbench.bundle.files import Entry, entry
from calbench.console import progress
from calbench.domain.canary import CANARY, KEY
from calbench.facts.columns import columns, keyed
from calbench.report.escape import gzipped
from calbench.report.role import Role

FOLDER = "tables"

LARGE = 2**20
"""Bytes from which a CSV file is packed with gzip [C]: spreadsheets hardly open larger ones."""

KINDS = {"csv": {"profile": "tabular-data-resource"}, "parquet": {"type": "file"}}
"""What frictionless reads: CSV row by row, and of Parquet the bytes alone, since it would read a
million rows through pandas in an hour [C]. The schema is there for others."""

EXPERIMENTS = Declared(
    "experiments.csv",
    keyed(
        columns(
            """
            experiment
            title (text): what the site calls it
            page (text): page of the site with its results
            is_ranked (truth): whether its teams are in the leaderboard
            teams (count, teams): that played
            scenarios (count, scenarios): of its suite
            games (count, games): played, excluded ones as well
            """,
            [EXPERIMENT],
        ),
        EXPERIMENT.name,
    ),
    "Every experiment: what it is called, and how much it holds.",
)
"""To whose rows those of all other tables belong."""


@dataclass(frozen=True)
class Written:
    """A table of a bundle.

    Attributes:
        table: its declaration, with all columns that it has.
        rows: how many.
        csv: its file as CSV.
        parquet: as Parquet.
    """

    table: Declared
    rows: int
    csv: Entry
    parquet: Entry

    @property
    def name(self) -> str:
        """What it is called everywhere in the bundle."""
        return name_of(self.table.path)


def write_tables(data: Path, roles: Mapping[str, Role], scratch: Path, out: Path) -> list[Written]:
    """Write every table twice, with the rows of all experiments.

    Args:
        data: folder with the tables of all experiments and their suites.
        roles: what each experiment is for, in the order of the rows.
        scratch: a folder for what is made on the way.
        out: the bundle.

    Raises:
        FileError: a table cannot be read, or is not as declared.
    """
    (out / FOLDER).mkdir()
    first = _experiments(data, roles, scratch / EXPERIMENTS.path)
    folders = {name: data / "tables" / name for name in roles}
    found = [first, *tables_together(folders, data / "tables" / SUMMARY_FOLDER)]
    with progress("tables", len(found)) as tick:
        return [_written(each, out, tick) for each in found]


def _experiments(data: Path, roles: Mapping[str, Role], path: Path) -> Together:
    rows = []
    for name, role in roles.items():
        board = pd.read_csv(data / "tables" / name / "outcomes.csv")
        with (data / "suites" / f"{name}.jsonl").open("rb") as suite:
            rows.append(
                {
                    "experiment": name,
                    "title": role.title or name,
                    "page": role.page,
                    "is_ranked": role.is_ranked,
                    "teams": board["team"].nunique(),
                    "scenarios": sum(1 for _ in suite),
                    "games": board["games"].sum(),
                }
            )
    write_frames(path, [pd.DataFrame(rows)], EXPERIMENTS.columns)
    return Together(EXPERIMENTS.path, EXPERIMENTS, {"": path})


def _written(each: Together, out: Path, tick: Any) -> Written:
    name = name_of(each.path)
    each.write_parquet(path := out / FOLDER / f"{name}.parquet")
    data = each.csv()
    is_large = len(data) >= LARGE
    text = out / FOLDER / f"{name}.csv{'.gz' * is_large}"
    text.write_bytes(gzipped(data) if is_large else data)
    tick(name)
    rows = parquet.read_metadata(path).num_rows
    return Written(each.table, rows, entry(text, out), entry(path, out))


def datapackage(tables: Iterable[Written], about: Mapping[str, Any]) -> dict[str, Any]:
    """Describe the tables: what each column means, its unit, and to which row of others each is.

    Args:
        tables: what :func:`write_tables` returned.
        about: title, description and the like of the bundle.
    """
    listed = list(tables)
    declared = [each.table for each in listed]
    return {
        "profile": "data-package",
        "name": "calbench",
        **{name: about[name] for name in ("title", "description", "version", "keywords")},
        "licenses": [{"name": "CC-BY-4.0", "path": about["licence"]}],
        KEY: CANARY,
        "resources": [_resource(each, kind, declared) for each in listed for kind in KINDS],
    }


def _resource(each: Written, suffix: str, declared: list[Declared]) -> dict[str, Any]:
    found, beside = (each.csv, [MARK]) if suffix == "csv" else (each.parquet, [])
    # Those over several experiments name some together, as in "uniform and varied".
    is_over_several = each.table.path.startswith(f"{SUMMARY_FOLDER}/")
    about = resource(each.table, declared[is_over_several:])  # the first is that of experiments
    fields = [*about["schema"]["fields"], *map(field, beside)]
    return {
        **about,
        **KINDS[suffix],
        "name": each.name if suffix == "csv" else f"{each.name}-{suffix}",
        "path": found.path,
        "format": suffix,
        **({"compression": "gz"} if found.path.endswith(".gz") else {}),
        "encoding": "utf-8",
        "bytes": found.bytes,
        "hash": f"sha256:{found.sha256}",
        "schema": {**about["schema"], "fields": fields, "missingValues": MISSING[suffix]},
    }
