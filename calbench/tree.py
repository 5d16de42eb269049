"""The top of the tree: where ``conf``, ``data`` and ``site`` are.

In a checkout they are beside the package. An installed package has them in ``bundled``, most
of them in archives, which are unpacked into a temporary folder when one of them is asked for.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

_PACKAGE = Path(__file__).resolve().parent
_BUNDLED = _PACKAGE / "bundled"

IS_INSTALLED = _BUNDLED.is_dir()
"""Whether this is an installed package, which has less than a checkout."""

TREE = _BUNDLED if IS_INSTALLED else _PACKAGE.parent
"""The folder that has ``conf``, ``data`` and ``site``."""

CONF: Path
"""The configuration; unpacked when it is imported."""

DATA = TREE / "data"
"""Published and computed data, and label banks."""

SITE: Path
"""Templates and assets of the site's pages; unpacked when it is imported."""

_unpacked: list["TemporaryDirectory[str]"] = []
"""Kept to the end of the process, which removes the folders."""


def __getattr__(name: str) -> Path:
    """Return ``CONF`` or ``SITE``, which may have to be unpacked."""
    if name in {"CONF", "SITE"}:
        return in_tree(name.lower())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def in_tree(name: str) -> Path:
    """Return the path of a file or folder of the tree, by its path there; it need not exist."""
    beside = TREE / name
    if beside.exists() or not IS_INSTALLED:
        return beside
    is_often_read = name.startswith(("conf", "data/label_banks"))
    return _whole("conf" if is_often_read else "more") / name


def remove_unpacked() -> None:
    """Remove what was unpacked, for an end of the process that asks nobody."""
    while _unpacked:
        _unpacked.pop().cleanup()


@cache
def _whole(archive: str) -> Path:
    """Unpack an archive, for as long as this process lives."""
    import tarfile
    from tempfile import TemporaryDirectory

    folder = TemporaryDirectory(prefix="calbench-")
    _unpacked.append(folder)
    with tarfile.open(TREE / f"{archive}.tar.xz") as held:
        # Python 3.11.4 has the filter; the archive is our own.
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        held.extractall(folder.name, **safely)  # type: ignore[arg-type]  # noqa: S202
    return Path(folder.name)
