"""What agents paid, and what full knowledge would have charged them (paper, section 3)."""

from collections.abc import Iterable, Sequence

from calbench.domain.ids import MeetingId
from calbench.errors import CalbenchError
from calbench.oracle.cache import OracleCache
from calbench.oracle.solve import Infeasible, Optimal
from calbench.scenarios.models import Scenario
from calbench.traces.events import BatchApplied, Event

Costs = tuple[int, ...]
"""Accounting cost by agent id."""


def realised_costs(events: Iterable[Event], num_agents: int) -> Costs:
    """Return what each agent paid, failed rounds included, in accounting cost [P]."""
    costs = [0] * num_agents
    for event in events:
        if isinstance(event, BatchApplied):
            costs[event.agent_id] += event.cost
    return tuple(costs)


def oracle_costs(scenario: Scenario, scheduled: Sequence[MeetingId], oracle: OracleCache) -> Costs:
    """Return C*: what each agent pays in the best schedule of exactly these meetings [P].

    Where all meetings were scheduled, the schedule stored with the scenario is it. Without
    any, nobody pays.

    Raises:
        CalbenchError: these meetings cannot all be scheduled, so no game ended so.
    """
    if not scheduled:
        return (0,) * scenario.num_agents
    stored = scenario.oracle
    if len(scheduled) == len(scenario.meetings) and stored is not None and stored.best is not None:
        return stored.best.cost_by_agent
    answer = oracle.best(scenario.problem, scheduled)
    if isinstance(answer, Infeasible):
        raise CalbenchError(
            f"scenario {scenario.scenario_id}: meetings {sorted(scheduled)} are recorded as "
            f"scheduled, which is impossible ({answer.reason})"
        )
    return answer.schedule.cost_by_agent


def complete_costs(scenario: Scenario, oracle: OracleCache) -> tuple[Costs, Costs] | None:
    """Return Cmin and Cmax: each agent's cost in the best and the worst complete schedule.

    Both are the agent's share of a schedule that is extreme in *total* cost, so Cmax of one
    agent may be below its Cmin [P, reconstructed].

    Returns:
        The two, or ``None`` where no complete schedule exists.
    """
    stored = scenario.oracle
    if stored is not None:
        if stored.best is None or stored.worst is None:
            return None
        return stored.best.cost_by_agent, stored.worst.cost_by_agent
    everything = [MeetingId(meeting.meeting_id) for meeting in scenario.meetings]
    best = oracle.best(scenario.problem, everything)
    worst = oracle.worst(scenario.problem, everything)
    if isinstance(best, Optimal) and isinstance(worst, Optimal):
        return best.schedule.cost_by_agent, worst.schedule.cost_by_agent
    return None


def adjusted_excess(
    excess: int, *, unscheduled: int, assigned: int, best: int, worst: int
) -> float | None:
    """Return ``[E + (U/M)(Cmax - Cmin)] / M``: excess with a price on failure [P, Figure 2].

    Args:
        excess: E, in accounting cost.
        unscheduled: U, how many of the agent's meetings were not scheduled.
        assigned: M, how many meetings the agent takes part in.
        best: Cmin, its cost in the best complete schedule.
        worst: Cmax, its cost in the worst complete schedule.

    Returns:
        Accounting cost per assigned meeting; ``None`` for M = 0.
    """
    if assigned == 0:
        return None
    return (excess * assigned + unscheduled * (worst - best)) / assigned**2
