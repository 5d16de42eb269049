"""The rows of the two tables by team: what the judge finds in all, and how far it agrees."""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import NamedTuple

import numpy as np

from calbench.analysis.cells import Cell
from calbench.analysis.estimates import Floats, estimate_means
from calbench.analysis.judge import agreement, precision
from calbench.analysis.judge.agreement import Interval, Statistic, chance_agreement, intervals
from calbench.analysis.judge.sums import Compared, GameSums
from calbench.analysis.significance import sign_flip_p_value
from calbench.stats.spec import AnalysisSpec
from calbench.metrics.measure import MeasureSpec
from calbench.metrics.privacy.measured import joint_kind

Games = Mapping[str, GameSums]
"""The games of one team in one setting, by scenario."""


class Family(NamedTuple):
    """Statistics of one unit; what is counted has no interval."""

    unit: str
    counts: Mapping[str, Statistic]
    shares: Mapping[str, Statistic]


FAMILIES = (
    Family("cell", agreement.COUNTS, agreement.SHARES),
    Family("round_cell", agreement.COUNTS, agreement.SHARES),
    Family("movement", precision.MOVEMENT_COUNTS, precision.MOVEMENT_SHARES),
    Family("game_target", precision.TARGET_COUNTS, precision.TARGET_SHARES),
)
"""The units of ``judge_agreement.csv``, in its order."""

MEANS = 6
"""Means of a row of ``metric_comparison.csv``."""


def comparison_rows(
    setting: str, teams: Mapping[str, Games], measure: MeasureSpec, spec: AnalysisSpec
) -> Iterator[list[Cell]]:
    """Yield a row for each team of a setting, all over the same resampled scenarios."""
    scenarios = sorted({scenario for games in teams.values() for scenario in games})
    sums = {
        team: {scenario: game.sums(measure.vps_floor) for scenario, game in games.items()}
        for team, games in teams.items()
    }
    columns = [
        [
            None if (found := by_game.get(scenario)) is None else found[mean]
            for scenario in scenarios
        ]
        for by_game in sums.values()
        for mean in range(MEANS)
    ]
    estimates = iter(estimate_means(columns, spec, setting))
    for team, games in teams.items():
        cells: list[Cell] = [setting, team, *_totals(games, measure.vps_floor)]
        for _ in range(MEANS):
            mean = next(estimates)
            cells += [None] * 3 if mean is None else [mean.value, mean.low, mean.high]
        gaps = [by_game[-1] for by_game in sums[team].values()]
        is_known = any(gap.count for gap in gaps)
        cells.append(sign_flip_p_value([g.total for g in gaps], spec) if is_known else None)
        yield cells


def _totals(games: Games, floor: float) -> list[Cell]:
    """Return the counts and sums of a row."""
    listed = list(games.values())
    raw, calibrated, excess, primary, primary_excess, _ = zip(
        *(game.sums(floor) for game in listed), strict=True
    )
    measured = sum(each.count for each in primary)
    return [
        joint_kind(target.kind for game in listed for target in game.targets),
        len(listed),
        len(games),
        sum(game.cases for game in listed),
        sum(game.unread for game in listed),
        sum(game.beliefs for game in listed),
        sum(each.count for each in raw),
        *(fsum(each.total for each in column) for column in (raw, calibrated, excess)),
        measured,
        *(
            fsum(each.total for each in column) if measured else None
            for column in (primary, primary_excess)
        ),
    ]


def statistics_rows(
    setting: str, teams: Mapping[str, Games], spec: AnalysisSpec
) -> Iterator[list[Cell]]:
    """Yield the rows of each team that reflected, all over the same resampled scenarios."""
    scenarios = sorted({scenario for games in teams.values() for scenario in games})
    for team, games in teams.items():
        reflected = {name: game for name, game in games.items() if game.cells is not None}
        if reflected:
            for family in FAMILIES:
                for cells in _family_rows(family, scenarios, reflected, spec, setting):
                    yield [setting, team, family.unit, *cells]


def _family_rows(
    family: Family, scenarios: Sequence[str], games: Games, spec: AnalysisSpec, setting: str
) -> Iterator[list[Cell]]:
    found = {scenario: _sums(game, family.unit) for scenario, game in games.items()}
    nothing = np.zeros_like(next(iter(found.values())))
    sums = [found.get(scenario, nothing) for scenario in scenarios]
    total = np.sum(sums, axis=0)
    for name, count in family.counts.items():
        yield [name, int(count(total)), None, None, len(found), None]
    estimates = intervals(sums, list(family.shares.values()), spec, setting)
    compared = [_compared(games[s], family.unit) for s in scenarios if s in games]
    for name, estimate in zip(family.shares, estimates, strict=True):
        if name != "directional_agreement":
            yield _row(name, estimate, len(found))
            continue
        chance = chance_agreement(
            [each.signs.judge for each in compared if each],
            [each.signs.reflection for each in compared if each],
            spec,
            setting,
            family.unit,
        )
        yield _row(name, estimate, len(found), None if chance is None else chance.p_value)
        level = None if chance is None else chance.agreement
        yield _row("by_chance", Interval(level, None, None), len(found))


def _row(name: str, found: Interval, scenarios: int, p_value: float | None = None) -> list[Cell]:
    return [name, *found, scenarios, p_value]


def _compared(game: GameSums, unit: str) -> Compared | None:
    return {"cell": game.cells, "round_cell": game.round_cells}.get(unit)


def _sums(game: GameSums, unit: str) -> Floats:
    compared = _compared(game, unit)
    if compared is not None:
        return compared.sums
    if game.precision is None:
        raise ValueError("a game that was not reflected on has nothing to compare")
    return game.precision
