"""The folder of a run: locked by one process, and never overwritten."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from filelock import FileLock, Timeout

from calbench.errors import OutputError

LOCK = ".lock"


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Lock a run's folder against other runs.

    The operating system releases the lock when the process ends, in any way. A run that fails
    before it has written anything leaves no folder behind.
    """
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
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
        _remove_empty(made)
        raise OutputError(
            f"{out}: cannot be written ({error.strerror or error}); choose another folder with out="
        ) from error
    try:
        yield
    except BaseException:
        if [path.name for path in out.iterdir()] == [LOCK]:
            (out / LOCK).unlink()
            _remove_empty(made)
        raise
    finally:
        lock.release()


def _remove_empty(folders: list[Path]) -> None:
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


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
