"""What a best schedule costs if its meetings are placed one after the other [R].

The authors' release scores against this burden, not against the least cost: a best schedule of the
meetings that were scheduled is played from the initial calendars in the order of the meetings. An
errand in the way goes to its owner's lowest free slot and pays, and pays again if a later meeting
lands there. So the burden may exceed the optimum, and equal optima have different burdens.

Which of several best schedules is played is open: the release takes what a parallel solver
returned. Here it is what one worker of CP-SAT returns, and the burdens of all others are beside it
[C].
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import NamedTuple

from calbench.domain.ids import AgentId, Slot
from calbench.domain.randomness import stream
from calbench.oracle.choices import Choice, choices_of
from calbench.oracle.problem import Problem
from calbench.oracle.solve import searched_least_cost

MOST_LISTED = 20_000
"""Best schedules of a problem that are played; of more, a seeded sample [C]."""

Burden = tuple[int, ...]
"""What each agent pays, in accounting units, by agent."""

Slots = tuple[Slot, ...]
"""A slot for each meeting, in their order."""


class Replayed(NamedTuple):
    """Burdens of best schedules.

    Attributes:
        burden: of the one that is taken.
        schedules: how many best schedules have each burden, by ascending burden.
        is_sample: whether there are, or may be, others.
    """

    burden: Burden
    schedules: tuple[tuple[Burden, int], ...]
    is_sample: bool


@cache
def replayed(problem: Problem, seed: int) -> Replayed | None:
    """Return the burdens of the best schedules of a problem's meetings.

    Args:
        problem: without prior meetings, restricted to the meetings that were scheduled.
        seed: of a sample, where there are too many.

    Returns:
        ``None`` if the meetings cannot all be placed, each in a slot in which every participant is
        free, or holds a movable errand and has a free slot, at the beginning; or if the best
        schedule cannot be played, which takes an agent with fewer free slots than meetings.
    """
    if problem.prior_meetings:
        raise ValueError("a problem with prior meetings is not played")
    choices = [_open(problem, choice) for choice in choices_of(problem)]
    least = searched_least_cost(choices)
    if least is None:
        return None
    costs = [{slot: sum(c) for slot, c in each.charges_by_slot.items()} for each in choices]
    found = list(islice(_within(problem, costs, least, seed), MOST_LISTED + 1))
    burdens = (played_cost(problem, slots) for slots in found[:MOST_LISTED])
    played = Counter(burden for burden in burdens if burden is not None)
    burden = next(iter(played), None)
    if len(played) > 1:  # only then does it matter which is taken
        burden = played_cost(problem, _solved(problem, costs))
    if burden is None:
        return None
    return Replayed(burden, tuple(sorted(played.items())), len(found) > MOST_LISTED)


def played_cost(problem: Problem, slots: Sequence[Slot]) -> Burden | None:
    """Return what each agent pays if meetings are placed one after the other [R].

    ``None`` if an errand finds no free slot.

    Args:
        problem: without prior meetings.
        slots: one for each meeting; no agent has two in one slot.
    """
    errands = [dict(enumerate(costs)) for costs in problem.errand_costs]
    free = [set(own) for own in problem.free_slots_by_agent]
    paid = [0] * problem.num_agents
    for (_, participants), slot in zip(problem.meetings, slots, strict=True):
        for agent in participants:
            cost = errands[agent].get(slot)
            if cost is not None:
                to = min(free[agent], default=None)
                if to is None:
                    return None
                paid[agent] += cost
                free[agent].remove(to)
                errands[agent][to] = cost
            free[agent].discard(slot)
            errands[agent][slot] = None
    return tuple(paid)


def _open(problem: Problem, choice: Choice) -> Choice:
    """Leave out the slots in which an agent without a free slot has an errand."""
    free = problem.free_slots_by_agent
    full = [agent for agent in choice.participants if not free[agent]]
    charges = {
        slot: own
        for slot, own in choice.charges_by_slot.items()
        if all(problem.errand_costs[agent][slot] is None for agent in full)
    }
    return replace(choice, charges_by_slot=charges)


def _within(
    problem: Problem, costs: Sequence[dict[Slot, int]], budget: int, seed: int
) -> Iterator[Slots]:
    """Yield every schedule of at most this cost, in an order that a seed gives."""
    chance = stream(seed, "replayed")
    options = [chance.shuffled(list(own.items())) for own in costs]
    rest = [0] * (len(costs) + 1)  # the least that the later meetings cost
    for place in reversed(range(len(costs))):
        rest[place] = rest[place + 1] + min(costs[place].values())

    def placed(slots: Slots, taken: frozenset[tuple[AgentId, Slot]], left: int) -> Iterator[Slots]:
        place = len(slots)
        if place == len(costs):
            yield slots
            return
        participants = problem.meetings[place][1]
        for slot, cost in options[place]:
            cells = {(agent, slot) for agent in participants}
            if cost + rest[place + 1] <= left and not cells & taken:
                yield from placed((*slots, slot), taken | cells, left - cost)

    return placed((), frozenset(), budget)


def _solved(problem: Problem, costs: Sequence[dict[Slot, int]]) -> Slots:
    """Return the best schedule that one worker of CP-SAT finds in the plainest model.

    Meetings in order, slots ascending, a literal for each; one slot a meeting, at most one meeting
    an agent and slot. The answer depends on the solver's version, which is locked.
    """
    # Importing the solver takes half a second, and few problems need it.
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    places = [{slot: model.new_bool_var("") for slot in own} for own in costs]
    for own in places:
        model.add_exactly_one(own.values())
    for agent in range(problem.num_agents):
        for slot in range(problem.num_slots):
            group = [
                own[Slot(slot)]
                for (_, participants), own in zip(problem.meetings, places, strict=True)
                if agent in participants and slot in own
            ]
            if len(group) > 1:
                model.add_at_most_one(group)
    model.minimize(
        cp_model.LinearExpr.weighted_sum(
            [literal for own in places for literal in own.values()],
            [cost for own in costs for cost in own.values()],
        )
    )
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.catch_sigint_signal = False
    if solver.solve(model) != cp_model.OPTIMAL:
        raise RuntimeError("CP-SAT found no schedule where there is one")
    return tuple(
        next(slot for slot, at in own.items() if solver.boolean_value(at)) for own in places
    )
