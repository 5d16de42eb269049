"""How hard scenarios are, in several ways, and how that goes with what teams make of them.

Everything is turned so that more is worse: harder scenarios, dearer or fewer meetings. A positive
correlation then says that teams fare worse where a scenario is harder.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calbench.stats.correlations import LEAST_UNITS, Correlation, correlation
from calbench.stats.sums import Floats

SCENARIO = ["setting", "scenario_id"]

STRATUM = "stratum"
"""Column with the number of the setting."""

Value = Callable[[pd.DataFrame], "pd.Series[float]"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A predictor of difficulty, or a measure of a game.

    Attributes:
        name: as in tables.
        meaning: of higher values: harder, or worse.
        value: from the frame of games to it; not a number where it is unknown.
    """

    name: str
    meaning: str
    value: Value


def _of(name: str, sign: int = 1) -> Value:
    return lambda games: sign * games[name].astype("float64")


def _above(name: str, other: str) -> Value:
    return lambda games: games[name].astype("float64") - games[other].astype("float64")


def _vectors(games: pd.DataFrame) -> "pd.Series[float]":
    """Return fewer optimal schedules, known from games in which everything was scheduled."""
    is_whole = games["scheduled"] == games["meetings"]
    return -games["fairness_vectors"].astype("float64").where(is_whole)


def _messages(games: pd.DataFrame) -> "pd.Series[float]":
    scheduled = games["scheduled"].astype("float64")
    return games["messages"] / scheduled.where(scheduled > 0)


FRACTION = "feasible_fraction"

PREDICTORS = (
    Quantity(FRACTION, "a smaller share of assignments is feasible [P]", _of(FRACTION, -1)),
    Quantity("oracle_cost", "all meetings cost more at best", _of("optimum")),
    Quantity(
        "cost_range", "the worst complete schedule is dearer than the best", _of("cost_range")
    ),
    Quantity(
        "crowding",
        "the best schedule costs more than the cheapest slots, each meeting for itself",
        _above("optimum", "cheapest_cost"),
    ),
    Quantity("clashes", "more meetings want the same cheapest slots", _of("clashes")),
    Quantity(
        "greedy_excess",
        "taking the first free slots costs more than the best schedule",
        _above("greedy_cost", "optimum"),
    ),
    Quantity("optimal_vectors", "fewer optimal schedules differ in who pays", _vectors),
)
"""What may make scenarios hard: the paper's own, and candidates for a better one [C]."""

MEASURES = (
    Quantity("excess_cost", "more excess cost of a game, all agents together", _of("excess_cost")),
    Quantity(
        "coordination",
        "a smaller share of the game's meetings is scheduled",
        lambda games: -games["scheduled"] / games["meetings"].where(games["meetings"] > 0),
    ),
    Quantity("messages", "more messages per scheduled meeting", _messages),
)
"""Quantities that difficulty should predict."""


def scenario_values(games: pd.DataFrame) -> pd.DataFrame:
    """Return the predictors and measures of every scenario and team; of several games the mean.

    Args:
        games: the scored games, with the sum of their agents' ``cost_range``.
    """
    scenarios = games[SCENARIO].assign(**{each.name: each.value(games) for each in PREDICTORS})
    hard = scenarios.groupby(SCENARIO, as_index=False).max()
    own = [*SCENARIO, "team_place", "team"]
    made = games[own].assign(**{f"{each.name}_made": each.value(games) for each in MEASURES})
    found = made.groupby(own, as_index=False).mean().merge(hard, on=SCENARIO)
    return found.assign(**{STRATUM: pd.factorize(found["setting"], sort=True)[0]})


def correlated(
    values: pd.DataFrame, predictor: str, measure: str, confidence: float
) -> Correlation:
    """Correlate a predictor with a measure within every setting.

    Args:
        values: of one team, from :func:`scenario_values`.
        predictor: one of :data:`PREDICTORS`.
        measure: one of :data:`MEASURES`.
        confidence: of the interval.
    """
    return correlation(list(_pairs(values, predictor, measure)), confidence)


def _pairs(values: pd.DataFrame, predictor: str, measure: str) -> Iterator[tuple[Floats, Floats]]:
    """Yield both values of the scenarios that have them, setting by setting."""
    x, y = (
        values[name].to_numpy(dtype=np.float64, na_value=np.nan)
        for name in (predictor, f"{measure}_made")
    )
    strata = np.where(np.isnan(x) | np.isnan(y), -1, values[STRATUM].to_numpy())
    for number in np.unique(strata[strata >= 0]):
        own = strata == number
        yield x[own], y[own]


def why_none(values: pd.DataFrame, predictor: str, measure: str) -> str:
    """Return why there is no correlation: ``few`` scenarios, or the ``same`` value in all."""
    most = max((len(xs) for xs, _ in _pairs(values, predictor, measure)), default=0)
    return "few" if most < LEAST_UNITS else "same"


def suites_of(values: pd.DataFrame) -> list[str]:
    """Return the settings with enough scenarios: the first is to choose on, the others to test."""
    sizes = values.groupby("setting")["scenario_id"].nunique()
    return sorted(map(str, sizes.index[sizes >= LEAST_UNITS]))


def chosen(found: Sequence[Correlation]) -> int | None:
    """Return the place of the greatest correlation of either sign, the first of equal ones."""
    strengths = [-1.0 if np.isnan(each.rho) else abs(each.rho) for each in found]
    best = int(np.argmax(strengths))
    return None if strengths[best] < 0 else best
