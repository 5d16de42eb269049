"""Measures that have one value by construction: what a protocol does leaves no other.

Such a value needs no interval, and none would be true: every scenario gives the same, played or
not. Each is declared here with its reason, and tests hold it against random scenarios, among them
those in which meetings fail. A value that merely came out the same in all scenarios is none.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calbench.analysis.measures import BEYOND, MEASURE_BY_NAME, MEASURES, PRIVACY_MEASURES
from calbench.facts.columns import listed
from calbench.facts.storage import GAME, Facts
from calbench.stats.intervals import EXACT

EXACT_MEASURES = listed(
    "exact",
    "measures that have one value by construction, on any scenario or on those of this shape; "
    "they have no interval",
    "C",
)
TYPED = ("protocol", "degenerate")
"""Kinds of players that do what their rules say."""

PRIVACY = tuple(name for name in PRIVACY_MEASURES if name != BEYOND)
"""Those of typed messages."""


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
    people = [str(each).split() for each in meetings["participants"]]
    lost = pd.DataFrame(
        {
            GAME: np.repeat(meetings[GAME].to_numpy(), [len(each) for each in people]),
            "agent": [agent for each in people for agent in each],
            "lost": [(len(each) - 1) / 2 for each in people for _ in each],
        }
    )
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


def exact_values(facts: Facts, agents: pd.DataFrame, floor: float) -> pd.DataFrame:
    """Return which values of agent-games are so by construction, one column per measure.

    Args:
        facts: with the meetings of these games.
        agents: with ``game``, ``player`` and ``kind``: all seats of each game.
        floor: of VPS.
    """
    found = pd.DataFrame(data=False, index=agents.index, columns=list(MEASURE_BY_NAME))
    is_alone = agents.groupby(GAME)["player"].transform("nunique").eq(1) & agents["kind"].isin(
        TYPED
    )
    for each in CERTAINTIES:
        is_so = is_alone & (agents["player"] == each.player)
        if each.holds is not None and is_so.any():
            meetings = facts.frame("meetings", ["participants"])
            own = meetings[meetings[GAME].isin(agents.loc[is_so, GAME].unique())]
            is_so &= agents[GAME].map(each.holds(own, floor)).eq(other=True)
        found.loc[is_so, list(each.measures)] = True
    return found


def with_exact(rows: pd.DataFrame) -> pd.DataFrame:
    """Return estimates with the list of those that are exact.

    Args:
        rows: with ``<measure>_interval``.
    """
    flags = np.stack([rows[f"{name}_interval"].eq(EXACT).to_numpy() for name in MEASURE_BY_NAME])
    names = np.array(list(MEASURE_BY_NAME))
    return rows.assign(exact=[" ".join(names[own]) for own in flags.T])
