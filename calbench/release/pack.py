"""What a site needs of the published results, in one small file that an installed package has.

It holds the facts of scores of ranked experiments, from which their tables are made again to the
byte, small tables that need other facts, and the numbers of others. Games are not in it.
"""

import io
import lzma
import tarfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from pyarrow import parquet

from calbench.analysis.tables import TABLES as DECLARED
from calbench.errors import FileError
from calbench.facts.frames import PARQUET_VERSION, read_arrow
from calbench.facts.games import SCORES
from calbench.files import read_bytes, write_atomically

PACK = "board.tar.xz"
"""Its name in a release."""

FACTS, TABLES, OTHERS = "facts", "tables", "published"
"""Folders in it: facts and tables by experiment, and the numbers of others."""

MOST_BYTES = 5_000
"""Tables that take more when they are compressed are left out [C]; no page of results needs one."""

LARGE = 100 * MOST_BYTES
"""Tables of more bytes are not even tried."""

PLAIN: dict[str, Any] = {
    "version": PARQUET_VERSION,
    "compression": "none",
    "use_dictionary": False,
    "write_statistics": False,
    "store_schema": False,
}
"""Options of Parquet files that are compressed together afterwards."""

SCORE_NAMES = frozenset(fact.name for fact in SCORES)


def write_pack(data: Path, path: Path, ranked: Collection[str]) -> None:
    """Write the file; the bytes depend on the data, pyarrow and liblzma alone.

    Args:
        data: folder of computed facts and tables.
        path: of the file.
        ranked: experiments whose teams are ranked.

    Raises:
        FileError: facts or tables are missing.
        OutputError: the file cannot be written.
    """
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in _contents(data, ranked):
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
    preset = 9 | lzma.PRESET_EXTREME
    write_atomically(path, lzma.compress(held.getvalue(), preset=preset))


def _contents(data: Path, ranked: Collection[str]) -> Iterator[tuple[str, bytes]]:
    for experiment in sorted(ranked):
        for fact in SCORES:
            path = data / FACTS / experiment / f"{fact.name}.parquet"
            yield f"{FACTS}/{experiment}/{path.name}", _plain(path)
    for path in sorted((data / TABLES).rglob("*.csv")):
        name = path.relative_to(data / TABLES).as_posix()
        if not _is_made_again(name, ranked):
            content = b"" if path.stat().st_size > LARGE else read_bytes(path)
            if content and len(lzma.compress(content)) <= MOST_BYTES:
                yield f"{TABLES}/{name}", content
    for path in sorted((data / OTHERS).glob("*.csv")):
        yield f"{OTHERS}/{path.name}", read_bytes(path)


def _is_made_again(name: str, ranked: Collection[str]) -> bool:
    """Whether a table is made again when the file is used: of scores, or over experiments."""
    experiment, _, path = name.partition("/")
    if experiment not in ranked:
        return experiment == "summary"
    return path in DECLARED and SCORE_NAMES.issuperset(DECLARED[path].needs)


def _plain(path: Path) -> bytes:
    held = io.BytesIO()
    parquet.write_table(read_arrow(path).replace_schema_metadata(None), held, **PLAIN)
    return held.getvalue()


def unpack(path: Path, folder: Path) -> None:
    """Write the contents of the file into a folder.

    Raises:
        FileError: the file is missing or broken.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(lzma.decompress(read_bytes(path)))) as archive:
            # Python 3.11.4 has the filter; the archive is our own.
            safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            archive.extractall(folder, **safely)  # noqa: S202
    except (lzma.LZMAError, tarfile.TarError) as error:
        raise FileError(f"{path}: cannot be unpacked; get it again") from error
