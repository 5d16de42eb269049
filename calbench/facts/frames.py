"""Frames as text and as files: cast and formatted by the declaration of their columns alone.

The format of a column never depends on its values: a column of numbers that are all 0 is written as
``0.0000``.
"""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from calbench.errors import FileError
from calbench.facts.columns import Column, Kind
from calbench.files import opened, printable, read_bytes, shorten

if TYPE_CHECKING:
    import pyarrow as pa

ARROW_TYPES: Mapping[Kind, str] = {
    "text": "string",
    "list": "string",
    "integer": "int64",
    "number": "float64",
    "truth": "bool",
}
"""Of columns by kind; lists are text with spaces between the parts, as in CSV."""

DTYPES: Mapping[Kind, Any] = {
    "text": "str",
    "list": "str",
    "integer": "Int64",
    "number": "float64",
    "truth": "boolean",
}
"""The same in pandas; absent values are ``NaN`` in numbers and text, ``<NA>`` in the others."""

NAMED = 8
"""Columns that an error names [C]."""

PARQUET_VERSION = "2.6"
"""Fixed, because a new pyarrow may have another default."""

COMPRESSION, COMPRESSION_LEVEL = "zstd", 3


def _kind(column: Column) -> Kind:
    """Return the kind of the values: text for numbers whose decimals differ by row."""
    return "text" if column.digits is None else column.kind


def _dtype(column: Column) -> Any:
    """Return the type of a column in pandas."""
    return DTYPES[_kind(column)]


def cast(frame: pd.DataFrame, columns: Sequence[Column]) -> pd.DataFrame:
    """Return the declared columns, in their order, with the declared types.

    Raises:
        KeyError: a column is missing.
        TypeError, ValueError: a value is not of the declared kind.
    """
    made = {column.name: _as_declared(frame[column.name], column) for column in columns}
    return pd.DataFrame(made, index=frame.index, copy=False)


def _as_declared(values: pd.Series, column: Column) -> pd.Series:
    dtype = _dtype(column)
    return values if values.dtype == dtype else values.astype(dtype)


def kept(rows: pd.DataFrame, is_kept: "pd.Series[bool]") -> pd.DataFrame:
    """Return the rows that are kept; where all are, the frame itself, which nobody may change."""
    return rows if is_kept.all() else rows[is_kept]


def empty(columns: Sequence[Column]) -> pd.DataFrame:
    """Return a frame without rows."""
    return pd.DataFrame({c.name: pd.Series(dtype=_dtype(c)) for c in columns})


@lru_cache(maxsize=65536)
def rounded(value: float, digits: int) -> str:
    """Return a number with exactly ``digits`` decimals; never ``-0``."""
    shown = f"{value:.{digits}f}"
    return shown[1:] if shown.startswith("-") and not shown.strip("-0.") else shown


@lru_cache(maxsize=65536)
def trimmed(value: float, digits: int) -> str:
    """Return a number with at most ``digits`` decimals, without trailing zeros."""
    shown = rounded(value, digits)
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def _format(column: Column) -> Callable[[Any], str]:
    """Return what formats a cell that is not absent."""
    digits = column.digits
    if column.kind == "number" and digits is not None:
        shown = trimmed if column.is_trimmed else rounded
        return lambda value: shown(float(value), digits)
    if column.kind == "integer":
        return _whole
    if column.kind == "truth":
        return lambda value: "true" if value else "false"
    return str


def _whole(value: Any) -> str:
    if (found := int(value)) != value:
        raise ValueError(f"{value} is no whole number")
    return str(found)


def cells(values: pd.Series, column: Column) -> np.ndarray:
    """Return a column as a CSV file holds it; equal values are formatted once."""
    # An index of the different values, as for a series, costs more than the rest.
    codes, uniques = pd.factorize(_held(values))
    shown = _format(column)
    texts = np.array([*(_quoted(shown(value)) for value in uniques.tolist()), ""], dtype=object)
    return texts[codes]


def _held(values: pd.Series) -> Any:
    return values.to_numpy() if isinstance(values.dtype, np.dtype) else values.array


def _quoted(cell: str) -> str:
    """Return a cell in quotes if it needs them."""
    if any(mark in cell for mark in '",\r\n'):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def as_shown(frame: pd.DataFrame, columns: Iterable[Column]) -> pd.DataFrame:
    """Return numbers rounded to the decimals of their columns, as in a CSV file."""
    return frame.assign(
        **{c.name: _as_shown(frame[c.name], c) for c in columns if c.kind == "number"}
    )


def _as_shown(values: pd.Series, column: Column) -> np.ndarray:
    codes, uniques = pd.factorize(_held(values))
    shown = _format(column)
    return np.array([*(float(shown(value)) for value in uniques.tolist()), np.nan])[codes]


def csv_text(frames: Iterable[pd.DataFrame], columns: Sequence[Column]) -> Iterable[str]:
    """Yield a CSV file: its header, then the rows of each frame."""
    yield ",".join(column.name for column in columns) + "\n"
    for frame in frames:
        rows = zip(*(cells(frame[c.name], c).tolist() for c in columns), strict=True)
        yield "".join([",".join(row) + "\n" for row in rows])


def read_text(path: Path) -> pd.DataFrame:
    """Read a CSV file with a header, all cells as text; empty ones are absent.

    Raises:
        FileError: it cannot be read, or is no table.
    """
    data = read_bytes(path)
    try:
        _check_rows(data)
        return pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False, na_values=[""])
    except (ValueError, csv.Error) as error:
        raise FileError(f"{path}: does not read as a table: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    """Return what is wrong, which may quote the file."""
    return shorten(printable(next(iter(str(error).splitlines()), "")), 200)


def _check_rows(data: bytes) -> None:
    """Reject rows whose length differs from the header: pandas would fill or shift them."""
    rows = csv.reader(io.StringIO(data.decode(), newline=""))
    header = next(rows, [])
    for row in rows:
        if row and len(row) != len(header):
            raise ValueError(
                f"line {rows.line_num} has {len(row)} cells, the header has {len(header)}"
            )


def header(path: Path) -> list[str]:
    """Return the columns of a CSV file, as its first line names them.

    Raises:
        FileError: it cannot be read.
    """
    return header_of(read_bytes(path))


def header_of(data: bytes) -> list[str]:
    """Return the columns of a CSV file's bytes."""
    return data.partition(b"\n")[0].decode(errors="replace").rstrip("\r").split(",")


def _listed(names: Sequence[str]) -> str:
    """Return names for an error's one line: of many, the first."""
    rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + rest


def read_csv(path: Path, columns: Sequence[Column]) -> pd.DataFrame:
    """Read what :func:`csv_text` wrote.

    Raises:
        FileError: it cannot be read, or is no such table.
    """
    names, frame = [column.name for column in columns], read_text(path)
    try:
        if list(frame.columns) != names:
            raise FileError(f"{path}: its columns are not {_listed(names)}; make the table again")
        return cast(frame.assign(**_truths(frame, columns)), columns)
    except (ValueError, TypeError, OverflowError) as error:
        raise FileError(
            f"{path}: does not read as the table it should be: {_first_line(error)}"
        ) from error


def _truths(frame: pd.DataFrame, columns: Sequence[Column]) -> dict[str, pd.Series]:
    return {c.name: _truth(frame[c.name]) for c in columns if c.kind == "truth"}


def _truth(values: pd.Series) -> pd.Series:
    known = {"true": True, "false": False}
    if not (is_known := values.isna() | values.isin(known)).all():
        raise ValueError(f"neither true nor false: {values[~is_known].iloc[0]!r}")
    return values.map(known)


def arrow_schema(columns: Sequence[Column]) -> "pa.Schema":
    """Return the columns as an Arrow schema, each field with its meaning and its unit, if any."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field(
                column.name, pa.type_for_alias(ARROW_TYPES[_kind(column)]), metadata=_about(column)
            )
            for column in columns
        ]
    )


def _about(column: Column) -> dict[str, str]:
    about = {"meaning": column.meaning, "unit": column.unit}
    return {name: said for name, said in about.items() if said}


def arrow_table(frame: pd.DataFrame, columns: Sequence[Column]) -> "pa.Table":
    """Return a frame as an Arrow table of the declared types; absent values are null."""
    import pyarrow as pa

    schema = arrow_schema(columns)
    made = cast(frame, columns)
    return pa.Table.from_pandas(made, schema, preserve_index=False, nthreads=1)


def from_arrow(table: "pa.Table") -> pd.DataFrame:
    """Return an Arrow table of declared columns as a frame.

    Equal texts are one object, if pandas holds them as objects.
    """
    import pyarrow as pa

    types = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    is_of_objects = pd.get_option("mode.string_storage") == "python"
    texts = [field.name for field in table.schema if is_of_objects and field.type == pa.string()]
    for name in texts:
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, table[name].dictionary_encode())
    found: pd.DataFrame = table.unify_dictionaries().to_pandas(types_mapper=types.get)
    return found.astype(dict.fromkeys(texts, "str"))


def parquet_writer(file: Any, schema: "pa.Schema") -> Any:
    """Open a Parquet file whose bytes depend only on its rows and the version of pyarrow."""
    from pyarrow import parquet

    return parquet.ParquetWriter(
        file,
        schema.remove_metadata(),
        version=PARQUET_VERSION,
        compression=COMPRESSION,
        compression_level=COMPRESSION_LEVEL,
    )


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Read a Parquet file, or some of its columns.

    Args:
        path: of the file.
        columns: their names; ``None`` is all.

    Raises:
        FileError: it cannot be read.
    """
    import pyarrow as pa

    frame = from_arrow(read_arrow(path, columns))
    pa.default_memory_pool().release_unused()  # it keeps what it freed, as much as the frame has
    return frame


def read_arrow(path: Path, columns: Sequence[str] | None = None) -> "pa.Table":
    """Read the same as an Arrow table.

    Raises:
        FileError: it cannot be read.
    """
    import pyarrow as pa
    from pyarrow import parquet

    opened(path).close()  # it is no pipe
    try:
        return parquet.read_table(path, columns=columns)
    except (OSError, pa.ArrowException) as error:
        raise FileError(f"{path}: cannot be read as Parquet; make it again") from error
