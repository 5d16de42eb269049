"""Which code runs: its version, and a digest of its bytes."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

PACKAGE_VERSION = "0.2.0"

PACKAGE = Path(__file__).parent

COMPILED = (".pyc", ".pyo")
"""Files that Python makes of others."""

LIBRARIES = ("numpy", "pandas", "pyarrow")
"""What computes, and writes, for it. Schedules are the same with every version of the solver."""


def code_digest(package: Path = PACKAGE) -> str:
    """Return the SHA-256 of every file of a package and of the versions of its libraries.

    Modules count, and so do weights, word lists, prompts and templates.

    Args:
        package: its folder.
    """
    total = sha256(files_digest(files_below(package)).encode())
    for library, version in versions_of(LIBRARIES).items():
        total.update(f"{library} {version}\n".encode())
    return total.hexdigest()


def versions_of(libraries: Iterable[str]) -> dict[str, str]:
    """Return the versions of those libraries that are installed."""
    from importlib.metadata import PackageNotFoundError, version  # only who compares waits for it

    found: dict[str, str] = {}
    for library in libraries:
        with suppress(PackageNotFoundError):
            found[library] = version(library)
    return found


def files_below(folder: Path) -> dict[str, Path]:
    """Return the files below a folder by their names there, less those that Python makes."""
    return {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.suffix not in COMPILED and path.is_file()
    }


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file as it is now."""
    return sha256(path.read_bytes()).hexdigest()


@cache
def first_digest(path: Path) -> str:
    """Return the SHA-256 of a file as it was when this process first asked.

    What is imported goes on running when its file is edited, so that is the code which plays.
    """
    return file_digest(path)


def files_digest(files: Mapping[str, Path], digest_of: Callable[[Path], str] = file_digest) -> str:
    """Return the SHA-256 of files, with the names that they are given."""
    total = sha256()
    for name, path in sorted(files.items()):
        total.update(f"{name} {digest_of(path)}\n".encode())
    return total.hexdigest()
