"""How large a scenario, a suite and a trace may be.

Far above any experiment of ours (50 agents, 50 meetings, 160 slots), and low enough that reading,
solving and measuring one fit into some gigabytes: what agents learn about each other is counted
for every pair of them in every round.
"""

from typing import NamedTuple

GREATEST_NUMBER = 2**63 - 1
"""Greatest id, slot, seed or count: readers of JSON in other languages have 64 bits [C]."""

MOST_AGENTS = 1_000
"""Agents of a scenario [C]."""

MOST_SLOTS = 4_096
"""Slots of a calendar [C]."""

MOST_MEETINGS = 1_000
"""Meetings to schedule [C]."""

MOST_PRIOR_MEETINGS = 10_000
"""Meetings from before the game [C]."""

MOST_ENTRIES = 250_000
"""Slots of all calendars together [C]."""

MOST_PAIRS = 5_000_000
"""Pairs of agents times meetings: 1,000 agents with 5 meetings, 100 with 500 [C]."""

MOST_PLACES = 2_000_000
"""Participants of all meetings times slots, which the oracle considers [C]."""

MOST_SCENARIOS = 100_000
"""Scenarios of a suite, and candidates for them [C]."""

MOST_LINE_BYTES = 2**25
"""Bytes of a scenario's line in a suite [C]."""

MOST_SWEEPS = 1_000
"""Sweeps of talk in a round that a configuration may allow [C]."""

MOST_EVENTS = 1_000_000
"""Events of a trace [C]."""

MOST_TRACE_BYTES = 2**28
"""Bytes of a trace [C]."""


class Size(NamedTuple):
    """How large a scenario is.

    Attributes:
        agents: number of calendars.
        slots: of a calendar.
        meetings: to schedule.
        prior_meetings: from before the game.
        seats: participants of all meetings together.
    """

    agents: int
    slots: int
    meetings: int
    prior_meetings: int
    seats: int

    def problem(self) -> str | None:
        """Return which bound is exceeded, and what is allowed; ``None`` if none is."""
        found = (
            ("agents", self.agents, MOST_AGENTS),
            ("slots", self.slots, MOST_SLOTS),
            ("meetings", self.meetings, MOST_MEETINGS),
            ("prior meetings", self.prior_meetings, MOST_PRIOR_MEETINGS),
            ("agents x slots", self.agents * self.slots, MOST_ENTRIES),
            (
                "pairs of agents x meetings",
                self.agents * (self.agents - 1) * self.meetings,
                MOST_PAIRS,
            ),
            ("participants of all meetings x slots", self.seats * self.slots, MOST_PLACES),
        )
        for what, size, most in found:
            if size > most:
                return f"{size} {what}; at most {most} are allowed"
        return None
