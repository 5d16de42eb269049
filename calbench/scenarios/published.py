"""Published suites by name: suite files in the folder of the release."""

import difflib
from pathlib import Path

from calbench.errors import ConfigError
from calbench.files import printable, shorten
from calbench.scenarios.models import Scenario
from calbench.scenarios.storage import read_suite
from calbench.tree import IS_INSTALLED, in_tree

_ENDING = ".jsonl" if IS_INSTALLED else ".jsonl.gz"
"""Of a published suite; an installed package has them unpacked from its archive."""

_MORE = "; those of sweeps over size and of the reproduction are in a checkout" * IS_INSTALLED


def published_suites() -> Path:
    """Return the folder of the published suites, one file each."""
    return in_tree("data/release/suites")


def suite_names(folder: Path | None = None) -> list[str]:
    """Return the names of the published suites, sorted; none if there is no such folder."""
    held = published_suites() if folder is None else folder
    return sorted(path.name.removesuffix(_ENDING) for path in held.glob(f"?*{_ENDING}"))


def published_suite(name: str, folder: Path | None = None) -> tuple[Scenario, ...]:
    """Read a published suite by its name, such as ``varied``.

    Args:
        name: of the suite.
        folder: of suites, instead of the published ones.

    Raises:
        ConfigError: there is no suite of that name; lists the published ones, the nearest first.
        FileError: its file does not fit; names file, line, field and remedy.
    """
    held = published_suites() if folder is None else folder
    known = suite_names(held)
    if name not in known:
        near = difflib.get_close_matches(name, known)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        those = f"published are {', '.join(known)}{_MORE}" if known else "none is published here"
        raise ConfigError(
            f"there is no suite {printable(shorten(repr(name)))}: {hint}{those}; "
            "a file of your own is given as its path, FILE.jsonl"
        )
    return read_suite(held / f"{name}{_ENDING}")
