"""Mixed teams as slices of a cohort: Table 1 of its players, and what further games would tell."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np
import pandas as pd

from calbench.analysis.estimates import estimated_means
from calbench.analysis.matchmaking import Proposal, never_met_after, propose
from calbench.analysis.measures import (
    BOUNDS,
    HEADLINE,
    MEASURE_BY_NAME,
    MEASURES,
    is_unread,
    joint_kind,
    measured_values,
)
from calbench.analysis.rating_pools import ALL, GAME_COLUMNS, Scenario
from calbench.analysis.rating_scopes import Scope
from calbench.analysis.registry import Settings, table
from calbench.analysis.tables.players import (
    AGENT_GAMES,
    IDENTITY,
    NUMBER,
    TEAMS,
    scored_seats,
    with_teams,
)
from calbench.analysis.tables.ratings import SCOPE, described, scopes_of
from calbench.facts.columns import UNIT, columns
from calbench.facts.frames import empty
from calbench.facts.storage import Facts
from calbench.metrics.players import Player
from calbench.stats.components import common_share, components, widths
from calbench.stats.intervals import T
from calbench.stats.sums import Floats


@lru_cache(maxsize=1)
def mixed_seats(facts: Facts) -> pd.DataFrame:
    """Return the seats of scored games of teams in which several players sit."""
    seats = scored_seats(facts)
    # Who probes in a team of one player is that player with another prompt, not another player.
    same = [{"player": "base_player"}.get(name, name) for name in IDENTITY if name != "is_probing"]
    codes = seats.groupby(same, dropna=False, sort=False).ngroup()
    teams = codes.groupby([seats["setting"], seats["team"]], sort=False)
    return seats[teams.transform("nunique") > 1].reset_index(drop=True)


@lru_cache(maxsize=1)
def mixed_players(facts: Facts) -> pd.DataFrame:
    """Return the players of these seats, with their teams, in the order of tables."""
    return with_teams(mixed_seats(facts))


ROOT = "root of the ratio of variances that the components give"

FURTHER = columns(
    f"""
    setting player
    measure (text): one of {", ".join(measure.name for measure in MEASURES)}
    slices (number, games): its games on a scenario // scenarios that count
    common_share (number, share): of the variance of a game's value, what the slices on one scenario
        have in common: components of variance, added up over the players with several slices
    width (number, {UNIT}): of its t interval now; empty without one
    width_slice (number, {UNIT}): expected with one more slice on the same scenarios:
        width times the {ROOT}
    width_scenarios (number, {UNIT}): expected with as many games as that on further
        scenarios, with the slices there are
    width_limit (number, {UNIT}): expected with any number of slices on the same
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
    if seats.empty:
        return empty(FURTHER)
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


PROPOSALS = 2
"""Proposed teams of every pool [C]."""

TIMES = 2
"""How many times as many scenarios rank intervals are expected for [C]."""

TWICE = f"with {TIMES} times as many scenarios like those there are"


@table(
    "ratings_further.csv",
    f"""
    pool setting player
    rank (count): as in ratings.csv
    rank_low (count): best rank of the interval over scenarios
    rank_high (count): worst rank of the interval over scenarios
    rank_low_further (count): best rank of the interval to expect {TWICE}
    rank_high_further (count): worst rank of the interval to expect {TWICE}
    never_met (count, players): with whom it never shared a game
    never_met_after (count, players): the same after the first proposed team has played
    kind settings_digest
    """,
    key="pool setting player kind settings_digest",
    of=SCOPE,
)
def ratings_further(facts: Facts, settings: Settings) -> Iterator[pd.DataFrame]:
    """What more scenarios, and the first proposed team, would tell about players' ranks."""
    for scope, proposals in _proposed(facts, settings):
        numbers = scope.standings["number"].to_numpy()
        after = never_met_after(scope, proposals[:1])
        ranks = scope.further_ranks(TIMES).loc[numbers]
        yield scope.standings.assign(
            **described(scope, [scope.players[number] for number in numbers]),
            rank_low_further=ranks["low"].to_numpy(),
            rank_high_further=ranks["high"].to_numpy(),
            never_met=[len(scope.meetings.never_met(number)) for number in numbers],
            never_met_after=[after[number] for number in numbers],
        )


@table(
    "ratings_proposals.csv",
    """
    pool setting
    proposal (count): proposed team, from 1; each assumes that those before have played
    agent_id player
    first_meetings (list; C): players of the team whom it never met
    kind settings_digest
    """,
    key="pool setting proposal agent_id",
    of=SCOPE,
)
def ratings_proposals(facts: Facts, settings: Settings) -> Iterator[pd.DataFrame]:
    """Teams to play next, as ``calbench matchmake`` proposes them, by first seat."""
    for scope, proposals in _proposed(facts, settings):
        for place, proposal in enumerate(proposals, start=1):
            yield _team(scope, proposal).assign(proposal=place)


def _team(scope: Scope, proposal: Proposal) -> pd.DataFrame:
    met: dict[Player, list[str]] = {player: [] for player in proposal.players}
    for one, other in proposal.first_meetings:
        met[one].append(other.name)
        met[other].append(one.name)
    return pd.DataFrame(described(scope, proposal.players)).assign(
        agent_id=range(len(proposal.players)),
        first_meetings=[" ".join(sorted(met[player])) for player in proposal.players],
    )


@lru_cache(maxsize=1)
def _proposed(facts: Facts, settings: Settings) -> tuple[tuple[Scope, list[Proposal]], ...]:
    """Return every scope in which players met, with the teams to play next.

    Its games must be of one size, since a team is proposed for one.
    """
    found = []
    games = facts.of_all_games("agents", GAME_COLUMNS).groupby(list(GAME_COLUMNS)).size()
    for scope in scopes_of(facts, settings):
        own = games[[scope.setting in (ALL, name[0]) for name in games.index]]
        sizes = set(own.tolist())
        if len(scope.rated.events) and len(sizes) == 1:
            scenarios = sorted({Scenario(*name[:2]) for name in own.index})
            teams = propose(scope, scenarios, num_seats=sizes.pop(), num_teams=PROPOSALS)
            found.append((scope, teams))
    return tuple(found)


@table(
    "table1.csv",
    """
    setting player
    slices (count, teams): teams of several players in which it sat: slices of a cohort
    scenarios (count, scenarios): distinct scenarios of its games there
    agent_games
    scheduled (estimate, meetings; P): mean of an agent's S // agent_games
    measures vps_kind kind teams
    """,
    key="setting player kind teams",
    of=[AGENT_GAMES, TEAMS],
    measures=(column for name in HEADLINE for column in MEASURE_BY_NAME[name].estimate),
)
def table1(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Mean results of every player over its seats in teams of several players (Table 1).

    A player that sat in several teams, as the shared ones of a cohort do, has one row over all of
    them.
    """
    seats = mixed_seats(facts)
    values = measured_values(seats, [NUMBER])
    scheduled = seats["scheduled"].astype("float64").mask(is_unread(seats, [NUMBER]))
    values = values[list(HEADLINE)].assign(scheduled=scheduled)
    bounds = {**BOUNDS, "scheduled": (0.0, np.inf)}
    found = estimated_means(seats, [NUMBER], values, settings.analysis, bounds=bounds)
    groups = seats.groupby(NUMBER)
    counts = pd.DataFrame(
        {
            "slices": groups["team"].nunique(),
            "scenarios": groups["scenario_id"].nunique(),
            "agent_games": groups.size(),
            "vps_kind": groups["vps_kind"].agg(joint_kind),
        }
    ).reset_index()
    rows = mixed_players(facts).merge(found, "left", ["setting", NUMBER])
    return rows.merge(counts, "left", NUMBER)
