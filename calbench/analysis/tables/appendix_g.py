"""The paper's further results by player: regret, first speakers, talk and moves (appendix G)."""

import numpy as np
import pandas as pd

from calbench.analysis.estimates import ScenarioSums, group_totals, scenario_sums
from calbench.analysis.settings import Settings
from calbench.analysis.tables.leaderboard import joint_kind
from calbench.analysis.tables.players import (
    BY,
    IDENTITY,
    TEAMS,
    player_means,
    scored_seats,
    with_teams,
)
from calbench.analysis.tables.registry import table
from calbench.facts.columns import (
    COST,
    PLAYER,
    PLAYER_KIND,
    SETTING,
    VPS_KIND,
    Column,
    count,
    estimated,
    number,
    text,
)
from calbench.facts.storage import Facts
from calbench.metrics.agent_rounds import ROLES
from calbench.stats.multiplicity import adjusted_p_values
from calbench.stats.permutation import sign_flip_p_values
from calbench.stats.proportions import wilson
from calbench.stats.spec import AnalysisSpec

SEATS = (SETTING, PLAYER, PLAYER_KIND, TEAMS)
FULL = "agent-games with M > 0 and all M meetings scheduled"
QUANTITY = "unit of the quantity"


def _share(name: str, meaning: str) -> tuple[Column, ...]:
    interval = "of its Wilson interval, which takes seats as independent"
    return (
        number(name, "", f"{meaning}, as a share of 1", FULL, "P"),
        number(f"{name}_low", "", f"lower end {interval}", FULL),
        number(f"{name}_high", "", f"upper end {interval}", FULL),
    )


@table(
    "completion_regret.csv",
    (
        *SEATS,
        count("seats", "agent-games", "seats with meetings, M > 0", "P"),
        count("full_seats", "agent-games", "of these, all M scheduled", "P"),
        count("scenarios", "scenarios", "those with a full seat"),
        *estimated("mean_excess", f"{COST} per meeting", "mean of E / S", FULL, "P"),
        *_share("nonzero_regret", "full seats with E other than 0"),
        *_share("positive_regret", "full seats with E above 0"),
    ),
    key="setting player kind teams",
)
def completion_regret(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Excess cost of the seats that got all their meetings (appendix G.1, Table 11)."""
    seats = scored_seats(facts)
    assigned, excess = seats["assigned"], seats["excess_cost"].astype("float64")
    is_full = ((assigned > 0) & (assigned == seats["scheduled"])).astype(bool)
    values = pd.DataFrame({"mean_excess": (excess / seats["scheduled"]).where(is_full)})
    counts = seats[BY].assign(
        seats=(assigned > 0).astype("float64"),
        full_seats=is_full.astype("float64"),
        nonzero=(is_full & (excess != 0)).astype("float64"),
        positive=(is_full & (excess > 0)).astype("float64"),
    )
    rows = player_means(facts, settings, seats, values).merge(group_totals(counts, BY), "left", BY)
    rows = rows.rename(columns={"mean_excess_scenarios": "scenarios"})
    return rows.assign(
        **{
            f"{name}_regret{end}": part
            for name in ("nonzero", "positive")
            for end, part in _shares(rows[name], rows["full_seats"], settings.analysis).items()
        }
    )


def _shares(
    found: "pd.Series[float]", of: "pd.Series[float]", spec: AnalysisSpec
) -> dict[str, list[float]]:
    """Return shares with the ends of their Wilson intervals; not a number of nothing."""
    shares = [
        wilson(int(successes), int(trials), spec) or (np.nan, np.nan, np.nan)
        for successes, trials in zip(found, of, strict=True)
    ]
    return {end: [share[n] for share in shares] for n, end in enumerate(("", "_low", "_high"))}


PARTS = ("first", "subsequent", "difference")
"""As first speaker, otherwise, and the difference within an agent-game."""

QUANTITIES = ("vps", "excess_cost")


@table(
    "first_speaker.csv",
    (
        *SEATS,
        text(
            "quantity",
            "vps: slot-equivalents leaked in the meeting's round to all observers, before any "
            "floor; excess_cost: what the agent paid in the round of a scheduled meeting less the "
            "cost of what stood at the start in the slot that the oracle gives the meeting",
            "P, F",
        ),
        count("first", "agent-meetings", "the agent speaks first", "P"),
        count("subsequent", "agent-meetings", "another participant does", "P"),
        *estimated("first_mean", QUANTITY, "mean as first speaker", "first", "P"),
        *estimated("subsequent_mean", QUANTITY, "mean otherwise", "subsequent", "P"),
        count("pairs", "agent-games", "with agent-meetings of both kinds"),
        count("scenarios", "scenarios", "those with such an agent-game"),
        *estimated(
            "difference",
            QUANTITY,
            "mean within the agent-game as first speaker less that otherwise",
            "pairs",
            "P, pairing C",
        ),
        number("p", "", "two-sided, paired permutation test over scenarios", "pairs"),
        number("p_adjusted", "", "Benjamini-Hochberg over all rows of the table", "", "P"),
        VPS_KIND,
    ),
    key="setting player kind teams quantity",
)
def first_speaker(facts: Facts, settings: Settings) -> pd.DataFrame:
    """What it costs to speak first (appendix G.2, Table 12).

    The unit is a participating agent-meeting. An agent that was first in some meetings of a game
    and followed in others is its own control: the mean of the former less that of the latter.
    """
    seats, spec = scored_seats(facts), settings.analysis
    rows, values = _roles(seats, facts.frame("rounds"))
    found = [
        _of_quantity(sums, quantity, spec)
        for sums in scenario_sums(rows, IDENTITY, values)
        for quantity in QUANTITIES
    ]
    if not found:
        return pd.DataFrame()
    kinds = seats.groupby(BY, dropna=False)["vps_kind"].agg(joint_kind).reset_index()
    means = pd.concat(found)
    table_rows = with_teams(seats).merge(kinds, "left", BY).merge(means, "inner", BY)
    p_values = table_rows["p"].where(table_rows["pairs"] > 0)
    return table_rows.assign(
        p=p_values,
        p_adjusted=adjusted_p_values(p_values.to_numpy(dtype=np.float64)),
        vps_kind=table_rows["vps_kind"].where(table_rows["quantity"] == "vps"),
    )


def _roles(seats: pd.DataFrame, rounds: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return rows of agent-meetings and of agent-games, and what each adds to the means.

    Values of agent-meetings stand under ``<quantity>/first`` or ``<quantity>/subsequent``, the
    difference within an agent-game under ``<quantity>/difference``.
    """
    identity = seats[["game", "agent_id", "scenario_id", *BY]]
    meetings = identity.merge(rounds[rounds["role"] != "outsider"], "inner", ["game", "agent_id"])
    by_meeting, by_game = {}, {}
    for quantity in QUANTITIES:
        values = meetings[quantity].astype("float64")
        mean_by_role = {}
        for role in PARTS[:2]:
            own = values.where(meetings["role"] == role)
            by_meeting[f"{quantity}/{role}"] = own
            rows = meetings[["game", "agent_id"]].assign(value=own, n=own.notna().astype("float64"))
            totals = group_totals(rows, ["game", "agent_id"])
            mean = totals["value"] / totals["n"].where(totals["n"] > 0)
            mean_by_role[role] = totals[["game", "agent_id"]].assign(mean=mean)
        both = identity.merge(mean_by_role["first"], "left", ["game", "agent_id"]).merge(
            mean_by_role["subsequent"], "left", ["game", "agent_id"], suffixes=("", "_otherwise")
        )
        by_game[f"{quantity}/difference"] = both["mean"] - both["mean_otherwise"]
    rows = pd.concat([meetings[identity.columns], identity], ignore_index=True)
    return rows, pd.concat([pd.DataFrame(by_meeting), pd.DataFrame(by_game)], ignore_index=True)


def _of_quantity(sums: ScenarioSums, quantity: str, spec: AnalysisSpec) -> pd.DataFrame:
    """Estimate the three parts of one quantity, and test the difference, a row a player.

    In each scenario the roles change places or do not.
    """
    means = sums.means(spec)
    found = means[[*BY]].assign(
        quantity=quantity,
        p=sign_flip_p_values(sums.of(f"{quantity}/difference").totals, spec),
    )
    for part, name, counted in zip(
        PARTS,
        ("first_mean", "subsequent_mean", "difference"),
        ("first", "subsequent", "pairs"),
        strict=True,
    ):
        for end in ("", "_low", "_high"):
            found[f"{name}{end}"] = means[f"{quantity}/{part}{end}"]
        found[counted] = means[f"{quantity}/{part}_n"]
    return found.assign(scenarios=means[f"{quantity}/difference_scenarios"])


@table(
    "messages_by_meeting.csv",
    (
        *SEATS,
        Column("meeting_index", "integer", "", "place of the meeting in the stream, from 0"),
        text(
            "role",
            f"of the agent in the meeting: {', '.join(ROLES)}; an outsider takes no part in it",
            "P, outsider C",
        ),
        count("agent_rounds", "agent-rounds", "agents in this role and meeting"),
        count("scenarios", "scenarios", "those with such an agent"),
        *estimated(
            "messages", "messages", "mean of messages sent in the round", "agent_rounds", "P"
        ),
    ),
    key="setting player kind teams meeting_index role",
)
def messages_by_meeting(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Messages by meeting and by role in it (appendix G.3)."""
    identity = scored_seats(facts)[["game", "agent_id", "scenario_id", *BY]]
    rows = identity.merge(facts.frame("rounds"), "inner", ["game", "agent_id"])
    values = rows[["messages"]].astype("float64")
    found = player_means(facts, settings, rows, values, "round", "role")
    found["role_place"] = found["role"].map({role: place for place, role in enumerate(ROLES)})
    order = ["setting", "team_place", "player", "kind", "settings_digest", "round", "role_place"]
    return found.sort_values(order).rename(
        columns={
            "round": "meeting_index",
            "messages_n": "agent_rounds",
            "messages_scenarios": "scenarios",
        }
    )


@table(
    "prior_moves.csv",
    (
        *SEATS,
        count("agent_games", "agent-games", "seats it took in games scored", "P"),
        count("scenarios", "scenarios", "of these games"),
        *estimated(
            "meetings_moved",
            "meetings",
            "mean number of distinct meetings that the agent moved: prior meetings of the "
            "scenario, and those scheduled in an earlier round",
            "all agent-games",
            "P",
        ),
        *estimated(
            "copies_moved",
            "meetings",
            "the same of copies of meetings that had failed",
            "all agent-games",
            "C",
        ),
    ),
    key="setting player kind teams",
)
def prior_moves(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Earlier meetings that were moved again (appendix G.4, Figure 9)."""
    seats = scored_seats(facts)
    values = seats[["meetings_moved", "copies_moved"]].astype("float64")
    found = player_means(facts, settings, seats, values)
    return found.rename(
        columns={"meetings_moved_n": "agent_games", "meetings_moved_scenarios": "scenarios"}
    )
