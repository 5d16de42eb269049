"""A table of several experiments as one Parquet file, typed as declared."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from calbench.analysis.registry import Declared
from calbench.analysis.summary import EXPERIMENT
from calbench.errors import FileError
from calbench.facts.frames import arrow_schema, header, parquet_writer

if TYPE_CHECKING:
    import pyarrow as pa


def write_together(table: Declared, paths: Mapping[str, Path], out: Path) -> None:
    """Write the rows of a table of several experiments, with ``experiment`` as first column.

    Every field says what it means, and its unit.

    The bytes depend only on the tables and the version of pyarrow. A replicate, which only some
    experiments have, is the last column and absent in the others.

    Args:
        table: its declaration.
        paths: its files, CSV or Parquet, by experiment, at least one.
        out: the file.

    Raises:
        FileError: a table cannot be read, or is not as declared.
    """
    import pyarrow as pa

    parts = []
    for name, path in paths.items():
        rows = _read(table, path)
        named = pa.array([name] * len(rows), pa.string())
        parts.append(rows.add_column(0, arrow_schema([EXPERIMENT]).field(0), named))
    _write(pa.concat_tables(parts, promote_options="default"), out)


def write_alone(table: Declared, path: Path, out: Path) -> None:
    """Write a table as Parquet as it is; arguments and errors as above."""
    _write(_read(table, path), out)


def _write(rows: "pa.Table", out: Path) -> None:
    with parquet_writer(out, rows.schema) as writer:
        writer.write_table(rows.replace_schema_metadata(None))


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
