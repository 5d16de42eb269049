"""How large everything is, and may be: ``python -m tests.packaging.budgets`` writes the limits."""

import csv
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.cli.runs import REPO

LIMITS = Path(__file__).with_name("budgets.csv")

ROOM = 1.03
"""Limits are 1% above what there was when they were set."""

FIELDS = ("part", "lines", "files")


class Size(NamedTuple):
    """Lines and files of Python."""

    lines: int
    files: int


def size_of(*paths: Path) -> Size:
    """Count what is in files and in folders with all that is below them."""
    files = [
        file
        for path in paths
        for file in ([path] if path.is_file() else path.rglob("*.py"))
        if "__pycache__" not in file.parts
    ]
    return Size(sum(len(file.read_bytes().splitlines()) for file in files), len(files))


def parts(root: Path = REPO) -> Iterator[tuple[str, Size]]:
    """Yield each part with its size: packages, what is beside them, stages, tests and the whole."""
    package = root / "calbench"
    for folder in sorted(path for path in package.iterdir() if (path / "__init__.py").is_file()):
        yield f"calbench/{folder.name}", size_of(folder)
    yield "calbench", size_of(*package.glob("*.py"))
    yield "stages", size_of(root / "stages")
    yield "calbench and stages", size_of(package, root / "stages")
    yield "tests/studies", size_of(root / "tests" / "studies")
    yield "tests", size_of(root / "tests")


def limits() -> Mapping[str, Size]:
    """Return the limits of all parts."""
    with LIMITS.open(encoding="utf-8", newline="") as file:
        return {
            row["part"]: Size(int(row["lines"]), int(row["files"])) for row in csv.DictReader(file)
        }


def main() -> None:
    """Write limits that leave some room above what there is."""
    with LIMITS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for part, size in parts():
            writer.writerow((part, *(math.ceil(ROOM * count) for count in size)))


if __name__ == "__main__":
    main()
