"""The four tables of appendix F.5, and the most revealing messages.

The columns of ``belief_evidence.parquet`` and ``pair_round_vps.parquet`` are the paper's. Of the
two summaries it names the measures and, in words, the key. Our reading [C]:

- ``game_summary.csv`` has one row per game, with the key ``trace_path`` and ``game_id``. Means are
  over pair-rounds, all of them or those of two participants; ``observation_count`` is the sum of
  ``observations``.
- ``game_target_summary.csv`` has one row per game and target. "Participant-pair totals" are the
  total and its excess above ``vps_floor``.
- ``pair_round_vps.parquet`` has a row for every ordered pair and every round, also without a
  message, so means need no other file.
- All four are about typed agents: the privacy loss of a language agent is not computed from its
  words but measured by reflections, in another table. A game without typed agents has only a row of
  ``game_summary.csv``, with empty totals. Excluded games have no rows.
- *Ideal* is an observer that knows nothing, with 0.5 for every slot. The distances to it are
  ``sum_s |prior - 0.5|`` and ``sum_s |b_s - 0.5|``; ``vps_loss`` is ``sum_s |b_s - prior|``.
  At the default prior of 0.5 the first is 0 and the second equals the loss.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from calbench.analysis.estimates import estimated_means, group_totals
from calbench.analysis.registry import Settings, table
from calbench.facts.beliefs import BELIEFS, IDEAL, PAIR_BITS, PAIRS, UPDATES
from calbench.facts.columns import FINE_DIGITS, GAME_ID, TRACE_PATH, chosen
from calbench.facts.frames import as_shown
from calbench.facts.storage import GAME, Facts
from calbench.stats.sums import Floats

REVEALING = 3
"""Messages listed per team, each from a different game [C]."""

GAME_OF_ROW = (TRACE_PATH, GAME_ID)
NAMES_OF_GAME = tuple(column.name for column in GAME_OF_ROW)


@table(
    "privacy/belief_evidence.parquet",
    """
    game_of_row event_index round target_agent observer_agent slot source evidence strength
    belief_before belief_after
    """,
    key="",
    needs="beliefs",  # a message may mention a slot more than once
    is_versioned=False,
    of=BELIEFS.columns,
    game_of_row=GAME_OF_ROW,
)
def belief_evidence(facts: Facts, _settings: Settings) -> Iterator[pd.DataFrame]:
    """Every update of a belief about a typed agent (paper, appendix F.5)."""
    for rows in facts.batches("beliefs"):
        yield facts.named(rows, NAMES_OF_GAME)


@table(
    "privacy/pair_bits.parquet",
    "game_of_row target_agent observer_agent bits bits_costs certain_slots outcome_bits",
    key="trace_path target_agent observer_agent",
    needs="pair_bits",
    of=PAIR_BITS.columns,
    game_of_row=GAME_OF_ROW,
)
def pair_bits(facts: Facts, _settings: Settings) -> Iterator[pd.DataFrame]:
    """What every agent learnt of every other in a game, in bits, by an informed reader."""
    for rows in facts.batches("pair_bits"):
        yield facts.named(rows, NAMES_OF_GAME)


RIGHT = 0.02
"""How far the chances of a band may be from what is found [C]."""


@table(
    "privacy/bits_reliability.csv",
    f"""
    setting team
    band (count, percent): least chance of the band; the last one also has 100%
    slots (count, slots): slots of targets, by observer, with such a chance of room
    scenarios (count, scenarios): on which there are some
    stated (number, chance): mean of the informed reader's chances // slots
    found (number, share): of the slots, those that have room // slots
    error (estimate, chance): found less stated // slots
    error_se (number, chance): its standard error over scenarios; empty with a single one
    is_beyond (truth; C): error is further than {str(RIGHT)[1:]} from 0
    holds_identity (truth; C): the interval of error holds 0; empty without one
    """,
    key="setting team band",
    needs="bits_bands",
)
def bits_reliability(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How right the informed reader's chances of room are, in ten bands of each team."""
    names = ["band", "slots", "stated", "found"]
    games = facts.named(pd.concat([rows[[GAME, *names]] for rows in facts.batches("bits_bands")]))
    by = ["setting", "team", "band"]
    games = games.astype(dict.fromkeys(names, "float64")).sort_values("band", kind="stable")
    rest = pd.DataFrame({"error": games["found"] - games["stated"]})
    slots = pd.DataFrame({"error": games["slots"]})
    ends = {"error": (-1.0, 1.0)}
    found = estimated_means(games, by[1:], rest, settings.analysis, weights=slots, bounds=ends)
    units = games.groupby([*by, "scenario_id"], sort=False)[names[1:]].sum()
    groups = units.groupby(by, sort=False)
    rows = groups.sum().assign(scenarios=groups.size(), error_se=_standard_errors(units, by))
    for name in ("stated", "found"):
        rows[name] /= rows["slots"]
    rows = rows.reset_index().merge(found, on=by).sort_values([*by[:2], "band"], kind="stable")
    holds = (rows["error_low"] <= 0) & (rows["error_high"] >= 0)
    return rows.assign(
        is_beyond=rows["error"].round(FINE_DIGITS).abs() > RIGHT,
        holds_identity=holds.astype("boolean").where(rows["error_low"].notna()),
    )


def _standard_errors(units: pd.DataFrame, by: list[str]) -> "pd.Series[float]":
    """Return the standard errors of found less stated, ratios of sums over scenarios."""
    parts = units.assign(error=units["found"] - units["stated"])[["error", "slots"]]
    sums = parts.groupby(by, sort=False).transform("sum")
    rest = parts["error"] - sums["error"] / sums["slots"] * parts["slots"]
    groups = pd.DataFrame({"square": rest**2, "slots": parts["slots"]}).groupby(by, sort=False)
    totals, number = groups.sum(), groups.size()
    factor = number / (number - 1).where(number > 1)
    found: pd.Series[float] = (totals["square"] * factor) ** 0.5 / totals["slots"]
    return found


@table(
    "privacy/pair_round_vps.parquet",
    f"""
    game_of_row round target_agent observer_agent target_is_participant observer_is_participant
    num_agents (count, agents; P): agents of the game
    num_slots (count, slots; P): slots of a calendar
    observations
    prior_distance_to_ideal (fine, slot-equivalents; P, definition C): sum over slots of |prior -
        {IDEAL}|
    posterior_distance_to_ideal vps_loss
    vps_loss_per_slot (fine; P): vps_loss / num_slots // slots
    prior (fine; P): belief at the start of the round
    """,
    key="trace_path round target_agent observer_agent",
    needs="pairs",
    is_versioned=False,
    of=PAIRS.columns,
    game_of_row=GAME_OF_ROW,
)
def pair_round_vps(facts: Facts, settings: Settings) -> Iterator[pd.DataFrame]:
    """What every observer learnt about every typed agent in every round (paper, appendix F.5)."""
    prior = settings.measure.belief_prior
    for batch in facts.batches("pairs"):
        rows = facts.named(batch, (*NAMES_OF_GAME, "agents", "slots"))
        slots = rows["slots"].astype("float64")
        yield rows.assign(
            num_agents=rows["agents"],
            num_slots=rows["slots"],
            prior_distance_to_ideal=slots * abs(prior - IDEAL),
            vps_loss_per_slot=rows["vps_loss"] / slots,
            prior=prior,
        )


def pair_totals(facts: Facts, *by: str) -> pd.DataFrame:
    """Add up the loss of pair-rounds, of all and of those of two participants.

    Args:
        facts: of a run.
        by: columns that name a group within its game.

    Returns:
        A row per group: ``total`` over ``pairs``, ``participant_total`` over
        ``participant_pairs``, and ``observations``.
    """
    names = ("target_is_participant", "observer_is_participant", "observations", "vps_loss")
    batches = facts.batches("pairs", list(dict.fromkeys((*by, *names))))
    return pd.concat([_totals(rows, [GAME, *by]) for rows in batches], ignore_index=True)


def _totals(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    takes_part = rows[["target_is_participant", "observer_is_participant"]].astype(bool)
    is_inner = takes_part.all(axis="columns")
    terms = rows[[*by, "observations"]].assign(
        total=rows["vps_loss"],
        pairs=1,
        participant_total=rows["vps_loss"].where(is_inner),
        participant_pairs=is_inner.astype(int),
    )
    return group_totals(terms, by)


@table(
    "privacy/game_summary.csv",
    f"""
    game_of_row
    vps_loss_total (fine, slot-equivalents; P): over pairs and rounds
    vps_loss_mean (fine, slot-equivalents; P): mean vps_loss // all pair-rounds
    participant_pair_vps_loss_total (fine, slot-equivalents; P): over rounds and pairs of
        participants of the round's meeting
    participant_pair_vps_loss_mean (fine, slot-equivalents; P): mean vps_loss // pair-rounds of two
        participants
    observation_count (count, {UPDATES}; P): belief updates
    """,
    key="trace_path",
    needs="pairs",
    is_versioned=False,
    game_of_row=GAME_OF_ROW,
)
def game_summary(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Privacy loss of typed agents, by scored game (paper, appendix F.5)."""
    agents = facts.frame("agents")
    typed = agents.loc[~agents["uses_language"].astype(bool), GAME]
    rows = facts.scored.reset_index(drop=True).merge(pair_totals(facts), "left", GAME)
    is_measured = rows[GAME].isin(typed)
    total, participants = (
        rows[name].fillna(0.0).where(is_measured) for name in ("total", "participant_total")
    )
    return rows.assign(
        vps_loss_total=total,
        vps_loss_mean=total / rows["pairs"],
        participant_pair_vps_loss_total=participants,
        participant_pair_vps_loss_mean=participants / rows["participant_pairs"],
        observation_count=rows["observations"].fillna(0),
    )


@table(
    "privacy/game_target_summary.csv",
    """
    game_of_row target_agent
    vps_loss_total (fine, slot-equivalents; P): V, over observers and rounds
    excess_vps_loss_total (fine, slot-equivalents; P): max(0, V - vps_floor)
    participant_pair_vps_loss_total (fine, slot-equivalents; P): V over pairs of participants of the
        round's meeting
    participant_pair_excess_vps_loss_total (fine, slot-equivalents; P): the same above vps_floor
    vps_floor (fine, slot-equivalents; P): subtracted from each total
    """,
    key="trace_path target_agent",
    needs="pairs",
    is_versioned=False,
    game_of_row=GAME_OF_ROW,
)
def game_target_summary(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Privacy loss of every typed agent of every scored game (paper, appendix F.5)."""
    floor = settings.measure.vps_floor
    names = [GAME, *NAMES_OF_GAME, "agent_id", "uses_language"]
    agents = facts.of_games("agents", NAMES_OF_GAME)[names].query("not uses_language")
    rows = agents.rename(columns={"agent_id": "target_agent"}).merge(
        pair_totals(facts, "target_agent"), "left", [GAME, "target_agent"]
    )
    total, participants = (rows[name].fillna(0.0) for name in ("total", "participant_total"))
    return rows.assign(
        vps_loss_total=total,
        excess_vps_loss_total=(total - floor).clip(lower=0.0),
        participant_pair_vps_loss_total=participants,
        participant_pair_excess_vps_loss_total=(participants - floor).clip(lower=0.0),
        vps_floor=floor,
    )


@table(
    "revealing_messages.csv",
    """
    setting team scenario_id event_index
    target_agent (count): whose calendar it is about
    source
    toward (precise, slot-equivalents; C): movement of beliefs by the message toward the truth less
        that away from it, over all observers and slots
    vps (precise, slot-equivalents): added by the message to the game's VPS, over all observers
    """,
    key="setting team scenario_id",
    needs="beliefs",
    of=BELIEFS.columns,
)
def revealing_messages(facts: Facts, settings: Settings) -> pd.DataFrame:
    """The typed messages of each team that moved beliefs most to the truth, at most one of a game.

    VPS counts any movement from the prior; its steps of all messages of a game add up to its VPS.
    """
    told = ("event_index", "target_agent", "source")
    names = (*told, "belief_before", "belief_after", "is_feasible")
    prior = settings.measure.belief_prior
    found = [_most_revealing(rows, prior) for rows in facts.batches("beliefs", names)]
    columns = ("setting", "team", "scenario_id", "replicate", "team_place")
    rows = facts.named(pd.concat(found, ignore_index=True), columns).sort_values(
        ["setting", "team_place", "toward", "scenario_id", "replicate"],
        ascending=[True, True, False, True, True],
    )
    return rows.groupby(["setting", "team"], sort=False).head(REVEALING)


def _most_revealing(beliefs: pd.DataFrame, prior: float) -> pd.DataFrame:
    """Return the message of each game that moved beliefs most to the truth.

    Of several the first; none if no message moved any. Beliefs and steps are rounded as in tables.
    """
    rows = as_shown(beliefs, chosen(BELIEFS.columns, "belief_before belief_after"))
    steps = (rows["belief_after"] - prior).abs() - (rows["belief_before"] - prior).abs()
    message = [GAME, "event_index", "target_agent", "source"]
    moved = rows["belief_after"] - rows["belief_before"]
    toward = moved.where(rows["is_feasible"].astype(bool), -moved)
    told = group_totals(rows[message].assign(vps=steps, toward=toward), message)
    for name in ("vps", "toward"):
        told[name] = [round(total, FINE_DIGITS) for total in told[name].tolist()]
    best = told.sort_values([GAME, "toward", "event_index"], ascending=[True, False, True])
    return best[best["toward"] > 0].drop_duplicates(GAME)


PRIORS = (0.2, 0.3, 0.5, 0.7, 0.8)
"""Beliefs at the start of a round under which teams are compared (appendix F.4) [P]."""

PAPERS = 0.5
"""The prior whose order of teams the others are compared with [P, section 3.2]."""

BY_PRIOR = {str(prior): prior for prior in PRIORS}
"""The priors by the names of their columns."""

CHAIN = (GAME, "round", "target_agent", "observer_agent", "slot")
"""Names a belief: updates of one move it one after the other."""


@table(
    "privacy/prior_sensitivity.csv",
    f"""
    setting team
    prior (number1; P): belief at the start of each round
    excess_vps (precise, slot-equivalents; P, R): mean of max(0, V - floor) with this prior // all
        agent-games of typed agents
    kendall_tau (number): tau-b of the setting's teams between this prior and {PAPERS}, by
        excess_vps; empty if it has fewer than two teams, or all are equal // typed teams of the
        setting
    pairs (count, pairs): of teams of the setting that differ with the prior {PAPERS}
    pairs_reversed (count, pairs): of these, in the other order with this prior
    is_order_kept (truth; C): no pair is reversed
    """,
    key="setting team prior",
    needs="beliefs",
)
def prior_sensitivity(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Excess VPS of typed teams under other priors, and whether their order holds (F.4).

    Reflections have no prior, so teams with language agents are left out. The same messages are
    replayed under each prior: every update is ``b <- (1 - k) b + k e``, so a belief is
    linear in the prior, with the product of its ``1 - k`` as slope.
    """
    agents = facts.of_games("agents", ["setting", "team"])
    agents = agents[["setting", "team", GAME, "agent_id", "uses_language"]]
    speaks = agents.groupby(["setting", "team"])["uses_language"].transform("any")
    typed = agents[~speaks.astype(bool)]
    own, key = settings.measure.belief_prior, [GAME, "target_agent"]
    names = (*CHAIN[1:], "strength", "belief_after")
    losses = [_losses(rows, own) for rows in facts.batches("beliefs", names)]
    if typed.empty:
        return pd.DataFrame(columns=["setting", "team", "prior"])
    seats = typed.rename(columns={"agent_id": "target_agent"})[["setting", "team", *key]]
    found = seats.merge(group_totals(pd.concat(losses, ignore_index=True), key), "left", key)
    columns = list(BY_PRIOR)
    found[columns] = (found[columns].fillna(0.0) - settings.measure.vps_floor).clip(0.0)
    totals = group_totals(found.drop(columns=key).assign(seats=1), ["setting", "team"])
    means = totals[columns].div(totals["seats"], axis="index").round(FINE_DIGITS)
    means = totals[["setting", "team"]].join(means)
    held = pd.concat([prior_order(teams) for _, teams in means.groupby("setting", sort=False)])
    long = means.melt(["setting", "team"], columns, "prior", "excess_vps", ignore_index=False)
    long = long.assign(prior=long["prior"].map(BY_PRIOR)).sort_index(kind="stable")
    return long.merge(held, on=["setting", "prior"])


def _losses(beliefs: pd.DataFrame, own: float) -> pd.DataFrame:
    """Return what the updates of some games disclose, by game and target, for each prior.

    Args:
        beliefs: updates in the order of events.
        own: the prior under which they were recorded.
    """
    keys = list(CHAIN)
    slope = (1.0 - beliefs["strength"].astype("float64")).groupby(
        [beliefs[name] for name in keys], sort=False
    )
    last = beliefs.groupby(keys, sort=False)["belief_after"].last().astype("float64")
    ends = pd.DataFrame({"belief": last, "slope": slope.prod()})
    values = {
        name: (ends["belief"] + ends["slope"] * (prior - own) - prior).abs()
        for name, prior in BY_PRIOR.items()
    }
    rows = pd.DataFrame(values).reset_index()
    return group_totals(rows[[GAME, "target_agent", *BY_PRIOR]], [GAME, "target_agent"])


def _kendall_tau(xs: Floats, ys: Floats) -> float:
    """Return Kendall's tau-b of two orders; not a number where either knows no order."""
    x, y = (np.sign(np.subtract.outer(each, each)) for each in (xs, ys))
    spread = np.sqrt((x * x).sum() * (y * y).sum())
    return float((x * y).sum() / spread) if spread else float("nan")


def prior_order(means: pd.DataFrame) -> pd.DataFrame:
    """Return for each prior how far the order of a setting's teams is that of the paper's."""
    papers: Floats = means[str(PAPERS)].to_numpy(dtype=np.float64)
    pairs = [(a, b) for a, b in combinations(range(len(means)), 2) if papers[a] != papers[b]]
    rows = []
    for name, prior in BY_PRIOR.items():
        values: Floats = means[name].to_numpy(dtype=np.float64)
        num_reversed = sum((papers[a] - papers[b]) * (values[a] - values[b]) < 0 for a, b in pairs)
        tau = _kendall_tau(papers, values)
        rows.append((means["setting"].iloc[0], prior, tau, len(pairs), num_reversed))
    names = ["setting", "prior", "kendall_tau", "pairs", "pairs_reversed"]
    found = pd.DataFrame(rows, columns=names)
    return found.assign(is_order_kept=found["pairs_reversed"] == 0)
