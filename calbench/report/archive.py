"""Archives and compressed files whose bytes depend on their content alone, and on zlib."""

import gzip
import shutil
import zipfile
from pathlib import Path

from calbench.files import read_bytes

LEVEL = 3
"""Of an archive [C]: a third of the time of the usual one, for files a sixth larger."""

MODE = 0o644 << 16
"""Permissions of a file in an archive, as Unix has them."""

UNIX = 3
"""System that made a file, as archives say it."""


def write_zip(folder: Path, out: Path, name: str) -> None:
    """Write an archive of a folder's files; hidden ones are left out.

    Args:
        folder: which.
        out: the file.
        name: folder in the archive that holds them.
    """
    with zipfile.ZipFile(out, "w") as archive:
        for path in sorted(folder.rglob("*")):
            inner = path.relative_to(folder)
            if not path.is_file() or any(part.startswith(".") for part in inner.parts):
                continue
            entry = zipfile.ZipInfo(f"{name}/{inner.as_posix()}")  # without a time of its own
            entry.create_system, entry.external_attr = UNIX, MODE
            archive.writestr(entry, read_bytes(path), zipfile.ZIP_DEFLATED, LEVEL)


def write_gzip(source: Path, out: Path) -> None:
    """Write a file compressed."""
    out.write_bytes(gzip.compress(read_bytes(source), mtime=0))


def write_copy(source: Path, out: Path) -> None:
    """Write a file as it is."""
    shutil.copyfile(source, out)
