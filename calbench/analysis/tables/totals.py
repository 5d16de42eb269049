"""Teams as the paper's Tables 2 and 16 have them: in its authors' measures, and over draws."""

from math import fsum
from typing import Any

import pandas as pd

from calbench.analysis.estimates import estimated_means
from calbench.analysis.measures import MIXED, joint_kind
from calbench.analysis.registry import Settings, table
from calbench.analysis.tables.difficulty import DRAW
from calbench.facts.columns import columns
from calbench.facts.frames import empty
from calbench.facts.games import AUTHORS
from calbench.facts.storage import KEY, Facts

MEANS = [column.name for column in AUTHORS.columns if column.name != "is_sampled"]

OPTIMUM = "oracle_cost"
"""Column of games with the least cost, beside which the burden of a replay stands."""


@table(
    "authors.csv",
    """
    setting team
    games (count, games): games scored in which these measures are defined
    excess (estimate, accounting cost; R): mean of max(0, D) over agents and games // games
    excess_least (number, accounting cost; C): mean of the least over all best schedules // games
    excess_greatest (number, accounting cost; C): mean of the greatest // games
    excess_mean (number, accounting cost; C): mean if each best schedule has the same chance //
        games
    fairness (estimate, accounting cost; R): mean of |D - mean D| over agents and games // games
    fairness_least (number, accounting cost; C): mean of the least over all best schedules // games
    fairness_greatest (number, accounting cost; C): mean of the greatest // games
    fairness_mean (number, accounting cost; C): mean if each best schedule has the same chance //
        games
    messages (estimate, messages; R): mean of messages sent / max(1, S) // games
    burden (number, accounting cost per game; R): of the best schedule that is played // games
    optimum (number, accounting cost per game; P): least cost of the same meetings // games
    sampled (count, games; C): of these, with best schedules that were not played
    """,
    key="setting team",
)
def authors(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Every team in the measures of the authors' release, and what equal optima would change."""
    rows = facts.of_games("authors", (*KEY, OPTIMUM))
    values = rows[MEANS].assign(optimum=rows[OPTIMUM])
    found = estimated_means(rows, ["team"], values, settings.analysis)
    counts = rows.groupby(["setting", "team"], sort=False)["is_sampled"].agg(["size", "sum"])
    counts = counts.rename(columns={"size": "games", "sum": "sampled"}).reset_index()
    return found.merge(counts, "left", ["setting", "team"])


ENDS = ("mean", "least", "greatest")
"""Statistics over all draws, in the place where a draw has its seed."""

TOTALS = columns(f"""
    team
    draw (text): seed of the draw of every suite, or over these draws {", ".join(ENDS)}
    settings (list): the suites, whose games of the draw are added up
    games (count, games; P): games scored; of one draw, in a row over draws
    vps_kind
    vps (number, slot-equivalents; P): sum of V over all agents of these games, before the floor
    """)


@table("vps_totals.csv", TOTALS, key="team draw")
def vps_totals(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Sums of V over the games of each draw of a run's suites, all suites of one seed together.

    A draw that lacks a suite or has games of several instruments or of unknown loss has no row.
    """
    games = facts.scored
    names = games["setting"].str.extract(DRAW)
    drawn = games.assign(suite=names[0], draw=names[1]).dropna(subset="suite")
    suites = set(drawn["suite"])
    rows = []
    for team, played in drawn.groupby("team", sort=False):
        draws = {str(draw): own for draw, own in played.groupby("draw", sort=False)}
        sums = [
            {"team": team, "draw": draw, **_sum(draws[draw])}
            for draw in sorted(draws, key=int)
            if set(draws[draw]["suite"]) == suites and _is_known(draws[draw])
        ]
        rows += [*sums, *_over_draws(sums)]
    return pd.DataFrame(rows) if rows else empty(TOTALS)


def _is_known(games: pd.DataFrame) -> bool:
    """Return whether the loss of every game is known and one instrument measured them."""
    return bool(games["vps"].notna().all()) and joint_kind(games["vps_kind"]) not in {None, MIXED}


def _sum(games: pd.DataFrame) -> dict[str, Any]:
    return {
        "settings": " ".join(sorted(set(games["suite"]))),
        "games": len(games),
        "vps_kind": games["vps_kind"].iloc[0],
        "vps": fsum(games["vps"].astype("float64")),
    }


def _over_draws(sums: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows over a team's draws, if there are several."""
    if len({each["vps_kind"] for each in sums}) != 1 or len(sums) < 2:
        return []
    found = [each["vps"] for each in sums]
    values = (fsum(found) / len(found), min(found), max(found))
    games = {each["games"] for each in sums}
    one = {**sums[0], "games": games.pop() if len(games) == 1 else None}
    return [{**one, "draw": end, "vps": vps} for end, vps in zip(ENDS, values, strict=True)]
