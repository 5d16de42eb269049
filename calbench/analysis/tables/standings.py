"""The full leaderboard: n, ranks and letters of every measure, and use of models."""

from collections.abc import Iterator
from hashlib import sha256

import numpy as np
import pandas as pd

from calbench.analysis.certainties import EXACT_MEASURES, OF_ORACLE
from calbench.analysis.estimates import group_totals
from calbench.analysis.measures import MEASURES
from calbench.analysis.registry import TABLES, Settings, table
from calbench.analysis.tables.comparisons import comparisons
from calbench.analysis.tables.leaderboard import COST_RATIO, TEAMS, leaderboard
from calbench.analysis.tables.players import players, usage
from calbench.analysis.tables.silence import NO_BETTER, beside_silence
from calbench.analysis.verdicts import (
    DEGENERATE,
    DIFFERENT,
    IDENTICAL,
    NOT_TOLD_APART,
    TIED,
    TOO_FEW_SCENARIOS,
)
from calbench.facts.columns import columns
from calbench.facts.frames import as_shown
from calbench.facts.storage import Facts
from calbench.stats.intervals import EXACT
from calbench.stats.letters import compact_letters, rank_ranges
from calbench.stats.sums import Floats

ORACLE, REFERENCE = "oracle", "reference"
"""Team and kind of the row of optimal schedules, which plays no games."""

OF_RATIO = ("cost_ratio", "cost_ratio_interval")
"""Columns of the ratio of costs that the oracle has: 1, unless its schedules cost nothing."""

RANK_ENDS = ("_rank_low", "_rank_high", "_ranked", "_letters")
"""Columns of a measure by which teams are ranked, behind its name."""

COMPARED = frozenset({DIFFERENT, TIED, NOT_TOLD_APART, IDENTICAL})
"""Verdicts on pairs that were compared."""

MEASURE_COLUMNS = tuple(
    column
    for measure in MEASURES
    for column in columns(
        f"""
    measure
    {measure.name}_n (count, agent-games): number in the mean
    {measure.name}_rank_low (count): best rank that the comparisons allow
    {measure.name}_rank_high (count): worst rank that they allow
    {measure.name}_ranked (count, teams): number of ranked teams
    {measure.name}_letters (list; C): compact letter display: teams that share a letter are not told
        apart
    """,
        measure=measure.columns,
    )
)
SILENCE_COLUMNS = columns(
    f"""
    failure_cost (number, accounting cost per meeting; P, reconstructed): part of adjusted excess
        cost that failed meetings add, (U / M)(Cmax - Cmin) / M // agent-games that count in it
    silence_cost (number, accounting cost per meeting; C): adjusted excess cost on the same
        agent-games of a team that schedules and pays nothing, (Cmax - Cmin) / M // the same
    no_better_than (list; C): baselines that say nothing, of which silence.csv says "{NO_BETTER}"
    """
)
USAGE_COLUMNS = columns("""
    calls (count, calls): model calls of its players, as usage.csv counts them
    input_tokens (count, tokens): sent, including cached ones
    cached_tokens (count, tokens): of these, from the provider's cache
    output_tokens (count, tokens): received
    price_usd (precise, US$): of these tokens; empty if a price is unknown
    price_usd_per_game (precise, US$ per game): price_usd / games // games
    """)

SILENCE_NAMES = [column.name for column in SILENCE_COLUMNS]


@table(
    "standings.csv",
    """
    setting
    suite_digest (text): SHA-256 over the scenarios; rows of two digests are not comparable
    channels (list): open ones, separated by spaces; only rows with the same ones are comparable
    limits (text; C): published, those of the paper's published games; text, those of its text; or
        other, with a digest; likewise
    team
    kinds (list): of its players, separated by spaces; reference is the oracle, which has none
    games (count, games): games scored
    games_excluded (count, games): games with a provider fault or budget stop, in no mean
    scenarios (count, scenarios): distinct scenarios of these games
    vps_kind exact measure_columns silence_columns cost_ratio usage_columns
    """,
    key="setting team",
    of=[EXACT_MEASURES],
    measure_columns=MEASURE_COLUMNS,
    silence_columns=SILENCE_COLUMNS,
    cost_ratio=COST_RATIO,
    usage_columns=USAGE_COLUMNS,
)
def standings(facts: Facts, settings: Settings) -> pd.DataFrame:
    """The leaderboard with n, ranks, letters, tokens and prices, and a row for the oracle.

    Ranks claim no more than the paired comparisons show: a team ranks above those that are
    significantly worse. Degenerate baselines have no rank [C].
    """
    found = leaderboard(facts, settings)
    rows = found.merge(_kinds(facts, settings), "left", TEAMS)
    compared = as_shown(comparisons(facts, settings), TABLES["comparisons.csv"].columns)
    rows = pd.concat([rows, ranks(rows, compared)], axis="columns")
    rows = rows.merge(_used(facts, settings), "left", TEAMS)
    rows = rows.merge(beside_silence(facts, settings)[[*TEAMS, *SILENCE_NAMES]], "left", TEAMS)
    rows = rows.merge(_suites(facts), "left", "setting")
    oracle = _oracle(facts).merge(_suites(facts), "left", "setting")
    together = pd.concat([rows.assign(is_oracle=False), oracle.assign(is_oracle=True)])
    return together.sort_values(["setting", "is_oracle"], kind="stable")


def _suites(facts: Facts) -> pd.DataFrame:
    """Return a digest of each setting's scenarios; channels and limits of its first game."""
    games = facts.games.groupby("setting")
    digests = games["scenario_digest"].agg(
        lambda found: sha256("".join(sorted(set(found))).encode()).hexdigest()
    )
    first = games[["channels", "limits"]].first()
    return first.assign(suite_digest=digests).reset_index()


def _kinds(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Return the kinds of the players of every team, in the order of the tables by player."""
    rows = players(facts, settings)[["setting", "kind", "teams"]]
    sat = rows.assign(team=rows["teams"].str.split(" ")).explode("team")
    kinds = sat.drop_duplicates([*TEAMS, "kind"]).groupby(TEAMS, sort=False)["kind"].agg(" ".join)
    return kinds.rename("kinds").reset_index()


def ranks(rows: pd.DataFrame, compared: pd.DataFrame) -> pd.DataFrame:
    """Return ranks and letters of every measure.

    Args:
        rows: of the leaderboard, with ``kinds``.
        compared: pairs of teams, with the numbers as comparisons.csv shows them.

    Returns:
        Columns beside those of ``rows``; a team that is compared with nobody has none.
    """
    ranked = rows[rows["kinds"] != DEGENERATE]
    indices = ranked.groupby("setting").indices
    every = [np.asarray(places, dtype=np.int64) for places in indices.values()]
    found: dict[str, np.ndarray] = {}
    for measure, signs in zip(MEASURES, _signs(ranked, compared), strict=True):
        names = [f"{measure.name}{end}" for end in RANK_ENDS]
        columns = {name: np.full(len(rows), np.nan, dtype=object) for name in names}
        for own in every:
            teams = own[~np.isnan(signs[np.ix_(own, own)]).all(axis=1)]
            better = signs[np.ix_(teams, teams)]
            low, high, size = rank_ranges(better)
            letters = [" ".join(each) for each in compact_letters(better == 0, low)]
            for name, values in zip(names, (low, high, size, letters), strict=True):
                columns[name][ranked.index[teams]] = values
        found |= columns
    return pd.DataFrame(found, rows.index)


def _signs(teams: pd.DataFrame, pairs: pd.DataFrame) -> Floats:
    """Return whether the row's team is shown to be better than the column's: 1, or -1 if worse.

    0 where they are not told apart, be it because there are too few scenarios; not a number where
    nothing may be compared. By measure: ``[measure, team, team]``.
    """
    is_compared = pairs["verdict"].isin(COMPARED) | (pairs["remark"] == TOO_FEW_SCENARIOS)
    is_shown = pairs["verdict"] == DIFFERENT
    sign = np.where(is_compared, np.where(is_shown, np.sign(pairs["difference"]), 0.0), np.nan)
    places = pd.MultiIndex.from_frame(teams[TEAMS])
    first, second = (
        places.get_indexer(pd.MultiIndex.from_frame(pairs[["setting", side]]))
        for side in ("team_a", "team_b")
    )
    direction = {each.name: 1.0 if each.better == "higher" else -1.0 for each in MEASURES}
    sign = sign * pairs["measure"].map(direction).to_numpy(np.float64)
    measure = pd.Index(direction).get_indexer(pd.Index(pairs["measure"]))
    is_in = (first >= 0) & (second >= 0)
    signs = np.full((len(MEASURES), len(teams), len(teams)), np.nan)
    signs[measure[is_in], first[is_in], second[is_in]] = sign[is_in]
    signs[measure[is_in], second[is_in], first[is_in]] = -sign[is_in]
    return signs


def _used(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Return calls, tokens and price of every team, over its players."""
    rows = usage(facts, settings)
    names = [column.name for column in USAGE_COLUMNS[:-1]]
    totals = group_totals(rows[[*TEAMS, *names]], TEAMS)
    is_unknown = rows.assign(unknown=rows["price_usd"].isna()).groupby(TEAMS)["unknown"].any()
    games = leaderboard(facts, settings).set_index(TEAMS)["games"]
    totals = totals.set_index(TEAMS)
    price = totals["price_usd"].mask(is_unknown)
    per_game = price / games.where(games > 0)
    return totals.assign(price_usd=price, price_usd_per_game=per_game).reset_index()


def _oracle(facts: Facts) -> pd.DataFrame:
    """Return the measures of the best complete schedules.

    The excess of the oracle is 0 by definition. It knows all calendars and sends no messages, so
    messages and privacy loss do not apply to it.
    """
    names = [f"{name}{end}" for name in OF_ORACLE for end in ("", "_n", "_interval")]
    columns = [*TEAMS, "kinds", "scenarios", "exact", *names, "failure_cost", *OF_RATIO]
    return pd.DataFrame(_oracle_rows(facts), columns=columns)


def _oracle_rows(facts: Facts) -> Iterator[dict[str, object]]:
    known = facts.games.dropna(subset="optimum").drop_duplicates(["setting", "scenario_id"])
    agents = facts.frame("agents")[["game", "assigned"]]
    for setting, games in known.groupby("setting"):
        own = agents[agents["game"].isin(games.index)]
        num_seats, num_assigned = len(own), int((own["assigned"] > 0).sum())
        if num_assigned:
            ratio = (1.0, EXACT) if games["optimum"].any() else (None, None)
            counts = dict.fromkeys(OF_ORACLE, num_assigned)
            counts |= {"excess_cost": num_seats, "fairness": num_seats}
            yield {
                "setting": setting,
                "team": ORACLE,
                "kinds": REFERENCE,
                "scenarios": len(games),
                "exact": " ".join(OF_ORACLE),
                **dict.fromkeys((*OF_ORACLE, "failure_cost"), 0.0),
                "coordination": 100.0,
                **{f"{name}_interval": EXACT for name in OF_ORACLE},
                **{f"{name}_n": number for name, number in counts.items()},
                **dict(zip(OF_RATIO, ratio, strict=True)),
            }
