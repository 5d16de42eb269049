"""``calbench compare``: what changed between two runs, and where.

Runs are compared on the scenarios that both played to the end, if a name means the same scenario
in both. Everything is measured again from the traces.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any

import pandas as pd
from rich.table import Table

from calbench.analysis.measures import MEASURE_BY_NAME
from calbench.analysis.registry import write_frames
from calbench.analysis.run_comparison import (
    COMPARISON_TABLES,
    PRIVACY,
    Comparison,
    finding,
)
from calbench.cli.rescore import verified_tables
from calbench.cli.words import Status, Words, names
from calbench.config.composition import compose
from calbench.console import show, verdict, warn
from calbench.endings import pruned
from calbench.errors import ConfigError, among
from calbench.facts.frames import cast
from calbench.folders import claimed
from calbench.report.columns import NO_INTERVAL
from calbench.report.kind import VPS_KIND_NAMES
from calbench.runs.folder import check_folder
from calbench.runs.measured import compare_runs
from calbench.terminal import new_table

NAMES = tuple(MEASURE_BY_NAME)

PAIR = ["setting", "team_a", "team_b"]
"""Columns that name two compared teams."""

KEY = [*PAIR, "measure"]
"""Columns that name a difference."""

HEADS = ("A", "B", "B - A", "interval", "verdict", "scenarios")
"""Columns of a table of differences, behind what they are of."""


def main(words: Words) -> int:
    """Print the comparison, and write it if the command line says where."""
    run_a, run_b = words.paths
    options = words.options
    measures = measure_names(options["measure"]) if "measure" in options else NAMES
    top = words.number("top", 3)
    out = words.path("out")
    keys = dict.fromkeys(COMPARISON_TABLES, KEY)
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
    show(*comparison_tables(compared, measures, top), *verified_tables(words.paths, spec))
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


def comparison_tables(compared: Comparison, measures: Sequence[str], top: int) -> Iterator[Table]:
    """Yield two tables for each setting and pair of teams: differences, and what drives them.

    Args:
        compared: the runs.
        measures: names of those to show.
        top: how many scenarios to name for each difference.
    """
    for (setting, team_a, team_b), rows in compared.differences.groupby(PAIR, sort=False):
        records = rows[rows["measure"].isin(measures)].to_dict("records")
        found = [(MEASURE_BY_NAME[entry["measure"]].title, entry) for entry in records]
        if not found:
            continue
        title = f"{setting}: {team_b} (B) minus {team_a} (A)"
        cells = [(measure, *difference_cells(entry)) for measure, entry in found]
        yield new_table(title, ("Measure", *HEADS), cells, wraps=True)
        drivers = [(name, *_drivers(compared.contributions, entry, top)) for name, entry in found]
        if driven := [row for row in drivers if len(row) > 1]:
            heads = ("Measure", "most from", *["next"] * (max(map(len, driven)) - 2))
            yield new_table(None, heads, driven, wraps=True)


def difference_cells(entry: Mapping[Hashable, Any]) -> Iterator[str]:
    """Yield a difference as a row below :data:`HEADS`."""
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


def measure_names(value: str) -> tuple[str, ...]:
    """Return the measures in a list of the command line.

    Raises:
        ConfigError: there is no such measure.
    """
    chosen = names(value)
    for name in chosen:
        if name not in NAMES:
            raise ConfigError(f"measure={name}: there is none; {among(name, NAMES)}")
    return chosen
