"""How often intervals of agreement and of rank correlations hold the truth -> data/coverage.

Run by ``make coverage`` after :mod:`tests.studies.coverage`, which does the same for means. Our own
scenarios are populations here, too: suites are drawn from them with replacement, and their
intervals made by the code that makes those of tables. The test of equality is tried where it must
not find any: the margin is the true difference.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from calbench.analysis.hardness import MEASURES, PREDICTORS
from calbench.analysis.tables import judge_agreement
from calbench.analysis.tables.difficulty import known_values
from calbench.analysis.tables.judge import ALL_SETTINGS, judged_games
from calbench.analysis.tables.judge_agreement import LEAST, UNITS
from calbench.console import progress
from calbench.facts.storage import Facts
from calbench.stats.agreement import LEAST_CORRELATED, LEAST_UNITS, jackknife_ends
from calbench.stats.correlations import LEAST_UNITS as LEAST_RANKED
from calbench.stats.correlations import pooled, spearmans
from calbench.stats.differences import equivalence
from calbench.stats.intervals import FEWEST_UNITS, Ends, T
from calbench.stats.spec import DEFAULT_ANALYSIS
from calbench.stats.sums import Floats, Sums
from stages import paths
from tests.studies import coverage
from tests.studies.coverage import (
    DRAWS,
    FOLDER,
    PROTOCOLS,
    PUBLISHED,
    SPEECH,
    Cell,
    Pool,
    drawn,
    write,
)

AGREEMENT, RANKS = FOLDER / "agreement.csv", FOLDER / "ranks.csv"
CELLS, EQUALITIES = FOLDER / "statistics.csv", FOLDER / "equalities.csv"
KINDS, ERRORS = PUBLISHED / "coverage.csv", PUBLISHED / "equality_errors.csv"

SIZES = (LEAST_UNITS, 45, LEAST_CORRELATED)
"""Scenarios of one setting: the least with an interval, and those of tables."""

SIZES_OF_ALL = (90, LEAST_CORRELATED)
"""The same of all settings."""

RANKED = (LEAST_RANKED, 15, 45)
"""Scenarios of one setting of which ranks are correlated: the least, and those of tables."""

SUITE = 45
"""Scenarios of each suite, where several are correlated together."""

TOGETHER = ((1, DRAWS), (5, 2_000))
"""How many suites of either setting are correlated together, and how often they are drawn [C]."""

AT_ONCE = 1_000
"""Suites in memory."""

LEVEL = 1 - DEFAULT_ANALYSIS.confidence
"""Greatest share of suites that may be called equal though they are not."""


class Agreement(NamedTuple):
    """Scenarios of a team with what each adds to statistics of agreement, ``[scenario, sum]``."""

    setting: str
    team: str
    unit: str
    sums: Floats


class Ranks(NamedTuple):
    """Pairs of values that are ranked, ``[scenario]`` each, of one or of both settings."""

    measure: str
    setting: str
    team: str
    pairs: list[tuple[Floats, Floats]]


def unit_sums(facts: Facts) -> Iterator[tuple[str, str, judge_agreement.Unit, Floats]]:
    """Yield what every scenario adds to the statistics of each setting, team and unit.

    Settings, teams and units are in no particular order; sums are ``[scenario, sum]``.
    """
    games = judged_games(facts)
    compared = games[games["is_reflected"].astype(bool)]
    samples = judge_agreement._samples(compared)
    for unit in UNITS:
        is_cells = bool(unit.cells)
        sums = (
            judge_agreement.Cells(facts, unit.cells, compared).sums
            if is_cells
            else judge_agreement._precision_sums(facts, compared)
        )
        for (setting, team), sample in samples.items():
            yield setting, team, unit, judge_agreement._by_scenario(sums, sample)


def agreement_rows(facts: Facts) -> pd.DataFrame:
    """Return what each scenario adds, a row for each scenario, numbers with spaces between."""
    rows = [
        (setting, team, unit.name, " ".join(f"{each:.{coverage.DIGITS}f}" for each in own))
        for setting, team, unit, sums in unit_sums(facts)
        if setting != ALL_SETTINGS
        for own in sums.tolist()
    ]
    found = pd.DataFrame(rows, columns=["setting", "team", "unit", "sums"])
    return found.assign(sums=found["sums"].str.replace(r"\.0+\b", "", regex=True))


def agreements(rows: pd.DataFrame) -> list[Agreement]:
    """Return the populations of :func:`agreement_rows`, and those of all settings."""
    found = [
        Agreement(
            str(setting),
            str(team),
            str(unit),
            np.array([each.split() for each in own["sums"]], dtype=np.float64),
        )
        for (setting, team, unit), own in rows.groupby(["setting", "team", "unit"], sort=False)
    ]
    for team, unit in dict.fromkeys((each.team, each.unit) for each in found):
        parts = [each.sums for each in found if (each.team, each.unit) == (team, unit)]
        found.append(Agreement(ALL_SETTINGS, team, unit, np.vstack(parts)))
    return found


def agreement_cells(pool: Agreement, draws: int = DRAWS) -> Iterator[Cell]:
    """Draw suites of every size, and count."""
    (unit,) = (each for each in UNITS if each.name == pool.unit)
    for size in SIZES_OF_ALL if pool.setting == ALL_SETTINGS else SIZES:
        names = ("agreement", pool.unit, pool.setting, pool.team, size)
        suites = drawn(len(pool.sums), size, draws, *names)
        parts: dict[str, list[Ends]] = {name: [] for name in unit.shares}
        for start in range(0, draws, AT_ONCE):
            own = pool.sums[suites[:, start : start + AT_ONCE]]
            for name, statistic in unit.shares.items():
                least = LEAST.get(name, 0.0)
                parts[name].append(jackknife_ends(own, statistic, least, DEFAULT_ANALYSIS))
        for name, ends in parts.items():
            truth = float(unit.shares[name](pool.sums.sum(axis=0)))
            whole = Ends(*(np.concatenate(each) for each in zip(*ends, strict=True)))
            cell = ("agreement", f"{pool.unit} {name}", pool.setting, pool.team, size)
            if np.isfinite(truth):
                yield coverage.counted(cell, truth, whole)


def rank_rows(facts: Facts) -> pd.DataFrame:
    """Return the values that are ranked, of each scenario and team."""
    values = known_values(facts)
    setting = values["setting"].str.split("-seed").str[0]
    names = [each.name for each in PREDICTORS] + [f"{each.name}_made" for each in MEASURES]
    kept = values[names].astype("float64").round(coverage.DIGITS)
    return pd.concat([setting, values["team"].astype(str), kept], axis="columns")


def ranks(rows: pd.DataFrame) -> list[Ranks]:
    """Return the populations with a correlation, by setting and of both."""
    found = []
    for team, own in rows.groupby("team", sort=False):
        for each in PREDICTORS:
            for measure in MEASURES:
                known = _pairs(own, each.name, f"{measure.name}_made")
                name = f"{each.name}, {measure.name}"
                found += [Ranks(name, setting, str(team), [p]) for setting, p in known.items()]
                if len(known) > 1:
                    found.append(Ranks(name, ALL_SETTINGS, str(team), list(known.values())))
    return found


def _pairs(rows: pd.DataFrame, first: str, second: str) -> dict[str, tuple[Floats, Floats]]:
    """Return both values of the scenarios that have them, of settings in which both vary."""
    both = rows[["setting", first, second]].dropna()
    pairs = {
        str(setting): (own[first].to_numpy(np.float64), own[second].to_numpy(np.float64))
        for setting, own in both.groupby("setting", sort=True)
    }
    return {setting: pair for setting, pair in pairs.items() if not np.isnan(_rho(*pair))}


def _rho(xs: Floats, ys: Floats) -> float:
    return float(spearmans(xs[:, np.newaxis], ys[:, np.newaxis])[0])


def rank_cells(pool: Ranks) -> Iterator[Cell]:
    """Draw suites of every size, and count."""
    if len(pool.pairs) == 1:
        for size in RANKED:
            yield _rank_cell(pool, size, 1, DRAWS)
    else:
        for suites, draws in TOGETHER:
            yield _rank_cell(pool, SUITE, suites, draws)


def _rank_cell(pool: Ranks, size: int, suites: int, draws: int) -> Cell:
    """Draw several suites from each setting, and correlate them together."""
    rhos = []
    for place, (xs, ys) in enumerate(pool.pairs):
        for suite in range(suites):
            names = ("rank correlation", pool.measure, pool.setting, pool.team, place, suite, size)
            own = drawn(len(xs), size, draws, *names)
            rhos.append(spearmans(xs[own], ys[own]))
    units = np.full(len(rhos), float(size))
    found = pooled(np.stack(rhos), units, DEFAULT_ANALYSIS.confidence)
    kind = np.where(np.isnan(found.low), "", T)
    truth = float(np.mean([_rho(*pair) for pair in pool.pairs]))
    cell = ("rank correlation", pool.measure, pool.setting, pool.team, size * len(rhos))
    return coverage.counted(cell, truth, Ends(found.low, found.high, kind))


class Equality(NamedTuple):
    """How often two teams were called equal that differ by the margin."""

    measure: str
    setting: str
    team: str
    scenarios: int
    margin: float
    tested: float
    wrong: float
    error: float


def equalities(pool: Pool) -> Iterator[Equality]:
    """Test suites of every size from a pair of teams; the margin is their true difference."""
    margin = abs(pool.truth)
    for size in pool.sizes:
        if size < FEWEST_UNITS or margin <= 10.0**-coverage.DIGITS:
            continue
        suites = coverage.drawn_suites(pool, size, DRAWS)
        sides = [
            Sums(pool.sums.totals[suites, side], pool.sums.counts[suites, side])
            for side in range(2)
        ]
        p_value = equivalence(sides[0], sides[1], margin).p_value
        tested = int((~np.isnan(p_value)).sum())
        wrong = float((p_value < LEVEL).sum() / tested) if tested else np.nan
        error = float(np.sqrt(wrong * (1 - wrong) / max(tested, 1)))
        names = (pool.measure, pool.setting, pool.team, size, margin)
        yield Equality(*names, tested / DRAWS, wrong, error)


def errors(found: pd.DataFrame) -> pd.DataFrame:
    """Return the worst and the mean share of wrong equalities for every number of scenarios."""
    often = found["wrong"].where(found["tested"] * DRAWS >= coverage.OFTEN)
    above = found["wrong"] - 2 * found["error"] > LEVEL
    grouped = found.assign(often=often, above=above).groupby("scenarios", sort=False)
    return grouped.agg(
        populations=("wrong", "size"),
        tested=("tested", "mean"),
        worst_often=("often", "max"),
        mean=("often", "mean"),
        above_level=("above", "sum"),
    ).reset_index()


def main(_: list[str]) -> None:
    """Keep the populations, draw suites from them, and write what came out."""
    write(AGREEMENT, agreement_rows(Facts(paths.FACTS / SPEECH)))
    write(RANKS, rank_rows(Facts(paths.FACTS / PROTOCOLS)))
    cells = _all_cells(agreements(pd.read_csv(AGREEMENT)), ranks(pd.read_csv(RANKS)))
    write(CELLS, cells)
    whole = pd.concat([pd.read_csv(coverage.CELLS), cells], ignore_index=True)
    write(KINDS, coverage.by_kind(whole))
    means = coverage.pools(pd.read_csv(coverage.POOLS))
    pairs = [pool for pool in means if pool.kind == "difference"]
    equal = pd.DataFrame([row for pool in pairs for row in equalities(pool)])
    write(EQUALITIES, equal.round(coverage.DIGITS))
    write(ERRORS, errors(equal))


def _all_cells(first: Sequence[Agreement], second: Sequence[Ranks]) -> pd.DataFrame:
    found: list[Cell] = []
    with progress("populations", len(first) + len(second)) as tick:
        for one in first:
            found += agreement_cells(one)
            tick()
        for other in second:
            found += rank_cells(other)
            tick()
    return pd.DataFrame(found, columns=list(Cell._fields)).round(coverage.DIGITS)


if __name__ == "__main__":
    paths.answer(main)
