"""What a wheel holds besides the package: parts of the tree, as ``pyproject.toml`` lists them."""

import gzip
import io
import lzma
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLED = "calbench/bundled"
"""Where the package looks for them, see ``calbench/tree.py``."""


class BundleHook(BuildHookInterface):
    """Adds what is ``bundled`` as it is, and what is ``packed`` in archives."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add both, unless the install is editable and reads the tree itself."""
        self._scratch = Path(tempfile.mkdtemp())
        if version == "editable":
            return
        root = Path(self.root)
        included = {str(root / name): f"{BUNDLED}/{name}" for name in self.config["bundled"]}
        for archive, names in self.config["packed"].items():
            path = self._scratch / f"{archive}.tar.xz"
            path.write_bytes(packed(root, names, self.config["left-out"]))
            included[str(path)] = f"{BUNDLED}/{path.name}"
        build_data["force_include"].update(included)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the archives: the wheel has them."""
        shutil.rmtree(self._scratch)


def packed(root: Path, names: list[str], left_out: list[str]) -> bytes:
    """Return an archive of files and folders below a root; equal files give equal bytes.

    A file that gzip packed goes in unpacked: several together become much smaller.
    """
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(path for name in names for path in files(root / name)):
            name, data = path.relative_to(root).as_posix(), path.read_bytes()
            if any(fnmatch(name, pattern) for pattern in left_out):
                continue
            if path.suffix == ".gz":
                name, data = name.removesuffix(".gz"), gzip.decompress(data)
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return lzma.compress(held.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def files(path: Path) -> Iterator[Path]:
    """Yield a file, or the files below a folder."""
    if path.is_file():
        yield path
    else:
        yield from (each for each in path.rglob("*") if each.is_file())
