"""``python -m calbench.compare RUN_A RUN_B``: what changed between two runs, and where.

Runs are compared on the scenarios that both played to the end, and only where both mean the
same scenario by a name. Everything is measured anew from the traces.
"""

import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from calbench.analysis.measures import MEASURE_BY_NAME
from calbench.analysis.run_comparison import COMPARISON_TABLES, Comparison, compare_teams
from calbench.analysis.scoring import measure_games
from calbench.analysis.tables.registry import write_frames
from calbench.config import RunSpec, compose
from calbench.console import ending_on_interrupt, progress, say
from calbench.engine.pool import workers
from calbench.errors import CalbenchError, ConfigError
from calbench.facts.frames import cast
from calbench.facts.games import AGENTS, GAMES
from calbench.rescore import RecordedGame, check_folder, recorded_games

USAGE = """\
usage: python -m calbench.compare RUN_A RUN_B [key=value ...]

Runs are folders of runs, or of traces. Teams of one name are compared.

  a=TEAM b=TEAM       compare these two teams instead; RUN_A and RUN_B may then be one run
  measure=NAME        one measure, or several as [x,y]; all of the leaderboard unless given
  top=N               scenarios named for each difference (3)
  out=DIR             write differences.csv and contributions.csv there, too
  jobs=N              processes (1)
  measure.KEY=VALUE   settings of the metrics
  analysis.KEY=VALUE  settings of the intervals, e.g. analysis.bootstrap_resamples=2000"""

NAMES = tuple(MEASURE_BY_NAME)

PAIR = ["setting", "team_a", "team_b"]
"""What names two teams that are compared."""

KEY = [*PAIR, "measure"]
"""What names a difference."""

SETTINGS = ("jobs=", "measure.", "analysis=", "analysis.")
"""Keys that the configuration answers for."""


@dataclass(slots=True)
class _Options:
    """What the command line asks for."""

    runs: list[Path] = field(default_factory=list)
    team_a: str | None = None
    team_b: str | None = None
    measures: tuple[str, ...] = NAMES
    top: int = 3
    out: Path | None = None
    settings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One run: its games, and every seat of those that were scored."""

    games: tuple[RecordedGame, ...]
    agents: pd.DataFrame


def main(arguments: Sequence[str]) -> int:
    """Print the comparison; return 0 if there is one, 2 on a mistake."""
    if not arguments or {"-h", "--help"} & set(arguments):
        print(USAGE)
        return 0 if arguments else 2
    try:
        options = _parse(arguments)
        if options.out is not None:
            check_folder(options.out, COMPARISON_TABLES)
        compared = compare_runs(
            options.runs[0],
            options.runs[1],
            compose(options.settings),
            team_a=options.team_a,
            team_b=options.team_b,
        )
        if options.out is not None:
            for name, frame in compared.tables.items():
                columns = COMPARISON_TABLES[name]
                write_frames(options.out / name, [cast(frame, columns)], columns)
    except CalbenchError as error:
        say(f"error: {error}")
        return 2
    console = Console(highlight=False)
    for table in comparison_tables(compared, options.measures, options.top):
        console.print(table)
    return 0


def compare_runs(
    run_a: Path,
    run_b: Path,
    spec: RunSpec,
    *,
    team_a: str | None = None,
    team_b: str | None = None,
) -> Comparison:
    """Compare two runs by every measure, team by team and setting by setting.

    Args:
        run_a: a folder of a run or of traces.
        run_b: the other; it may be the same where two teams are named.
        spec: its settings of metrics and estimates, and its number of processes, count.
        team_a: this team of the first run ...
        team_b: ... with this one of the second; teams of one name unless given.

    Raises:
        CalbenchError: one line about what does not fit, or that nothing is in common.
    """
    a = _measured(run_a, spec)
    b = a if run_a == run_b else _measured(run_b, spec)
    pairs = _team_pairs(a, b, team_a, team_b)
    unlike = _unlike(a, b)
    if unlike:
        say(f"{len(unlike)} scenarios mean something else in the two runs and are left out")
    compared = compare_teams(_without(a, unlike), _without(b, unlike), pairs, spec.analysis)
    if compared.differences.empty:
        raise ConfigError(f"{run_a} and {run_b}: no scenario was played to the end in both")
    return compared


def _measured(run: Path, spec: RunSpec) -> _Side:
    with workers(spec.jobs) as executor, TemporaryDirectory(prefix="calbench-") as scratch:
        games = recorded_games([run], executor)
        with progress("scored", len(games)) as tick:
            facts = measure_games(
                games, Path(scratch), spec.measure, tick, executor, (GAMES, AGENTS)
            )
        return _Side(tuple(games), facts.of_games("agents"))


def _without(side: _Side, unlike: frozenset[tuple[str, str]]) -> pd.DataFrame:
    """Return the seats of a run but for those in some scenarios."""
    keys = zip(side.agents["setting"], side.agents["scenario_id"], strict=True)
    return side.agents[[key not in unlike for key in keys]]


def _unlike(a: _Side, b: _Side) -> frozenset[tuple[str, str]]:
    """Name the scenarios that share a name and are not the same."""
    digests_a, digests_b = (
        {(g.head.setting, g.scenario_id): g.head.scenario_digest for g in side.games}
        for side in (a, b)
    )
    return frozenset(
        key for key in digests_a.keys() & digests_b.keys() if digests_a[key] != digests_b[key]
    )


def _team_pairs(
    a: _Side, b: _Side, team_a: str | None, team_b: str | None
) -> list[tuple[str, str]]:
    teams_a, teams_b = (sorted({game.team_id for game in side.games}) for side in (a, b))
    if team_a is None and team_b is None:
        pairs = [(team, team) for team in teams_a if team in teams_b]
        if not pairs:
            raise ConfigError(
                f"no team is in both runs ({', '.join(teams_a)}; {', '.join(teams_b)}); name two "
                "with a=TEAM b=TEAM"
            )
        return pairs
    first, second = team_a or team_b or "", team_b or team_a or ""
    for key, team, teams in (("a", first, teams_a), ("b", second, teams_b)):
        if team not in teams:
            raise ConfigError(f"{key}={team}: there is no such team; known are {', '.join(teams)}")
    return [(first, second)]


def comparison_tables(compared: Comparison, measures: Sequence[str], top: int) -> Iterator[Table]:
    """Yield two tables for each setting and pair of teams: differences, and what drives them.

    Args:
        compared: the runs.
        measures: names of those to show.
        top: how many scenarios to name for each difference.
    """
    for (setting, team_a, team_b), rows in compared.differences.groupby(PAIR, sort=False):
        found = rows[rows["measure"].isin(measures)].to_dict("records")
        yield _table(
            f"{setting}: {team_b} (B) minus {team_a} (A); * leaves out zero",
            ("A", "B", "B - A", "interval", "scenarios"),
            [(_title(entry), *_numbers(entry)) for entry in found],
        )
        driven = [(_title(entry), *_drivers(compared.contributions, entry, top)) for entry in found]
        if top and any(len(row) > 1 for row in driven):
            heads = ["most from", *["next"] * (max(map(len, driven)) - 2)]
            yield _table(None, heads, [row for row in driven if len(row) > 1])


def _title(entry: Mapping[Hashable, Any]) -> str:
    return MEASURE_BY_NAME[entry["measure"]].title


def _table(title: str | None, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("Measure")
    for head in heads:
        table.add_column(head, justify="right")
    for row in rows:
        table.add_row(*row)
    return table


def _numbers(entry: Mapping[Hashable, Any]) -> Iterator[str]:
    if isnan(entry["difference"]):
        yield from ["-"] * 5
        return
    yield f"{entry['value_a']:.2f}"
    yield f"{entry['value_b']:.2f}"
    yield f"{entry['difference']:+.2f}"
    low, high = entry["difference_low"], entry["difference_high"]
    is_clear = not low <= 0 <= high
    yield "-" if isnan(low) else f"{low:+.2f}..{high:+.2f}{' *' if is_clear else ''}"
    yield str(int(entry["scenarios"]))


def _drivers(contributions: pd.DataFrame, entry: Mapping[Hashable, Any], top: int) -> Iterator[str]:
    """Yield the scenarios that add most to a difference, as many as there are up to ``top``."""
    is_own = (contributions[KEY] == [entry[name] for name in KEY]).all(axis="columns")
    parts = contributions[is_own & (contributions["contribution"] != 0)]
    parts = parts.assign(size=-parts["contribution"].abs()).sort_values(["size", "scenario_id"])
    for scenario, value in parts[["scenario_id", "contribution"]].head(top).to_numpy():
        yield f"{scenario} {value:+.3f}"


def _parse(arguments: Sequence[str]) -> _Options:
    options = _Options()
    for argument in arguments:
        key, is_given, value = argument.partition("=")
        if is_given and key == "a":
            options.team_a = value
        elif is_given and key == "b":
            options.team_b = value
        elif is_given and key == "measure":
            options.measures = _measure_names(value)
        elif is_given and key == "top":
            options.top = _count(value)
        elif is_given and key == "out" and value:
            options.out = Path(value)
        elif is_given and argument.startswith(SETTINGS):
            options.settings.append(argument)
        elif is_given and not Path(argument).exists():
            raise ConfigError(f"{argument}: is neither an option nor a folder; see --help")
        else:
            options.runs.append(Path(argument))
    if len(options.runs) != 2:
        raise ConfigError(f"two runs are compared, {len(options.runs)} are named; see --help")
    return options


def _measure_names(value: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in value.strip("[]").split(","))
    for name in names:
        if name not in NAMES:
            raise ConfigError(f"measure={name}: there is none; known are {', '.join(NAMES)}")
    return names


def _count(value: str) -> int:
    if not value.isascii() or not value.isdigit():
        raise ConfigError(f"top={value}: expected a whole number")
    return int(value)


if __name__ == "__main__":
    with ending_on_interrupt(lambda: "Stopped"):
        sys.exit(main(sys.argv[1:]))
