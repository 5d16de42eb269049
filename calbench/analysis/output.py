"""From facts, or from traces, to the files of a run's tables, and the leaderboard as JSON.

``metrics.json`` has a whole run, for programs and for ``dvc metrics show``;
``metrics/<setting>/<team>.json`` has one team, flat: tools that print one row per file and one
column per key show a leaderboard.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import orjson
import pandas as pd

from calbench.agents.judging import JUDGE_PROMPT
from calbench.analysis.datapackage import write_datapackage
from calbench.analysis.measures import MEASURES
from calbench.analysis.registry import Settings, write_frames
from calbench.analysis.scoring import ALL_FACTS, Recorded, measure_games
from calbench.analysis.tables import TABLES, tables_of
from calbench.analysis.tables.leaderboard import leaderboard
from calbench.console import progress
from calbench.domain.canonical import canonical_json
from calbench.endings import pruned, removed
from calbench.errors import OutputError
from calbench.facts.columns import DIGITS
from calbench.facts.fact import Fact
from calbench.facts.frames import rounded
from calbench.facts.judged import JUDGED
from calbench.facts.storage import Facts
from calbench.files import write_atomically, written_atomically
from calbench.metrics.measure import METRICS_VERSION
from calbench.pool import Pool

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


FACTS_FOLDER = ".facts"
"""Folder of the facts, below that of tables, while these are made."""

CASE_FILE = "judge_cases.json"
"""Cases shown to the judge, and whether its answers were readable."""

JUDGE_TABLES = {
    Path(path).name: table for path, table in TABLES.items() if JUDGED.name in table.needs
}
"""Tables of the judge, by file name."""


def write_tables(facts: Facts, folder: Path, settings: Settings) -> None:
    """Write every table that facts allow, their description, and the leaderboard as JSON.

    Args:
        facts: of a run.
        folder: of the tables.
        settings: of the metrics that made the facts, and of the estimates.

    Raises:
        OutputError: the folder cannot be written.
    """
    # Each call on pandas' default, Arrow's arrays, costs more than its work on a table's rows.
    with pd.option_context("mode.string_storage", "python"):
        tables = tables_of(facts)
        with progress("tables", len(tables)) as tick:
            for each in tables:
                each.write(facts, settings, folder)
                tick(each.path)
        if facts.has("judged_cases"):
            _write_cases(facts, folder / "judge")
        write_metrics(facts, folder, settings)
    write_datapackage(tables, folder, settings)


def write_all_tables(
    games: Sequence[Recorded],
    folder: Path,
    settings: Settings,
    tick: Callable[[], None],
    pool: Pool | None = None,
    facts: Sequence[Fact] = ALL_FACTS,
) -> None:
    """Measure games, and write their tables.

    Arguments as in :func:`calbench.analysis.scoring.measure_games` and :func:`write_tables`.
    """
    place = folder / FACTS_FOLDER
    with pruned(folder), removed(place):
        write_tables(
            measure_games(games, place, settings.measure, tick, pool, facts), folder, settings
        )


def write_judge_tables(facts: Facts, folder: Path, settings: Settings) -> None:
    """Write only the tables of the judge, and its cases, into a folder.

    Args:
        facts: of judged games.
        folder: is created if missing.
        settings: of the estimates, and the floor.

    Raises:
        OutputError: the folder cannot be written.
    """
    _write_cases(facts, folder)
    with progress("tables", len(JUDGE_TABLES)) as tick:
        for name, table in JUDGE_TABLES.items():
            write_frames(folder / name, table.frames(facts, settings), table.columns)
            tick(name)


def _write_cases(facts: Facts, folder: Path) -> None:
    """Write the cases of all judged games, whole or not at all.

    Raises:
        OutputError: the folder cannot be written.
    """
    with (
        written_atomically(folder / CASE_FILE, is_synced=False) as beside,
        beside.open("w", encoding="utf-8", newline="") as file,
    ):
        file.writelines(_cases(facts))


def _cases(facts: Facts) -> Iterator[str]:
    judge = next(iter(facts.frame("judged_games")["judge"]), None)
    head = canonical_json(
        {"judge": judge, "metrics_version": METRICS_VERSION, "prompt": JUDGE_PROMPT}
    )
    yield f'{head[:-1]},"cases":[\n'
    between = ""
    for batch in facts.batches("judged_cases"):
        for case in batch["case"]:
            yield between + case
            between = ",\n"
    yield "\n]}\n"
