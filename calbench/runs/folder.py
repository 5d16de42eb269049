"""The folder of a run: locked by one process, and never overwritten."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from filelock import FileLock, Timeout

from calbench.endings import pruned, undone
from calbench.errors import OutputError

LOCK = ".lock"


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Lock a run's folder against other runs.

    The operating system releases the lock when the process ends, in any way. A run that fails
    before it has written anything leaves neither a folder nor a lock behind.
    """
    is_new = not (out / LOCK).exists()
    before = _names(out)
    with pruned(out):
        try:
            out.mkdir(parents=True, exist_ok=True)
            lock = FileLock(out / LOCK)
            lock.acquire(timeout=0)
        except Timeout as error:
            raise OutputError(
                f"{out}: another run is writing there; wait for it, or choose another folder, "
                f"e.g. out={out}-2"
            ) from error
        except OSError as error:
            raise OutputError(
                f"{out}: cannot be written ({error.strerror or error}); choose another folder "
                "with out="
            ) from error

        def leave() -> None:
            if is_new and _names(out) - {LOCK} == before:
                (out / LOCK).unlink(missing_ok=True)

        with undone(leave):
            try:
                yield
            except BaseException:
                leave()
                raise
            finally:
                lock.release()


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def check_folder(out: Path, kept: Collection[str]) -> None:
    """Refuse a folder that holds other files than those that will be replaced.

    Args:
        out: the folder.
        kept: patterns of the files that may be there.

    Raises:
        OutputError: naming it.
    """
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out}: is not a folder; choose another one with out=")
    folders = {str(parent) for name in kept for parent in PurePosixPath(name).parents}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if not any(fnmatchcase(name, each) for each in (folders if path.is_dir() else kept)):
            raise OutputError(
                f"{out}: holds {name}, which is not a table; nothing was written: choose another "
                f"folder, e.g. out={out}-rescored"
            )
