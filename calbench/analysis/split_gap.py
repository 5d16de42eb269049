"""One team on two splits of a recipe, a public and a sealed one: how far its means lie apart [C].

What a team does on public games and not on sealed ones it may have from knowing them. The two
splits hold other scenarios, and one may happen to be harder, so the team is compared with a
reference that knows neither and played the same scenarios: what counts of a scenario is the
team's mean over agent-games less the reference's, which is paired. The gap is its mean over the
sealed scenarios less that over the public ones, third by third of difficulty, which is not.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from calbench.analysis.estimates import scenario_sums
from calbench.analysis.measures import MEASURE_BY_NAME, measured_values
from calbench.facts.columns import UNIT, Column, columns
from calbench.stats.gaps import gap_of
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Floats

GAPS: tuple[Column, ...] = columns(f"""
    setting
    team
    measure (text): one of the leaderboard's measures
    public (number, {UNIT}): mean of the team over the public scenarios // scenarios
    sealed (number, {UNIT}): mean over the sealed ones // scenarios
    gap (number, {UNIT}): sealed less public, of the team less the reference // scenarios
    gap_low (number, {UNIT}): lower end of its interval; empty where most scenarios have one value
    gap_high (number, {UNIT}): upper end
    p (number): two-sided, of scenarios permuted between the splits within thirds
    scenarios_public (count, scenarios): that count for team and reference
    scenarios_sealed (count, scenarios): that count for team and reference
    """)


def split_gaps(
    public: pd.DataFrame,
    sealed: pd.DataFrame,
    team: str,
    beside: str | None,
    measures: Sequence[str],
    spec: AnalysisSpec,
) -> list[dict[str, object]]:
    """Return a row for each measure of one setting.

    Args:
        public: seats of its scored games on the public scenarios, with ``tertile``.
        sealed: those on the sealed ones.
        team: that is looked at.
        beside: the reference; absent: the team alone.
        measures: names of those that are compared.
        spec: confidence and permutations.
    """
    sides = [_Values(each, team, beside) for each in (public, sealed)]
    found = []
    for measure in measures:
        (one, of_one), (other, of_other) = (side.of(measure) for side in sides)
        gap = gap_of(one, other, spec, (of_one, of_other))
        means = [side.mean(measure) for side in sides]
        row = {"team": team, "measure": measure, "public": means[0], "sealed": means[1]}
        ends = {"gap_low": gap.low, "gap_high": gap.high, "p": gap.p_value}
        counts = {"scenarios_public": len(one), "scenarios_sealed": len(other)}
        found.append({**row, "gap": gap.value, **ends, **counts})
    return found


class _Values:
    """What a team has in each scenario of a split, alone and less the reference."""

    def __init__(self, agents: pd.DataFrame, team: str, beside: str | None) -> None:
        self._own = _means(agents, team)
        self._rest = None if beside is None else _means(agents, beside)
        firsts = agents.drop_duplicates("scenario_id").set_index("scenario_id")
        self._thirds = firsts["tertile"].fillna("")

    def of(self, measure: str) -> tuple[Floats, list[str]]:
        """Return the values of the scenarios that count, and their thirds."""
        values = self._own[measure]
        if self._rest is not None:
            values = values - self._rest[measure]  # by scenario
        values = values.dropna().sort_index()
        return values.to_numpy(dtype=np.float64), [str(self._thirds[each]) for each in values.index]

    def mean(self, measure: str) -> float:
        """Return the mean of the team alone."""
        return float(self._own[measure].mean())


def _means(agents: pd.DataFrame, team: str) -> pd.DataFrame:
    """Return the mean over a team's agent-games of every measure, by scenario."""
    own = agents[agents["team"] == team]
    names = sorted(own["scenario_id"].unique())
    found = scenario_sums(own, ["team"], measured_values(own, ["team"]))
    with np.errstate(invalid="ignore", divide="ignore"):
        values = found.totals[:, 0] / found.counts[:, 0]
    return pd.DataFrame(values, index=names, columns=list(MEASURE_BY_NAME))
