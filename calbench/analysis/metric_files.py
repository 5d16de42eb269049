"""The leaderboard as JSON, for programs and for ``dvc metrics show``.

``metrics.json`` has a whole run; ``metrics/<setting>/<team>.json`` has one team, flat: tools that
print one row per file and one column per key show a leaderboard.
"""

from collections.abc import Iterable
from pathlib import Path

import orjson

from calbench.analysis.measures import MEASURES
from calbench.analysis.settings import Settings
from calbench.analysis.tables.leaderboard import leaderboard
from calbench.errors import OutputError
from calbench.facts.columns import DIGITS
from calbench.facts.frames import rounded
from calbench.facts.storage import Facts
from calbench.files import write_atomically

WHOLE = "metrics.json"
FOLDER = "metrics"

Numbers = dict[str, float]
"""Value by measure, rounded as in tables, without undefined ones."""


def write_metrics(facts: Facts, folder: Path, settings: Settings) -> None:
    """Write both forms, and delete files of teams that no longer exist.

    Raises:
        OutputError: the folder cannot be written.
    """
    tree: dict[str, dict[str, Numbers]] = {}
    files: dict[Path, Numbers] = {}
    for row in leaderboard(facts, settings).to_dict("records"):
        numbers = {
            measure.name: float(rounded(row[measure.name], DIGITS))
            for measure in MEASURES
            if row[f"{measure.name}_n"] > 0
        }
        tree.setdefault(row["setting"], {})[row["team"]] = numbers
        files[folder / FOLDER / row["setting"] / f"{row['team']}.json"] = numbers
    _drop_others(folder / FOLDER, files)
    for path, numbers in files.items():
        write_atomically(path, _json(numbers), is_synced=False)
    write_atomically(folder / WHOLE, _json(tree), is_synced=False)


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
