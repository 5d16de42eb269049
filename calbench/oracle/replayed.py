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
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from calbench.domain.ids import AgentId, Slot
from calbench.domain.randomness import stream
from calbench.oracle.choices import Choice, choices_of
from calbench.oracle.problem import Problem
from calbench.oracle.solve import Infeasible, solve_best

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


@lru_cache(maxsize=1024)
def replayed(problem: Problem, seed: int) -> Replayed | None:
    """Return the burdens of the best schedules of a problem's meetings.

    Args:
        problem: without prior meetings, restricted to the meetings that were scheduled.
        seed: of a sample, where there are too many.

    Returns:
        ``None`` if the meetings cannot all be placed.
    """
    if problem.prior_meetings:
        raise ValueError("a problem with prior meetings is not played")
    best = solve_best(problem)
    if isinstance(best, Infeasible):
        return None
    choices = choices_of(problem)
    found = list(islice(_within(choices, best.schedule.cost, seed), MOST_LISTED + 1))
    played = Counter(played_cost(problem, slots) for slots in found[:MOST_LISTED])
    burden = next(iter(played))
    if len(played) > 1:  # only then does it matter which is taken
        burden = played_cost(problem, _solved(choices))
    return Replayed(burden, tuple(sorted(played.items())), len(found) > MOST_LISTED)


def played_cost(problem: Problem, slots: Sequence[Slot]) -> Burden:
    """Return what each agent pays if meetings are placed one after the other [R].

    Each meeting takes one free slot of each participant, its own or that of the errand in its way:
    an agent has as many as it has meetings, or there is no schedule.

    Args:
        problem: without prior meetings.
        slots: one for each meeting, of a schedule.
    """
    errands = [dict(enumerate(costs)) for costs in problem.errand_costs]
    free = [set(own) for own in problem.free_slots_by_agent]
    paid = [0] * problem.num_agents
    for (_, participants), slot in zip(problem.meetings, slots, strict=True):
        for agent in participants:
            cost = errands[agent].get(slot)
            if cost is not None:
                paid[agent] += cost
                to = min(free[agent])
                free[agent].remove(to)
                errands[agent][to] = cost
            free[agent].discard(slot)
            errands[agent][slot] = None
    return tuple(paid)


def _within(choices: Sequence[Choice], budget: int, seed: int) -> Iterator[Slots]:
    """Yield every schedule of at most this cost, in an order that a seed gives."""
    chance = stream(seed, "replayed")
    options = [
        chance.shuffled([(slot, sum(charges)) for slot, charges in choice.charges_by_slot.items()])
        for choice in choices
    ]
    rest = [0] * (len(choices) + 1)  # the least that the later meetings cost
    for place in reversed(range(len(choices))):
        rest[place] = rest[place + 1] + min(cost for _, cost in options[place])

    def placed(slots: Slots, taken: frozenset[tuple[AgentId, Slot]], left: int) -> Iterator[Slots]:
        place = len(slots)
        if place == len(choices):
            yield slots
            return
        for slot, cost in options[place]:
            cells = {(agent, slot) for agent in choices[place].participants}
            if cost + rest[place + 1] <= left and not cells & taken:
                yield from placed((*slots, slot), taken | cells, left - cost)

    return placed((), frozenset(), budget)


def _solved(choices: Sequence[Choice]) -> Slots:
    """Return the best schedule that one worker of CP-SAT finds in the release's model [R].

    Meetings in order, slots ascending, a literal for each; one slot a meeting; at most one meeting
    an agent and slot, agent by agent. Among equal optima the solver's own settings and the order
    of constraints decide, so this is not ``ScheduleModel``, which has another order; and unlike
    every other answer of the oracle it depends on the solver's version, which is locked.
    """
    # Importing the solver takes half a second, and few problems need it.
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    places = [{slot: model.new_bool_var("") for slot in own.charges_by_slot} for own in choices]
    for literals in places:
        model.add_exactly_one(literals.values())
    held: dict[tuple[AgentId, Slot], list[cp_model.IntVar]] = {}
    for choice, literals in zip(choices, places, strict=True):
        for slot, literal in literals.items():
            for agent in choice.participants:
                held.setdefault((agent, slot), []).append(literal)
    for _, group in sorted(held.items()):
        if len(group) > 1:
            model.add_at_most_one(group)
    costs = [sum(charges) for choice in choices for charges in choice.charges_by_slot.values()]
    every = [literal for literals in places for literal in literals.values()]
    model.minimize(cp_model.LinearExpr.weighted_sum(every, costs))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.catch_sigint_signal = False
    if solver.solve(model) != cp_model.OPTIMAL:
        raise RuntimeError("CP-SAT found no schedule where there is one")
    return tuple(
        next(slot for slot, literal in literals.items() if solver.boolean_value(literal))
        for literals in places
    )
