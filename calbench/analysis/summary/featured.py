"""Games worth opening first, chosen by rule: the trace browser's list of featured games.

A rule ranks games, and its best game of each kind of team is a candidate; the two best candidates
are in the table [C]. Games are those that the trace browser has, of teams that are compared;
baselines that play badly on purpose and games that count in no table are left out. Among equals
the first one in the order of experiments, settings, teams and scenarios is taken.

``sensitive_leak``
    The message that told most labels of the most sensitive tier; the earlier in its game the
    better.
``optimum_lost``
    The event that raised the least cost still reachable furthest above the optimum.
``broken_meeting``
    The resolution after which most meetings agreed on before were no longer in place, of those
    that ``audit_cases.csv`` shows for each team.
``cheapest_secret``
    The game with all meetings at the least cost and the least excess VPS (of reflections: VPS
    beyond chance), of equals the one where
    the optimum costs most. The optimum costs at least one for each meeting: games in which nobody
    has to give up anything show nothing. VPS of several instruments is not compared, so its
    candidates are the best of each instrument.
``largest_regret``
    The game with the largest excess cost; its event is the one that put the optimum out of reach.
"""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from calbench.analysis.measures import compared_loss
from calbench.analysis.summary.runs import EXPERIMENT, Runs, RunTables, summary
from calbench.analysis.verdicts import DEGENERATE
from calbench.facts.columns import columns
from calbench.scenarios.labels import TIERS

FEATURED = "featured_games.csv"

MOST = 2
"""Games of a rule [C]."""

BROKEN = "earlier_meeting_broken"
"""Outcome of the round after which an earlier meeting was not in place, and no other fault."""

GAME = ["setting", "team", "scenario_id"]
"""Columns that name a game of a run."""

PLAYED = (
    "meetings scheduled cost oracle_cost excess_cost messages excess_vps vps_beyond_chance vps_kind"
)
"""What sentences say of every game (``games.csv``)."""


def _games(run: RunTables) -> pd.DataFrame:
    """Return the games of a run that can be featured, with the kind of each team."""
    games, standings = run.named("games.csv"), run.named("standings.csv")
    if games.empty or standings.empty:
        return pd.DataFrame()
    kinds = standings[["setting", "team", "kinds"]].drop_duplicates(["setting", "team"])
    rows = games[["experiment", *GAME, "is_excluded", *PLAYED.split()]].merge(
        kinds, "left", ["setting", "team"]
    )
    is_played = rows["kinds"].notna() & ~rows["kinds"].fillna("").str.contains(DEGENERATE)
    is_counted = ~rows["is_excluded"].astype(bool)
    return rows[is_played & is_counted & rows["scenario_id"].isin(run.steppable(rows))]


def _joined(run: RunTables, path: str, names: str, **renamed: str) -> pd.DataFrame:
    """Return columns of one of a run's tables with what is known of its games."""
    games, rows = _games(run), run.named(path)
    if games.empty or rows.empty:
        return pd.DataFrame()
    return rows[[*GAME, *names.split()]].rename(columns=renamed).merge(games, "inner", GAME)


def _leaks(run: RunTables) -> pd.DataFrame:
    tier = TIERS[-1]
    rows = _joined(
        run, "leaking_messages.csv", f"event_index round sender words {tier}", sender="agent_id"
    )
    rows = rows if rows.empty else rows[rows[tier] > 0]
    if rows.empty:  # and an empty column of text stays text, whatever it is mapped to
        return rows
    return rows.assign(amount=rows[tier], tier=tier, label=rows["words"])


def _losses(run: RunTables) -> pd.DataFrame:
    rows = _joined(run, "regret_by_game.csv", "optimum event_index round agent_id least_cost_after")
    if rows.empty:
        return rows
    amount = rows["least_cost_after"] - rows["optimum"]
    return rows.assign(amount=amount)[amount > 0]


def _breaks(run: RunTables) -> pd.DataFrame:
    cases = _joined(run, "audit_cases.csv", "kind name event_index round")
    meetings = run.named("meetings.csv")
    if cases.empty or meetings.empty:
        return pd.DataFrame()
    cases = cases[(cases["kind"] == "outcome") & (cases["name"] == BROKEN)]
    # A case may be of a later game of the team on the scenario; then the first one has no such row.
    rounds = meetings[meetings["outcome"] == BROKEN]
    by = ["team", "scenario_id", "round"]
    rows = cases.drop(columns=["kind", "name"]).merge(
        rounds[[*by, "meeting_id", "broken_meetings"]], "inner", by
    )
    return rows.assign(amount=[len(ids.split()) for ids in rows["broken_meetings"]])


def _secrets(run: RunTables) -> pd.DataFrame:
    rows = _games(run)
    if rows.empty:
        return rows
    is_best = (rows["scheduled"] == rows["meetings"]) & (rows["excess_cost"] == 0)
    is_hard = rows["oracle_cost"] >= rows["meetings"]
    is_measured = compared_loss(rows).notna() & rows["vps_kind"].notna()
    found = rows[is_best & is_hard & is_measured]
    return found.assign(amount=compared_loss(found), optimum=found["oracle_cost"])


def _regrets(run: RunTables) -> pd.DataFrame:
    rows = _joined(run, "regret_by_game.csv", "optimum event_index round agent_id least_cost_after")
    if rows.empty:
        return rows
    return rows.assign(amount=rows["excess_cost"])[rows["excess_cost"] > 0]


RULES: Mapping[str, tuple[Callable[[RunTables], pd.DataFrame], str, Sequence[tuple[str, bool]]]] = {
    "sensitive_leak": (_leaks, "kinds", (("amount", False), ("event_index", True))),
    "optimum_lost": (_losses, "kinds", (("amount", False),)),
    "broken_meeting": (_breaks, "kinds", (("amount", False),)),
    "cheapest_secret": (_secrets, "vps_kind", (("amount", True), ("optimum", False))),
    "largest_regret": (_regrets, "kinds", (("amount", False),)),
}
"""Each rule: what makes its candidates, of what groups the best ones are taken, and what ranks
them, with whether less is better."""


COLUMNS = columns(
    """
    rule (text; C): why the game is in the list; the method page has the rules
    place (count): place among the games of the rule, from 1
    experiment setting team
    kind (text; C): of the team's players: protocol, scripted, model or custom
    scenario_id
    event_index (count): event that the rule is about, from 0; empty: the whole game
    round
    agent_id (count; -): agent that sent the message, or whose batch it was
    amount (fine): what the rule ranks by: labels of the most sensitive tier, cost added to the
        least that is still reachable, meetings broken, excess VPS (of reflections VPS beyond
        chance), or excess cost
    label (text; C): words of the message that told labels of any tier, a slash between them
    tier (text; C): of the labels that are counted in amount
    meeting_id (count; -): meeting of the round that left the others broken
    broken_meetings (text; C): meetings agreed on before that were no longer in place
    optimum (count, accounting cost): least cost of all meetings
    least_cost_after (count, accounting cost): least cost still reachable after the event
    meetings (count, meetings): of the game
    scheduled (count, meetings): of these, scheduled
    cost (count, accounting cost; P): paid by all agents
    oracle_cost (count, accounting cost; P): least cost of the scheduled meetings
    excess_cost (count, accounting cost; R, C): cost - oracle_cost
    messages (count, messages; P): sent by all agents
    excess_vps (precise, slot-equivalents; P, R): mean of max(0, V - floor) // measured agents
    vps_beyond_chance (precise, slot-equivalents): of reflections, mean of V beyond chance //
        measured agents
    vps_kind
    """,
    of=[EXPERIMENT],
)


@summary(FEATURED, COLUMNS, key="rule place")
def featured_games(runs: Runs) -> pd.DataFrame:
    """Games worth opening first, at most two for each of five rules, that the trace browser has."""
    found = [part for rule in RULES if len(part := _chosen(rule, runs.compared))]
    if not found:
        return pd.DataFrame()
    return pd.concat(found, ignore_index=True).reindex(columns=[each.name for each in COLUMNS])


def _chosen(rule: str, runs: Sequence[RunTables]) -> pd.DataFrame:
    """Return the games of a rule, the best first."""
    make, group, order = RULES[rule]
    parts = [rows for run in runs if len(rows := make(run))]
    if not parts:
        return pd.DataFrame()
    by, is_rising = [name for name, _ in order], [each for _, each in order]
    rows = pd.concat(parts, ignore_index=True)
    ranked = rows.sort_values(by, ascending=is_rising, kind="stable").drop_duplicates(group)
    if group == "vps_kind":  # of several instruments none is the better one
        ranked = ranked.sort_index()
    best = ranked.head(MOST)
    return best.assign(rule=rule, place=range(1, len(best) + 1), kind=best["kinds"])
