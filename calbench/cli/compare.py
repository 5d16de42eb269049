"""``calbench compare``: what changed between two runs, and where.

Runs are compared on the scenarios that both played to the end, if a name means the same scenario
in both. Everything is measured again from the traces.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from rich.table import Table

from calbench.analysis.certainties import exact_values
from calbench.analysis.measures import MEASURE_BY_NAME
from calbench.analysis.registry import write_frames
from calbench.analysis.run_comparison import (
    COMPARISON_TABLES,
    EXACT,
    PRIVACY,
    Comparison,
    compare_teams,
    finding,
)
from calbench.analysis.scoring import measure_games
from calbench.cli.words import Status, Words, names
from calbench.config.composition import compose
from calbench.config.groups import among
from calbench.config.spec import RunSpec
from calbench.console import progress, show, verdict, warn
from calbench.endings import pruned
from calbench.errors import ConfigError
from calbench.facts.frames import cast
from calbench.facts.games import AGENTS, GAMES, MEETINGS
from calbench.folders import claimed, scratch_folder
from calbench.pool import workers
from calbench.report.columns import NO_INTERVAL
from calbench.report.kind import VPS_KIND_NAMES
from calbench.runs.faults import excluded_games, unread_replies
from calbench.runs.folder import check_folder
from calbench.runs.recorded import recorded_games
from calbench.terminal import new_table
from calbench.traces.catalog import trace_paths

NAMES = tuple(MEASURE_BY_NAME)

PAIR = ["setting", "team_a", "team_b"]
"""Columns that name two compared teams."""

KEY = [*PAIR, "measure"]
"""Columns that name a difference."""


SCENARIO = ["setting", "scenario_id"]
"""Columns that name a scenario."""


class _Side(NamedTuple):
    """One run: its games, and the seats of its scored games."""

    games: pd.DataFrame
    agents: pd.DataFrame


def main(words: Words) -> int:
    """Print the comparison, and write it if the command line says where."""
    run_a, run_b = words.paths
    options = words.options
    measures = _measure_names(options["measure"]) if "measure" in options else NAMES
    top = words.number("top", 3)
    out = Path(options["out"]) if options.get("out") else None
    keys = {
        name: [column.name for column in columns if column.is_key]
        for name, columns in COMPARISON_TABLES.items()
    }
    if out is not None:
        check_folder(out, keys, keys)
    spec = compose(words.settings)
    compared = compare_runs(run_a, run_b, spec, team_a=options.get("a"), team_b=options.get("b"))
    _say_unlike(compared, measures)
    if out is not None:
        with pruned(out), claimed(out):
            check_folder(out, keys, keys)
            for name, frame in compared.tables.items():
                columns = COMPARISON_TABLES[name]
                write_frames(out / name, [cast(frame, columns)], columns)
    show(*comparison_tables(compared, measures, top))
    where = "" if out is None else f": {out}"
    verdict(f"{finding(compared, measures, spec.analysis.confidence)}{where}")
    return Status.DONE


def _say_unlike(compared: Comparison, measures: Sequence[str]) -> None:
    """Say what is left out because two instruments measured it.

    Raises:
        ConfigError: if nothing that was asked for is left.
    """
    if not PRIVACY & set(measures):
        return
    why = "measured by two instruments, which are never subtracted"
    lines = [
        f"{each.setting}: privacy of {each.team_a} ({VPS_KIND_NAMES[each.kind_a]}) and of "
        f"{each.team_b} ({VPS_KIND_NAMES[each.kind_b]}) was {why}"
        for each in compared.unlike
    ]
    if not compared.differences["measure"].isin(measures).any():
        raise ConfigError(f"{'; '.join(lines)}: compare teams of one kind, or another measure")
    for line in lines:
        warn(f"{line}: left out")


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
        spec: its settings of metrics and estimates, and its workers, count.
        team_a: this team of the first run ...
        team_b: ... with this one of the second; teams of one name unless given.

    Raises:
        CalbenchError: one line about what does not fit, or that nothing is in common.
    """
    a = _measured(run_a, spec)
    b = a if run_a == run_b else _measured(run_b, spec)
    pairs = _team_pairs(a, b, team_a, team_b)
    for run, side in ((run_a, a), (run_b, b))[: 1 if a is b else 2]:
        for line in (*unread_replies(side.agents), *excluded_games(side.games)):
            warn(f"{run}: {line}")
    agents_a, agents_b = _alike(a, b)
    compared = compare_teams(agents_a, agents_b, pairs, spec.analysis)
    if compared.differences.empty:
        raise ConfigError(f"{run_a} and {run_b}: no scenario was played to the end in both")
    return compared


def _measured(run: Path, spec: RunSpec) -> _Side:
    with (
        workers(spec.jobs, spec.executor, games=len(list(trace_paths(run)))) as pool,
        scratch_folder("compare") as scratch,
    ):
        games = recorded_games([run], pool)
        with progress("scored", len(games)) as tick:
            facts = measure_games(
                games, scratch, spec.measure, tick, pool, (GAMES, AGENTS, MEETINGS)
            )
        agents = facts.of_games("agents")
        exact = exact_values(facts, agents, spec.measure.vps_floor).add_prefix(EXACT)
        return _Side(facts.games, agents.join(exact))


def _alike(a: _Side, b: _Side) -> Iterator[pd.DataFrame]:
    """Yield the seats of both runs, without scenarios that share a name and are not the same."""
    digests = [
        side.games.drop_duplicates(SCENARIO).set_index(SCENARIO)["scenario_digest"]
        for side in (a, b)
    ]
    both = pd.concat(digests, axis="columns", join="inner", keys=["a", "b"])
    unlike = both.index[both["a"] != both["b"]]
    if len(unlike):
        warn(f"{len(unlike)} scenarios mean something else in the two runs and are left out")
    for agents in (a.agents, b.agents):
        yield agents[~agents.set_index(SCENARIO).index.isin(unlike)]


def _team_pairs(
    a: _Side, b: _Side, team_a: str | None, team_b: str | None
) -> list[tuple[str, str]]:
    teams_a, teams_b = (sorted(side.games["team"].unique()) for side in (a, b))
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
            raise ConfigError(f"{key}={team}: there is no such team; {among(team, teams)}")
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
        if not found:
            continue
        yield _table(
            f"{setting}: {team_b} (B) minus {team_a} (A)",
            ("A", "B", "B - A", "interval", "verdict", "scenarios"),
            [(_title(entry), *_numbers(entry)) for entry in found],
        )
        driven = [(_title(entry), *_drivers(compared.contributions, entry, top)) for entry in found]
        if top and any(len(row) > 1 for row in driven):
            heads = ["most from", *["next"] * (max(map(len, driven)) - 2)]
            yield _table(None, heads, [row for row in driven if len(row) > 1])


def _title(entry: Mapping[Hashable, Any]) -> str:
    return MEASURE_BY_NAME[entry["measure"]].title


def _table(title: str | None, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = new_table(title, ("Measure", *heads), wraps=True)
    for row in rows:
        table.add_row(*row)
    return table


def _numbers(entry: Mapping[Hashable, Any]) -> Iterator[str]:
    if isnan(entry["difference"]):
        yield from ["-"] * 4
    else:
        yield f"{entry['value_a']:.2f}"
        yield f"{entry['value_b']:.2f}"
        yield f"{entry['difference']:+.2f}"
        low, high = entry["difference_low"], entry["difference_high"]
        why = NO_INTERVAL.get(entry.get("difference_interval", ""), "-")
        yield why if isnan(low) else f"{low:+.2f}..{high:+.2f}"
    remark = f" ({entry['remark']})" if entry["remark"] else ""
    yield f"{entry['verdict']}{remark}"
    yield "-" if isnan(entry["scenarios"]) else str(int(entry["scenarios"]))


def _drivers(contributions: pd.DataFrame, entry: Mapping[Hashable, Any], top: int) -> Iterator[str]:
    """Yield the scenarios that add most to a difference, as many as there are up to ``top``."""
    is_own = (contributions[KEY] == [entry[name] for name in KEY]).all(axis="columns")
    parts = contributions[is_own & (contributions["contribution"] != 0)]
    parts = parts.assign(size=-parts["contribution"].abs()).sort_values(["size", "scenario_id"])
    for scenario, value in parts[["scenario_id", "contribution"]].head(top).to_numpy():
        yield f"{scenario} {value:+.3f}"


def _measure_names(value: str) -> tuple[str, ...]:
    chosen = names(value)
    for name in chosen:
        if name not in NAMES:
            raise ConfigError(f"measure={name}: there is none; {among(name, NAMES)}")
    return chosen
