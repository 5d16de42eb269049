"""Large tables as Parquet: typed columns, read many times faster than CSV and a tenth of its size.

Rows wait as text like those of any other table. They are parsed where the table is written, some
at a time, so memory does not grow with them. The same rows give the same bytes under the same
pyarrow, which the lock file pins; its version stands in the file.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from calbench.analysis.columns import Column, Kind
from calbench.analysis.spool import Places, SpooledTable

ROW_GROUP_BYTES = 4_000_000
"""Text of a row group: some 40,000 rows [C]."""

FORMAT_VERSION = "2.6"
"""Of Parquet; named here so that a new pyarrow does not choose another."""

COMPRESSION, COMPRESSION_LEVEL = "zstd", 3

ARROW_TYPES: dict[Kind, str] = {
    "text": "string",
    "list": "string",
    "integer": "int64",
    "number": "float64",
    "truth": "bool",
}
"""Of columns by kind; lists are text with spaces between the parts, as in CSV."""


class SpooledParquet(SpooledTable):
    """A Parquet file in the making: takes whole lines as :class:`SpooledTable` does."""

    def __init__(
        self,
        path: Path,
        columns: Sequence[Column],
        row_group_bytes: int = ROW_GROUP_BYTES,
        places: Places | None = None,
    ) -> None:
        """Prepare the folder.

        Args:
            path: of the file.
            columns: of the table; their kinds give the types.
            row_group_bytes: text of games from which a row group is made; games are not cut.
            places: of the games, where several files share them.

        Raises:
            OutputError: naming the place, if it cannot be written.
        """
        super().__init__(path, [column.name for column in columns], places)
        self._columns = columns
        self._row_group_bytes = row_group_bytes

    def _save(self, file: IO[bytes], blocks: Iterator[bytes]) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        types = {c.name: pa.type_for_alias(ARROW_TYPES[c.kind]) for c in self._columns}
        with parquet.ParquetWriter(
            file,
            pa.schema(list(types.items())),
            version=FORMAT_VERSION,
            compression=COMPRESSION,
            compression_level=COMPRESSION_LEVEL,
        ) as writer:
            for text in _joined(blocks, self._row_group_bytes):
                rows = _parsed(text, types)
                writer.write_table(rows, row_group_size=rows.num_rows)


def _joined(blocks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Yield the same bytes in pieces of whole blocks, each but the last of at least ``size``."""
    waiting: list[bytes] = []
    length = 0
    for block in blocks:
        waiting.append(block)
        length += len(block)
        if length >= size:
            yield b"".join(waiting)
            waiting, length = [], 0
    if length:
        yield b"".join(waiting)


def _parsed(text: bytes, types: dict[str, Any]) -> Any:
    """Return lines of CSV as an Arrow table; an empty cell is null."""
    import pyarrow as pa
    from pyarrow import csv

    return csv.read_csv(
        pa.BufferReader(text),
        csv.ReadOptions(column_names=list(types), use_threads=False, block_size=len(text) + 1),
        csv.ParseOptions(quote_char=False),
        csv.ConvertOptions(
            column_types=types,
            null_values=[""],
            strings_can_be_null=True,
            true_values=["true"],
            false_values=["false"],
        ),
    )
