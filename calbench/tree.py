"""The top of the tree: where ``conf``, ``data`` and ``site`` are.

In a checkout they are beside the package. An installed package has them in ``bundled``, some
files there in an archive, which is unpacked into a temporary folder when one of them is asked for.
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

CONF = TREE / "conf"
"""The configuration."""

DATA = TREE / "data"
"""Published and computed data, and label banks."""

SITE: Path
"""Templates and assets of the site's pages; unpacked when it is imported."""

_ARCHIVE = TREE / "packed.tar.xz"

_unpacked: list["TemporaryDirectory[str]"] = []
"""Kept to the end of the process, which removes the folder."""


def __getattr__(name: str) -> Path:
    """Return ``SITE``, which most commands do not need."""
    if name == "SITE":
        return in_tree("site")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def in_tree(name: str) -> Path:
    """Return the path of a file or folder of the tree, by its path there; it need not exist."""
    beside = TREE / name
    return beside if beside.exists() or not _ARCHIVE.is_file() else _whole() / name


@cache
def _whole() -> Path:
    """Unpack the archive, for as long as this process lives."""
    import tarfile
    from tempfile import TemporaryDirectory

    folder = TemporaryDirectory(prefix="calbench-")
    _unpacked.append(folder)
    with tarfile.open(_ARCHIVE) as archive:
        # Python 3.11.4 has the filter; the archive is our own.
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(folder.name, **safely)  # type: ignore[arg-type]  # noqa: S202
    return Path(folder.name)
