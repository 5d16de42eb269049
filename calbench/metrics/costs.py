"""What agents paid, what they would have paid with full knowledge, and how evenly (section 3)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from calbench.domain.actions import Reschedule
from calbench.domain.ids import ErrandId, ItemId, MeetingId, Slot
from calbench.errors import CalbenchError
from calbench.oracle.cache import OracleCache
from calbench.oracle.solve import Infeasible, Optimal, Schedule
from calbench.scenarios.certificates import schedule_of
from calbench.scenarios.models import Scenario
from calbench.traces.events import BatchApplied, Event

Costs = tuple[int, ...]
"""Cost by agent id: accounting cost, unless another is named."""


def realised_costs(events: Iterable[Event], num_agents: int) -> Costs:
    """Return what each agent paid, failed rounds included, in accounting cost [P]."""
    costs = [0] * num_agents
    for event in events:
        if isinstance(event, BatchApplied):
            costs[event.agent_id] += event.cost
    return tuple(costs)


def oracle_schedule(
    scenario: Scenario, scheduled: Sequence[MeetingId], oracle: OracleCache
) -> Schedule:
    """Return the best schedule of exactly these meetings [P].

    If all meetings were scheduled, this is the schedule stored with the scenario; if that has a
    bound instead of a proof, the best one known. Without any, nothing moves and nobody pays.

    Raises:
        CalbenchError: these meetings cannot all be scheduled, so no game can have ended so.
    """
    if not scheduled:
        stay = tuple(
            sorted((MeetingId(p.meeting_id), Slot(p.slot)) for p in scenario.prior_meetings)
        )
        return Schedule((), stay, (0,) * scenario.num_agents)
    stored = scenario.oracle
    if len(scheduled) == len(scenario.meetings) and stored is not None and stored.best is not None:
        return schedule_of(stored.best)
    answer = oracle.best(scenario.problem, scheduled)
    if isinstance(answer, Infeasible):
        raise CalbenchError(
            f"scenario {scenario.scenario_id}: meetings {sorted(scheduled)} are recorded as "
            f"scheduled, which is impossible ({answer.reason})"
        )
    return answer.schedule


def best_complete_schedule(scenario: Scenario, oracle: OracleCache) -> Schedule | None:
    """Return the best schedule of all meetings; ``None`` if there is none, or none is proven."""
    stored = scenario.oracle
    if stored is not None:
        best = None if stored.optimal_cost is None else stored.best
        return None if best is None else schedule_of(best)
    everything = [MeetingId(meeting.meeting_id) for meeting in scenario.meetings]
    answer = oracle.best(scenario.problem, everything)
    return answer.schedule if isinstance(answer, Optimal) else None


def moved_costs(
    events: Iterable[Event], num_agents: int, cost_by_item: Mapping[ItemId, int]
) -> Costs:
    """Return what the moves of each agent cost at given costs of items.

    With accounting costs these are :func:`realised_costs`; with shown costs, what agents believed
    they paid.
    """
    costs = [0] * num_agents
    for event in events:
        if isinstance(event, BatchApplied):
            costs[event.agent_id] += sum(
                cost_by_item[action.item_id]
                for action in event.actions
                if isinstance(action, Reschedule)
            )
    return tuple(costs)


def schedule_costs(
    scenario: Scenario, schedule: Schedule, cost_by_item: Mapping[ItemId, int]
) -> Costs:
    """Return what a schedule costs each agent at given costs of items.

    An agent pays for each of its items that must move: errands in the slots of its meetings, and
    prior meetings that move (see the oracle's lemma).

    Args:
        scenario: of the schedule.
        schedule: of some or all meetings of the scenario.
        cost_by_item: what one move of an item costs.
    """
    slots = dict((*schedule.slot_by_meeting, *schedule.prior_slot_by_meeting))
    taken = {
        (agent, slot)
        for meeting_id, slot in slots.items()
        for agent in scenario.meeting_by_id[meeting_id].participants
    }
    costs = [0] * scenario.num_agents
    for agent, slot, errand in scenario.errands:
        if (agent, slot) in taken:
            costs[agent] += cost_by_item[ErrandId(errand.errand_id)]
    for prior in scenario.prior_meetings:
        meeting_id = MeetingId(prior.meeting_id)
        if slots[meeting_id] != prior.slot:
            for participant in prior.participants:
                costs[participant] += cost_by_item[meeting_id]
    return tuple(costs)


def shown_excess(
    scenario: Scenario,
    events: Iterable[Event],
    scheduled: Sequence[MeetingId],
    oracle: OracleCache,
) -> Costs:
    """Return each agent's excess in shown costs (appendix E [P, E]).

    The reference is the best schedule in *accounting* costs [C], as for every other measure:
    shown costs are a monotone display of the same three levels, and with a second optimum the
    two excesses would answer different questions.
    """
    prices = scenario.shown_cost_by_item
    paid = moved_costs(events, scenario.num_agents, prices)
    if not scheduled:
        return paid
    best = schedule_costs(scenario, oracle_schedule(scenario, scheduled, oracle), prices)
    return tuple(cost - least for cost, least in zip(paid, best, strict=True))


def complete_costs(scenario: Scenario, oracle: OracleCache) -> tuple[Costs, Costs] | None:
    """Return Cmin and Cmax: each agent's cost in the best and the worst complete schedule.

    Both are the agent's share of a schedule that is extreme in *total* cost, so an agent's Cmax
    may be below its Cmin [P, reconstructed].

    Returns:
        The two, or ``None`` if no complete schedule exists.
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


def adjusted_costs(
    excess: Sequence[int],
    assigned: Sequence[int],
    scheduled: Sequence[int],
    best: Costs,
    worst: Costs,
) -> list[float | None]:
    """Return :func:`adjusted_excess` of every agent; arguments are by agent id."""
    agents = zip(excess, assigned, scheduled, best, worst, strict=True)
    return [
        adjusted_excess(own, unscheduled=every - placed, assigned=every, best=least, worst=most)
        for own, every, placed, least, most in agents
    ]


def burden_gaps(excess_by_agent: Sequence[int]) -> tuple[float, ...]:
    """Return ``|E_i - mean_j E_j|`` for every agent of the game, in accounting cost [R].

    The mean is over all agents, including those without a meeting. Sums are integers, so each
    value is the correctly rounded quotient.
    """
    count, total = len(excess_by_agent), sum(excess_by_agent)
    return tuple([abs(count * excess - total) / count for excess in excess_by_agent])


def fairness(excess_by_agent: Sequence[int]) -> float:
    """Return the mean burden gap of a game; 0 is even: (1, 1, 0, -1, -1) gives 0.8 [R]."""
    count, total = len(excess_by_agent), sum(excess_by_agent)
    return sum(abs(count * excess - total) for excess in excess_by_agent) / count**2


class FairnessRange(NamedTuple):
    """How much the fairness of a game depends on the choice among optimal schedules.

    Attributes:
        least: over their cost vectors.
        greatest: over their cost vectors.
        is_sample: whether there are, or may be, vectors that were not compared.
        num_vectors: distinct ones compared.
    """

    least: float | None
    greatest: float | None
    is_sample: bool | None
    num_vectors: int | None


LEFT_OUT = FairnessRange(None, None, None, None)
"""Where the vectors are not known, because listing them would take too much work."""


def fairness_range(
    cost_by_agent: Sequence[int], oracle_costs: Collection[Sequence[int]], *, is_sample: bool
) -> FairnessRange:
    """Return the range of fairness over optimal schedules.

    Which of several optimal schedules is the reference is a convention (the tie-break of the
    oracle), but fairness depends on it; this is the range [C].

    Args:
        cost_by_agent: what each agent paid.
        oracle_costs: the distinct per-agent cost vectors of optimal schedules; at least one.
        is_sample: whether there are, or may be, other vectors.
    """
    values = [
        fairness([paid - best for paid, best in zip(cost_by_agent, vector, strict=True)])
        for vector in oracle_costs
    ]
    return FairnessRange(min(values), max(values), is_sample, len(values))
