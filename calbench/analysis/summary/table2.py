"""Fresh draws by the paper's recipe compared with the printed numbers of its Table 2."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from calbench.analysis.measures import HEADLINE
from calbench.analysis.summary.pool import unpacked
from calbench.analysis.summary.runs import EXPERIMENT, Runs, summary
from calbench.errors import FileError
from calbench.facts.columns import columns
from calbench.facts.frames import read_text
from calbench.files import read_bytes
from calbench.stats.predictive import (
    TOLERANCE,
    Drawn,
    deviations,
    drawn_means,
    drawn_units,
    is_constant,
    joint_test,
    single_test,
    spreads,
)
from calbench.stats.sums import Floats, Sums

DRAWS = 10_000
"""Suites drawn from the pool [C]."""

SUITE_SIZE = 45
"""Scenarios of a suite [P]."""

SEED = 0
"""Of the draws [C]."""

LEVEL = 0.05
"""Share of numbers that would be called improbable by chance alone [C]."""

SINGLE: Mapping[str, str] = {"dsm-welfare": "dsm-welfare-single"}
"""Teams of ours that play a protocol by the rules of the published table, where the name of the
protocol is that of another: one accepted offer ends DSM-welfare's search [R]."""

RULES, VARIANT = "rules", "variant"

DRAWN = "reproduction"
"""The experiment whose limits are those of the published games."""

HALVES = ("uniform", "varied")
"""The settings of Table 2, in its order [P]."""

ROW_KEY = "setting published_team experiment team"

ROW = columns(
    """
    setting
    published_team (text): protocol of the published row
    experiment team
    plays_as (text; C): rules, those of the published games; or variant, another setting of ours
    """,
    of=[EXPERIMENT],
)
"""Names a published row and one of our variants of its protocol."""


def published_protocol(team: str, published: "pd.Series[str]") -> str | None:
    """Return the published protocol of a team; names of variants begin with the protocol's."""
    fits = [name for name in published if team == name or team.startswith(f"{name}-")]
    return max(fits, key=len, default=None)


def published_rows(runs: Runs) -> pd.DataFrame:
    """Return the published rows of Table 2 as printed."""
    path = runs.published / "table2.csv"
    return read_text(path) if path.is_file() else pd.DataFrame()


@summary(
    "table2_draws.csv",
    """
    row
    measure (text; R): a measure of Table 2, as the authors' release measures
    published (text; P): the number as printed
    mean (number, of the measure): over the pool // scenarios of the pool
    sd (number, of the measure): root mean square of the mean of a drawn suite, rounded as printed,
        minus the mean of the scenarios not drawn // draws
    z (number2, sd): (published - mean) / sd
    p (number): two-sided: share of draws at least as far away as published // draws
    constant (text; C): same or other: the pool always gives one number, and this or another is
        published; empty: it varies
    """,
    key=f"{ROW_KEY} measure",
    row=ROW,
)
def table2_draws(runs: Runs) -> pd.DataFrame:
    """Each published number of Table 2 against what one fresh suite of 45 would give.

    10,000 suites are drawn from a pool of many scenarios, as many from each third of difficulty.
    """
    return pd.DataFrame([cell for line in _lines(runs) for cell in line.described()])


@summary(
    "table2_rows.csv",
    """
    row
    cells (count, numbers): of the row that vary in the pool
    below (count, numbers): of these with p below .05
    constant (count, numbers): of the row for which the pool gives always the same
    constant_other (count, numbers): of these with another number published
    distance (number2, sd): Mahalanobis distance of the cells that vary
    p (number): share of draws at least as far away // draws
    """,
    key=ROW_KEY,
    row=ROW,
)
def table2_rows(runs: Runs) -> pd.DataFrame:
    """Each published row of Table 2 as a whole, against the same draws."""
    return pd.DataFrame([line.together() for line in _lines(runs)])


@summary(
    "table2_counts.csv",
    """
    plays_as (text; C): as in table2_draws.csv
    rows (count, rows): compared
    rows_below (count, rows): of these with p below .05 as a whole
    cells (count, numbers): of these rows that vary in the pool
    below (count, numbers): of these with p below .05
    expected (number, numbers): below .05 if all were drawn as ours are // cells
    """,
    key="plays_as",
)
def table2_counts(runs: Runs) -> pd.DataFrame:
    """How many numbers of Table 2 were compared, and how many would be below .05 by chance."""
    rows = table2_rows(runs)
    if rows.empty:
        return rows
    found = []
    for plays_as, own in rows.groupby("plays_as"):
        sums = own[["cells", "below"]].sum()
        of_rows = {"rows": len(own), "rows_below": int((own["p"] < LEVEL).sum())}
        expected = LEVEL * int(sums["cells"])
        found.append({"plays_as": plays_as, **of_rows, **sums, "expected": expected})
    return pd.DataFrame(found)


@summary(
    "table2_rises.csv",
    """
    but_setting
    measure (text; R): a measure of Table 2, as the authors' release measures
    published (number, of the measure; P): varied minus uniform, as printed
    mean (number, of the measure): the same over the pools // scenarios of the pools
    sd (number, of the measure): as in table2_draws.csv, of the difference // draws
    z (number2, sd): (published - mean) / sd
    p (number): two-sided: share of draws at least as far away as published // draws
    """,
    key="published_team experiment team measure",
    but_setting=(column for column in ROW if column.name != "setting"),
)
def table2_rises(runs: Runs) -> pd.DataFrame:
    """How much each number of Table 2 rises from the uniform to the varied half, likewise."""
    by_line: dict[tuple[tuple[str, object], ...], dict[object, _Line]] = {}
    for line in _lines(runs):
        names = tuple((name, each) for name, each in line.names.items() if name != "setting")
        by_line.setdefault(names, {})[line.names["setting"]] = line
    found = []
    for names, lines in by_line.items():
        if {*HALVES} <= lines.keys():
            first, second = (lines[half] for half in HALVES)
            found += [{**dict(names), **rise} for rise in _rises(first, second)]
    return pd.DataFrame(found)


def _rises(first: "_Line", second: "_Line") -> Iterator[dict[str, object]]:
    """Yield the rises of the numbers that both halves have and that vary in both."""
    before = {cell.measure: cell for cell in first.cells}
    for cell in second.cells:
        other = before.get(cell.measure)
        if other is not None and other.deviations is not None and cell.deviations is not None:
            deviations_of = cell.deviations - other.deviations
            test = single_test(cell.offset - other.offset, deviations_of)
            yield {
                "measure": cell.measure,
                "published": float(_printed(cell.printed) - _printed(other.printed)),
                "mean": second.drawn.pool[cell.place] - first.drawn.pool[cell.place],
                "sd": spreads(deviations_of[:, np.newaxis])[0],
                "z": test.distance,
                "p": test.p_value,
            }


class _Cell(NamedTuple):
    """A published number with what the draws say of it.

    Attributes:
        printed: as printed.
        place: of its mean among those of the pool.
        offset: it minus the pool's mean.
        deviations: of the draws, rounded as it is; ``None`` where the pool is constant.
    """

    measure: str
    printed: str
    place: int
    offset: float
    deviations: Floats | None

    @property
    def is_other(self) -> bool:
        """Whether it is not the only number that the pool gives, as printed."""
        return abs(self.offset) > _half(self.printed) + TOLERANCE


@dataclass(frozen=True)
class _Line:
    """A published row, and one of our variants of its protocol."""

    names: Mapping[str, object]
    drawn: Drawn
    cells: Sequence[_Cell]

    def described(self) -> Iterator[dict[str, object]]:
        """Yield each number with its test."""
        for cell in self.cells:
            common = {"measure": cell.measure, "published": cell.printed}
            row = {**self.names, **common, "mean": self.drawn.pool[cell.place]}
            if cell.deviations is None:
                word = "other" if cell.is_other else "same"
                yield {**row, "sd": np.nan, "z": np.nan, "p": np.nan, "constant": word}
            else:
                sd = spreads(cell.deviations[:, np.newaxis])[0]
                test = single_test(cell.offset, cell.deviations)
                yield {**row, "sd": sd, "z": test.distance, "p": test.p_value, "constant": None}

    def together(self) -> dict[str, object]:
        """Return the row as a whole."""
        varying = [(c, c.deviations) for c in self.cells if c.deviations is not None]
        still = [cell for cell in self.cells if cell.deviations is None]
        test = None
        if varying:
            offsets = np.array([cell.offset for cell, _ in varying])
            test = joint_test(offsets, np.column_stack([each for _, each in varying]))
        singles = [single_test(cell.offset, each) for cell, each in varying]
        return {
            **self.names,
            "cells": len(varying),
            "below": sum(each.p_value < LEVEL for each in singles),
            "constant": len(still),
            "constant_other": sum(cell.is_other for cell in still),
            "distance": np.nan if test is None else test.distance,
            "p": np.nan if test is None else test.p_value,
        }


def _lines(runs: Runs) -> list[_Line]:
    """Return every published row with every variant of ours; none without a pool."""
    published, names = published_rows(runs), [run.name for run in runs.drawn]
    if runs.pool is None or not runs.pool.is_file() or published.empty or not names:
        return []
    order = {team: place for place, team in enumerate(published["team"].drop_duplicates())}
    found = []
    for (setting, experiment, team), drawn in _drawn(runs.pool, read_bytes(runs.pool)):
        protocol = published_protocol(team, published["team"])
        if experiment not in names or protocol is None:
            continue
        is_by_rules = (experiment, team) == (DRAWN, SINGLE.get(protocol, protocol))
        theirs = published[(published["setting"] == setting) & (published["team"] == protocol)]
        line = {
            "setting": setting,
            "published_team": protocol,
            "experiment": experiment,
            "team": team,
            "plays_as": RULES if is_by_rules else VARIANT,
        }
        found += [_Line(line, drawn, list(_cells(row, drawn))) for _, row in theirs.iterrows()]
    return sorted(
        found,
        key=lambda line: (
            line.names["setting"],
            order[str(line.names["published_team"])],
            line.names["plays_as"],
        ),
    )


@lru_cache(maxsize=1)
def _drawn(path: Path, packed: bytes) -> list[tuple[tuple[str, str, str], Drawn]]:
    """Return the means of drawn suites of every setting, experiment and team of a pool.

    All teams of a setting play the same draws.

    Args:
        path: of the pool, for errors.
        packed: what the file holds.
    """
    found = []
    for setting, rows in unpacked(path, packed).groupby("setting", sort=True):
        by_scenario = rows.drop_duplicates("scenario").sort_values("scenario")
        tertiles, _ = pd.factorize(by_scenario["tertile"], sort=True)
        units = drawn_units(tertiles, SUITE_SIZE, DRAWS, SEED, "suites of Table 2", str(setting))
        for (experiment, team), own in rows.groupby(["experiment", "team"], sort=False):
            ordered = own.sort_values("scenario")
            sums = Sums(
                ordered[list(HEADLINE)].to_numpy(dtype=np.float64),
                ordered[[f"{name}_n" for name in HEADLINE]].to_numpy(dtype=np.float64),
            )
            found.append(((str(setting), str(experiment), str(team)), drawn_means(sums, units)))
    return found


def _cells(published: "pd.Series[str]", drawn: Drawn) -> Iterator[_Cell]:
    """Yield the numbers of a published row."""
    constant = is_constant(drawn)
    for place, measure in enumerate(HEADLINE):
        text_of = published[measure]
        if isinstance(text_of, str):
            value = _printed(text_of)
            found: Floats | None = None
            if not constant[place]:
                found = deviations(drawn, place, _decimals(text_of))
            yield _Cell(measure, text_of, place, float(value) - drawn.pool[place], found)


def _printed(text: str) -> Decimal:
    """Return a published number; a :class:`FileError` if it is none."""
    try:
        value = Decimal(text)
    except InvalidOperation as error:
        raise FileError(f"a published table holds {text!r:.40} where a number should be") from error
    if not value.is_finite():
        raise FileError(f"a published table holds {text!r:.40} where a finite number should be")
    return value


def _decimals(text: str) -> int:
    """Return with how many decimals a number is printed; negative for whole tens."""
    return -int(_printed(text).as_tuple().exponent)


def _half(text: str) -> float:
    """Return half of the last digit of a printed number: it is known no better."""
    return 0.5 * 10.0 ** -_decimals(text)
