"""What a Parquet file says, apart from how it is written: another pyarrow writes other bytes."""

import hashlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from calbench.domain.canonical import digest
from calbench.errors import FileError
from calbench.files import opened
from calbench.release.differences import Difference

if TYPE_CHECKING:
    import pyarrow as pa

DIGITS = 16
"""Hexadecimal digits of the digest of each column [C]."""


class Values(BaseModel):
    """Values of a Parquet file.

    Attributes:
        rows: their number.
        columns: of each column, in order, its name, type and the first digits of the SHA-256 of
            its values, with spaces between.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rows: int
    columns: tuple[str, ...]

    @property
    def digest(self) -> str:
        """SHA-256 of all of it, in hexadecimal digits."""
        return digest(self.model_dump(mode="json"))

    @property
    def by_name(self) -> dict[str, tuple[str, str]]:
        """Type and digest by column."""
        found = (column.rsplit(" ", 2) for column in self.columns)
        return {name: (kind, values) for name, kind, values in found}


def read_values(path: Path) -> Values:
    """Read a Parquet file, some rows at a time.

    Compression, encodings, row groups, the format's version and metadata count for nothing; every
    bit of a number does, and an absent value is neither ``NaN`` nor an empty text.

    Raises:
        FileError: it cannot be read.
    """
    import pyarrow as pa
    from pyarrow import parquet

    opened(path).close()  # it is no pipe
    try:
        with parquet.ParquetFile(path) as file:
            fields = [(field.name, _plain(field.type)) for field in file.schema_arrow]
            # Apart, since the boundaries between what is read at once depend on the file.
            hashes = [[hashlib.sha256() for _ in range(3)] for _ in fields]
            for batch in file.iter_batches():
                for (_, kind), column, parts in zip(fields, batch.columns, hashes, strict=True):
                    for part, data in zip(parts, _bytes(column.cast(kind)), strict=False):
                        part.update(data)
            rows = file.metadata.num_rows
    except (OSError, ValueError, pa.ArrowException) as error:
        raise FileError(f"{path}: cannot be read as Parquet; make it again") from error
    digests = (hashlib.sha256(b"".join(p.digest() for p in parts)).hexdigest() for parts in hashes)
    named = zip(fields, digests, strict=True)
    return Values(
        rows=rows, columns=tuple(f"{name} {kind} {d[:DIGITS]}" for (name, kind), d in named)
    )


def _plain(kind: "pa.DataType") -> "pa.DataType":
    """Return a type as Parquet has it: Arrow's ways to hold texts are one there."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if pa.types.is_large_string(kind) else kind


def _bytes(column: "pa.Array") -> Iterator[Any]:
    """Yield which values are there, then the values, and before texts their lengths."""
    import pyarrow as pa

    yield column.is_valid().to_numpy(zero_copy_only=False).tobytes()
    if pa.types.is_string(column.type):
        texts = column.fill_null("")
        ends = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset :][: len(texts) + 1]
        yield np.diff(ends).tobytes()
        yield memoryview(texts.buffers()[2] or b"")[ends[0] : ends[-1]]
    else:
        yield (
            column.fill_null(pa.scalar(0).cast(column.type))
            .to_numpy(zero_copy_only=False)
            .tobytes()
        )


def value_differences(file: str, published: Values, now: Path) -> Iterator[Difference]:
    """Yield how the values of a file differ from the published ones, by column.

    Args:
        file: path below ``data``.
        published: its values.
        now: the computed file.
    """
    try:
        found = read_values(now)
    except FileError:
        yield Difference(file, "not readable", note="it is not Parquet")
        return
    differs = partial(Difference, file)
    old, new = published.by_name, found.by_name
    yield from (differs("column missing", column=name) for name in old if name not in new)
    yield from (differs("column new", column=name) for name in new if name not in old)
    order = [[name for name in names if name in old and name in new] for names in (old, new)]
    if moved := [name for name, there in zip(*order, strict=True) if name != there]:
        yield differs("columns in another order", column=moved[0])
    if published.rows != found.rows:
        yield differs("other values", published=f"{published.rows} rows", now=f"{found.rows} rows")
    for name in order[0]:
        if old[name][0] != new[name][0]:
            yield differs("other type", column=name, published=old[name][0], now=new[name][0])
        elif published.rows == found.rows and old[name] != new[name]:
            yield differs("other values", column=name)
