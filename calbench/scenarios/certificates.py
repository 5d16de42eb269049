"""Checks, without a solver, what a scenario states about its schedules."""

from collections.abc import Iterator

from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.oracle.certificate import check_schedule
from calbench.oracle.problem import greedy_cost
from calbench.oracle.solve import Schedule
from calbench.scenarios.models import Scenario, ScheduleEntry


def entry_of(schedule: Schedule) -> ScheduleEntry:
    """Return a schedule in the form of a suite file."""
    return ScheduleEntry(
        slots={str(meeting): slot for meeting, slot in schedule.slot_by_meeting},
        prior_slots={str(meeting): slot for meeting, slot in schedule.prior_slot_by_meeting},
        cost_by_agent=schedule.cost_by_agent,
        cost=schedule.cost,
    )


def schedule_of(entry: ScheduleEntry) -> Schedule:
    """Return the schedule that an entry of a suite file states, in ascending meeting id."""
    return Schedule(
        _by_meeting(entry.slots), _by_meeting(entry.prior_slots), tuple(entry.cost_by_agent)
    )


def _by_meeting(slots: dict[str, int]) -> tuple[tuple[MeetingId, Slot], ...]:
    return tuple(sorted((MeetingId(int(meeting)), Slot(slot)) for meeting, slot in slots.items()))


def witness_schedule(scenario: Scenario) -> Schedule | None:
    """Return the witness with what it costs each agent; ``None`` if there is none.

    Prior meetings stay where they are, so an agent pays only for the errands in its witness
    slots (paper, appendix A.1).
    """
    if scenario.witness is None:
        return None
    problem = scenario.problem
    cost_by_agent = [0] * scenario.num_agents
    for meeting_id, participants in problem.meetings:
        slot = Slot(scenario.witness[str(meeting_id)])
        for agent, cost in zip(
            participants, problem.displaced_costs(participants, slot), strict=True
        ):
            cost_by_agent[AgentId(agent)] += cost
    return Schedule(
        _by_meeting(scenario.witness),
        tuple((meeting_id, prior.slot) for meeting_id, prior in problem.prior_meetings),
        tuple(cost_by_agent),
    )


def false_statements(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield (field, problem) for each false statement of a scenario about its schedules.

    Checked are the witness, the best and the worst schedule with their costs, and the greedy and
    the witness cost. The best and the worst are compared only with these schedules; proving that
    they are extreme takes a solver. So does a bound: only a schedule beyond it contradicts it.
    """
    witness = witness_schedule(scenario)
    if witness is not None:
        for problem in check_schedule(scenario.problem, witness):
            yield "witness", problem
    if scenario.oracle is None:
        return
    for name, entry in (("best", scenario.oracle.best), ("worst", scenario.oracle.worst)):
        if entry is not None:
            for problem in check_schedule(scenario.problem, schedule_of(entry)):
                yield f"oracle.{name}", problem
            if entry.cost != sum(entry.cost_by_agent):
                yield (
                    f"oracle.{name}.cost",
                    f"{entry.cost} is stated, but the agents pay {sum(entry.cost_by_agent)}",
                )
    yield from _false_costs(scenario, None if witness is None else witness.cost)


def _false_costs(scenario: Scenario, witness_cost: int | None) -> Iterator[tuple[str, str]]:
    """Yield contradictions between the costs of an oracle."""
    oracle = scenario.oracle
    if oracle is None:
        return
    greedy = greedy_cost(scenario.problem)
    for name, stated, actual in (
        ("greedy_cost", oracle.greedy_cost, greedy),
        ("witness_cost", oracle.witness_cost, witness_cost),
    ):
        if stated != actual:
            yield f"oracle.{name}", f"{stated} is stated, but it is {actual}"
    known = [cost for cost in (greedy, witness_cost) if cost is not None]
    if oracle.infeasible is not None and known:
        yield "oracle.infeasible", f"a schedule of cost {min(known)} exists"
    if oracle.best is not None and oracle.worst is not None:
        known += [oracle.best.cost, oracle.worst.cost]
        least = oracle.best.cost if oracle.best.bound is None else oracle.best.bound
        if min(known) < least:
            yield "oracle.best", f"{_at('least', oracle.best)}, but another costs {min(known)}"
        most = oracle.worst.cost if oracle.worst.bound is None else oracle.worst.bound
        if max(known) > most:
            yield "oracle.worst", f"{_at('most', oracle.worst)}, but another costs {max(known)}"


def _at(extreme: str, entry: ScheduleEntry) -> str:
    """Return what an entry states about the costs of schedules."""
    if entry.bound is None:
        return f"it costs {entry.cost}"
    return f"every schedule is said to cost at {extreme} {entry.bound}"
