"""The code that makes numbers, by its bytes: numbers of other code are not taken for our own."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

PACKAGE = Path(__file__).parent

MEASURING = (
    "agents",
    "analysis/scoring.py",
    "domain",
    "extensions.py",
    "facts",
    "files.py",
    "llm/completion.py",
    "metrics",
    "oracle",
    "scenarios",
    "traces",
    "tree.py",
)
"""What reads a trace and measures it, below the package."""

KINDS = ("*.py", "*.md", "*.txt")
"""Files of a folder that count: modules, and the texts of prompts."""

LIBRARIES = (np, pd, pa)
"""What computes, and writes, for it. Schedules are the same with every version of the solver."""


def code_digest(parts: Iterable[str] = ("",), package: Path = PACKAGE) -> str:
    """Return the SHA-256 of some code and the versions of the libraries that it computes with.

    Args:
        parts: files and folders below the package; the whole package, unless given.
        package: its folder.
    """
    total = sha256()
    for library in LIBRARIES:
        total.update(f"{library.__name__} {library.__version__}\n".encode())
    for path in sorted({file for part in parts for file in _files(package / part)}):
        name = path.relative_to(package).as_posix()
        total.update(f"{name} {sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def _files(path: Path) -> Iterator[Path]:
    """Yield a file, or the modules and texts below a folder."""
    if path.is_dir():
        yield from (file for kind in KINDS for file in path.rglob(kind))
    else:
        yield path
