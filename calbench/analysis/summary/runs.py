"""Tables over several runs: a leaderboard of all, and what stands in each run's tables together.

Nothing is estimated here: rows are brought together, named by their experiment, and compared with
what others published.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from calbench.analysis.measures import MEASURES
from calbench.analysis.tables.registry import (
    TABLES,
    VERSION,
    Declared,
    sentence,
    write_frames,
)
from calbench.analysis.tables.standings import DEGENERATE, MEASURE_COLUMNS, ORACLE, USAGE_COLUMNS
from calbench.facts.columns import (
    SETTING,
    TEAM,
    VPS_KIND,
    Column,
    count,
    keyed,
    text,
)
from calbench.facts.frames import read_csv
from calbench.stats.letters import LETTERS, letter

EXPERIMENT = text("experiment", "experiment that the row is from")

CHANNEL_WORDS: Mapping[str, str] = {
    "dm": "private messages",
    "participant_groupchat": "to all participants",
    "all_agent_groupchat": "to all agents",
}
"""Channels as tables and pages call them."""

KIND_WORDS: Mapping[str, str] = {
    "protocol": "protocol",
    DEGENERATE: "degenerate baseline",
    "scripted": "scripted agents",
    "model": "language models",
    "custom": "agents of one's own",
}
"""Kinds of players likewise."""


def in_words(names: Iterable[str], words: Mapping[str, str]) -> str:
    """Return names of a vocabulary as people call them, joined."""
    return " and ".join(words.get(name, name) for name in names)


@dataclass(frozen=True)
class RunTables:
    """The tables of one run.

    Attributes:
        name: of its experiment.
        folder: with the tables.
    """

    name: str
    folder: Path

    def table(self, path: str) -> pd.DataFrame:
        """Read one of its tables.

        Raises:
            FileError: it cannot be read, or is no such table.
        """
        return read_csv(self.folder / path, TABLES[path].columns)

    def named(self, path: str) -> pd.DataFrame:
        """Return one of its tables with the name of the experiment; no column if there is none."""
        if not (self.folder / path).is_file():
            return pd.DataFrame()
        return self.table(path).assign(experiment=self.name)


@dataclass(frozen=True)
class Runs:
    """What is brought together.

    Attributes:
        compared: runs whose teams may stand beside each other.
        browsed: of these, those whose every game can be stepped through.
        scaled: runs on scenarios of several sizes.
        drawn: runs on several draws of a suite.
        published: folder with the numbers of others.
    """

    compared: Sequence[RunTables]
    browsed: Sequence[RunTables]
    scaled: Sequence[RunTables]
    drawn: Sequence[RunTables]
    published: Path


@dataclass(frozen=True)
class SummaryTable(Declared):
    """A table over several runs, and how it is made."""

    make: Callable[[Runs], pd.DataFrame]


SUMMARY: dict[str, SummaryTable] = {}
"""Every table over several runs, by its path."""


def summary(
    path: str, columns: Sequence[Column], key: str
) -> Callable[[Callable[[Runs], pd.DataFrame]], Callable[[Runs], pd.DataFrame]]:
    """Register a function as a table over several runs."""

    def register(make: Callable[[Runs], pd.DataFrame]) -> Callable[[Runs], pd.DataFrame]:
        SUMMARY[path] = SummaryTable(
            path, keyed(columns, key), sentence(make), is_large=False, make=make
        )
        return make

    return register


def write_summary(runs: Runs, folder: Path) -> None:
    """Write every table for which there are runs, be it without a row.

    Raises:
        FileError: a table of a run cannot be read.
        OutputError: the folder cannot be written.
    """
    for each in SUMMARY.values():
        made = each.make(runs)
        if len(made.columns):
            write_frames(folder / each.path, [made], each.columns)


def together(path: str, runs: Sequence[RunTables]) -> pd.DataFrame:
    """Return the rows of a table of every run, in the order of the runs; no column without one."""
    found = [rows for run in runs if len((rows := run.named(path)).columns)]
    filled = [rows for rows in found if not rows.empty] or found[:1]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()


def _collected(path: str, runs: Callable[[Runs], Sequence[RunTables]]) -> None:
    """Register the rows of a run's table, of several runs together."""
    source = TABLES[path]
    columns = tuple(column for column in source.columns if column.name != VERSION)

    def make(given: Runs) -> pd.DataFrame:
        return together(path, runs(given))

    make.__doc__ = source.about
    summary(path, (EXPERIMENT, *columns), " ".join(["experiment", *source.key]))(make)


@summary(
    "leaderboard.csv",
    (
        EXPERIMENT,
        SETTING,
        text("channel", "how agents could talk; rows of two channels are never compared", "C"),
        TEAM,
        text("kind", "of team; reference is the oracle, which plays no game", "C"),
        count("games", "games", "games scored"),
        count("games_excluded", "games", "games with a provider fault or budget stop, left out"),
        count("scenarios", "scenarios", "distinct scenarios of these games"),
        VPS_KIND,
        *MEASURE_COLUMNS,
        *USAGE_COLUMNS,
    ),
    key="experiment setting channel team",
)
def leaderboard(runs: Runs) -> pd.DataFrame:
    """Every team of every comparable set of games, and the oracle, with ranks and letters."""
    rows = together("standings.csv", runs.compared)
    if rows.empty:
        return rows
    views, taken = [], set[tuple[str, str]]()
    by = ["setting", "channels", "suite_digest"]
    for (setting, channels, _), own in rows.groupby(by, sort=False):
        channel = in_words(str(channels).split(), CHANNEL_WORDS)
        if (str(setting), channel) in taken:
            channel = f"{channel}, {own['experiment'].iloc[0]}"
        taken.add((str(setting), channel))
        views.append(_view(own).assign(channel=channel))
    found = pd.concat(views, ignore_index=True)
    words = [in_words(kinds.split(), KIND_WORDS) for kinds in found["kinds"]]
    counts = {
        f"{measure.name}_n": found[f"{measure.name}_n"].where(found[measure.name].notna())
        for measure in MEASURES
    }
    return found.assign(kind=words, **counts)


def _view(rows: pd.DataFrame) -> pd.DataFrame:
    """Return comparable rows, one oracle last, with letters that no two experiments share.

    Teams of two experiments were not compared, so they share no letter.
    """
    is_oracle = rows["team"] == ORACLE
    teams, oracle = rows[~is_oracle], rows[is_oracle].iloc[:1].assign(experiment="")
    used = dict.fromkeys((f"{measure.name}_letters" for measure in MEASURES), 0)
    parts = []
    for _, own in teams.groupby("experiment", sort=False):
        moved = {}
        for name, taken in used.items():
            moved[name] = own[name].map(
                lambda letters, by=taken: _moved(letters, by), na_action="ignore"
            )
            used[name] += len({each for letters in own[name].dropna() for each in letters.split()})
        parts.append(own.assign(**moved))
    return pd.concat([*parts, oracle], ignore_index=True)


def _moved(letters: str, by: int) -> str:
    """Return letters so many places further on in the alphabet."""
    return " ".join(letter(_place(each) + by) for each in letters.split())


def _place(of: str) -> int:
    return LETTERS.index(of[0]) + len(LETTERS) * (int(of[1:]) - 1 if of[1:] else 0)


for _path in (
    "agent_game_counts.csv",
    "regret_by_game.csv",
    "regret_by_team.csv",
    "optimum_unreachable_by_round.csv",
    "scheduled_by_player.csv",
):
    _collected(_path, lambda runs: runs.compared)
_collected("revealing_messages.csv", lambda runs: runs.browsed)


def setting_title(experiment: str, setting: str) -> str:
    """Return what tables and pages call a setting of an experiment."""
    return setting if experiment == setting else f"{experiment}: {setting}"


def _without_version(path: str) -> tuple[Column, ...]:
    return tuple(column for column in TABLES[path].columns if column.name != VERSION)


@summary("difficulty.csv", _without_version("difficulty.csv"), key="setting tertile")
def difficulty(runs: Runs) -> pd.DataFrame:
    """Range and median of the scenarios' feasible fractions, by setting and third."""
    rows = together("difficulty.csv", runs.browsed)
    if rows.empty:
        return rows
    titles = [
        setting_title(*place) for place in zip(rows["experiment"], rows["setting"], strict=True)
    ]
    return rows.assign(setting=titles)


@summary(
    "leaking_messages.csv",
    (EXPERIMENT, *_without_version("leaking_messages.csv")),
    key="experiment setting team scenario_id event_index",
)
def leaking_messages(runs: Runs) -> pd.DataFrame:
    """Every message that tells private labels, and with which words, by experiment and team."""
    rows = together("leaking_messages.csv", runs.compared)
    if rows.empty:
        return rows
    place = rows.groupby(["experiment", "team"], sort=False).ngroup()
    return rows.assign(place=place).sort_values("place", kind="stable")


@summary("scale_bytes.csv", _without_version("scale_bytes.csv"), key="setting team")
def scale_bytes(runs: Runs) -> pd.DataFrame:
    """How long the messages of every team are, a meeting, by the number of agents."""
    rows = together("scale_bytes.csv", runs.scaled)
    if rows.empty:
        return rows
    place = rows["team"].map({team: number for number, team in enumerate(rows["team"].unique())})
    return rows.assign(place=place).sort_values(["place", "agents"], kind="stable")
