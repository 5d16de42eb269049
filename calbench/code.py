"""Which code runs: its version, and a digest of its bytes."""

from collections.abc import Callable, Mapping
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
    from importlib.metadata import version  # only who compares code waits for it

    total = sha256(files_digest(files_below(package)).encode())
    for library in LIBRARIES:
        total.update(f"{library} {version(library)}\n".encode())
    return total.hexdigest()


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
