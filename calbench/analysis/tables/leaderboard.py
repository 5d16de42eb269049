"""Teams: means of every measure, outcomes of games, and sensitivity to ties."""

from functools import lru_cache
from math import inf

import numpy as np
import pandas as pd

from calbench.analysis.certainties import EXACT_MEASURES, exact_values, with_exact
from calbench.analysis.estimates import (
    ScenarioSums,
    estimated_means,
    group_totals,
    numbers,
    scenario_sums,
)
from calbench.analysis.measures import (
    BOUNDS,
    MEASURE_COLUMNS,
    MEASURES,
    is_mixed,
    joint_kind,
    readable_shares,
    team_values,
)
from calbench.analysis.registry import Settings, table
from calbench.facts.columns import columns, count, number, truth
from calbench.facts.games import SHARES
from calbench.facts.storage import Facts
from calbench.metrics.outcomes import OUTCOMES
from calbench.stats.spec import AnalysisSpec

EXCLUDED_LIMIT_PERCENT = 5.0
"""Rows with a larger share of excluded games are flagged [C]."""

TEAMS = ["setting", "team"]

EXCLUDED_PERCENT = number(
    "excluded_percent", "percent", "share of excluded games", "games recorded"
)
IS_FLAGGED = truth("is_flagged", "more than 5 percent of the games were excluded", "C")


READABILITY = columns("""
    reflections_asked (count, reflections): about language agents of the team
    reflections_read (count, reflections): of these, readable
    readable_share (number, share): of readable reflections // reflections_asked
    is_vps_flagged (truth; C): fewer than 90 percent of the reflections were readable
    is_vps_ranked (truth; C): VPS is compared and ranked: not fewer than 50 percent of the
        reflections were readable
    """)
"""Columns that say how many reflections a team's VPS rests on."""

COST_RATIO = columns("""
    cost_ratio (estimate, ratio; C): cost paid in all games, including failed rounds, over the least
        cost of exactly the meetings that were scheduled in them: a ratio of sums, at least 1;
        empty if these cost nothing // games
    """)
"""Columns of the ratio of realised to optimal cost."""


def excluded_share(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the share of excluded games, and whether it exceeds the limit.

    Args:
        rows: with ``games``, those scored, and ``games_excluded``.
    """
    share = 100 * rows["games_excluded"] / (rows["games"] + rows["games_excluded"])
    return rows.assign(excluded_percent=share, is_flagged=share > EXCLUDED_LIMIT_PERCENT)


@table(
    "leaderboard.csv",
    """
    setting team
    games (count, games): games scored
    scenarios (count, scenarios): distinct scenarios of these games
    measure_columns cost_ratio vps_kind exact readability
    vps_agreed (precise, slot-equivalents): mean of what the agreed meetings give away of
        themselves, see agent_games.csv // agent-games whose loss was measured
    """,
    key="setting team",
    of=[EXACT_MEASURES],
    measure_columns=MEASURE_COLUMNS,
    cost_ratio=COST_RATIO,
    readability=READABILITY,
)
@lru_cache(maxsize=1)
def leaderboard(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Every measure of every team in every setting, with its interval.

    A team of whose replies none could be read has no measures: ``reply_outcomes.csv`` says why.
    """
    agents, sums = facts.of_games("agents"), team_sums(facts, settings)
    means = sums.means(settings.analysis, bounds=BOUNDS)
    kinds = agents.groupby(TEAMS, sort=False)["vps_kind"].agg(joint_kind).reset_index()
    games = facts.games.groupby(TEAMS, sort=False)["is_excluded"]
    counts = pd.DataFrame({"games": games.count() - games.sum(), "games_excluded": games.sum()})
    played = facts.scored.groupby(TEAMS, sort=False)["scenario_id"].nunique().rename("scenarios")
    rows = counts.join(played).fillna({"scenarios": 0}).reset_index()
    readable = readable_shares(agents, ["team"])
    ratios = cost_ratios(facts.scored, settings.analysis)
    for part in (means, sums.ranges(), ratios, kinds, readable, _agreed(agents)):
        rows = rows.merge(part, "left", TEAMS)
    return with_exact(rows.fillna({"reflections_asked": 0, "reflections_read": 0}))


@lru_cache(maxsize=1)
def team_sums(facts: Facts, settings: Settings) -> ScenarioSums:
    """Return the sums by scenario of every measure of every team."""
    agents = facts.of_games("agents")
    exact = exact_values(facts, agents, settings.measure.vps_floor)
    return scenario_sums(agents, ["team"], team_values(facts), exact=exact)


def cost_ratios(games: pd.DataFrame, spec: AnalysisSpec) -> pd.DataFrame:
    """Return what every team paid over what the same meetings cost at least.

    Both are sums over games, so games whose optimum is 0 count with what was paid in them. The
    interval is that of the mean of r + (paid - r optimum) / mean optimum, which is the ratio r
    itself: what a game adds to it, to first order.

    Args:
        games: scored, with ``cost`` and ``oracle_cost``.
        spec: confidence.

    Returns:
        ``setting``, ``team`` and the columns of the estimate; not a number where the optima of all
        games add up to 0.
    """
    names = ["cost", "oracle_cost"]
    sums = scenario_sums(games, ["team"], games[names])
    (paid, best), played = sums.totals.sum(axis=0).T, (sums.counts[:, :, 0] > 0).sum(axis=0)
    means = sums.groups.assign(ratio=paid / np.where(best > 0, best, np.nan), best=best / played)
    ratio, best = numbers(games[TEAMS].merge(means, "left", TEAMS)[["ratio", "best"]]).T
    added = ratio + (games["cost"].astype("float64") - ratio * games["oracle_cost"]) / best
    values = pd.DataFrame({"cost_ratio": added.to_numpy(dtype=np.float64)}, games.index)
    found = estimated_means(games, ["team"], values, spec, bounds={"cost_ratio": (1.0, inf)})
    return found[[*TEAMS, *(column.name for column in COST_RATIO)]]


def _agreed(agents: pd.DataFrame) -> pd.DataFrame:
    own = agents[[*TEAMS, "vps_agreed"]]
    known = own[~is_mixed(agents, ["team"])].dropna(subset="vps_agreed")
    totals = group_totals(known.assign(number=1), TEAMS)
    return totals.assign(vps_agreed=totals["vps_agreed"] / totals["number"]).drop(columns="number")


@table(
    "outcomes.csv",
    """
    setting team
    games (count, games): games recorded, including excluded ones
    games_excluded (count, games): games with a provider fault or budget stop, in no mean
    excluded_percent is_flagged
    meetings (count, meetings): meetings of all games recorded
    outcomes
    """,
    key="setting team",
    of=[EXCLUDED_PERCENT, IS_FLAGGED],
    outcomes=(count(name, "meetings", f"meetings with the outcome {name}") for name in OUTCOMES),
)
def outcomes(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How the meetings of every team ended, and how many of its games were excluded."""
    meetings = facts.named(facts.frame("meetings", ["outcome"]), TEAMS)
    ended = {outcome: (meetings["outcome"] == outcome).astype(int) for outcome in OUTCOMES}
    counts = meetings[TEAMS].assign(meetings=1, **ended).groupby(TEAMS).sum().reset_index()
    teams = excluded_share(leaderboard(facts, settings)[[*TEAMS, "games", "games_excluded"]])
    teams = teams.assign(games=teams["games"] + teams["games_excluded"])
    return teams.merge(counts, "left", TEAMS).fillna({"meetings": 0, **dict.fromkeys(OUTCOMES, 0)})


@table(
    "sensitivity.csv",
    """
    setting team
    fairness_least (number, accounting cost): mean with the optimal schedule of each game that makes
        it least; empty if a game is left out // all agent-games
    fairness (number, accounting cost; R, C): mean with the canonical schedule // all agent-games
    fairness_greatest (number, accounting cost): mean with the optimal schedule of each game that
        makes it greatest; empty if a game is left out // all agent-games
    games (count, games): games scored
    games_sampled (count, games): of these, with sampled schedules
    games_left_out (count, games): of games, whose schedules would take too long to list
    """,
    key="setting team",
)
def sensitivity(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How much fairness depends on the choice among equally cheap optimal schedules."""
    games = facts.scored
    agents = games["agents"].astype("float64")
    ends, counts = ["fairness_least", "fairness_greatest"], ["games_sampled", "games_left_out"]
    totals = group_totals(
        games[TEAMS].assign(
            agents=agents,
            games_sampled=games["is_fairness_sampled"].fillna(value=False).astype("float64"),
            games_left_out=games["is_fairness_sampled"].isna().astype("float64"),
            **{name: games[name] * agents for name in ends},
        ),
        TEAMS,
    )
    is_known = totals["games_left_out"] == 0
    means = totals.assign(
        **{name: (totals[name] / totals["agents"]).where(is_known) for name in ends}
    )
    teams = leaderboard(facts, settings)[[*TEAMS, "games", "fairness"]]
    rows = teams.merge(means.drop(columns="agents"), "left", TEAMS).fillna(dict.fromkeys(counts, 0))
    return rows.assign(**{name: rows[name].where(rows["fairness"].notna()) for name in ends})


@table(
    "vps_shares.csv",
    """
    setting team source channel
    vps (precise, slot-equivalents): loss caused by these messages, before the floor // all
        agent-games of typed agents
    """,
    key="setting team source channel",
    of=SHARES.columns,
)
def vps_shares(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Privacy loss of typed agents, by kind of message and channel."""
    agents = facts.of_games("agents", TEAMS)
    typed = (
        agents.loc[agents["vps_kind"] == "protocol", TEAMS].groupby(TEAMS).size().rename("typed")
    )
    by = [*TEAMS, "source", "channel"]
    found = group_totals(
        facts.of_games("shares", ["team_place", *TEAMS])[[*by, "team_place", "vps"]],
        ["team_place", *by],
    )
    found = found.merge(typed, "left", TEAMS)
    found = found.assign(vps=found["vps"] / found["typed"])
    return found.sort_values(["setting", "team_place", "source", "channel"])


@table(
    "agent_game_counts.csv",
    """
    setting team
    measure (text): a measure of leaderboard.csv
    agent_games (count, agent-games): number that counts
    """,
    key="setting team measure",
)
def agent_game_counts(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Number of agent-games in every mean of the leaderboard."""
    found = leaderboard(facts, settings)
    names = [measure.name for measure in MEASURES]
    counts = found[TEAMS].assign(**{name: found[f"{name}_n"] for name in names})
    long = counts.melt(TEAMS, names, "measure", "agent_games", ignore_index=False)
    return long.sort_index(kind="stable").fillna({"agent_games": 0})
