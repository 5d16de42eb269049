"""The tables of several experiments together, typed as declared: each as Parquet and as CSV."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from calbench.analysis.audit_sample import SAMPLE
from calbench.analysis.registry import Declared
from calbench.analysis.summary import EXPERIMENT, SUMMARY
from calbench.analysis.tables import TABLES
from calbench.domain.canary import CANARY, KEY
from calbench.errors import FileError
from calbench.facts.columns import REPLICATE, keyed, text
from calbench.facts.frames import arrow_schema, csv_text, from_arrow, header, parquet_writer

if TYPE_CHECKING:
    import pyarrow as pa

SUMMARY_FOLDER = "summary"
"""Beside the folders of experiments: the tables over several of them."""

MARK = text(CANARY, "always empty: the name of this column marks published data")
"""The last column of a CSV file, which has no other place for the canary: every reader of CSV takes
it, and it survives unpacking and other programs. A line of comment would break most readers [C]."""


@dataclass(frozen=True)
class Together:
    """A table with the rows of several experiments, or one over several of them already.

    Attributes:
        path: below a folder with the tables of all: of those over several in ``summary``.
        declared: its declaration, as one experiment writes it.
        files: its files, CSV or Parquet, by experiment; of a table of none under an empty name.
    """

    path: str
    declared: Declared
    files: Mapping[str, Path]

    @property
    def stem(self) -> str:
        """Its path without suffix."""
        return self.path.rpartition(".")[0]

    @cached_property
    def table(self) -> Declared:
        """Its declaration as it is written: ``experiment`` first, a replicate last, as keys."""
        columns, key = self.declared.columns, self.declared.key
        if "" not in self.files:
            last = (REPLICATE,) if self._has_replicates else ()
            columns = (EXPERIMENT, *columns, *last)
            key = key and (EXPERIMENT.name, *key, *(each.name for each in last))
        return replace(self.declared, path=self.path, columns=keyed(columns, " ".join(key)))

    @cached_property
    def _has_replicates(self) -> bool:
        found = (self.declared.as_written(_names(path)) for path in self.files.values())
        return any(len(each.columns) > len(self.declared.columns) for each in found)

    def rows(self) -> "pa.Table":
        """Its rows. Games of experiments that play each scenario once are replicate 0.

        Raises:
            FileError: a table cannot be read, or is not as declared.
        """
        import pyarrow as pa

        if "" in self.files:
            return _read(self.declared, self.files[""])
        parts = []
        for name, path in self.files.items():
            rows = _read(self.declared, path)
            named = pa.array([name] * len(rows), pa.string())
            parts.append(rows.add_column(0, arrow_schema([EXPERIMENT]).field(0), named))
        found = pa.concat_tables(parts, promote_options="default")
        if self._has_replicates:
            filled = found[REPLICATE.name].fill_null(0)
            (last,) = arrow_schema([REPLICATE])
            found = found.drop_columns(REPLICATE.name).append_column(last, filled)
        return found

    def write_parquet(self, out: Path) -> None:
        """Write it as Parquet, each field with its meaning and its unit.

        The bytes depend only on the tables and the version of pyarrow.

        Raises:
            FileError: a table cannot be read, or is not as declared.
        """
        rows = self.rows()
        with parquet_writer(out, rows.schema) as writer:
            writer.write_table(rows.replace_schema_metadata(None))
            writer.add_key_value_metadata({KEY: CANARY})

    def csv(self) -> bytes:
        """Return it as CSV, with the canary as the name of a last, empty column.

        Raises:
            FileError: a table cannot be read, or is not as declared.
        """
        frame = from_arrow(self.rows()).assign(**{CANARY: None})
        return "".join(csv_text([frame], (*self.table.columns, MARK))).encode()


def tables_together(experiments: Mapping[str, Path], summary: Path) -> Iterator[Together]:
    """Yield every table that is there.

    Args:
        experiments: their folders of tables, by name, in the order of the rows.
        summary: the folder of those over several experiments; the labelled sample is beside it.
    """
    for path, table in TABLES.items():
        files = {name: table.file(each) for name, each in experiments.items()}
        if found := {name: file for name, file in files.items() if file is not None}:
            yield Together(path, table, found)
    alone = [(f"{SUMMARY_FOLDER}/{each.path}", each, summary) for each in SUMMARY.values()]
    for path, declared, folder in (*alone, (SAMPLE.path, SAMPLE, summary.parent)):
        if (file := folder / declared.path).is_file():
            yield Together(path, declared, {"": file})


def _names(path: Path) -> Collection[str]:
    """Return the names of the columns of a file."""
    from pyarrow import parquet

    names: list[str] = (
        parquet.read_schema(path).names if path.suffix == ".parquet" else header(path)
    )
    return names


def _read(table: Declared, path: Path) -> "pa.Table":
    """Read a table much faster than with pandas; an empty cell is absent."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    try:
        if path.suffix == ".parquet":
            return parquet.read_table(path).replace_schema_metadata(None)
        schema = arrow_schema(table.as_written(header(path)).columns)
        rows = csv.read_csv(
            path,
            csv.ReadOptions(use_threads=False),
            csv.ParseOptions(newlines_in_values=True),
            csv.ConvertOptions(
                column_types=schema,
                null_values=[""],
                true_values=["true"],
                false_values=["false"],
                strings_can_be_null=True,
            ),
        )
        return rows.cast(schema)
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise FileError(f"{path}: does not read as the table it should be: {reason}") from error
