"""Mixed teams as slices of a cohort: Table 1 of its players, and what further games would tell."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np
import pandas as pd

from calbench.analysis.estimates import estimated_means
from calbench.analysis.matchmaking import Proposal, never_met_after, propose
from calbench.analysis.measures import (
    BOUNDS,
    MEASURE_BY_NAME,
    MEASURES,
    is_unread,
    joint_kind,
    measured_values,
)
from calbench.analysis.ratings.pools import ALL, GAME_COLUMNS, Scenario
from calbench.analysis.ratings.scopes import Scope
from calbench.analysis.settings import Settings
from calbench.analysis.tables.players import (
    AGENT_GAMES,
    BY,
    IDENTITY,
    TEAMS,
    scored_seats,
    with_teams,
)
from calbench.analysis.tables.ratings import DIGEST, DIGEST_DIGITS, POOL, SCOPE, scopes_of
from calbench.analysis.tables.registry import table
from calbench.facts.columns import (
    AGENT,
    PLAYER,
    PLAYER_KIND,
    SETTING,
    VPS_KIND,
    count,
    estimated,
    listed,
    number,
    text,
)
from calbench.facts.frames import empty
from calbench.facts.storage import Facts
from calbench.metrics.players import Player
from calbench.stats.components import common_share, components, widths
from calbench.stats.intervals import T
from calbench.stats.sums import Floats

TABLE1 = ("coordination", "excess_cost", "messages", "fairness", "excess_vps")
"""Measures of the paper's Table 1, in its order."""

PROPOSALS = 2
"""Proposed teams of every pool [C]."""

TIMES = 2
"""How many times as many scenarios rank intervals are expected for [C]."""

MIXED_TEAM = "in teams of several players"


@lru_cache(maxsize=1)
def mixed_seats(facts: Facts) -> pd.DataFrame:
    """Return the seats of scored games of teams in which several players sit."""
    seats = scored_seats(facts)
    codes = seats.groupby(IDENTITY, dropna=False, sort=False).ngroup()
    teams = codes.groupby([seats["setting"], seats["team"]], sort=False)
    return seats[teams.transform("nunique") > 1].reset_index(drop=True)


SCHEDULED = estimated("scheduled", "meetings", "mean of an agent's S", "agent_games", "P")


@table(
    "table1.csv",
    (
        SETTING,
        PLAYER,
        count("slices", "teams", "teams of several players in which it sat: slices of a cohort"),
        count("scenarios", "scenarios", "distinct scenarios of its games there"),
        AGENT_GAMES,
        *SCHEDULED,
        *(
            column
            for name in TABLE1
            for column in estimated(
                name,
                MEASURE_BY_NAME[name].unit,
                f"mean of: {MEASURE_BY_NAME[name].definition}",
                MEASURE_BY_NAME[name].denominator,
                MEASURE_BY_NAME[name].origin,
            )
        ),
        VPS_KIND,
        PLAYER_KIND,
        TEAMS,
    ),
    key="setting player kind teams",
)
def table1(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Mean results of every player over its seats in teams of several players (Table 1).

    A player that sat in several teams, as the shared ones of a cohort do, has one row over all of
    them.
    """
    seats = mixed_seats(facts)
    values = measured_values(seats, IDENTITY)
    scheduled = seats["scheduled"].astype("float64").mask(is_unread(seats, IDENTITY))
    values = values[list(TABLE1)].assign(scheduled=scheduled)
    bounds = {**BOUNDS, "scheduled": (0.0, np.inf)}
    found = estimated_means(seats, IDENTITY, values, settings.analysis, bounds=bounds)
    groups = seats.groupby(BY, dropna=False)
    rows = with_teams(seats)
    for part in (
        found.set_index(BY),
        groups["team"].nunique().rename("slices"),
        groups["scenario_id"].nunique().rename("scenarios"),
        groups.size().rename("agent_games"),
        groups["vps_kind"].agg(joint_kind),
    ):
        rows = rows.merge(part.reset_index(), "left", BY)
    return rows


ROOT = "root of the ratio of variances that the components give"

FURTHER = (
    SETTING,
    PLAYER,
    text("measure", f"one of {', '.join(measure.name for measure in MEASURES)}"),
    number("slices", "games", "its games on a scenario", "scenarios that count"),
    number(
        "common_share",
        "share",
        "of the variance of a game's value, what the slices on one scenario have in common: "
        "components of variance, added up over the players with several slices",
    ),
    number("width", "unit of the measure", "of its t interval now; empty without one"),
    number(
        "width_slice",
        "unit of the measure",
        f"expected with one more slice on the same scenarios: width times the {ROOT}",
    ),
    number(
        "width_scenarios",
        "unit of the measure",
        "expected with as many games as that on further scenarios, with the slices there are",
    ),
    number(
        "width_limit",
        "unit of the measure",
        "expected with any number of slices on the same scenarios",
    ),
    PLAYER_KIND,
    TEAMS,
)


@table("further_slices.csv", FURTHER, key="setting player kind teams measure")
def further_slices(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How a player's intervals would narrow with a further slice, and with further scenarios.

    Of settings in which some player sat in several teams of several players, else nothing.
    """
    seats = mixed_seats(facts)
    values = measured_values(seats, IDENTITY)
    means = estimated_means(seats, IDENTITY, values, settings.analysis, bounds=BOUNDS)
    rows = with_teams(seats).merge(means, "left", BY)
    parts = [
        _further(own, measure.name, _by_slice(seats, values[measure.name]))
        for _, own in rows.groupby("setting", sort=False)
        for measure in MEASURES
    ]
    found = [part for part in parts if len(part)]
    if not found:
        return empty(FURTHER)
    placed = pd.concat(found, ignore_index=True)
    return placed.sort_values(["setting", "place"], kind="stable", ignore_index=True)


def _by_slice(seats: pd.DataFrame, values: "pd.Series[float]") -> dict[tuple[object, ...], Floats]:
    """Return the mean value of each player by scenario and team, ``[scenario, team]``."""
    rows = seats[[*BY, "scenario_id", "team"]].assign(value=values)
    return {
        key if isinstance(key, tuple) else (key,): own.pivot_table(
            index="scenario_id", columns="team", values="value", aggfunc="mean", sort=True
        ).to_numpy(dtype=np.float64)
        for key, own in rows.dropna(subset="value").groupby(BY, dropna=False, sort=False)
    }


def _further(
    players: pd.DataFrame, measure: str, by_slice: Mapping[tuple[object, ...], Floats]
) -> pd.DataFrame:
    """Return what further games would tell of one measure of the players of a setting."""
    keys = list(players[BY].itertuples(index=False, name=None))
    own = [by_slice.get(key, np.empty((0, 0))) for key in keys]
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


TWICE = f"with {TIMES} times as many scenarios like those there are"


@table(
    "ratings_further.csv",
    (
        POOL,
        SCOPE,
        PLAYER,
        count("rank", "", "as in ratings.csv"),
        count("rank_low", "", "best rank of the interval over scenarios"),
        count("rank_high", "", "worst rank of the interval over scenarios"),
        count("rank_low_further", "", f"best rank of the interval to expect {TWICE}"),
        count("rank_high_further", "", f"worst rank of the interval to expect {TWICE}"),
        count("never_met", "players", "with whom it never shared a game"),
        count("never_met_after", "players", "the same after the first proposed team has played"),
        text("kind", PLAYER_KIND.meaning, "C"),
        DIGEST,
    ),
    key="pool setting player kind settings_digest",
)
def ratings_further(facts: Facts, settings: Settings) -> Iterator[pd.DataFrame]:
    """What more scenarios, and the first proposed team, would tell about players' ranks."""
    for scope, proposals in _proposed(facts, settings):
        numbers = scope.standings["number"].to_numpy()
        ranks = scope.further_ranks(TIMES).loc[numbers]
        players = [scope.players[number] for number in numbers]
        yield scope.standings.assign(
            pool=scope.pool,
            setting=scope.setting,
            player=[player.name for player in players],
            rank_low_further=ranks["low"].to_numpy(),
            rank_high_further=ranks["high"].to_numpy(),
            never_met=[len(scope.meetings.never_met(number)) for number in numbers],
            never_met_after=[never_met_after(scope, proposals[:1])[number] for number in numbers],
            kind=[player.kind for player in players],
            settings_digest=[player.settings_digest[:DIGEST_DIGITS] for player in players],
        )


@table(
    "ratings_proposals.csv",
    (
        POOL,
        SCOPE,
        count("proposal", "", "proposed team, from 1; each assumes that those before have played"),
        AGENT,
        PLAYER,
        listed("first_meetings", "players of the team whom it never met", "C"),
        text("kind", PLAYER_KIND.meaning, "C"),
        DIGEST,
    ),
    key="pool setting proposal agent_id",
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
    return pd.DataFrame(
        {
            "pool": scope.pool,
            "setting": scope.setting,
            "agent_id": range(len(proposal.players)),
            "player": [player.name for player in proposal.players],
            "first_meetings": [" ".join(sorted(met[player])) for player in proposal.players],
            "kind": [player.kind for player in proposal.players],
            "settings_digest": [p.settings_digest[:DIGEST_DIGITS] for p in proposal.players],
        }
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
