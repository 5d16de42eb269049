"""The leaderboard as numbers alone, for programs and for ``dvc metrics show``.

``metrics.json`` holds a whole run; ``metrics/<setting>/<team>.json`` one team, flat, so that a
tool which prints a row a file and a column a key shows a leaderboard.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import orjson

from calbench.analysis.cells import cell
from calbench.analysis.estimates import Estimate
from calbench.analysis.rows import DIGITS
from calbench.errors import OutputError
from calbench.files import write_atomically

WHOLE = "metrics.json"
FOLDER = "metrics"

Numbers = dict[str, float]
"""Value by measure; an undefined one has no key."""


def numbers_of(estimates: Mapping[str, Estimate | None]) -> Numbers:
    """Return the values of estimates as tables round them."""
    return {
        name: float(cell(estimate.value, DIGITS))
        for name, estimate in estimates.items()
        if estimate is not None
    }


def write_metrics(folder: Path, teams: Iterable[tuple[str, str, Numbers]]) -> None:
    """Write both forms, and drop files of teams that are no more.

    Args:
        folder: of the tables.
        teams: setting, team and numbers, in the order of the leaderboard.

    Raises:
        OutputError: the folder cannot be written.
    """
    tree: dict[str, dict[str, Numbers]] = {}
    files: dict[Path, Numbers] = {}
    for setting, team, numbers in teams:
        tree.setdefault(setting, {})[team] = numbers
        files[folder / FOLDER / setting / f"{team}.json"] = numbers
    _drop_others(folder / FOLDER, files)
    for path, numbers in files.items():
        write_atomically(path, _json(numbers))
    write_atomically(folder / WHOLE, _json(tree))


def _json(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _drop_others(folder: Path, files: Iterable[Path]) -> None:
    kept = set(files)
    try:
        for path in folder.glob("*/*.json"):
            if path not in kept:
                path.unlink()
        for setting in folder.glob("*/"):
            if not any(setting.iterdir()):
                setting.rmdir()
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(
            f"{folder}: cannot be written ({reason}); choose another folder"
        ) from error
