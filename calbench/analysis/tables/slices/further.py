"""How the intervals of players' means would narrow with a further slice, and with scenarios."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from calbench.analysis.estimates import estimated_means
from calbench.analysis.measures import BOUNDS, MEASURES, measured_values
from calbench.analysis.settings import Settings
from calbench.analysis.tables.players import NUMBER, TEAMS
from calbench.analysis.tables.registry import table
from calbench.analysis.tables.slices.seats import mixed_players, mixed_seats
from calbench.facts.columns import columns
from calbench.facts.frames import empty
from calbench.facts.storage import Facts
from calbench.stats.components import common_share, components, widths
from calbench.stats.intervals import T
from calbench.stats.sums import Floats

ROOT = "root of the ratio of variances that the components give"

FURTHER = columns(
    f"""
    setting player
    measure (text): one of {", ".join(measure.name for measure in MEASURES)}
    slices (number, games): its games on a scenario // scenarios that count
    common_share (number, share): of the variance of a game's value, what the slices on one scenario
        have in common: components of variance, added up over the players with several slices
    width (number, unit of the measure): of its t interval now; empty without one
    width_slice (number, unit of the measure): expected with one more slice on the same scenarios:
        width times the {ROOT}
    width_scenarios (number, unit of the measure): expected with as many games as that on further
        scenarios, with the slices there are
    width_limit (number, unit of the measure): expected with any number of slices on the same
        scenarios
    kind teams
    """,
    of=[TEAMS],
)


@table("further_slices.csv", FURTHER, key="setting player kind teams measure")
def further_slices(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How a player's intervals would narrow with a further slice, and with further scenarios.

    Of settings in which some player sat in several teams of several players, else nothing.
    """
    seats = mixed_seats(facts)
    values = measured_values(seats, [NUMBER])
    means = estimated_means(seats, [NUMBER], values, settings.analysis, bounds=BOUNDS)
    rows = mixed_players(facts).merge(means, "left", ["setting", NUMBER])
    games = seats[[NUMBER, "scenario_id", "team"]].join(values)
    by_slice = {measure.name: _by_slice(games, measure.name) for measure in MEASURES}
    parts = [
        _further(own, measure.name, by_slice[measure.name])
        for _, own in rows.groupby("setting", sort=False)
        for measure in MEASURES
    ]
    found = [part for part in parts if len(part)]
    if not found:
        return empty(FURTHER)
    placed = pd.concat(found, ignore_index=True)
    return placed.sort_values(["setting", "place"], kind="stable", ignore_index=True)


def _by_slice(games: pd.DataFrame, measure: str) -> dict[int, Floats]:
    """Return the mean value of each player by scenario and team, ``[scenario, team]``."""
    wide = games.dropna(subset=measure).pivot_table(
        index=[NUMBER, "scenario_id"], columns="team", values=measure, aggfunc="mean"
    )
    numbers, values = wide.index.get_level_values(NUMBER), wide.to_numpy(dtype=np.float64)
    return {int(number): values[numbers == number] for number in numbers.unique()}


def _further(players: pd.DataFrame, measure: str, by_slice: Mapping[int, Floats]) -> pd.DataFrame:
    """Return what further games would tell of one measure of the players of a setting."""
    own = [by_slice.get(key, np.empty((0, 0))) for key in players[NUMBER]]
    share = common_share(found for each in own if (found := components(each)) is not None)
    if np.isnan(share):
        return players.iloc[:0]
    slices = [(~np.isnan(each)).sum() / len(each) if len(each) else np.nan for each in own]
    is_t = players[f"{measure}_interval"] == T
    width = (players[f"{measure}_high"] - players[f"{measure}_low"]).where(is_t)
    factors = [widths(share, each) if each > 0 else (np.nan,) * 3 for each in slices]
    slice_, scenarios, limit = np.array(factors, dtype=np.float64).T
    return players.assign(
        place=range(len(players)),
        measure=measure,
        slices=slices,
        common_share=share,
        width=width,
        width_slice=width * slice_,
        width_scenarios=width * scenarios,
        width_limit=width * limit,
    )
