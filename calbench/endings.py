"""What must not be left behind when the process is ended at once, as by Ctrl-C.

Such an end runs no ``finally``: a compiled library may be at work, which swallows exceptions.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_undone: list[Callable[[], object]] = []


@contextmanager
def undone(undo: Callable[[], object]) -> Iterator[None]:
    """Let an end of the process inside of the context undo something.

    Args:
        undo: what to do then; it may be called at any moment inside of the context.
    """
    _undone.append(undo)
    try:
        yield
    finally:
        with suppress(ValueError):  # the process is about to end, and it is undone already
            _undone.remove(undo)


def undo_all() -> None:
    """Undo what is under way, the last first; nothing that fails keeps the process alive."""
    while _undone:
        undo = _undone.pop()
        with suppress(Exception):
            undo()


@contextmanager
def removed(folder: Path) -> Iterator[None]:
    """Remove a folder at the end of the context, and at an end of the process inside of it."""
    import shutil  # `--help` does not wait for it

    def remove() -> None:
        shutil.rmtree(folder, ignore_errors=True)

    with undone(remove):
        try:
            yield
        finally:
            remove()


@contextmanager
def pruned(folder: Path) -> Iterator[None]:
    """Remove a folder, and those above it, that the context makes and leaves empty.

    So does an end of the process inside of the context.
    """
    made = [each for each in (folder, *folder.parents) if not each.exists()]

    def prune() -> None:
        with suppress(OSError):
            for each in made:
                each.rmdir()

    with undone(prune):
        try:
            yield
        finally:
            prune()
