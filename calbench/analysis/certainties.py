"""Measures that have one value by construction: what a protocol does leaves no other.

Such a value needs no interval, and none would be true: every scenario gives the same, played or
not. Each is declared here with its reason, and tests hold it against random scenarios, among them
those in which meetings fail. A value that merely came out the same in all scenarios is none.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calbench.analysis.measures import MEASURE_BY_NAME, MEASURES
from calbench.facts.columns import listed
from calbench.facts.storage import GAME, Facts

EXACT = "exact"
"""What the column of an interval says of such a value."""

EXACT_MEASURES = listed(
    "exact",
    "measures that have one value by construction, on any scenario or on those of this shape; "
    "they have no interval",
    "C",
)
PRIVACY = ("excess_vps", "excess_vps_participants")


@dataclass(frozen=True, slots=True)
class Certainty:
    """A value that some measures must have in games in which one protocol takes all seats.

    Attributes:
        player: name of the protocol or baseline.
        measures: that have the value, wherever an agent-game counts.
        value: of each of them.
        reason: in words.
        holds: whether it does in each game, from its meetings and the floor of VPS; ``None``: in
            every game.
    """

    player: str
    measures: tuple[str, ...]
    value: float
    reason: str
    holds: Callable[[pd.DataFrame, float], "pd.Series[bool]"] | None = None


def gives_away_less_than_the_floor(meetings: pd.DataFrame, floor: float) -> "pd.Series[bool]":
    """Whether one slot to every other participant of each meeting stays within the floor.

    Args:
        meetings: of some games, with ``game`` and ``participants``.
        floor: of VPS, in slot-equivalents.

    Returns:
        By game.
    """
    people = meetings["participants"].astype(str).str.split()
    lost = meetings[[GAME]].assign(agent=people, lost=(people.str.len() - 1) / 2).explode("agent")
    by_agent = lost.groupby([GAME, "agent"])["lost"].sum()
    return by_agent.groupby(level=GAME).max() <= floor


CERTAINTIES = (
    Certainty("silent", ("coordination",), 0.0, "nobody books a slot, so no meeting is scheduled"),
    Certainty(
        "silent",
        ("excess_cost", "fairness"),
        0.0,
        "nobody moves or books anything, so nothing is paid, and the best schedule of no meeting "
        "costs nothing",
    ),
    Certainty("silent", PRIVACY, 0.0, "no message moves a belief"),
    Certainty(
        "first-free",
        ("excess_cost", "excess_cost_per_meeting", "fairness"),
        0.0,
        "only free slots are booked, which costs nothing, and the best schedule of the same "
        "meetings costs no more",
    ),
    Certainty("first-free", ("messages",), 0.0, "nobody sends a message"),
    Certainty("first-free", PRIVACY, 0.0, "no message moves a belief"),
    Certainty(
        "mediator",
        PRIVACY,
        0.0,
        "others learn one slot of an agent in each of its meetings, half a slot-equivalent each; "
        "in all meetings of the scenario that is at most the floor",
        gives_away_less_than_the_floor,
    ),
)
"""In the order of the method page."""

OF_ORACLE = tuple(
    each.name
    for each in MEASURES
    if each.name == "coordination" or each.group in {"cost", "fairness"}
)
"""What is so of complete optimal schedules: all meetings are scheduled, and nothing exceeds the
optimum."""


def exact_measures(
    facts: Facts, agents: pd.DataFrame, by: Sequence[str], floor: float
) -> pd.DataFrame:
    """Return which measures of groups of agent-games have one value by construction.

    Args:
        facts: with the meetings of these games.
        agents: of scored games, with ``game``, ``player``, ``kind`` and the columns of ``by``.
        by: what names a group.
        floor: of VPS.

    Returns:
        The groups with ``exact``, names separated by spaces in the order of measures.
    """
    found = agents[[*by, GAME]].assign(**dict.fromkeys(MEASURE_BY_NAME, False))
    seats = agents.groupby(GAME)
    is_alone = (seats["player"].transform("nunique") == 1) & (
        agents["kind"].isin(["protocol", "degenerate"])
    )
    for each in CERTAINTIES:
        is_so = is_alone & (agents["player"] == each.player)
        if each.holds is not None and is_so.any():
            meetings = facts.frame("meetings")
            own = meetings[meetings[GAME].isin(agents.loc[is_so, GAME].unique())]
            holds = each.holds(own, floor)
            is_so &= agents[GAME].map(holds).fillna(value=False).astype(bool)
        found[list(each.measures)] |= np.asarray(is_so)[:, np.newaxis]
    groups = found.drop(columns=GAME).groupby(list(by), dropna=False, sort=False).all()
    names = np.array(list(MEASURE_BY_NAME))
    exact = [" ".join(names[row]) for row in groups.to_numpy(dtype=bool)]
    return groups.index.to_frame(index=False).assign(exact=exact)


def without_intervals(rows: pd.DataFrame) -> pd.DataFrame:
    """Return estimates in which exact values have no interval, and say so.

    Args:
        rows: with ``exact`` and every measure with its ends.
    """
    changed = {}
    exact = [str(names).split() for names in rows["exact"]]
    for name in MEASURE_BY_NAME:
        is_exact = rows[name].notna() & pd.Series([name in own for own in exact], rows.index)
        for end in ("_low", "_high"):
            changed[f"{name}{end}"] = rows[f"{name}{end}"].mask(is_exact)
        if f"{name}_interval" in rows:
            changed[f"{name}_interval"] = rows[f"{name}_interval"].mask(is_exact, EXACT)
    return rows.assign(**changed)
