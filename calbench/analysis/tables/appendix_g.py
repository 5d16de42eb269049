"""Further results of the paper by player: regret, first speakers, talk and moves (appendix G)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
import pandas as pd

from calbench.analysis.estimates import (
    ENDS,
    ScenarioSums,
    estimated_shares,
    group_totals,
    numbers,
    scenario_sums,
)
from calbench.analysis.measures import joint_kind
from calbench.analysis.registry import Settings, table
from calbench.analysis.tables.players import (
    NUMBER,
    ORDER,
    TEAMS,
    player_means,
    scored_players,
    scored_seats,
)
from calbench.facts.columns import PLAYER, PLAYER_KIND, SETTING, Column, columns
from calbench.facts.storage import REPLICATES, Facts
from calbench.metrics.outcomes import ROLES
from calbench.stats.resampling import adjusted_p_values, sign_flip_p_values
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Floats, grouped_sums

SEATS = (SETTING, PLAYER, PLAYER_KIND, TEAMS)
FULL = "agent-games with M > 0 and all M meetings scheduled"
QUANTITY = "unit of the quantity"


@table(
    "completion_regret.csv",
    f"""
    seats
    seats (count, agent-games; P): seats with meetings, M > 0
    full_seats (count, agent-games; P): of these, all M scheduled
    scenarios (count, scenarios): with a full seat
    mean_excess (estimate, accounting cost per meeting; P, scale C): mean of E / S // {FULL}
    nonzero_regret (share; P): full seats with E other than 0 // {FULL}
    positive_regret (share; P): full seats with E above 0 // {FULL}
    mean_excess_shown (estimate, shown cost per meeting; P, scale F): mean of E / S, E by the costs
        that agents are shown: the paper's scale // {FULL}
    """,
    key="setting player kind teams",
    seats=SEATS,
)
def completion_regret(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Excess cost of seats with all their meetings scheduled (appendix G.1, Table 11)."""
    seats = scored_seats(facts)
    assigned, excess = seats["assigned"], seats["excess_cost"].astype("float64")
    is_full = ((assigned > 0) & (assigned == seats["scheduled"])).astype(bool)
    shown = seats["shown_excess_cost"].astype("float64")
    values = pd.DataFrame(
        {
            "mean_excess": (excess / seats["scheduled"]).where(is_full),
            "mean_excess_shown": (shown / seats["scheduled"]).where(is_full),
        }
    )
    counts = seats[[NUMBER]].assign(
        seats=(assigned > 0).astype("float64"), full_seats=is_full.astype("float64")
    )
    regretful = pd.DataFrame(
        {
            "nonzero_regret": (is_full & (excess != 0)).astype("float64"),
            "positive_regret": (is_full & (excess > 0)).astype("float64"),
        }
    )
    trials = pd.DataFrame(dict.fromkeys(regretful, counts["full_seats"]))
    shares = estimated_shares(seats, [NUMBER], regretful, trials, settings.analysis)
    rows = player_means(facts, settings, seats, values)
    rows = rows.merge(group_totals(counts, [NUMBER]), "left", NUMBER)
    shares = shares.drop(columns="setting")
    return rows.rename(columns={"mean_excess_scenarios": "scenarios"}).merge(shares, "left", NUMBER)


QUANTITIES = ("vps", "excess_cost", "shown_excess_cost")


@dataclass(frozen=True)
class _Roles:
    """Two roles of participants that are compared.

    Attributes:
        lead: columns of the first role; their means end in ``_mean``.
        rest: of the other.
        leads: what an agent of the first role is in the meeting, in words.
        follows: what one of the other role is.
        origin: of the columns.
    """

    lead: str
    rest: str
    leads: str
    follows: str
    origin: str

    @property
    def parts(self) -> Mapping[str, tuple[str, str]]:
        """By part of a quantity: the columns of its mean and of its n."""
        return {
            "lead": (f"{self.lead}_mean", self.lead),
            "rest": (f"{self.rest}_mean", self.rest),
            "difference": ("difference", "pairs"),
        }

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the table."""
        return columns(
            f"""
            seats
            quantity (text; P, F): vps: slot-equivalents leaked in the meeting's round to all
                observers, before any floor; excess_cost: paid by the agent in the round of a
                scheduled meeting minus the cost of the items that were at the start in the oracle's
                slot for the meeting; shown_excess_cost: the same by the costs that agents are
                shown, the paper's scale
            {self.lead} (count, agent-meetings; {self.origin}): {self.leads}
            {self.rest} (count, agent-meetings; {self.origin}): {self.follows}
            {self.lead}_mean (estimate, {QUANTITY}; {self.origin}): mean so // {self.lead}
            {self.rest}_mean (estimate, {QUANTITY}; {self.origin}): mean otherwise // {self.rest}
            pairs (count, agent-games): with agent-meetings of both kinds
            scenarios (count, scenarios): with such an agent-game
            difference (estimate, {QUANTITY}; {self.origin}, pairing C): mean within the agent-game
                in the first role minus that in the other // pairs
            p (number): two-sided, paired permutation test over scenarios // pairs
            p_adjusted (number; P): Benjamini-Hochberg over the quantity's rows
            vps_kind
            """,
            seats=SEATS,
        )


SPEAKERS = _Roles("first", "subsequent", "the agent speaks first", "another participant does", "P")
INITIATORS = _Roles(
    "initiator",
    "others",
    "the agent has the meeting's lowest id: a protocol's initiator, whoever speaks first",
    "another participant has",
    "C",
)


@table("first_speaker.csv", SPEAKERS.columns, key="setting player kind teams quantity")
def first_speaker(facts: Facts, settings: Settings) -> pd.DataFrame:
    """VPS and excess cost as first speaker and otherwise (appendix G.2, Table 12).

    The unit is a participating agent-meeting. An agent that spoke first in some meetings of a game
    and not in others is its own control: the mean of the former minus that of the latter.
    """
    return _compared(facts, settings, SPEAKERS, lambda rows: rows["role"] == "first")


@table("initiator.csv", INITIATORS.columns, key="setting player kind teams quantity")
def initiator(facts: Facts, settings: Settings) -> pd.DataFrame:
    """VPS and excess cost as initiator of a meeting and otherwise, as for first speakers.

    The initiator, the participant with the lowest id, speaks first in about a third of meetings.
    """
    return _compared(facts, settings, INITIATORS, itemgetter("is_initiator"))


def _rounds(facts: Facts, *names: str) -> Iterator[pd.DataFrame]:
    """Yield columns of the rounds of some games, with ``place``, that of the seat."""
    games = scored_seats(facts)["game"].to_numpy(np.int64)
    for rounds in facts.batches("rounds", ["agent_id", *names]):
        first = np.searchsorted(games, rounds.pop("game").to_numpy(np.int64))
        yield rounds.assign(place=first + rounds.pop("agent_id").to_numpy(np.int64))


IsLead = Callable[[pd.DataFrame], "pd.Series[bool]"]
"""Says of each of some agent-meetings whether the agent is in the first of two roles."""


def _compared(facts: Facts, settings: Settings, roles: _Roles, is_lead: IsLead) -> pd.DataFrame:
    """Return the table of two roles."""
    seats = scored_seats(facts)
    values, weights = _values(facts, is_lead)
    sums = scenario_sums(seats, [NUMBER], values, weights)
    found = _estimates(sums, roles, settings.analysis)
    kinds = seats.groupby(NUMBER)["vps_kind"].agg(joint_kind).reset_index()
    players = scored_players(facts).merge(kinds, "left", NUMBER)
    table_rows = players.merge(found, "inner", ["setting", NUMBER])
    p_values = table_rows["p"].where(table_rows["pairs"] > 0).astype("float64")
    adjusted = p_values.groupby(table_rows["quantity"]).transform(
        lambda own: adjusted_p_values(own.to_numpy())
    )
    return table_rows.assign(
        p=p_values,
        p_adjusted=adjusted,
        vps_kind=table_rows["vps_kind"].where(table_rows["quantity"] == "vps"),
    )


def _values(facts: Facts, is_lead: IsLead) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the values of agent-games, and the weight of each in its mean.

    In ``<quantity>/lead`` and ``<quantity>/rest`` is the sum over the agent-meetings in a role,
    which weigh 1 each; in ``<quantity>/difference`` that of both means within the agent-game.
    """
    shape = (len(scored_seats(facts)), 2, len(QUANTITIES))
    totals, counts = np.zeros(shape), np.zeros(shape)
    for rows in _rounds(facts, "role", "is_initiator", *QUANTITIES):
        own = rows[rows["role"] != "outsider"]
        seats, seat = np.unique(own["place"].to_numpy(), return_inverse=True)
        role = 2 * seat + is_lead(own).to_numpy(dtype=np.int64)
        sums = grouped_sums(numbers(own[[*QUANTITIES]]), role, 2 * len(seats))
        totals[seats], counts[seats] = (each.reshape(-1, *shape[1:]) for each in sums)
    with np.errstate(invalid="ignore"):
        difference = np.subtract(*np.moveaxis(totals / counts, 1, 0)[::-1])
    values: dict[str, Floats] = {}
    weights: dict[str, Floats] = {}
    for place, quantity in enumerate(QUANTITIES):
        for part, side in (("lead", 1), ("rest", 0)):
            values[f"{quantity}/{part}"] = totals[:, side, place]
            weights[f"{quantity}/{part}"] = counts[:, side, place]
        values[f"{quantity}/difference"] = difference[:, place]
        weights[f"{quantity}/difference"] = ~np.isnan(difference[:, place])
    return pd.DataFrame(values), pd.DataFrame(weights)


def _estimates(sums: ScenarioSums, roles: _Roles, spec: AnalysisSpec) -> pd.DataFrame:
    """Return estimates of the three parts of each quantity and its test, by setting and player.

    The test swaps the roles, scenario by scenario.
    """
    means = sums.means(spec)
    differences = [sums.of(f"{quantity}/difference").totals for quantity in QUANTITIES]
    p_values = np.split(sign_flip_p_values(np.hstack(differences), spec), len(QUANTITIES))
    found = []
    for quantity, p in zip(QUANTITIES, p_values, strict=True):
        cells = {**sums.groups, "quantity": quantity, "p": p}
        for part, (name, counted) in roles.parts.items():
            cells |= {f"{name}{end}": means[f"{quantity}/{part}{end}"] for end in ENDS}
            cells[counted] = means[f"{quantity}/{part}_n"]
        cells["scenarios"] = means[f"{quantity}/difference_scenarios"]
        found.append(pd.DataFrame(cells))
    return pd.concat(found).sort_values("setting", kind="stable")


@table(
    "messages_by_meeting.csv",
    f"""
    seats
    meeting_index (count; -): number of the meeting in the stream, from 0
    role (text; P, outsider C): of the agent in the meeting: {", ".join(ROLES)}; an outsider is not
        in it
    agent_rounds (count, agent-rounds): agents in this role and meeting
    scenarios (count, scenarios): with such an agent
    messages (estimate, messages; P): mean of messages sent in the round // agent_rounds
    """,
    key="setting player kind teams meeting_index role",
    seats=SEATS,
)
def messages_by_meeting(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Messages by meeting and role in it (appendix G.3)."""
    rounds = pd.concat(_rounds(facts, "round", "role", "messages"), ignore_index=True)
    seats = scored_seats(facts)[["setting", "scenario_id", REPLICATES, NUMBER]]
    parts = []
    for _, own in rounds.groupby("round"):  # one by one: there may be millions of rows
        rows = seats.iloc[own["place"]].reset_index(drop=True).join(own.reset_index(drop=True))
        values = rows[["messages"]].astype("float64")
        parts.append(player_means(facts, settings, rows, values, "round", "role"))
    if not parts:
        return pd.DataFrame()
    found = pd.concat(parts)
    found["role_place"] = found["role"].map(ROLES.index)
    return found.sort_values([*ORDER, "round", "role_place"]).rename(
        columns={
            "round": "meeting_index",
            "messages_n": "agent_rounds",
            "messages_scenarios": "scenarios",
        }
    )


@table(
    "prior_moves.csv",
    """
    seats
    agent_games (count, agent-games; P): its seats in games scored
    scenarios (count, scenarios): of these games
    meetings_moved (estimate, meetings; P): mean number of distinct meetings that the agent moved:
        prior meetings of the scenario, and those scheduled in an earlier round // all agent-games
    copies_moved (estimate, meetings): the same for copies of meetings that failed // all
        agent-games
    """,
    key="setting player kind teams",
    seats=SEATS,
)
def prior_moves(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Earlier meetings that were moved (appendix G.4, Figure 9)."""
    seats = scored_seats(facts)
    values = seats[["meetings_moved", "copies_moved"]].astype("float64")
    found = player_means(facts, settings, seats, values)
    return found.rename(
        columns={"meetings_moved_n": "agent_games", "meetings_moved_scenarios": "scenarios"}
    )
