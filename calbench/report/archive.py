"""Archives and compressed files whose bytes depend on their content alone.

pyarrow brings its own zlib, which the lock file fixes; Python's is that of the machine, and
another one writes other bytes.
"""

import shutil
import tarfile
from io import BytesIO
from pathlib import Path

from pyarrow import Codec

from calbench.files import read_bytes

LEVEL = 3
"""Of an archive [C]: a third of the time of the usual one, for files a sixth larger."""

USUAL_LEVEL = 6
"""Of a single file [C]: level 9 takes half as long again for 3% less."""


def gzipped(data: bytes, level: int = USUAL_LEVEL) -> bytes:
    """Return data compressed as gzip does it, without a time or a name."""
    packed: bytes = Codec("gzip", compression_level=level).compress(data, asbytes=True)
    return packed


def write_archive(folder: Path, out: Path, name: str) -> None:
    """Write a ``.tar.gz`` of a folder's files; hidden ones are left out.

    Args:
        folder: which.
        out: the file.
        name: folder in the archive that holds them.
    """
    found = BytesIO()
    with tarfile.open(fileobj=found, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            inner = path.relative_to(folder)
            if not path.is_file() or any(part.startswith(".") for part in inner.parts):
                continue
            data = read_bytes(path)
            entry = tarfile.TarInfo(f"{name}/{inner.as_posix()}")  # of nobody, without a time
            entry.size = len(data)
            archive.addfile(entry, BytesIO(data))
    out.write_bytes(gzipped(found.getvalue(), LEVEL))


def write_gzip(source: Path, out: Path) -> None:
    """Write a file compressed."""
    out.write_bytes(gzipped(read_bytes(source)))


def write_copy(source: Path, out: Path) -> None:
    """Write a file as it is."""
    shutil.copyfile(source, out)
