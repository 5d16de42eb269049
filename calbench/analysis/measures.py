"""The headline measures: what an agent-game adds to each, and which agent-games count."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Literal

from calbench.analysis.estimates import ScenarioSum
from calbench.metrics.game import AgentGame

Value = Callable[[AgentGame], float | None]


@dataclass(frozen=True, slots=True)
class Measure:
    """A mean over agent-games.

    Attributes:
        name: as in tables and ``metrics.json``.
        title: as on pages.
        unit: of the value.
        better: which direction is better.
        definition: what each agent-game adds.
        denominator: which agent-games count.
        origin: [P], [R], [F] or [C].
        value: what an agent-game adds, ``None`` if it does not count.
    """

    name: str
    title: str
    unit: str
    better: Literal["higher", "lower"]
    definition: str
    denominator: str
    origin: str
    value: Value

    def scenario_sum(self, agents: Iterable[AgentGame]) -> ScenarioSum:
        """Return what agents of one game add to the mean."""
        values = [value for agent in agents if (value := self.value(agent)) is not None]
        return ScenarioSum(fsum(values), len(values))


def _coordination(agent: AgentGame) -> float | None:
    return 100 * agent.scheduled / agent.assigned if agent.assigned else None


def _excess_per_meeting(agent: AgentGame) -> float | None:
    return agent.excess_cost / agent.scheduled if agent.scheduled else None


def _messages(agent: AgentGame) -> float | None:
    return agent.messages_sent / agent.scheduled if agent.scheduled else None


ALL = "all agent-games"
MEASURED = "agent-games whose loss was measured: all those of typed agents"
MEASURES: tuple[Measure, ...] = (
    Measure(
        "coordination",
        "Coordination",
        "percent",
        "higher",
        "scheduled / assigned meetings of the agent, S / M",
        "agent-games with M > 0",
        "P",
        _coordination,
    ),
    Measure(
        "excess_cost",
        "Excess cost",
        "accounting cost",
        "lower",
        "E = cost paid, failed rounds included, minus the agent's cost in the best schedule "
        "of exactly the scheduled meetings; not divided by meetings",
        ALL,
        "F",
        lambda agent: float(agent.excess_cost),
    ),
    Measure(
        "excess_cost_per_meeting",
        "Excess cost per scheduled meeting",
        "accounting cost per meeting",
        "lower",
        "E / S, the paper's printed formula",
        "agent-games with S > 0",
        "P",
        _excess_per_meeting,
    ),
    Measure(
        "adjusted_excess_cost",
        "Adjusted excess cost",
        "accounting cost per meeting",
        "lower",
        "[E + (U / M)(Cmax - Cmin)] / M, U unscheduled meetings, Cmax and Cmin the agent's "
        "cost in the worst and the best complete schedule",
        "agent-games with M > 0 on scenarios with a complete schedule",
        "P, reconstructed",
        lambda agent: agent.adjusted_excess_cost,
    ),
    Measure(
        "messages",
        "Messages",
        "messages per meeting",
        "lower",
        "messages sent / S; a group message counts once, for its sender",
        "agent-games with S > 0",
        "F",
        _messages,
    ),
    Measure(
        "fairness",
        "Fairness",
        "accounting cost",
        "lower",
        "|E - mean E| over all agents of the game",
        ALL,
        "F",
        lambda agent: agent.burden_gap,
    ),
    Measure(
        "excess_vps",
        "Excess VPS",
        "slot-equivalents",
        "lower",
        "max(0, V - floor), V the agent's privacy loss over all observers and rounds",
        MEASURED,
        "P, F",
        lambda agent: agent.excess_vps,
    ),
    Measure(
        "excess_vps_participants",
        "Excess VPS, participant pairs",
        "slot-equivalents",
        "lower",
        "the same with V over pairs that both take part in the round's meeting",
        MEASURED,
        "C",
        lambda agent: agent.excess_vps_participants,
    ),
)
"""In the order of the leaderboard's columns."""


def measure_sums(agents: Sequence[AgentGame]) -> dict[int, ScenarioSum]:
    """Return what agents of one game add to each measure, by its place among :data:`MEASURES`."""
    return {place: measure.scenario_sum(agents) for place, measure in enumerate(MEASURES)}
