"""Two runs on the same scenarios: paired differences, and which scenarios drive them [C].

A difference is that of two means over agent-games, B's minus A's, over the scenarios that both
played to the end. Both are resampled together, scenario by scenario, so what makes a scenario
dear for both does not widen the interval.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np

from calbench.analysis.columns import SCENARIO, SETTING, Column
from calbench.analysis.comparisons import paired_ends
from calbench.analysis.estimates import ScenarioSum
from calbench.analysis.measures import MEASURES, Measure
from calbench.analysis.rows import line
from calbench.analysis.significance import Sums
from calbench.stats.spec import AnalysisSpec

TEAM_A = Column("team_a", "text", "", "team of the first run")
TEAM_B = Column("team_b", "text", "", "team of the second run")
MEASURE = Column("measure", "text", "", "one of the leaderboard's measures")
UNIT = "unit of the measure"

DIFFERENCES = (
    SETTING,
    TEAM_A,
    TEAM_B,
    MEASURE,
    Column("value_a", "number", UNIT, "A's mean over the common scenarios", "agent-games", "C"),
    Column("value_b", "number", UNIT, "B's mean over the common scenarios", "agent-games", "C"),
    Column("difference", "number", UNIT, "value_b - value_a", "", "C"),
    Column("difference_low", "number", UNIT, "lower end of the paired interval", "", "C"),
    Column("difference_high", "number", UNIT, "upper end of the paired interval", "", "C"),
    Column("scenarios", "integer", "scenarios", "common ones that count for both", origin="C"),
    Column("agent_games_a", "integer", "agent-games", "that count for A", origin="C"),
    Column("agent_games_b", "integer", "agent-games", "that count for B", origin="C"),
)

CONTRIBUTIONS = (
    SETTING,
    TEAM_A,
    TEAM_B,
    MEASURE,
    SCENARIO,
    Column("mean_a", "number", UNIT, "A's mean in the scenario", "agent-games", "C"),
    Column("mean_b", "number", UNIT, "B's mean in the scenario", "agent-games", "C"),
    Column(
        "contribution",
        "number",
        UNIT,
        "(b - n_b m) / N_b - (a - n_a m) / N_a, with sums a and b over the scenario's n "
        "agent-games, N over all, and m midway between the two means; sums over scenarios to "
        "the difference",
        "",
        "C",
    ),
)

COMPARISON_TABLES: Mapping[str, tuple[Column, ...]] = {
    "differences.csv": DIFFERENCES,
    "contributions.csv": CONTRIBUTIONS,
}
"""What ``python -m calbench.compare`` writes; not part of a run's tables."""

ScenarioSums = Mapping[str, tuple[ScenarioSum, ...]]
"""By scenario: what its game adds to each of the measures, in their order."""


@dataclass(frozen=True, slots=True)
class Difference:
    """B's mean minus A's over common scenarios.

    Attributes:
        low: lower end of the paired interval; ``None`` below two scenarios.
        num_scenarios: scenarios with an agent-game that counts, for both.
    """

    value_a: float
    value_b: float
    low: float | None
    high: float | None
    num_scenarios: int
    agent_games_a: int
    agent_games_b: int

    @property
    def value(self) -> float:
        """B's mean minus A's."""
        return self.value_b - self.value_a

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one scenario adds to a difference, beside both means in it."""

    scenario_id: str
    mean_a: float | None
    mean_b: float | None
    value: float


@dataclass(frozen=True, slots=True)
class MeasureComparison:
    """One measure of two teams in one setting; contributions sum to the difference.

    ``difference`` is ``None`` where one of the two has no agent-game that counts.
    """

    setting: str
    team_a: str
    team_b: str
    measure: Measure
    difference: Difference | None
    contributions: tuple[Contribution, ...]

    @property
    def drivers(self) -> tuple[Contribution, ...]:
        """The contributions that are not zero, greatest first."""
        moved = [c for c in self.contributions if c.value]
        return tuple(sorted(moved, key=lambda c: (-abs(c.value), c.scenario_id)))


def compare_teams(
    setting: str,
    team_a: str,
    team_b: str,
    sums_a: ScenarioSums,
    sums_b: ScenarioSums,
    spec: AnalysisSpec,
) -> Iterator[MeasureComparison]:
    """Compare two teams by every measure, over the scenarios that both have.

    Args:
        setting: of the scenarios; names the resamples, which are those of the leaderboard.
        team_a: the first team.
        team_b: the second.
        sums_a: the first team's sums in :data:`MEASURES`' order.
        sums_b: the second team's.
        spec: resamples, seed and confidence.
    """
    common = sorted(sums_a.keys() & sums_b.keys())
    for index, measure in enumerate(MEASURES):
        a = [sums_a[scenario][index] for scenario in common]
        b = [sums_b[scenario][index] for scenario in common]
        difference = paired_difference(a, b, spec, setting)
        contributions = () if difference is None else _contributions(common, a, b, difference)
        yield MeasureComparison(setting, team_a, team_b, measure, difference, contributions)


def paired_difference(
    a: Sequence[ScenarioSum], b: Sequence[ScenarioSum], spec: AnalysisSpec, *names: int | str
) -> Difference | None:
    """Estimate a difference of two means over the same scenarios, resampled together.

    Returns:
        The difference; ``None`` where one of the two has no agent-game that counts.
    """
    count_a, count_b = sum(entry.count for entry in a), sum(entry.count for entry in b)
    if not count_a or not count_b:
        return None
    num_scenarios = sum(x.count > 0 and y.count > 0 for x, y in zip(a, b, strict=True))
    low, high = None, None
    if num_scenarios > 1:
        lows, highs = paired_ends(_sums(b), _sums(a), [num_scenarios], spec, *names)
        low, high = lows[0], highs[0]
    return Difference(
        value_a=fsum(entry.total for entry in a) / count_a,
        value_b=fsum(entry.total for entry in b) / count_b,
        low=low,
        high=high,
        num_scenarios=num_scenarios,
        agent_games_a=count_a,
        agent_games_b=count_b,
    )


def _sums(entries: Sequence[ScenarioSum]) -> Sums:
    return Sums(
        np.array([[entry.total] for entry in entries]),
        np.array([[float(entry.count)] for entry in entries]),
    )


def _contributions(
    scenarios: Sequence[str],
    a: Sequence[ScenarioSum],
    b: Sequence[ScenarioSum],
    difference: Difference,
) -> tuple[Contribution, ...]:
    middle = (difference.value_a + difference.value_b) / 2
    return tuple(
        Contribution(
            scenario,
            _mean(x),
            _mean(y),
            (y.total - y.count * middle) / difference.agent_games_b
            - (x.total - x.count * middle) / difference.agent_games_a,
        )
        for scenario, x, y in zip(scenarios, a, b, strict=True)
    )


def _mean(entry: ScenarioSum) -> float | None:
    return entry.total / entry.count if entry.count else None


def comparison_csv(compared: Sequence[MeasureComparison]) -> dict[str, bytes]:
    """Return the bytes of the tables of a comparison, by name."""
    lines = {
        "differences.csv": [_difference_row(entry) for entry in compared],
        "contributions.csv": [row for entry in compared for row in _contribution_rows(entry)],
    }
    return {
        name: (line(*(column.name for column in columns)) + "".join(lines[name])).encode()
        for name, columns in COMPARISON_TABLES.items()
    }


def _difference_row(entry: MeasureComparison) -> str:
    found = entry.difference
    start = (entry.setting, entry.team_a, entry.team_b, entry.measure.name)
    if found is None:
        return line(*start, *[None] * 8)
    return line(
        *start,
        found.value_a,
        found.value_b,
        found.value,
        found.low,
        found.high,
        found.num_scenarios,
        found.agent_games_a,
        found.agent_games_b,
    )


def _contribution_rows(entry: MeasureComparison) -> Iterator[str]:
    for part in entry.contributions:
        yield line(
            entry.setting,
            entry.team_a,
            entry.team_b,
            entry.measure.name,
            part.scenario_id,
            part.mean_a,
            part.mean_b,
            part.value,
        )
