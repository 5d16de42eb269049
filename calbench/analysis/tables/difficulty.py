"""Difficulty of scenarios and its effect; length of messages; several draws of a suite."""

from functools import lru_cache

import pandas as pd

from calbench.analysis.estimates import scenario_sums
from calbench.analysis.hardness import (
    FRACTION,
    MEASURES,
    PREDICTORS,
    chosen,
    correlated,
    scenario_values,
    suites_of,
    why_none,
)
from calbench.analysis.measures import HEADLINE, is_unread
from calbench.analysis.rating_pools import ALL
from calbench.analysis.registry import TABLES, Settings, table
from calbench.analysis.tables.leaderboard import TEAMS, leaderboard, sensitivity
from calbench.facts.columns import columns, text
from calbench.facts.frames import as_shown
from calbench.facts.storage import Facts
from calbench.scenarios.difficulty import TERTILES
from calbench.stats.resampling import adjusted_p_values

UNCUT = "all"
"""Label of scenarios without a tertile."""

TERTILE = text("tertile", "third of the candidates by feasible fraction; all: as drawn", "P")


def thirds(games: pd.DataFrame) -> "pd.Series[pd.CategoricalDtype[str]]":
    """Return the third of each game's scenario, as a category in the order of tables."""
    named = games["tertile"].fillna(UNCUT)
    return named.astype(pd.CategoricalDtype([*TERTILES, UNCUT], ordered=True))


@table(
    "difficulty.csv",
    """
    setting tertile
    scenarios (count, scenarios): of the suite
    least (number10; P): feasible fraction of the hardest scenario
    median (number10): median of the feasible fractions
    greatest (number10; P): feasible fraction of the easiest scenario
    """,
    key="setting tertile",
    of=[TERTILE],
)
def difficulty(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Range and median of the scenarios' feasible fractions, by setting and third."""
    scenarios = facts.games.drop_duplicates(["setting", "scenario_id"])
    known = scenarios.dropna(subset="feasible_fraction")
    fractions = known.assign(tertile=thirds(known)).groupby(["setting", "tertile"], observed=True)
    found = fractions["feasible_fraction"].agg(["size", "min", "median", "max"]).reset_index()
    return found.rename(columns={"size": "scenarios", "min": "least", "max": "greatest"})


QUANTITIES = ["excess_cost", "scheduled"]
BOUNDS = {"scheduled": (0.0, 1.0)}
PER_MEETING = "bytes per meeting"


@table(
    "games_by_third.csv",
    """
    setting tertile team
    games (count, games): games scored
    excess_cost (estimate, accounting cost; R, C): mean over games, all agents together // games
    scheduled (estimate, share; P): share of meetings that were scheduled // meetings
    """,
    key="setting tertile team",
    of=[TERTILE],
)
def games_by_third(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Excess cost and scheduled meetings by team and third of difficulty.

    Teams of whose replies none could be read are left out.
    """
    agents = facts.of_games("agents")
    unread = agents.loc[is_unread(agents, ["team"]), "game"]
    scored = facts.scored[~facts.scored.index.isin(unread)]
    games = scored.assign(tertile=thirds(scored), games=1.0)
    found = []
    for third, own in games.groupby("tertile", observed=True):
        weights = own[["games", "meetings"]].set_axis(QUANTITIES, axis="columns")
        sums = scenario_sums(own, ["team_place", "team"], own[QUANTITIES], weights)
        found.append(sums.means(settings.analysis, bounds=BOUNDS).assign(tertile=third))
    if not found:
        return pd.DataFrame()
    rows = pd.concat(found).sort_values(["setting"], kind="stable")
    return rows.assign(games=rows["excess_cost_n"])


RHO = columns("""
    rho (number): Spearman's rank correlation of harder with worse, within settings; positive: teams
        fare worse where scenarios are harder // scenarios
    rho_low (number): lower end of its interval, by Fisher's z; none where a value never varies in
        one of the settings // scenarios
    rho_high (number): upper end of its interval, likewise // scenarios
    p (number): two-sided p-value of no correlation, by permutations' variance // scenarios
    """)
MEASURE = text(
    "measure", "; ".join(f"{each.name}: worse is {each.meaning}" for each in MEASURES), "C"
)


@table(
    "difficulty_effects.csv",
    """
    setting (text): setting of the scenarios, or all of them: all, correlated within each
    team measure
    scenarios (count, scenarios): that have both values
    rho
    p_adjusted (number): Benjamini-Hochberg over all rows of the table
    no_rho (text; C): why there is none; few: fewer than 10 scenarios; same: one value in all
        scenarios
    """,
    key="setting team measure",
    of=[MEASURE],
    rho=RHO,
)
def difficulty_effects(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How the feasible fraction of scenarios goes with what teams make of them."""
    values = known_values(facts)
    found = values[values[FRACTION].notna()]
    every = [(str(setting), own) for setting, own in found.groupby("setting", sort=True)]
    if len(every) > 1:
        every.append((ALL, found))
    if not every:
        return pd.DataFrame()
    rows = pd.DataFrame(
        [
            {"setting": setting, "team": team, "measure": measure.name}
            | _row(own, FRACTION, measure.name, settings)
            for setting, rows in every
            for (_, team), own in rows.groupby(["team_place", "team"], sort=True)
            for measure in MEASURES
        ]
    )
    return rows.assign(p_adjusted=adjusted_p_values(rows["p"].to_numpy("float64")))


@lru_cache(maxsize=1)
def known_values(facts: Facts) -> pd.DataFrame:
    """Return the values of scenarios and of those teams of whom something could be read."""
    agents = facts.of_games("agents")
    unread = agents.loc[is_unread(agents, ["team"]), "game"]
    ranges = agents.groupby("game")["cost_range"].sum(min_count=1)
    games = facts.scored[~facts.scored.index.isin(unread)]
    return scenario_values(games.assign(cost_range=ranges.reindex(games.index)))


def _row(own: pd.DataFrame, predictor: str, measure: str, settings: Settings) -> dict[str, object]:
    found = correlated(own, predictor, measure, settings.analysis.confidence)
    return {
        "scenarios": found.num_units,
        "rho": found.rho,
        "rho_low": found.low,
        "rho_high": found.high,
        "p": found.p,
        "no_rho": "" if found.num_units else why_none(own, predictor, measure),
    }


@table(
    "difficulty_predictors.csv",
    f"""
    team measure
    predictor (text; C): {"; ".join(f"{p.name}: harder is, {p.meaning}" for p in PREDICTORS)}
    chosen_on (text): setting of the scenarios on which predictors are chosen: the first
    rho_there (number): rho on these scenarios // scenarios
    is_chosen (truth; C): of all predictors the one with the greatest rho there, in size
    tested_on (list): settings of the scenarios on which they are tested: the others
    scenarios (count, scenarios): of these, that have both values
    rho
    p_adjusted (number): of chosen ones: p among those of all teams and measures, false discovery
        rate (Benjamini-Hochberg)
    is_confirmed (truth; C): chosen, significant here, and of the same sign on both
    """,
    key="team measure predictor",
    of=[MEASURE],
    rho=RHO,
)
def difficulty_predictors(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Predictors of difficulty, chosen on one suite and tested on others, for every team."""
    values = known_values(facts)
    suites = suites_of(values)
    if len(suites) < 2:
        return pd.DataFrame()
    chosen_on, *tested_on = suites
    first = values[values["setting"] == chosen_on]
    rest = values[values["setting"].isin(tested_on)]
    found = pd.DataFrame(
        [
            row
            for (_, team), own in first.groupby(["team_place", "team"], sort=True)
            for measure in MEASURES
            for row in _tested(team, measure.name, own, rest[rest["team"] == team], settings)
        ]
    ).assign(chosen_on=chosen_on, tested_on=" ".join(tested_on))
    adjusted = adjusted_p_values(found["p"].where(found["is_chosen"]).to_numpy(dtype="float64"))
    is_same = (found["rho"] > 0) == (found["rho_there"] > 0)
    is_significant = adjusted < 1 - settings.analysis.confidence
    return found.assign(
        p_adjusted=adjusted, is_confirmed=found["is_chosen"] & is_significant & is_same
    )


def _tested(
    team: object, measure: str, first: pd.DataFrame, rest: pd.DataFrame, settings: Settings
) -> list[dict[str, object]]:
    """Return the predictors of a team's measure that have a correlation on the first suite."""
    confidence = settings.analysis.confidence
    there = [correlated(first, each.name, measure, confidence) for each in PREDICTORS]
    best = chosen(there)
    return [
        {
            "team": team,
            "measure": measure,
            "predictor": predictor.name,
            "rho_there": found.rho,
            "is_chosen": place == best,
            **_row(rest, predictor.name, measure, settings),
        }
        for place, (predictor, found) in enumerate(zip(PREDICTORS, there, strict=True))
        if found.num_units
    ]


@table(
    "scale_bytes.csv",
    f"""
    setting team
    agents (count, agents): of a game
    games (count, games): games scored
    meetings (count, meetings): of these games, scheduled or not
    message_bytes (count, bytes): contents of all messages as JSON in UTF-8
    bytes_per_meeting (number2, {PER_MEETING}): message_bytes / meetings // meetings
    least (number2, {PER_MEETING}): of the game with the least
    greatest (number2, {PER_MEETING}): of the game with the most
    """,
    key="setting team",
)
def scale_bytes(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Bytes of messages per meeting, by team."""
    games = facts.scored.assign(games=1)
    games["per_meeting"] = games["message_bytes"] / games["meetings"]
    groups = games.groupby(["setting", "team_place", "team"])
    found = groups[["games", "meetings", "message_bytes"]].sum()
    ends = groups["per_meeting"].agg(["min", "max"])
    return found.assign(
        agents=groups["agents"].max(),
        bytes_per_meeting=found["message_bytes"] / found["meetings"],
        least=ends["min"],
        greatest=ends["max"],
    ).reset_index()


FAIRNESS_ENDS = ("fairness_least", "fairness_greatest")
"""Either end of fairness over equally cheap optimal schedules."""

DRAW = r"(.+)-seed([0-9]+)"
"""A setting that is one of several draws of a suite, and its seed."""


@table(
    "draws.csv",
    """
    setting team
    suites (count, suites): draws of the suite with different seeds
    measure (text): a measure, or fairness_least or fairness_greatest
    mean (number, of the measure): mean over the draws // suites
    least (number, of the measure): of the draw with the least
    greatest (number, of the measure): of the draw with the greatest
    """,
    key="setting team measure",
)
def draws(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Mean, least and greatest of every measure of Table 2 over the draws of each suite.

    The values are those in the tables of the single draws.
    """
    shown = [
        as_shown(leaderboard(facts, settings), TABLES["leaderboard.csv"].columns),
        as_shown(sensitivity(facts, settings), TABLES["sensitivity.csv"].columns),
    ]
    values = pd.concat(
        [
            rows.melt(TEAMS, list(names), "measure", "value", ignore_index=False)
            for rows, names in zip(shown, (HEADLINE, FAIRNESS_ENDS), strict=True)
        ]
    ).dropna(subset="value")
    place = {name: number for number, name in enumerate((*HEADLINE, *FAIRNESS_ENDS))}
    drawn = values.assign(
        setting=values["setting"].str.extract(DRAW)[0],
        team_place=pd.factorize(values["team"])[0],
        place=values["measure"].map(place),
    ).dropna(subset="setting")
    by = ["setting", "team_place", "team", "place", "measure"]
    found = drawn.groupby(by)["value"].agg(["size", "mean", "min", "max"]).reset_index()
    return found.rename(columns={"size": "suites", "min": "least", "max": "greatest"})
