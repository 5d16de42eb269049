"""Files: written whole or not at all, and read with one clear line when they do not fit.

What is read may be a stranger's: it is opened first and then looked at, so it is a regular file of
bounded size whatever is put into its place meanwhile. A link that the user names is followed, one
that was found in a folder is not.
"""

import errno
import fcntl
import gc
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from calbench.endings import undone
from calbench.errors import FileError, OutputError, among
from calbench.tree import IS_INSTALLED, in_tree

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError


MOST_BYTES = 2**30
"""Greatest size of a file that is read whole, unpacked: a gigabyte [C]."""


MOST_LZMA_MEMORY = 2**28
"""Most memory for unpacking xz, in bytes [C]: its greatest preset takes a quarter."""

PIECE = 2**20
"""Bytes unpacked at a time: what is too large is given up this soon behind its bound [C]."""


def write_atomically(path: Path, data: bytes, *, is_synced: bool = True) -> None:
    """Write a file whole or not at all; arguments as in :func:`written_atomically`.

    Raises:
        OutputError: naming the place, if it cannot be written.
    """
    with written_atomically(path, is_synced=is_synced) as beside:
        beside.write_bytes(data)


@contextmanager
def written_atomically(path: Path, *, is_synced: bool = True) -> Iterator[Path]:
    """Provide a temporary name beside a file, which is renamed once it is written whole.

    What was written is removed if it cannot be finished. The temporary name depends on the file
    alone, so a killed run leaves nothing behind that its successor does not replace; it is held
    against other commands.

    Args:
        path: of the file.
        is_synced: whether it survives a crash of the machine, too; not if it can be made again.

    Raises:
        OutputError: naming the place, if it cannot be written, or another command writes it.
    """
    beside = path.parent / f".{path.name}.part"

    def remove() -> None:
        with suppress(OSError):
            beside.unlink()

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if beside.is_symlink() or beside.is_fifo():  # in a stranger's folder, to lead anywhere
            beside.unlink()
        with held(beside, os.O_RDWR | os.O_CREAT), undone(remove):
            try:
                yield beside
                if is_synced:
                    with beside.open("rb") as file:
                        os.fsync(file.fileno())
                beside.replace(path)
            except BaseException:
                remove()
                raise
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written ({error.strerror or error}); choose another folder"
        ) from error


@contextmanager
def held(path: Path, flags: int, *, is_needed: bool = False) -> Iterator[None]:
    """Hold a file or a folder that other commands hold, too; the system lets go of it at the end.

    It may be renamed meanwhile. Where the file system has no such locks, nothing is held.

    Args:
        path: of what is held.
        flags: how it is opened.
        is_needed: whether that it cannot be held is an error.

    Raises:
        BlockingIOError: another command holds it.
        OSError: it cannot be opened, or held if it must be.
    """
    while True:
        handle = os.open(path, flags | os.O_NOFOLLOW, 0o666)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise BlockingIOError(error.errno, "another command is writing it") from error
            except OSError:  # a file system without such locks, as of some clusters
                if is_needed:
                    raise
                yield
                return
            is_there = False  # who held it before may have renamed or removed it
            with suppress(FileNotFoundError):
                is_there = os.path.samestat(os.fstat(handle), path.lstat())
            if is_there:
                yield
                return
        finally:
            os.close(handle)


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep the garbage collector away: scenarios and traces are many small objects in no cycle."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def opened(path: Path, most: int = MOST_BYTES, *, is_found: bool = False) -> BufferedReader:
    """Open a file to read it: no pipe, which may never end, and of at most so many bytes.

    Args:
        path: of the file.
        most: greatest size.
        is_found: whether it was found in a folder, and so may be no link.

    Raises:
        FileError: naming the file, if it cannot be read, is no file or is larger.
    """
    flags = os.O_NONBLOCK
    if is_found:
        check_no_link(path)
        flags |= os.O_NOFOLLOW
    try:
        handle = os.open(path, os.O_RDONLY | flags)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    about = os.fstat(handle)
    if stat.S_ISREG(about.st_mode) and about.st_size <= most:
        return os.fdopen(handle, "rb")
    os.close(handle)
    if stat.S_ISREG(about.st_mode):
        raise too_large(path, most)
    if stat.S_ISDIR(about.st_mode):
        raise unreadable(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    raise FileError(f"{printable(str(path))}: is a pipe or a device; save it as a file")


def check_no_link(path: Path) -> None:
    """Refuse a link that was found in a folder: it might lead anywhere on this machine.

    Raises:
        FileError: naming it.
    """
    if path.is_symlink():
        raise FileError(
            f"{printable(str(path))}: is a link, and none in a folder is followed; put there what "
            "it leads to, or name that"
        )


def check_no_link_out(path: Path) -> None:
    """Refuse a link, a pipe or the like where a command is about to write.

    Raises:
        OutputError: naming it.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        mode = path.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            what = "a link" if stat.S_ISLNK(mode) else "a pipe or a device"
            raise OutputError(
                f"{printable(str(path))}: is {what}, and nothing is written there; move it away, "
                "or choose another folder"
            )


def read_bytes(path: Path, most: int = MOST_BYTES, *, is_found: bool = False) -> bytes:
    """Read a file; arguments as of :func:`opened`.

    Raises:
        FileError: naming the file, if it cannot be read or is larger.
    """
    with opened(path, most, is_found=is_found) as file:
        try:
            data = file.read(most + 1)
        except OSError as error:
            raise unreadable(path, error) from error
    if len(data) > most:  # it grew meanwhile
        raise too_large(path, most)
    return data


def utf8_text(place: str | Path, data: bytes) -> str:
    """Return what some bytes say.

    Raises:
        FileError: names the first byte that is not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"{place}: byte {error.start + 1} is not UTF-8") from error


def sync_folder(folder: Path) -> None:
    """Wait until the names of new files in a folder survive a crash of the machine."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def unpacked_pieces(path: Path, most: int = MOST_BYTES) -> Iterator[bytes]:
    """Yield a file packed with gzip piece by piece, of at most so many bytes unpacked.

    Raises:
        FileError: naming the file, if it cannot be read or unpacked, or is larger.
    """
    import gzip
    import zlib

    unpacked = 0
    try:
        with opened(path, most) as packed, gzip.open(packed) as file:
            while piece := file.read(PIECE):
                unpacked += len(piece)
                if unpacked > most:
                    raise too_large(path, most, " unpacked")
                yield piece
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        reason = printable(str(error))
        raise FileError(
            f"{printable(str(path))}: cannot be unpacked: {reason}; get it again, or pack it with "
            "gzip"
        ) from error
    except OSError as error:
        raise unreadable(path, error) from error


def unpacked_lzma(data: bytes) -> bytes:
    """Return what is packed with xz, of at most :data:`MOST_BYTES`.

    Raises:
        lzma.LZMAError: it cannot be unpacked, or is larger, or asks for much memory.
    """
    import lzma

    unpacker = lzma.LZMADecompressor(memlimit=MOST_LZMA_MEMORY)
    found = unpacker.decompress(data, max_length=MOST_BYTES)
    if not unpacker.eof:
        raise lzma.LZMAError(f"it ends early, or holds more than {MOST_BYTES} bytes")
    return found


def too_large(path: Path, most: int, state: str = "") -> FileError:
    """Return the error about a file of more bytes than are read."""
    return FileError(
        f"{printable(str(path))}: holds more than {most} bytes{state}; split it into several"
    )


def unreadable(path: Path, error: Exception) -> FileError:
    """Return the error about a file that the system does not give."""
    reason = (error.strerror if isinstance(error, OSError) else None) or error
    return FileError(f"{printable(str(path))}: cannot be read ({reason})")


def located(name: str) -> Path:
    """Return the file or folder that a configuration names, to be read.

    A relative path is one of the current folder; if there is nothing, and the tree has it, it is
    the tree's: experiments name recorded games of the tree, and are started anywhere.

    Raises:
        FileError: an installed package was asked for data that only a checkout has.
    """
    here = Path(name)
    if here.is_absolute() or here.exists():
        return here
    there = in_tree(name)
    if there.exists():
        return there
    if IS_INSTALLED and here.parts[:1] == ("data",):
        raise FileError(f"{printable(name)}: only a checkout of CalBench has it; start there")
    return here


def user_path(path: str | os.PathLike[str]) -> Path:
    """Return a path that a caller names, with the folder of its user in place of a first ``~``.

    Raises:
        FileError: there is no such user, or the text can be no path.
    """
    shown = printable(shorten(repr(str(path)), 60))
    if not str(path) or "\0" in str(path):
        raise FileError(f"{shown}: is no path; name a file or a folder")
    try:
        found = Path(path).expanduser()
        found.exists()
    except RuntimeError as error:
        raise FileError(f"{shown}: there is no such user; name the whole path") from error
    except OSError as error:  # its name is too long, or what is above it is closed
        raise FileError(f"{shown}: cannot be reached ({error.strerror or error})") from error
    return found


STORE = "replies.sqlite"
"""The recorded replies in the folder of a run."""

LONGEST_PROBLEM = 800
"""Most characters of a problem in pydantic's words, which quote tags whole [C]."""

# e.g. whole "constrained-str", "list[int]"; not "seats"
_BRANCH = re.compile(r"(constrained-)?(bool|float|int|str)|.*\[.*\]")
"""What pydantic puts into the place of a problem for each type that a value might have."""


def first_problem(error: "ValidationError", model: "type[BaseModel] | None" = None) -> str:
    """Return the first problem of a validation as ``field: what is wrong``, on one line.

    Of the types that a value might have, the one that fits furthest says what is wrong.

    Args:
        error: of a validation.
        model: that was validated: of its keys the nearest to an unknown one is named.
    """
    problems = error.errors(include_url=False, include_input=True)
    field = _field(problems[0]["loc"])
    problem = max(
        (other for other in problems if _field(other["loc"])[: len(field)] == field),
        key=lambda other: len(other["loc"]),
    )
    kind, loc, shown = problem["type"], problem["loc"], problem["input"]
    if kind in {"extra_forbidden", "unexpected_keyword_argument"}:
        named = _dotted([*_field(loc[:-1]), loc[-1]])
        known = [name for each in _models_at(model, loc[:-1]) for name in each.model_fields]
        hint = f"; {among(str(loc[-1]), known)}" if known else ""
        return f"{named}: is not a known key{hint}"
    text = shorten(printable(problem["msg"]), LONGEST_PROBLEM)
    if kind not in {"missing", "scenario", "secret"} and isinstance(shown, str | int | float):
        text = f"{text}, got {shorten(ascii(shown))}"
    place = _dotted(_field(loc))
    return f"{place}: {text}" if place else text


def _models_at(kind: Any, place: Sequence[int | str]) -> "list[type[BaseModel]]":
    """Return the models in a type, or in that of a field somewhere inside of it."""
    if hasattr(kind, "model_fields"):
        found = kind.model_fields.get(place[0]) if place else None
        return [kind] if not place else _models_at(getattr(found, "annotation", None), place[1:])
    is_inside = bool(place) and isinstance(place[0], int)  # of a list
    return [model for each in get_args(kind) for model in _models_at(each, place[is_inside:])]


class KeyTwiceError(ValueError):
    """An object of JSON has a key twice: readers differ in which of the two they take."""

    def __init__(self, key: str) -> None:
        super().__init__(f"key {shorten(ascii(key), 40)} is given twice")
        self.key = key


def unique_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON: the ``object_pairs_hook`` of whoever reads a stranger's document.

    Raises:
        KeyTwiceError: a key is there twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise KeyTwiceError(next(name for name in names if names.count(name) > 1))
    return found


def check_keys(place: str, document: bytes) -> None:
    """Refuse valid JSON in which an object has a key twice, which validation cannot see.

    Raises:
        FileError: naming the place and the key.
    """
    try:
        json.loads(document, object_pairs_hook=unique_keys)
    except KeyTwiceError as error:
        raise FileError(f"{place}: {error}; correct it, or get it again") from error


def _dotted(names: Sequence[int | str]) -> str:
    return ".".join(printable(shorten(str(name))) for name in names)


def _field(loc: Sequence[int | str]) -> list[int | str]:
    return [part for part in loc if isinstance(part, int) or not _BRANCH.fullmatch(part)]


def printable(text: str) -> str:
    """Return untrusted text on one line, with control and bidirectional characters escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shorten(text: str, limit: int = 60) -> str:
    """Cut a text to a length that fits into a message."""
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
