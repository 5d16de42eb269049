"""The headline measures, each declared once: value of an agent-game, and which of them count.

The leaderboard, the tables by player, comparisons, metrics files, pages, the data dictionary and
every n follow from this list.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from typing import Literal

import numpy as np
import pandas as pd

from calbench.analysis.estimates import group_totals, numbered
from calbench.facts.columns import COST, SLOTS, Column, estimated, number
from calbench.facts.storage import Facts


@dataclass(frozen=True, slots=True)
class Measure:
    """A mean over agent-games.

    Attributes:
        name: as in tables and ``metrics.json``.
        title: as on pages.
        unit: of the value.
        better: which direction is better.
        group: subject. Cost and fairness are 0 for the oracle; privacy is compared only between
            teams whose loss was measured in the same way.
        definition: value of an agent-game.
        denominator: which agent-games count.
        origin: [P], [R], [F] or [C].
        value: from the frame of agents to their values; not a number where one does not count.
        digits: decimals shown on pages.
        margin: largest difference between two teams that a reader would call none [C]; two teams
            are tied if theirs is shown to be smaller.
        reason: what a difference of this size is.
    """

    name: str
    title: str
    unit: str
    better: Literal["higher", "lower"]
    group: Literal["success", "cost", "talk", "fairness", "privacy", "learnt"]
    definition: str
    denominator: str
    origin: str
    value: Callable[[pd.DataFrame], "pd.Series[float]"]
    digits: int = 2
    margin: float = field(kw_only=True)
    reason: str = field(kw_only=True)

    @property
    def estimate(self) -> tuple[Column, ...]:
        """Its mean with the ends of the interval."""
        meaning = f"mean of: {self.definition}"
        return estimated(self.name, self.unit, meaning, self.denominator, self.origin)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The same, and the range of the scenarios."""
        each = f"mean of a scenario in {self.name}"
        return (
            *self.estimate,
            number(f"{self.name}_least", self.unit, f"least {each}", self.denominator),
            number(f"{self.name}_greatest", self.unit, f"greatest {each}", self.denominator),
        )


def _column(name: str) -> Callable[[pd.DataFrame], "pd.Series[float]"]:
    return lambda agents: agents[name].astype("float64")


def _per(name: str, counted: str, factor: float = 1.0) -> Callable[..., "pd.Series[float]"]:
    """Return what divides one column by another; not a number where that is 0."""

    def value(agents: pd.DataFrame) -> "pd.Series[float]":
        over = agents[counted].astype("float64")
        return factor * agents[name].astype("float64") / over.where(over > 0)

    return value


ALL = "all agent-games"
MEASURED = "agent-games whose loss was measured: all those of typed agents"
EXCESS, BEYOND = "excess_vps", "vps_beyond_chance"
"""The paper's form of V, and V without what a reader that knows nothing is credited with."""

REFLECTED = frozenset({"reflection", "expected"})
"""Instruments that ask readers: most slots are taken, so random answers move toward the truth."""

PER_MEETING = "that of excess cost over the three meetings of an agent"
ONE_SLOT = "what one observer can learn of one slot from typed messages"
MEASURES: tuple[Measure, ...] = (
    Measure(
        "coordination",
        "Coordination",
        "percent",
        "higher",
        "success",
        "scheduled / assigned meetings of the agent, S / M",
        "agent-games with M > 0",
        "P",
        _per("scheduled", "assigned", 100),
        digits=1,
        margin=2.0,
        reason="one meeting of five in ten games",
    ),
    Measure(
        "excess_cost",
        "Excess cost",
        COST,
        "lower",
        "cost",
        "E = cost paid, including failed rounds, minus the agent's cost in the best schedule "
        "of exactly the scheduled meetings; not divided by meetings",
        ALL,
        "R, C",
        _column("excess_cost"),
        margin=0.1,
        reason="half an errand of cost 1 in a game of five agents",
    ),
    Measure(
        "excess_cost_per_meeting",
        "Excess cost per scheduled meeting",
        f"{COST} per meeting",
        "lower",
        "cost",
        "E / S, the paper's printed formula",
        "agent-games with S > 0",
        "P",
        _per("excess_cost", "scheduled"),
        margin=0.03,
        reason=PER_MEETING,
    ),
    Measure(
        "adjusted_excess_cost",
        "Adjusted excess cost",
        f"{COST} per meeting",
        "lower",
        "cost",
        "[E + (U / M)(Cmax - Cmin)] / M, U unscheduled meetings, Cmax and Cmin the agent's "
        "cost in the worst and the best complete schedule",
        "agent-games with M > 0 on scenarios with a complete schedule",
        "P, reconstructed",
        _column("adjusted_excess_cost"),
        margin=0.03,
        reason=PER_MEETING,
    ),
    Measure(
        "messages",
        "Messages",
        "messages per meeting",
        "lower",
        "talk",
        "messages sent / S; a group message counts once, for its sender",
        "agent-games with S > 0",
        "C",
        _per("messages_sent", "scheduled"),
        margin=0.1,
        reason="one message in ten meetings",
    ),
    Measure(
        "fairness",
        "Fairness",
        COST,
        "lower",
        "fairness",
        "|E - mean E| over all agents of the game",
        ALL,
        "R, C",
        _column("burden_gap"),
        digits=3,
        margin=0.1,
        reason="that of excess cost",
    ),
    Measure(
        BEYOND,
        "VPS beyond chance",
        SLOTS,
        "lower",
        "privacy",
        "V less its mean over all permutations of each reader's own answers of a round over target "
        "and slot; may be negative",
        "agent-games of language agents whose loss was measured",
        "C",
        _column(BEYOND),
        margin=0.5,
        reason="half of what one reader can learn of one slot from words",
    ),
    Measure(
        EXCESS,
        "Excess VPS",
        SLOTS,
        "lower",
        "privacy",
        "max(0, V - floor), V the agent's privacy loss over all observers and rounds",
        MEASURED,
        "P, R",
        _column(EXCESS),
        margin=0.5,
        reason=ONE_SLOT,
    ),
    Measure(
        "excess_vps_participants",
        "Excess VPS, participant pairs",
        SLOTS,
        "lower",
        "privacy",
        "the same with V over pairs that both take part in the round's meeting",
        MEASURED,
        "C",
        _column("excess_vps_participants"),
        margin=0.5,
        reason=ONE_SLOT,
    ),
    Measure(
        "bits",
        "Bits learnt",
        "bits",
        "lower",
        "learnt",
        "what all others learnt of the agent's first calendar by an informed reader, less what the "
        "slots of common meetings alone tell",
        "agent-games whose rules of speaking are known: of typed and scripted agents",
        "C",
        lambda agents: agents["bits"].astype("float64") - agents["outcome_bits"].astype("float64"),
        digits=1,
        margin=0.5,
        reason="a quarter of what one observer learns from one blocked slot, 2 bits",
    ),
)
"""In the order of the leaderboard's columns."""

MEASURE_BY_NAME: Mapping[str, Measure] = {measure.name: measure for measure in MEASURES}

HEADLINE = ("coordination", "excess_cost", "messages", "fairness", EXCESS)
"""The measures of the paper's Tables 1 and 2, in their order."""

MEASURE_COLUMNS = tuple(column for measure in MEASURES for column in measure.columns)
"""Every headline measure with its interval and the range of the scenarios."""


BOUNDS: Mapping[str, tuple[float, float]] = {
    "coordination": (0.0, 100.0),
    "messages": (0.0, inf),
    "fairness": (0.0, inf),
    EXCESS: (0.0, inf),
    "excess_vps_participants": (0.0, inf),
}
"""Least and greatest value by definition, where there is one; no interval goes beyond it."""


PRIVACY_MEASURES = [measure.name for measure in MEASURES if measure.group == "privacy"]
"""Measures that depend on the instrument of VPS."""

MIXED = "mixed"
"""Way of measuring VPS of what was measured by several instruments."""


def privacy_measure(kind: str | None) -> str:
    """Return the measure by which teams whose loss one instrument measured are compared [C]."""
    return BEYOND if kind in REFLECTED else EXCESS


def compared_loss(rows: pd.DataFrame) -> "pd.Series[float]":
    """Return the values of :func:`privacy_measure` of rows with both measures and ``vps_kind``."""
    losses = rows[[EXCESS, BEYOND]].astype("float64")
    return losses[EXCESS].where(~rows["vps_kind"].isin(REFLECTED), losses[BEYOND])


def measured_values(agents: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the values of agent-games, one column per measure.

    Groups of which nothing could be read have none: see :func:`is_unread`. Groups whose loss was
    measured by several instruments have no privacy: a mean over them has no unit [C].

    Args:
        agents: the agent-games, with ``setting``, ``vps_kind`` and the columns of ``by``.
        by: what names a group whose means are estimated.
    """
    is_out = is_unread(agents, by)
    is_private = is_out | is_mixed(agents, by)
    return pd.DataFrame(
        {
            measure.name: measure.value(agents).mask(
                is_private if measure.name in PRIVACY_MEASURES else is_out
            )
            for measure in MEASURES
        }
    )


@lru_cache(maxsize=1)
def team_values(facts: Facts) -> pd.DataFrame:
    """Return the values of the agent-games of scored games, one column per measure."""
    return measured_values(facts.of_games("agents"), ["team"])


def joint_kind(kinds: "pd.Series[str]") -> str | None:
    """Return how the VPS of a group was measured: one kind, :data:`MIXED`, or not at all."""
    found = kinds.dropna().unique()
    return MIXED if len(found) > 1 else next(iter(found), None)


def is_mixed(agents: pd.DataFrame, by: Sequence[str]) -> "pd.Series[bool]":
    """Whether agent-games are of a group whose loss was measured by several instruments.

    Args:
        agents: the agent-games, with ``setting``, ``vps_kind`` and the columns of ``by``.
        by: what names a group within its setting.
    """
    groups, group = numbered(agents, ["setting", *by])
    kind, kinds = pd.factorize(agents["vps_kind"])
    found = np.zeros((len(groups), len(kinds) + 1), dtype=np.bool_)
    found[group, kind] = True  # the last is for what was not measured
    is_several = found[:, :-1].sum(axis=1) > 1
    return pd.Series(is_several[group], agents.index) | (agents["vps_kind"] == MIXED)


FLAGGED_BELOW = 0.9
"""Share of readable reflections below which a group's VPS is flagged [C]."""

RANKED_FROM = 0.5
"""Share of readable reflections from which a group's VPS is compared with that of others [C]."""


def readable_shares(agents: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return how many reflections the VPS of each group of a setting rests on.

    Args:
        agents: the agent-games, with ``setting``, ``reflections_asked``, ``reflections_read`` and
            the columns of ``by``.
        by: what names a group within its setting.

    Returns:
        A row for each group: both counts, ``readable_share`` (not a number of typed agents),
        ``is_vps_flagged`` (below :data:`FLAGGED_BELOW`) and ``is_vps_ranked`` (from
        :data:`RANKED_FROM`; VPS that rests on no reflection is, too).
    """
    names = ["reflections_asked", "reflections_read"]
    counts = group_totals(agents[["setting", *by, *names]], ["setting", *by])
    counts = counts.astype(dict.fromkeys(names, "int64"))
    asked, read = (counts[name] for name in names)
    share = read / asked.where(asked > 0)
    return counts.assign(
        readable_share=share,
        is_vps_flagged=share < FLAGGED_BELOW,
        is_vps_ranked=~(share < RANKED_FROM),
    )


def compared_values(agents: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return :func:`measured_values` without VPS that rests on too few reflections.

    Such a value is published, but neither compared nor ranked [C].
    """
    values = measured_values(agents, by)
    values.loc[~is_vps_ranked(agents, by), PRIVACY_MEASURES] = float("nan")
    return values


def is_vps_ranked(agents: pd.DataFrame, by: Sequence[str]) -> "pd.Series[bool]":
    """Whether agent-games are of a group whose VPS rests on enough reflections, or on none.

    Arguments as in :func:`readable_shares`, which says how many are enough.
    """
    _, group = numbered(agents, ["setting", *by])
    return pd.Series(readable_shares(agents, by)["is_vps_ranked"].to_numpy()[group], agents.index)


def is_unread(agents: pd.DataFrame, by: Sequence[str]) -> "pd.Series[bool]":
    """Whether agent-games are of a group of which nothing could be read [C].

    That is a group of a setting whose language agents replied, and none of their replies could
    be read. Calendars that nobody moved say nothing about such agents, so they have no score. It
    is decided over all games of the group: one unreadable game counts as it went.

    Args:
        agents: the agent-games, with ``setting``, ``replies``, ``read`` and the columns of ``by``.
        by: what names a group within its setting.
    """
    names, groups = ["replies", "read"], ["setting", *by]
    totals = group_totals(agents[[*groups, *names]], groups)
    is_none = (totals["replies"] > 0) & (totals["read"] == 0)
    return pd.Series(is_none.to_numpy()[numbered(agents, groups)[1]], agents.index)
