"""Two runs on the same scenarios: paired differences, and contributions of scenarios [C].

A difference is the mean over agent-games of B minus that of A, over the scenarios that both have
scored. The interval is of what each scenario adds to the difference, so scenarios that are costly
for both do not widen it. Tests and verdicts are those of ``comparisons.csv``. Privacy is compared
only where both were measured by one instrument: VPS of
typed messages is never subtracted from VPS of reflections.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calbench.analysis.estimates import column_bounds, scenario_sums
from calbench.analysis.measures import (
    BEYOND,
    BOUNDS,
    MEASURE_BY_NAME,
    MEASURES,
    PRIVACY_MEASURES,
    REFLECTED,
    joint_kind,
    measured_values,
    readable_shares,
)
from calbench.analysis.verdicts import (
    DEGENERATE,
    DEGENERATE_TEAM,
    DIFFERENT,
    IDENTICAL,
    NOT_MEASURED,
    NOT_TESTED,
    NOT_TOLD_APART,
    REMARKS,
    TIED,
    TOO_FEW_READ,
    VERDICT_COLUMNS,
    WITHIN_MARGIN,
    are_unlike,
    with_verdicts,
)
from calbench.console import progress
from calbench.facts.columns import INTERVALS, UNIT, Column, columns
from calbench.facts.frames import empty
from calbench.files import shorten
from calbench.stats.differences import equivalence, paired_ends
from calbench.stats.intervals import difference_of, spread_of
from calbench.stats.resampling import swap_p_values
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Floats, Sums, Truths, exact_totals

PAIR = columns("""
    setting
    team_a (text): team of the first run
    team_b (text): team of the second run
    measure (text): one of the leaderboard's measures
    """)

DIFFERENCES = columns(
    f"""
    pair
    value_a (number, {UNIT}): mean of A over the common scenarios // agent-games
    value_b (number, {UNIT}): mean of B over the common scenarios // agent-games
    difference (number, {UNIT}): value_b - value_a
    difference_low (number, {UNIT}): lower end of the paired interval
    difference_high (number, {UNIT}): upper end of the paired interval
    difference_interval (text; C): {INTERVALS}
    scenarios (count, scenarios): common ones that count for both
    agent_games_a (count, agent-games): that count for A
    agent_games_b (count, agent-games): that count for B
    verdict_columns
    """,
    pair=PAIR,
    verdict_columns=VERDICT_COLUMNS,
)

CONTRIBUTIONS = columns(
    f"""
    pair scenario_id
    mean_a (number, {UNIT}): mean of A in the scenario // agent-games
    mean_b (number, {UNIT}): mean of B in the scenario // agent-games
    contribution (number, {UNIT}): (b - n_b m) / N_b - (a - n_a m) / N_a, with sums a and b over the
        scenario's n agent-games, N over all, and m midway between the two means; sums over
        scenarios to the difference
    """,
    pair=PAIR,
)

COMPARISON_TABLES: Mapping[str, tuple[Column, ...]] = {
    "differences.csv": DIFFERENCES,
    "contributions.csv": CONTRIBUTIONS,
}
"""What ``calbench compare`` writes; not part of a run's tables."""

EXACT = "is_exact/"
"""Before the name of a measure: the column that says whether a seat's value is so by construction,
where it is known."""

PRIVACY = frozenset(PRIVACY_MEASURES)
"""Measures that depend on how a loss was measured."""


class Instruments(NamedTuple):
    """Two teams of a setting whose loss was measured by two instruments, and by which."""

    setting: str
    team_a: str
    team_b: str
    kind_a: str
    kind_b: str


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Two runs compared [C]; unknown values are not a number.

    >>> compared: Comparison = calbench.compare(results, results)
    >>> compared.to_frame().set_index("measure").loc["excess_cost", "difference"].item()
    0.0

    Attributes:
        differences: one row per setting, pair of teams and measure: both values, B minus A in the
            unit of the measure, ends and verdict; unknown if one has no agent-game that counts.
        contributions: one row per scenario of each known difference: both means, and what it
            adds to the difference.
        unlike: teams whose privacy is not compared and has no rows.
    """

    differences: pd.DataFrame
    contributions: pd.DataFrame
    unlike: tuple[Instruments, ...] = ()

    def __repr__(self) -> str:
        """Say it in one line."""
        found = self.differences[["setting", "team_a", "team_b"]].drop_duplicates()
        pairs = [f"{b} minus {a} on {setting}" for setting, a, b in found.itertuples(index=False)]
        return f"Comparison({len(self.differences)} differences: {shorten('; '.join(pairs), 400)})"

    def _repr_html_(self) -> str:
        """Return the differences as a table."""
        shown = ["setting", "team_a", "team_b", "measure", "value_a", "value_b", "difference"]
        ends = ["difference_low", "difference_high", "verdict", "scenarios"]
        table: str = self.differences[[*shown, *ends]].to_html(index=False)
        return table

    def to_frame(self) -> pd.DataFrame:
        """Return the differences: a row for each setting, pair of teams and measure."""
        return self.differences

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Both by the name of their file."""
        frames = (self.differences, self.contributions)
        return dict(zip(COMPARISON_TABLES, frames, strict=True))


def compare_teams(
    agents_a: pd.DataFrame,
    agents_b: pd.DataFrame,
    pairs: Sequence[tuple[str, str]],
    spec: AnalysisSpec,
) -> Comparison:
    """Compare teams of two runs by every measure, over the scenarios that both have.

    Args:
        agents_a: seats of the first run's scored games, with ``setting``, ``team``,
            ``scenario_id``, ``scenario_digest``, ``kind`` and ``vps_kind``.
        agents_b: those of the second run; scenarios are matched by id and digest.
        pairs: teams of the first and of the second run.
        spec: confidence.
    """
    differences, contributions, unlike = [], [], []
    settings = sorted(set(agents_a["setting"]) & set(agents_b["setting"]))
    cells = [(setting, *pair) for setting in settings for pair in pairs]
    with progress("compared", len(cells)) as tick:
        for setting, team_a, team_b in cells:
            a = _of_team(agents_a, setting, team_a)
            b = _of_team(agents_b, setting, team_b)
            common = [name for name, _ in sorted(_scenarios(a) & _scenarios(b))]
            if common:
                sums_a, sums_b = _sums(a, common), _sums(b, common)
                names = {"setting": setting, "team_a": team_a, "team_b": team_b}
                found = _differences(sums_a, sums_b, spec)
                found = found.assign(remark=_remarks(a, b))
                for side, why in zip((sums_a, sums_b), NOT_MEASURED, strict=True):
                    is_absent = (found["remark"] == "") & (side.counts.sum(axis=0) == 0)
                    found["remark"] = found["remark"].mask(is_absent, why)
                parts = _contributions(common, sums_a, sums_b, found)
                kinds = _kind(a, common), _kind(b, common)
                absent = frozenset() if REFLECTED & {*kinds} else frozenset({BEYOND})
                if _are_unlike(*kinds):
                    unlike.append(Instruments(setting, team_a, team_b, *map(str, kinds)))
                    absent = PRIVACY
                found, parts = (each[~each["measure"].isin(absent)] for each in (found, parts))
                differences.append(found.assign(**names))
                contributions.append(parts.assign(**names))
            tick()
    judged = [with_verdicts(pd.concat(differences, ignore_index=True), spec)] if differences else []
    frames = _together(judged, DIFFERENCES), _together(contributions, CONTRIBUTIONS)
    return Comparison(*frames, tuple(unlike))


def _remarks(a: pd.DataFrame, b: pd.DataFrame) -> list[str]:
    """Return for each measure why two teams must not be tested; empty if they may."""
    is_baseline = any((each["kind"] == DEGENERATE).all() for each in (a, b))
    is_read = all(readable_shares(each, ["team"])["is_vps_ranked"].all() for each in (a, b))
    usual = DEGENERATE_TEAM if is_baseline else ""
    privacy = usual if is_read else TOO_FEW_READ
    return [privacy if name in PRIVACY else usual for name in MEASURE_BY_NAME]


def _kind(agents: pd.DataFrame, scenarios: Sequence[str]) -> str | None:
    """Return how the loss of a team was measured on some scenarios; ``None`` if it was not."""
    return joint_kind(agents[agents["scenario_id"].isin(scenarios)]["vps_kind"])


def _are_unlike(kind_a: str | None, kind_b: str | None) -> bool:
    """Whether two losses were measured by two instruments; what was not measured is unknown."""
    return kind_a is not None and kind_b is not None and are_unlike(kind_a, kind_b)


def _of_team(agents: pd.DataFrame, setting: str, team: str) -> pd.DataFrame:
    return agents[(agents["setting"] == setting) & (agents["team"] == team)]


def _scenarios(agents: pd.DataFrame) -> set[tuple[str, str]]:
    return set(zip(agents["scenario_id"], agents["scenario_digest"], strict=True))


class _TeamSums(NamedTuple):
    """Sums of a team's measures, averaged over replicates; agent-games; which means are exact."""

    totals: Floats
    counts: Floats
    agent_games: Floats
    is_exact: Truths

    @property
    def sums(self) -> Sums:
        return Sums(self.totals, self.counts)


def _sums(agents: pd.DataFrame, scenarios: Sequence[str]) -> _TeamSums:
    """Return the sums of a team's measures over some scenarios, ``[scenario, measure]``."""
    own = agents[agents["scenario_id"].isin(scenarios)]
    exact = own.filter(regex=f"^{EXACT}").rename(columns=lambda name: name.removeprefix(EXACT))
    found = scenario_sums(own, ["team"], measured_values(own, ["team"]), exact=exact)
    agent_games = found.all_rows.counts[:, 0].sum(axis=0)
    return _TeamSums(found.totals[:, 0], found.counts[:, 0], agent_games, found.is_exact[0])


def _together(frames: Sequence[pd.DataFrame], columns: Sequence[Column]) -> pd.DataFrame:
    found = pd.concat(frames, ignore_index=True) if frames else empty(columns)
    return found.reindex(columns=[column.name for column in columns])


def _differences(a: _TeamSums, b: _TeamSums, spec: AnalysisSpec) -> pd.DataFrame:
    """Return the means of B minus those of A, one row per measure."""
    games_a, games_b = a.counts.sum(axis=0), b.counts.sum(axis=0)
    scenarios = ((a.counts > 0) & (b.counts > 0)).sum(axis=0)
    bounds = column_bounds(list(MEASURE_BY_NAME), BOUNDS)
    exact = a.is_exact & b.is_exact
    ends = paired_ends(b.sums, a.sums, spec, bounds=bounds, exact=exact)
    with np.errstate(invalid="ignore"):
        value_a, value_b = exact_totals(a.totals) / games_a, exact_totals(b.totals) / games_b
    found = pd.DataFrame(
        {
            "value_a": value_a,
            "value_b": value_b,
            "difference": value_b - value_a,
            "difference_low": ends.low,
            "difference_high": ends.high,
            "difference_interval": ends.kind.astype(object),
            "scenarios": scenarios.astype(np.float64),
            "agent_games_a": a.agent_games,
            "agent_games_b": b.agent_games,
        }
    )
    found[(games_a == 0) | (games_b == 0)] = np.nan
    tests = _tests(a.sums, b.sums, spec)
    return found.assign(measure=list(MEASURE_BY_NAME), **tests)


def _tests(a: Sums, b: Sums, spec: AnalysisSpec) -> dict[str, Floats | Truths]:
    """Return what verdicts follow from, of every measure, over the scenarios that both have."""
    is_common = (a.counts > 0) & (b.counts > 0)
    known = np.flatnonzero(is_common.any(axis=0))
    first, second = (
        Sums((each.totals * is_common)[:, known], (each.counts * is_common)[:, known])
        for each in (b, a)
    )
    p_value = np.full(len(MEASURES), np.nan)
    if known.size:
        p_value[known] = swap_p_values(first, second, spec)
    spread = np.full(len(MEASURES), np.nan)
    spread[known] = spread_of(difference_of(first, second))
    margin = np.array([measure.margin for measure in MEASURES])
    alike = equivalence(b, a, margin)
    return {
        "p": p_value,
        "margin": margin,
        "p_equivalent": alike.p_value,
        "is_identical": alike.is_identical,
        "spread": spread,
    }


def _contributions(
    scenarios: Sequence[str], a: _TeamSums, b: _TeamSums, differences: pd.DataFrame
) -> pd.DataFrame:
    """Return the contribution of each scenario to each known difference, by measure."""
    middle = ((differences["value_a"] + differences["value_b"]) / 2).to_numpy()
    games_a, games_b = a.counts.sum(axis=0), b.counts.sum(axis=0)
    with np.errstate(invalid="ignore"):
        parts = {
            "mean_a": a.totals / a.counts,
            "mean_b": b.totals / b.counts,
            "contribution": (b.totals - b.counts * middle) / games_b
            - (a.totals - a.counts * middle) / games_a,
        }
    num_measures = len(differences)
    rows = pd.DataFrame({name: values.T.ravel() for name, values in parts.items()}).assign(
        measure=np.repeat(differences["measure"].to_numpy(), len(scenarios)),
        scenario_id=list(scenarios) * num_measures,
    )
    return rows[np.repeat(differences["difference"].notna().to_numpy(), len(scenarios))]


NAMED = 3
"""Most differences that are named [C]; the tables have all."""


def finding(compared: Comparison, measures: Sequence[str], confidence: float) -> str:
    """Return how many comparisons differ, the first of them, and what the others show.

    Args:
        compared: two runs.
        measures: names of those that count.
        confidence: of intervals and tests, a share of one.
    """
    rows = compared.differences[compared.differences["measure"].isin(measures)]
    different = rows[rows["verdict"] == DIFFERENT]
    on = f"({100 * round(1 - confidence, 10):g}% level, {_scenario_words(rows)})"
    rest = "".join(f"; {each}" for each in _others(rows))
    if different.empty:
        return f"No difference is shown in {len(rows)} {_comparisons(len(rows))} {on}{rest}"
    has_one_pair = len(rows[["setting", "team_a", "team_b"]].drop_duplicates()) == 1
    clear = different.to_dict("records")
    named = [_named(entry, has_place=not has_one_pair) for entry in clear[:NAMED]]
    more = f", and {len(clear) - NAMED} more" if len(clear) > NAMED else ""
    return (
        f"{len(clear)} of {len(rows)} {_comparisons(len(rows))} differ {on}: "
        f"{', '.join(named)}{more}{rest}"
    )


def _comparisons(count: int) -> str:
    return "comparison" if count == 1 else "comparisons"


def _others(rows: pd.DataFrame) -> Iterator[str]:
    """Yield how many comparisons have another verdict, and why some have none."""
    for verdict in (TIED, NOT_TOLD_APART, IDENTICAL, NOT_TESTED):
        own = rows[rows["verdict"] == verdict]
        why = [word for word in REMARKS if (own["remark"] == word).any()]
        if verdict == NOT_TOLD_APART:
            why = [f"would have been found: {each}" for each in [_detectable(own)] if each]
        if len(own):
            reasons = f" ({', '.join(why)})" if why else ""
            yield f"{verdict}: {len(own)}{reasons}"


def _detectable(rows: pd.DataFrame) -> str:
    """Return the differences that some comparisons would have found, by measure."""
    largest = rows.groupby("measure", sort=False)["minimum_detectable_difference"].max().dropna()
    named = [f"{MEASURE_BY_NAME[str(name)].title} {size:.2f}" for name, size in largest.items()]
    more = ", ..." if len(named) > NAMED else ""
    return f"{', '.join(named[:NAMED])}{more}"


def _scenario_words(rows: pd.DataFrame) -> str:
    """Return on how many scenarios some differences are."""
    counts = sorted({int(count) for count in rows["scenarios"].dropna()}) or [0]
    if len(counts) == 1:
        return f"{counts[0]} scenario{'s' * (counts[0] != 1)}"
    return f"{counts[0]} to {counts[-1]} scenarios"


def _named(entry: Mapping[Hashable, Any], *, has_place: bool) -> str:
    """Return one difference, as ``Excess cost (B is higher by 1.26 [1.12, 1.41])``."""
    place = _place(entry) if has_place else ""
    title = MEASURE_BY_NAME[entry["measure"]].title
    low, high = entry["difference_low"], entry["difference_high"]
    is_lower = entry["difference"] < 0
    within = f", {WITHIN_MARGIN}" if entry["remark"] == WITHIN_MARGIN else ""
    ends = sorted((-high, -low) if is_lower else (low, high))
    interval = "" if isnan(low) else f" [{ends[0]:.2f}, {ends[1]:.2f}]"
    return (
        f"{place}{title} (B is {'lower' if is_lower else 'higher'} by "
        f"{abs(entry['difference']):.2f}{interval}{within})"
    )


def _place(entry: Mapping[Hashable, Any]) -> str:
    other = f" and {entry['team_b']}" if entry["team_a"] != entry["team_b"] else ""
    return f"{entry['setting']} {entry['team_a']}{other}, "
