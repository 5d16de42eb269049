"""What a site needs of the published results, in one small file that an installed package has.

It holds the facts of scores of ranked experiments, from which their tables are made again to the
byte, and the other tables that pages are made of. Games are not in it, and their ids neither: they
follow from suites and teams, and would be a sixth of the file.
"""

import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pyarrow import Table, array, parquet

from calbench.analysis.audit_sample import SAMPLE
from calbench.errors import FileError
from calbench.facts.columns import GAME_ID
from calbench.facts.frames import PARQUET_VERSION, read_arrow, read_text
from calbench.facts.games import GAMES, SCORES
from calbench.files import read_bytes, write_atomically
from calbench.release.archives import archived
from calbench.release.copies import SUMMARY_FOLDER

PACK = "board.tar.xz"
"""Its name in a release."""

FACTS, TABLES = "facts", "tables"
"""Folders in it, with a folder for each experiment."""

OF_RANKED = (
    "audit_*.csv",
    "answers_by_phase.csv",
    "second_hand_leaks.csv",
    "revealing_messages.csv",
    "judge/metric_comparison.csv",
    "judge/judge_agreement.csv",
    "privacy/reflection_calibration.csv",
    "privacy/stated_chances.csv",
    "privacy/vps_baselines.csv",
    "privacy/prior_sensitivity.csv",
    "privacy/bits_reliability.csv",
)
"""Tables of ranked experiments that pages show and that need more facts than scores."""

OF_OTHERS = (
    "leaderboard.csv",
    "standings.csv",
    "sensitivity.csv",
    "draws.csv",
    "scale_bytes.csv",
    "agent_game_counts.csv",
    "answers_by_phase.csv",
    "audit_*.csv",
    "focal_*.csv",
    "further_slices.csv",
    "judge/metric_comparison.csv",
    "judge/judge_agreement.csv",
    "outcomes.csv",
    "players.csv",
    "privacy/reflection_calibration.csv",
    "privacy/stated_chances.csv",
    "privacy/vps_baselines.csv",
    "probe_effects.csv",
    "probe_labels.csv",
    "ratings*.csv",
    "reply_outcomes.csv",
    "revealing_messages.csv",
    "second_hand_leaks.csv",
    "table1.csv",
    "usage.csv",
)
"""Tables of sweeps, draws, sizes, probes, slices and unranked models that pages show."""

OF_ONE = ("scale/games.csv", "sensitivity/comparisons.csv", "sensitivity/standings.csv")
"""Tables that pages show of one experiment alone, whatever their size."""

MOST_BYTES = 30_000
"""Of a table [C]; larger ones list single games, which no page does without the games."""

KEY = ("setting", "team", "scenario_id", "replicate")
"""Columns that name a published game."""

PLAIN: dict[str, Any] = {
    "version": PARQUET_VERSION,
    "compression": "none",
    "use_dictionary": False,
    "write_statistics": False,
    "store_schema": False,
}
"""Options of Parquet files that are compressed together afterwards."""


def write_pack(data: Path, path: Path) -> None:
    """Write the file; the bytes depend on the data, pyarrow and liblzma alone.

    Args:
        data: folder of computed facts and tables. Ranked are the experiments of which the
            leaderboard over all of them has rows.
        path: of the file.

    Raises:
        FileError: facts or tables are missing.
        OutputError: the file cannot be written.
    """
    board = data / TABLES / SUMMARY_FOLDER / "leaderboard.csv"
    ranked = frozenset(read_text(board)["experiment"].dropna())
    write_atomically(path, archived(_contents(data, ranked)))


def _contents(data: Path, ranked: Collection[str]) -> Iterator[tuple[str, bytes]]:
    for experiment in sorted(ranked):
        for fact in SCORES:
            path = data / FACTS / experiment / f"{fact.name}.parquet"
            yield f"{FACTS}/{experiment}/{path.name}", _plain(path)
    for path in sorted((data / TABLES).rglob("*.csv")):
        name = path.relative_to(data / TABLES).as_posix()
        is_small = path.stat().st_size <= MOST_BYTES
        if name in OF_ONE or (is_small and _is_packed(name, ranked)):
            yield f"{TABLES}/{name}", read_bytes(path)


def _is_packed(name: str, ranked: Collection[str]) -> bool:
    """Whether a table is one that pages show and that is not made again."""
    experiment, is_inside, path = name.partition("/")
    if not is_inside:
        return name == SAMPLE.path
    patterns = OF_RANKED if experiment in ranked else OF_OTHERS
    return experiment != SUMMARY_FOLDER and any(fnmatchcase(path, each) for each in patterns)


def _plain(path: Path) -> bytes:
    held = io.BytesIO()
    table = read_arrow(path).replace_schema_metadata(None)
    if GAME_ID.name in table.column_names:
        table = _with_ids(table, [""] * len(table))
    parquet.write_table(table, held, **PLAIN)
    return held.getvalue()


def _with_ids(table: Table, ids: Sequence[str]) -> Table:
    place = table.column_names.index(GAME_ID.name)
    field = table.schema.field(place)
    return table.set_column(place, field, array(ids, type=field.type))


def fill_ids(facts: Path, ids: Mapping[tuple[str, str, str, int], str]) -> None:
    """Write the ids of games into unpacked facts.

    Args:
        facts: folder of an experiment's facts.
        ids: by setting, team, scenario and replicate.

    Raises:
        FileError: the facts hold a game that has no id.
    """
    path = facts / f"{GAMES.name}.parquet"
    table = read_arrow(path)
    names = zip(*(table[name].to_pylist() for name in KEY), strict=True)
    try:
        found = [ids[name] for name in names]
    except KeyError as error:
        raise FileError(f"{path}: holds a game of {error}, which was not published") from error
    parquet.write_table(_with_ids(table, found), path, **PLAIN)
