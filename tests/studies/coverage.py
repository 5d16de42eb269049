"""How often intervals hold the truth, on suites drawn from our own games -> data/coverage.

It takes minutes: ``make coverage``, when games or the rules of intervals change. It reads the facts
that the pipeline made.

Means, ratios, shares and differences; :mod:`tests.studies.statistic_coverage` has other statistics
and joins all in the published summary. The scenarios of a team (of two teams, for a difference) are
a population whose mean is known. Suites are drawn from it with replacement, and their intervals
made by the code that makes those of every table.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from calbench.analysis.estimates import scenario_sums
from calbench.analysis.measures import BOUNDS, MEASURES, measured_values
from calbench.console import progress
from calbench.domain.randomness import derived_seed
from calbench.facts.storage import Facts
from calbench.files import write_atomically
from calbench.metrics.speech.rules import NAMES as LABELS
from calbench.stats.intervals import (
    BOUND,
    Bounds,
    Ends,
    Sample,
    T,
    difference_of,
    ends_of,
    sample_of,
)
from calbench.stats.spec import DEFAULT_ANALYSIS
from calbench.stats.sums import Floats, Ints, Sums, Truths, exact_totals
from stages import paths

FOLDER = paths.DATA / "coverage"
POOLS, CELLS = FOLDER / "pools.csv", FOLDER / "coverage.csv"
PUBLISHED = paths.DATA / "published"

SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 45)
"""Numbers of scenarios in published tables."""

SIZES_OF_MODEL = (12,)
"""The same of the model, whose population has no more."""

DRAWS = 10_000
"""Suites of each size from each pool [C]."""

GOAL = 0.93
"""Least share of what is shown that must hold the truth."""

OFTEN = 100
"""Suites that must show an interval for its coverage to be known to a few percent."""

PROTOCOLS, SPEECH, MODEL = "reproduction", "language", "smollm2"
"""Experiments: five draws of both canonical suites; scripted speakers on one; a model's own."""

BEYOND = "vps_beyond_chance"
"""Beside the measures of the leaderboard, what is published of those who reflect."""

SHARES: Mapping[str, str] = {
    "nonzero_regret": "share of seats",
    "positive_regret": "share of seats",
    "meetings_scheduled": "share of meetings",
    "optimum_unreachable": "share of games",
    **dict.fromkeys((*LABELS, "semantic_label_leakage"), "share of messages"),
}
"""What is a share, and of what."""

LIMITS = {**BOUNDS, **dict.fromkeys(SHARES, (0.0, 1.0))}

PARTS = ["slot_choice", "avoidable_moves", "failed_rounds"]
"""Of excess cost, over games."""

DIGITS = 6
"""Decimals of sums in the kept pools, and of results."""


class Pool(NamedTuple):
    """A population of scenarios.

    Attributes:
        kind: of estimate.
        measure: that is estimated.
        setting: of the scenarios.
        team: or two of them, whose difference is estimated.
        sums: what each scenario adds to the mean, or to both, ``[scenario, 1 or 2]``.
    """

    kind: str
    measure: str
    setting: str
    team: str
    sums: Sums

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest possible value."""
        low, high = LIMITS.get(self.measure, (-np.inf, np.inf))
        return (low, high) if self.sums.totals.shape[1] == 1 else (low - high, high - low)

    def sample(self, drawn: Ints) -> Sample:
        """Return what suites say; ``drawn`` are their scenarios, ``[scenario, suite]``."""
        parts = [
            Sums(self.sums.totals[drawn, side], self.sums.counts[drawn, side])
            for side in range(self.sums.totals.shape[1])
        ]
        return sample_of(parts[0]) if len(parts) == 1 else difference_of(parts[0], parts[1])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of scenarios of the suites that are drawn from it."""
        return SIZES_OF_MODEL if self.setting == MODEL else SIZES

    @property
    def truth(self) -> float:
        """The mean of the population, or the difference of both."""
        means = exact_totals(self.sums.totals) / exact_totals(self.sums.counts)
        return float(means[0] - means[1] if len(means) > 1 else means[0])


POOL_COLUMNS = ["measure", "setting", "team", "totals", "counts"]


def pool_rows(facts: Mapping[str, Facts]) -> pd.DataFrame:
    """Return what every scenario adds to every mean of every team, a row for each mean.

    ``totals`` and ``counts`` have a number for each scenario, with spaces between them; one
    number is that of all scenarios.

    Those of one experiment alone have settings of their own: teams are compared within a setting.

    Args:
        facts: of :data:`PROTOCOLS`, :data:`SPEECH` and :data:`MODEL`.
    """
    parts = [
        *_of_protocols(facts[PROTOCOLS]),
        *_of_speech(facts[SPEECH]),
        *_of_speakers(facts[SPEECH], f"{SPEECH}-"),
        *_of_speakers(facts[MODEL], ""),
    ]
    return pd.DataFrame(parts, columns=POOL_COLUMNS)


def _together(facts: Facts, name: str) -> pd.DataFrame:
    """Return a fact of scored games; all draws of a suite are one setting."""
    rows = facts.scored if name == "games" else facts.of_games(name)
    return rows.assign(setting=rows["setting"].str.split("-seed").str[0])


def _of_protocols(facts: Facts) -> Iterator[tuple[str, ...]]:
    agents, games = _together(facts, "agents"), _together(facts, "games")
    values = measured_values(agents, ["team"])
    yield from _added(
        agents, values.assign(meetings_moved=agents["meetings_moved"].astype("float64"))
    )
    is_full = (agents["assigned"] > 0) & (agents["assigned"] == agents["scheduled"])
    regret = {
        "nonzero_regret": is_full & (agents["excess_cost"] != 0),
        "positive_regret": is_full & (agents["excess_cost"] > 0),
    }
    yield from _added(agents, pd.DataFrame(regret), pd.DataFrame(dict.fromkeys(regret, is_full)))
    name = "meetings_scheduled"
    yield from _added(
        games, pd.DataFrame({name: games["scheduled"]}), pd.DataFrame({name: games["meetings"]})
    )
    yield from _added(games, pd.DataFrame({"optimum_unreachable": games["event_index"].notna()}))
    parts = facts.frame("regret", PARTS).groupby("game")[PARTS].sum()
    yield from _added(games, games[["setting"]].join(parts)[PARTS].fillna(0))


def _of_speech(facts: Facts) -> Iterator[tuple[str, ...]]:
    rows = facts.of_games("speech")
    whole = rows[rows["player"].isna()]
    names = [name for name, kind in SHARES.items() if kind == "share of messages"]
    return _added(whole, whole[names], pd.DataFrame(dict.fromkeys(names, whole["messages"])))


def _of_speakers(facts: Facts, before: str) -> Iterator[tuple[str, ...]]:
    agents = facts.of_games("agents")
    values = measured_values(agents, ["team"]).assign(**{BEYOND: agents[BEYOND]})
    yield from _added(agents.assign(setting=before + agents["setting"].astype(str)), values)


def _added(
    rows: pd.DataFrame, values: pd.DataFrame, weights: pd.DataFrame | None = None
) -> Iterator[tuple[str, ...]]:
    """Yield rows of :data:`POOL_COLUMNS`."""
    values = values.astype("float64")
    weights = values.notna() if weights is None else weights
    for setting, own in rows.groupby("setting"):
        place = own.index
        sums = scenario_sums(own, ["team"], values.loc[place], weights.loc[place].astype("float64"))
        for quantity in sums.quantities:
            columns = sums.of(quantity)
            for group, team in enumerate(sums.groups["team"]):
                totals, counts = (_listed(each[:, group]) for each in columns)
                yield quantity, str(setting), str(team), totals, counts


def _listed(values: Floats) -> str:
    """Return numbers with spaces between them; one if all are the same."""
    given = [f"{value:.{DIGITS}f}".rstrip("0").rstrip(".") for value in values.tolist()]
    return given[0] if len(set(given)) == 1 else " ".join(given)


def _sums_of(totals: str, counts: str) -> Sums:
    """Return what :func:`_listed` lists, as one column."""
    columns = [np.array(each.split(), dtype=np.float64) for each in (totals, counts)]
    size = max(len(each) for each in columns)
    found = [np.broadcast_to(each, size)[:, np.newaxis] for each in columns]
    return Sums(found[0], found[1])


def pools(rows: pd.DataFrame) -> list[Pool]:
    """Return every population in which something varies, from the rows of :func:`pool_rows`."""
    single = []
    for measure, setting, team, totals, counts in rows[POOL_COLUMNS].astype(str).to_numpy():
        single.append(Pool("", measure, setting, team, _sums_of(totals, counts)))
    found = [pool._replace(kind=_kind(pool)) for pool in single if _varies(pool)]
    compared = {measure.name for measure in MEASURES}
    for one, other in combinations(single, 2):
        is_pair = (one.measure, one.setting) == (other.measure, other.setting)
        if is_pair and one.measure in compared:
            team = f"{one.team} - {other.team}"
            pair = Pool("difference", one.measure, one.setting, team, _paired(one.sums, other.sums))
            found += [pair] if _varies(pair) else []
    return found


def _kind(pool: Pool) -> str:
    counts = pool.sums.counts
    return SHARES.get(pool.measure, "mean" if (counts == counts[0]).all() else "ratio of sums")


def _paired(first: Sums, second: Sums) -> Sums:
    """Return both side by side over the scenarios that count for both."""
    size = max(len(first.totals), len(second.totals))
    sides = [[np.broadcast_to(part, (size, 1)) for part in each] for each in (first, second)]
    totals, counts = (np.hstack(parts) for parts in zip(*sides, strict=True))
    common = (counts > 0).all(axis=1)
    return Sums(totals[common], counts[common])


def _varies(pool: Pool) -> bool:
    sums = pool.sums
    if not sums.counts.any():
        return False  # nothing of it was measured, or in no scenario of both teams
    own = pool.sample(np.arange(len(sums.totals))[:, np.newaxis]).own
    return bool(np.nanmax(own) - np.nanmin(own) > 10.0**-DIGITS)


def drawn_suites(pool: Pool, size: int, draws: int) -> Ints:
    """Return scenarios of suites, ``[scenario, suite]``."""
    return drawn(len(pool.sums.totals), size, draws, *_names(pool), size)


def drawn(population: int, size: int, draws: int, *names: str | int) -> Ints:
    """Return numbers below ``population``, with replacement, ``[scenario, suite]``."""
    bits = np.random.PCG64(derived_seed(0, "coverage", *names)).random_raw(size * draws)
    numbers = ((bits >> np.uint64(32)) * np.uint64(population)) >> np.uint64(32)
    return numbers.astype(np.int64).reshape(draws, size).T


class Cell(NamedTuple):
    """How often intervals of one population held the truth, with one number of scenarios."""

    kind: str
    measure: str
    setting: str
    team: str
    scenarios: int
    truth: float
    shown: float
    shown_t: float
    shown_bound: float
    coverage: float
    error: float
    width: float


def cell(pool: Pool, size: int, draws: int = DRAWS) -> Cell:
    """Draw suites of a size and count; without an interval, coverage and width are no number."""
    low, high = (np.full(draws, end) for end in pool.bounds)
    sample = pool.sample(drawn_suites(pool, size, draws))
    found = ends_of(sample, DEFAULT_ANALYSIS, Bounds(low, high))
    return counted((*_names(pool), size), pool.truth, found)


def counted(names: tuple[str, str, str, str, int], truth: float, found: Ends) -> Cell:
    """Return how often intervals held the truth.

    Args:
        names: the first attributes of the cell.
        truth: what they must hold.
        found: intervals of suites, ``[suite]``.
    """
    draws, shown = len(found.low), ~np.isnan(found.low)
    held = _held(found.low, found.high, truth)[shown]
    num_shown = int(shown.sum())
    coverage = held.sum() / num_shown if num_shown else np.nan
    widths = (found.high - found.low)[shown]
    width = exact_totals(widths[:, np.newaxis])[0] / num_shown if num_shown else np.nan
    kinds = [float((found.kind == kind).mean()) for kind in (T, BOUND)]
    error = float(np.sqrt(coverage * (1 - coverage) / max(num_shown, 1)))
    return Cell(*names, truth, num_shown / draws, kinds[0], kinds[1], coverage, error, width)


def _names(pool: Pool) -> tuple[str, str, str, str]:
    return pool.kind, pool.measure, pool.setting, pool.team


def _held(low: Floats, high: Floats, truth: float) -> Truths:
    slack = 10.0**-DIGITS * max(1.0, abs(truth))  # pools are rounded
    return np.asarray((low - slack <= truth) & (truth <= high + slack))


def by_kind(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the worst and the mean coverage of each kind of estimate and number of scenarios.

    Of a population whose intervals are shown in no suite there is no coverage;
    ``worst_often`` is of those that are shown in at least :data:`OFTEN` suites.
    """
    often = cells["coverage"].where(cells["shown"] * DRAWS >= OFTEN)
    grouped = cells.assign(often=often).groupby(["kind", "scenarios"], sort=False)
    failing = (cells["coverage"] + 2 * cells["error"] < GOAL).groupby(
        [cells["kind"], cells["scenarios"]], sort=False
    )
    found = grouped.agg(
        populations=("coverage", "size"),
        with_intervals=("coverage", "count"),
        worst=("coverage", "min"),
        worst_often=("often", "min"),
        mean=("coverage", "mean"),
        shown=("shown", "mean"),
        width=("width", "mean"),
    )
    return found.assign(below_goal=failing.sum()).reset_index()


def main(_: list[str]) -> None:
    """Keep the populations, draw suites from them, and write what came out."""
    rows = pool_rows({name: Facts(paths.FACTS / name) for name in (PROTOCOLS, SPEECH, MODEL)})
    FOLDER.mkdir(parents=True, exist_ok=True)
    write(POOLS, rows)
    populations = pools(rows)
    found = []
    with progress("populations", len(populations)) as tick:
        for pool in populations:
            found += [cell(pool, size) for size in pool.sizes]
            tick()
    write(CELLS, pd.DataFrame(found, columns=list(Cell._fields)))


def write(path: Path, rows: pd.DataFrame) -> None:
    """Write a table with :data:`DIGITS` decimals."""
    text = rows.round(DIGITS).to_csv(index=False, lineterminator="\n")
    write_atomically(path, text.encode())


if __name__ == "__main__":
    paths.answer(main)
