"""Tables over several runs: a common leaderboard, and rows of the tables of each run.

Nothing is estimated here: rows are concatenated, with the name of their experiment, and compared
with published numbers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

import pandas as pd

from calbench.analysis.certainties import EXACT_MEASURES
from calbench.analysis.measures import MEASURES
from calbench.analysis.registry import TABLES, VERSION, Declared, sentence, write_frames
from calbench.analysis.tables.leaderboard import COST_RATIO
from calbench.analysis.tables.standings import (
    MEASURE_COLUMNS,
    ORACLE,
    SILENCE_COLUMNS,
    USAGE_COLUMNS,
)
from calbench.analysis.verdicts import DEGENERATE
from calbench.facts.columns import Column, columns, keyed, text
from calbench.stats.letters import LETTERS, letter

EXPERIMENT = text("experiment", "experiment of the row")

CHANNEL = text(
    "channel",
    "channels of the agents, and limits unless they are those of the paper's published games; rows "
    "that differ in it are never compared",
    "C",
)

CHANNEL_WORDS: Mapping[str, str] = {
    "dm": "private messages",
    "participant_groupchat": "to all participants",
    "all_agent_groupchat": "to all agents",
}
"""Channels in words, for tables and pages."""

LIMITS_WORDS: Mapping[str, str] = {"published": "", "text": "limits of the paper's text"}
"""Limits in words; all but the usual ones are named."""

KIND_WORDS: Mapping[str, str] = {
    "protocol": "protocol",
    DEGENERATE: "degenerate baseline",
    "scripted": "scripted agents",
    "model": "language models",
    "custom": "custom agents",
}
"""Kinds of players in words, for tables and pages."""

NOT_READ = ", no reply could be read"
"""Behind the kind of a team that played and has no score."""

NOT_PUBLISHED = ", not published"
"""Behind the kind of a team that is of a run of one's own."""


def verified_word(is_verified: bool) -> str:
    """Return whether all games of a team were verified, as rows say it."""
    return "verified" if is_verified else "not verified"


def in_words(names: Iterable[str], words: Mapping[str, str]) -> str:
    """Return names in words, joined by "and"."""
    return " and ".join(words.get(name, name) for name in names)


def conditions(channels: str, limits: str) -> str:
    """Return in words on which channels, and by which unusual limits, games were played."""
    names = channels.split()
    words = "all channels" if {*CHANNEL_WORDS} <= {*names} else in_words(names, CHANNEL_WORDS)
    other = LIMITS_WORDS.get(limits, "other limits")
    return f"{words}, {other}" if other else words


USUAL = conditions(" ".join(CHANNEL_WORDS), "published")
"""Those of the paper's published games."""


def evenly(names: Sequence[str], most: int) -> list[str]:
    """Return so many names at most, evenly over all; suites are in the order of difficulty."""
    wanted = min(most, len(names))
    return [names[place * len(names) // wanted] for place in range(wanted)]


@dataclass(frozen=True)
class RunTables:
    """The tables of one run.

    Attributes:
        name: of its experiment.
        folder: with the tables.
        is_joint: whether its ranks and letters are over the teams of all runs with games on the
            same scenarios, whose own ranks are then left out.
        unpublished: its teams that are of a run of one's own, and whether all their games were
            verified.
        part: how many scenarios of another run it has, in words.
        games: scenarios of each setting whose games the trace browser has.
        known: tables that were read, by path; not to be changed.
    """

    name: str
    folder: Path
    is_joint: bool = False
    unpublished: Mapping[str, bool] = field(default_factory=dict, hash=False)
    part: str = ""
    games: int | Literal["all"] = "all"
    known: dict[str, pd.DataFrame] = field(default_factory=dict, compare=False, repr=False)

    def table(self, path: str) -> pd.DataFrame:
        """Read one of its tables; of a team's several games on a scenario only the first.

        Raises:
            FileError: it cannot be read, or is no such table.
        """
        if path not in self.known:
            rows = TABLES[path].read(self.folder)
            self.known[path] = rows[rows["replicate"] == 0] if "replicate" in rows else rows
        return self.known[path]

    def steppable(self, rows: pd.DataFrame) -> set[str]:
        """Return the scenarios, of those of its games, that the trace browser has."""
        chosen: set[str] = set()
        for _, ids in rows.groupby("setting", sort=False)["scenario_id"]:
            names = list(dict.fromkeys(ids))
            chosen.update(names if self.games == "all" else evenly(names, self.games))
        return chosen

    def named(self, path: str) -> pd.DataFrame:
        """Return one of its tables with the experiment; an empty frame if there is none."""
        if TABLES[path].file(self.folder) is None:
            return pd.DataFrame()
        return self.table(path).assign(experiment=self.name)


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs by use.

    Attributes:
        compared: runs whose teams are on one leaderboard.
        browsed: of these, those whose games can all be stepped through.
        scaled: runs on scenarios of several sizes.
        drawn: runs on several draws of a suite.
        swept: runs of the settings of protocols on the suites of those that are compared.
        published: folder with published numbers of others.
        pool: file with sums of many more scenarios, if there is one (see the module ``pool``).
    """

    compared: Sequence[RunTables]
    browsed: Sequence[RunTables]
    scaled: Sequence[RunTables]
    drawn: Sequence[RunTables]
    swept: Sequence[RunTables]
    published: Path
    pool: Path | None = None


@dataclass(frozen=True)
class SummaryTable(Declared):
    """A table over several runs and the function that makes it."""

    make: Callable[[Runs], pd.DataFrame]


SUMMARY: dict[str, SummaryTable] = {}
"""Every table over several runs, by its path."""


def summary(
    path: str,
    declared: str | Sequence[Column],
    key: str,
    *,
    of: Iterable[Column] = (),
    **groups: Iterable[Column],
) -> Callable[[Callable[[Runs], pd.DataFrame]], Callable[[Runs], pd.DataFrame]]:
    """Register a function as a table over several runs; arguments as of a run's ``table``."""
    own = columns(declared, of, **groups) if isinstance(declared, str) else declared

    def register(make: Callable[[Runs], pd.DataFrame]) -> Callable[[Runs], pd.DataFrame]:
        SUMMARY[path] = SummaryTable(path, keyed(own, key), sentence(make), make=make)
        return make

    return register


def write_summary(runs: Runs, folder: Path) -> None:
    """Write every table for which there are runs, even without rows.

    Raises:
        FileError: a table of a run cannot be read.
        OutputError: the folder cannot be written.
    """
    with pd.option_context("mode.string_storage", "python"):  # as for a run's tables
        for each in SUMMARY.values():
            made = each.make(runs)
            if len(made.columns):
                write_frames(folder / each.path, [made], each.columns)


def together(path: str, runs: Sequence[RunTables]) -> pd.DataFrame:
    """Return the rows of a table of all runs, in their order; an empty frame without runs."""
    found = [rows for run in runs if len((rows := run.named(path)).columns)]
    filled = [rows for rows in found if not rows.empty] or found[:1]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()


def without_version(path: str) -> tuple[Column, ...]:
    """Return the columns of a table of a run, without the version of the metrics."""
    return tuple(column for column in TABLES[path].columns if column.name != VERSION)


def _collected(
    path: str,
    runs: Callable[[Runs], Sequence[RunTables]],
    about: str = "",
    ordered: Callable[[pd.DataFrame], pd.DataFrame] = lambda rows: rows,
) -> None:
    """Register a table with the rows of a table of several runs, told about as that of a run."""

    def make(given: Runs) -> pd.DataFrame:
        rows = together(path, runs(given))
        return rows if rows.empty else ordered(rows)

    make.__doc__ = about or TABLES[path].about
    key = " ".join(["experiment", *TABLES[path].key])
    summary(path, (EXPERIMENT, *without_version(path)), key)(make)


@summary(
    "leaderboard.csv",
    """
    experiment setting channel team
    kind (text; C): of team; reference is the oracle, which plays no games
    games (count, games): games scored
    games_excluded (count, games): games with a provider fault or budget stop, in no mean
    scenarios (count, scenarios): distinct scenarios of these games
    vps_kind exact measure_columns silence_columns cost_ratio usage_columns
    """,
    key="experiment setting channel team",
    of=[EXPERIMENT, CHANNEL, EXACT_MEASURES],
    measure_columns=MEASURE_COLUMNS,
    silence_columns=SILENCE_COLUMNS,
    cost_ratio=COST_RATIO,
    usage_columns=USAGE_COLUMNS,
)
@lru_cache(maxsize=2)
def leaderboard(runs: Runs) -> pd.DataFrame:
    """Every team of every comparable set of games, and the oracle, with ranks and letters."""
    rows = together("standings.csv", runs.compared)
    if rows.empty:
        return rows
    views, taken = [], set[tuple[str, str]]()
    by = ["setting", "channels", "limits", "suite_digest"]
    run_by_name = {run.name: run for run in runs.compared}
    for (setting, channels, limits, _), found_rows in rows.groupby(by, sort=False):
        own = _joint(found_rows, run_by_name)
        channel = conditions(str(channels), str(limits))
        if part := run_by_name[own["experiment"].iloc[0]].part:
            channel = f"{channel}, {part}"
        if (str(setting), channel) in taken:
            channel = f"{channel}, {own['experiment'].iloc[0]}"
        taken.add((str(setting), channel))
        views.append(_view(own).assign(channel=channel))
    found = pd.concat(views, ignore_index=True)
    verified = {team: each for run in runs.compared for team, each in run.unpublished.items()}
    names = [measure.name for measure in MEASURES]
    is_unread = found["games"].fillna(0).gt(0) & found[names].isna().all(axis="columns")
    words = [
        in_words(kinds.split(), KIND_WORDS)
        + (NOT_READ if is_without_score else "")
        + (f"{NOT_PUBLISHED}, {verified_word(verified[team])}" if team in verified else "")
        for kinds, team, is_without_score in zip(
            found["kinds"], found["team"], is_unread, strict=True
        )
    ]
    counts = {
        f"{measure.name}_n": found[f"{measure.name}_n"].where(found[measure.name].notna())
        for measure in MEASURES
    }
    return found.assign(kind=words, **counts)


def _joint(rows: pd.DataFrame, run_by_name: Mapping[str, RunTables]) -> pd.DataFrame:
    """Return the rows of the run that ranks the teams of all, if there is one."""
    names = rows["experiment"].unique()
    joint = [name for name in names if run_by_name[name].is_joint]
    return rows[rows["experiment"] == joint[0]] if joint else rows


def _view(rows: pd.DataFrame) -> pd.DataFrame:
    """Return comparable rows with one oracle last, and different letters in each experiment.

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
    """Return letters shifted by a number of places in the alphabet."""
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
    """Return the title of a setting of an experiment."""
    return setting if experiment == setting else f"{experiment}: {setting}"


@summary("difficulty.csv", without_version("difficulty.csv"), key="setting tertile")
def difficulty(runs: Runs) -> pd.DataFrame:
    """Range and median of the scenarios' feasible fractions, by setting and third."""
    rows = together("difficulty.csv", runs.browsed)
    if rows.empty:
        return rows
    names = zip(rows["experiment"], rows["setting"], strict=True)
    return rows.assign(setting=[setting_title(*each) for each in names])


def _by_team(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows in the order of experiments and of the teams of each."""
    place = rows.groupby(["experiment", "team"], sort=False).ngroup()
    return rows.assign(place=place).sort_values("place", kind="stable")


for _path, _about in {
    "leaking_messages.csv": "Every message that gives private labels away, with its words",
    "second_hand_leaks.csv": "Every label that a message passes on, with its path",
}.items():
    _collected(
        _path, lambda runs: runs.compared, f"{_about}, by experiment and team.", ordered=_by_team
    )


@summary("scale_bytes.csv", without_version("scale_bytes.csv"), key="setting team")
def scale_bytes(runs: Runs) -> pd.DataFrame:
    """Bytes of messages per meeting, by team and number of agents."""
    rows = together("scale_bytes.csv", runs.scaled)
    if rows.empty:
        return rows
    return rows.assign(place=pd.factorize(rows["team"])[0]).sort_values(
        ["place", "agents"], kind="stable"
    )
