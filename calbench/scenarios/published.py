"""Published suites by name: packed suite files in the folder of the release."""

import difflib
from pathlib import Path

from calbench.errors import ConfigError
from calbench.files import printable, shorten
from calbench.scenarios.models import Scenario
from calbench.scenarios.storage import read_suite
from calbench.tree import DATA

PUBLISHED_SUITES = DATA / "release" / "suites"
"""The published suites, ``<name>.jsonl.gz`` each."""

_ENDING = ".jsonl.gz"


def suite_names(folder: Path = PUBLISHED_SUITES) -> list[str]:
    """Return the names of the published suites, sorted; none if there is no such folder."""
    return sorted(path.name.removesuffix(_ENDING) for path in folder.glob(f"?*{_ENDING}"))


def published_suite(name: str, folder: Path = PUBLISHED_SUITES) -> tuple[Scenario, ...]:
    """Read a published suite by its name, such as ``varied``.

    Raises:
        ConfigError: there is no suite of that name; lists the published ones, the nearest first.
        FileError: its file does not fit; names file, line, field and remedy.
    """
    known = suite_names(folder)
    if name not in known:
        near = difflib.get_close_matches(name, known)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        those = f"published are {', '.join(known)}" if known else "none is published here"
        raise ConfigError(
            f"there is no suite {printable(shorten(repr(name)))}: {hint}{those}; "
            "a file of your own is given as its path, FILE.jsonl"
        )
    return read_suite(folder / f"{name}{_ENDING}")
