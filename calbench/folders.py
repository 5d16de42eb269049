"""Folders that are replaced whole: built beside their place, and swapped by renaming.

A process may be killed at any moment. Then there is the old folder or the new one, or the old one
under a name beside its place, from which the next build takes it back.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import gettempdir, mkdtemp

from calbench.endings import pruned, removed, undone
from calbench.errors import OutputError
from calbench.files import held, printable

MARK = ".calbench-site"
"""Names a folder that a build made, and may therefore replace."""

LOCK = ".lock"
"""Marks a scratch folder, which is held as long as its process lives."""

_TEXT = "Made by calbench; replaced at the next build.\n"


def is_own(folder: Path) -> bool:
    """Whether a folder was made by a build, or there is nothing in it that could be lost."""
    mark = folder / MARK
    return not folder.exists() or (
        folder.is_dir()
        and ((mark.is_file() and not mark.is_symlink()) or not any(folder.iterdir()))
    )


def check_new(folder: Path) -> None:
    """Refuse a folder in which something is, and the current one.

    Raises:
        OutputError: naming it.
    """
    check_not_here(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(
            f"{printable(str(folder))}: is there already, and is not empty; name a new folder"
        )


def check_not_here(folder: Path) -> None:
    """Refuse the current folder, and those above it: replaced, it would be gone under the user.

    Raises:
        OutputError: naming it.
    """
    if Path.cwd().is_relative_to(folder.resolve()):
        raise OutputError(
            f"{printable(str(folder))}: is the current folder, or above it, and would be replaced; "
            "name another folder"
        )


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Hold a folder against other commands that write there; it is made if it is not there.

    Raises:
        OutputError: another command holds it, or it cannot be made.
    """
    with ExitStack() as stack:
        try:
            while True:
                folder.mkdir(parents=True, exist_ok=True)
                with suppress(FileNotFoundError):  # who held it renamed it, or removed it
                    stack.enter_context(held(folder.resolve(), os.O_RDONLY))
                    break
        except BlockingIOError as error:
            raise OutputError(
                f"{folder}: another command is writing there; wait for it, or choose another folder"
            ) from error
        except OSError as error:
            raise OutputError(
                f"{folder}: cannot be written ({error.strerror or error}); choose another folder"
            ) from error
        yield


@contextmanager
def replaced(
    out: Path, *, is_marked: bool = True, check: Callable[[], object] = lambda: None
) -> Iterator[Path]:
    """Provide a new folder, which takes the place of another once it is whole.

    It is held against other commands that build there.

    Args:
        out: the place. What is there is replaced: ask :func:`is_own` before.
        is_marked: whether the folder keeps its mark in its place.
        check: refuses what is in the place; asked once no other command builds there.

    Raises:
        OutputError: what is beside the place under the names of a build is none, or the folder
            cannot be written, or another command builds there, or the user is in it.
    """
    check_not_here(out)
    out = out.resolve()
    beside, old = (out.with_name(f".{out.name}.{end}") for end in ("part", "old"))
    for folder in (beside, old):
        if folder.is_symlink() or not is_own(folder):
            raise OutputError(f"{folder}: holds other files; move it away")
    with pruned(out.parent), claimed(beside), undone(partial(remove_own, beside)):
        try:
            recover(out)
            check()
            _empty(beside)
            (beside / MARK).write_text(_TEXT, encoding="utf-8")
            yield beside
            _swap(out, beside, old)
        except BaseException:
            remove_own(beside)
            raise
        remove_own(old)
    if not is_marked:
        (out / MARK).unlink()


def recover(out: Path) -> None:
    """Put a folder back into its place, if a build was killed between two renamings."""
    old = out.with_name(f".{out.name}.old")
    if not out.exists() and (old / MARK).is_file():
        old.rename(out)
    remove_own(old)


def _swap(out: Path, beside: Path, old: Path) -> None:
    if out.exists():
        (out / MARK).write_text(_TEXT, encoding="utf-8")
        out.rename(old)
    beside.rename(out)


def remove_own(folder: Path) -> None:
    """Remove a folder that a build made, its mark last; any other is left alone."""
    if folder.is_dir() and not folder.is_symlink() and is_own(folder):
        _empty(folder)
        (folder / MARK).unlink(missing_ok=True)
        folder.rmdir()


def _empty(folder: Path) -> None:
    """Remove what is in a folder but its mark."""
    for path in folder.iterdir():
        if path.name != MARK:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


@contextmanager
def scratch_folder(kind: str) -> Iterator[Path]:
    """Provide a folder among the temporary files; those of killed processes are removed.

    Args:
        kind: a word for its name; folders of one kind are removed together.
    """
    top = Path(gettempdir())
    for left in top.glob(f"calbench-{kind}-*"):
        with suppress(OSError):  # a process that lives holds it
            if (left / LOCK).is_file() and left.lstat().st_uid == os.getuid():
                with held(left, os.O_RDONLY, is_needed=True):
                    shutil.rmtree(left)
    # It has a name by which it could be removed only when it is held.
    new = Path(mkdtemp(prefix="calbench-new-"))
    folder = top / new.name.replace("new", kind, 1)
    with removed(new), removed(folder), held(new, os.O_RDONLY):
        (new / LOCK).touch()
        yield new.rename(folder)
