"""Archives of a release: small files that are compressed together.

Their bytes depend on the files, their order and liblzma alone.
"""

import io
import lzma
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from calbench.errors import FileError
from calbench.files import read_bytes, unpacked_lzma

SUFFIX = ".tar.xz"


def archived(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return an archive of files, given by name."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in files:
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
    return lzma.compress(held.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def read_archive(path: Path) -> dict[str, bytes]:
    """Return the files of an archive by name, in their order.

    Raises:
        FileError: it is missing or broken, is larger unpacked than it says, or a name in it leads
            elsewhere.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(unpacked_lzma(read_bytes(path)))) as archive:
            return {each.name: _content(archive, each) for each in archive if not each.isdir()}
    except (lzma.LZMAError, tarfile.TarError) as error:
        raise FileError(f"{path}: cannot be unpacked; get it again") from error


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    name = PurePosixPath(member.name)
    is_within = not (name.is_absolute() or ".." in name.parts or {"\\", ":"} & {*member.name})
    is_file = is_within and member.isreg() and not member.issparse()
    file = archive.extractfile(member) if is_file else None
    if file is None:
        raise tarfile.TarError(f"{member.name} is neither a file nor a folder, or leads elsewhere")
    return file.read()


def unpack(path: Path, folder: Path) -> None:
    """Write the files of an archive into a folder.

    Raises:
        FileError: it is missing or broken.
    """
    write_files(read_archive(path), folder)


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files into a folder, by their paths below it."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
