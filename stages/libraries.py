"""requirements.lock -> build/libraries.json: which libraries that compute are not as locked.

It runs every time, since no file says what is installed, and imports nothing of ours. A library of
the version that is locked for this Python is ``lock``, any other its version: a fresh clone has
the same file on every Python.
"""

import json
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import Requirement

LOCK, LIBRARIES = Path("requirements.lock"), Path("build/libraries.json")

READ = (LOCK,)

COMPUTING = (
    "jinja2",
    "markdown",
    "mkdocs",
    "mkdocs-material",
    "numpy",
    "openskill",
    "orjson",
    "ortools",
    "pandas",
    "plotly",
    "pyarrow",
    "pydantic",
    "pydantic-core",
    "pygments",
    "scipy",
    "zstandard",
)
"""Libraries that compute or write what the stages make."""

OLDEST_PYTHON = (3, 11)
"""The lock is for it and for all later ones."""


def main() -> None:
    """Write what is installed."""
    try:
        locked = locked_versions(LOCK.read_text())
    except OSError as error:
        sys.exit(f"error: {LOCK}: cannot be read ({error.strerror})")
    found = {name: installed(name) for name in COMPUTING}
    said = {name: "lock" if found[name] == locked.get(name) else found[name] for name in found}
    said["python"] = "lock" if sys.version_info >= OLDEST_PYTHON else sys.version.split()[0]
    LIBRARIES.parent.mkdir(exist_ok=True)
    LIBRARIES.write_text(json.dumps(said, indent=2, sort_keys=True) + "\n")


def locked_versions(text: str) -> dict[str, str]:
    """Return the version of each library that a file of pinned requirements has for this Python."""
    found = {}
    for line in text.splitlines():
        if line[:1].isalnum():
            each = Requirement(line.rstrip(" \\"))
            if each.marker is None or each.marker.evaluate():
                found[each.name] = str(each.specifier).removeprefix("==")
    return found


def installed(name: str) -> str:
    """Return the version of a library; ``absent`` if there is none."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


if __name__ == "__main__":
    main()
