"""The best and the worst complete schedule with full knowledge (paper, sections 3 and 3.1).

A schedule gives every meeting one slot. No agent has two meetings in a slot, no meeting is in a
blocked slot of a participant, and what was in its slot before moves away, each item once and at
its owner's cost.

**Lemma.** If every agent has at least as many free slots as incoming meetings, and there are
no prior meetings, then the cost of a schedule is exactly the sum of the costs of the movable
errands in its slots.

*Proof.* At least: two items never share a slot, so each errand under a meeting of its owner
has to move, and is paid once. At most: take an agent with k meetings and f >= k free slots,
d of the meetings on errands and k - d on free slots. Then f - (k - d) >= d free slots are
left over, so each of the d displaced errands moves directly into a different one, and no other
item moves. Calendars are private, so the moves of one agent do not affect another. ∎

**With prior meetings** the same count suffices. An agent with S slots holds b blocked
errands, e movable ones, p prior meetings and f = S - b - e - p free slots. Finally its k + p
meetings are in distinct slots that are not blocked, d of them on errands. Outside these slots,
the blocked ones and those of the e - d errands that stay, S - (k + p) - b - (e - d) = f - k + d
slots are left over: at least the d that the displaced errands need, if and only if f >= k. So
f >= k is all that errands require of a schedule, however the prior meetings move.
A prior meeting may move, all its participants together, only if an incoming meeting or another
moved prior meeting takes its slot for one of them; errands never justify a move, and no item
moves twice. The greatest cost is therefore bounded as well, and two prior meetings that exchange
slots justify each other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from calbench.domain.ids import MeetingId, Slot
from calbench.oracle.choices import Choice, Direction, choices_of, greatest_total
from calbench.oracle.problem import Problem

MOST_STEPS = 20_000
"""Slots tried before the search gives up: some milliseconds of work [C]."""

MOST_DEPTH = 100
"""Meetings of a problem that is searched; each one is a call within a call [C]."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The final slot of every meeting, and what that costs.

    Attributes:
        slot_by_meeting: slot of each incoming meeting, in ascending id.
        prior_slot_by_meeting: final slot of each prior meeting, in ascending id.
        cost_by_agent: what each agent pays, in accounting units, by agent.
    """

    slot_by_meeting: tuple[tuple[MeetingId, Slot], ...]
    prior_slot_by_meeting: tuple[tuple[MeetingId, Slot], ...]
    cost_by_agent: tuple[int, ...]

    @property
    def cost(self) -> int:
        """Total displacement cost, in accounting units."""
        return sum(self.cost_by_agent)


@dataclass(frozen=True, slots=True)
class Optimal:
    """A schedule proven to be of least (or, for the worst oracle, greatest) cost."""

    schedule: Schedule


@dataclass(frozen=True, slots=True)
class Stopped:
    """The solver was stopped before it had proven the schedule.

    Attributes:
        schedule: the best (or worst) that it found.
        bound: no schedule costs less (or, for the worst oracle, more). If the schedule costs
            just this, only the tie-break is open.
    """

    schedule: Schedule
    bound: int


@dataclass(frozen=True, slots=True)
class Infeasible:
    """No complete schedule exists, and why."""

    reason: str


NO_SCHEDULE = Infeasible("no assignment of slots avoids all blocked slots and double bookings")


def solve_best(problem: Problem) -> Optimal | Infeasible:
    """Return the schedule of least total cost (section 3 [P]).

    Of several, the one whose slot vector (incoming meetings by id, then prior meetings by id) is
    lexicographically smallest [C]: the same answer with every solver version.
    """
    return _proven(solve_within(problem, 1, None))


def solve_worst(problem: Problem) -> Optimal | Infeasible:
    """Return the complete schedule of greatest total cost under the same constraints.

    Section 3.1 [P]; ties are broken as in :func:`solve_best` [C].
    """
    return _proven(solve_within(problem, -1, None))


def _proven(answer: Optimal | Stopped | Infeasible | None) -> Optimal | Infeasible:
    if answer is None or isinstance(answer, Stopped):
        raise RuntimeError("the solver stopped without a limit")
    return answer


def solve_within(
    problem: Problem, direction: Direction, effort: float | None
) -> Optimal | Stopped | Infeasible | None:
    """Return the schedule of least (1) or greatest (-1) cost that a bounded effort finds.

    Args:
        problem: of any size.
        direction: 1 for :func:`solve_best`, -1 for :func:`solve_worst`.
        effort: deterministic seconds of the solver, about as many seconds of a processor. They
            count its steps: the same version gives the same answer on a busy machine. ``None``:
            until it is proven.

    Returns:
        ``None`` if no schedule was found, and it was not proven that there is none.
    """
    short = shortage(problem)
    if short is not None:
        return short
    choices = choices_of(problem)
    greatest_total(choices)  # or the answer would depend on which method finds it
    if not problem.prior_meetings:
        try:
            slots = search(choices, direction)
        except GaveUpError:
            pass
        else:
            if slots is None:
                return NO_SCHEDULE
            return Optimal(_schedule(problem, choices, slots))
    # Importing the solver takes half a second, and most problems do not need it.
    from calbench.oracle.model import NoScheduleError, extreme_slots

    try:
        found = extreme_slots(choices, direction, effort)
    except NoScheduleError:
        return NO_SCHEDULE
    if found.slots is None:
        return None
    schedule = _schedule(problem, choices, found.slots)
    return Optimal(schedule) if found.is_first else Stopped(schedule, found.bound)


def shortage(problem: Problem) -> Infeasible | None:
    """Return an obvious reason why there is no schedule: too few free slots, or no allowed slot."""
    free_slots = problem.free_slots_by_agent
    for agent, needed in enumerate(problem.num_meetings_by_agent):
        if len(free_slots[agent]) < needed:
            return Infeasible(
                f"agent {agent} has {len(free_slots[agent])} free slots for {needed} meetings"
            )
    for meeting_id, participants in problem.meetings:
        if not problem.allowed_slots(participants):
            return Infeasible(f"meeting {meeting_id}: every slot is blocked for a participant")
    return None


def _schedule(problem: Problem, choices: Sequence[Choice], slots: Sequence[Slot]) -> Schedule:
    """Name the slots of a vector and add up what each agent pays."""
    cost_by_agent = [0] * problem.num_agents
    for choice, slot in zip(choices, slots, strict=True):
        for agent, charge in zip(choice.participants, choice.charges_by_slot[slot], strict=True):
            cost_by_agent[agent] += charge
    named = tuple((choice.meeting_id, slot) for choice, slot in zip(choices, slots, strict=True))
    num_incoming = len(problem.meetings)
    return Schedule(named[:num_incoming], named[num_incoming:], tuple(cost_by_agent))


class GaveUpError(Exception):
    """The problem is too large, or :data:`MOST_STEPS` slots were tried without an answer."""


class _Option(NamedTuple):
    """A slot of a meeting; ``cells`` has one bit for the slot in each participant's calendar."""

    regret: int
    slot: Slot
    cells: int


_Options = Sequence[_Option]


def search(choices: Sequence[Choice], direction: Direction) -> tuple[Slot, ...] | None:
    """Return the lexicographically first slot vector of least (1) or greatest (-1) cost.

    The solver's answer without starting the solver, by iterative deepening. Most problems have
    five meetings and are solved here in a fraction of a millisecond. Building and presolving a
    constraint model takes ten times as long, and importing the solver half a second in every
    process. The answer is unique, so it does not matter which of the two methods finds it.

    The **regret** of a slot is what it costs above the meeting's cheapest one. Meetings are placed
    one after the other within a budget of regret; if that fails, the budget grows to the least
    regret that exceeded it (Korf, 1985). The first budget that suffices is the least.

    Args:
        choices: incoming meetings. Prior ones need a reason to move, which is not checked here.
        direction: 1 for the best schedule, -1 for the worst.

    Returns:
        One slot per meeting, in their order, or ``None`` if there is no schedule.

    Raises:
        GaveUpError: the problem is too large for this method.
    """
    if len(choices) > MOST_DEPTH:
        raise GaveUpError
    options, _ = _options(choices, direction)
    attempts = _Attempts(MOST_STEPS)
    budget = attempts.least_budget(options)
    return None if budget is None else attempts.slots(options, budget)


def slots_within(choices: Sequence[Choice], budget: int) -> tuple[Slot, ...] | None:
    """Return slots for all meetings that together cost at most ``budget``, if there are any.

    Never gives up. The meeting with the fewest slots that are not too dear comes first, which is
    fast if the budget is close to the least cost.

    Returns:
        One slot for each choice, in their order.
    """
    options, least = _options(choices, 1)
    slack = budget - least
    if slack < 0 or not all(options):
        return None
    affordable = [sorted(o for o in own if o.regret <= slack) for own in options]
    order = sorted(range(len(options)), key=lambda place: len(affordable[place]))
    found = _Attempts().slots([affordable[place] for place in order], slack)
    if found is None:
        return None
    slot_by_place = dict(zip(order, found, strict=True))
    return tuple(slot_by_place[place] for place in range(len(order)))


def searched_least_cost(choices: Sequence[Choice]) -> int | None:
    """Return the least total cost of placing these meetings; ``None`` if that is impossible.

    Never gives up: fast if few meetings are in each other's way, however many there are.
    """
    options, least = _options(choices, 1)
    regret = _Attempts().least_budget(options)
    return None if regret is None else least + regret


def _options(choices: Sequence[Choice], direction: Direction) -> tuple[Sequence[_Options], int]:
    """Return the slots of each meeting, ascending, and the sum of their least costs."""
    num_slots = 1 + max((slot for choice in choices for slot in choice.charges_by_slot), default=0)
    options: list[_Options] = []
    total = 0
    for choice in choices:
        costs = {slot: direction * sum(paid) for slot, paid in choice.charges_by_slot.items()}
        least = min(costs.values(), default=0)
        calendars = sum(1 << (agent * num_slots) for agent in choice.participants)
        options.append(
            [_Option(costs[slot] - least, slot, calendars << slot) for slot in sorted(costs)]
        )
        total += least
    return options, total


class _Attempts:
    """Searches within budgets of regret, all of them together within so many steps, if any.

    Attributes:
        next_budget: the least regret that exceeded the budget of the last search; ``None`` if
            no budget would have helped.
    """

    def __init__(self, most_steps: float = math.inf) -> None:
        self.next_budget: int | None = None
        self._steps, self._most_steps = 0, most_steps

    def least_budget(self, options: Sequence[_Options]) -> int | None:
        """Return the least regret within which all meetings can be placed, if any is enough."""
        if not all(options):
            return None
        cheapest_first = [sorted(own) for own in sorted(options, key=len)]
        budget: int | None = 0
        while budget is not None and self.slots(cheapest_first, budget) is None:
            budget = self.next_budget
        return budget

    def slots(self, options: Sequence[_Options], budget: int) -> tuple[Slot, ...] | None:
        """Return the first slots within the budget, in the order of meetings and options."""
        self.next_budget = None
        found = self._placed(options, budget, spent=0, taken=0)
        return None if found is None else tuple(reversed(found))

    def _placed(
        self, options: Sequence[_Options], budget: int, spent: int, taken: int
    ) -> list[Slot] | None:
        """Place these meetings beside the cells that are taken; the last one comes first."""
        if not options:
            return []
        self._steps += len(options[0])
        if self._steps > self._most_steps:
            raise GaveUpError
        for regret, slot, cells in options[0]:
            if cells & taken:
                continue
            if spent + regret > budget:
                if self.next_budget is None or spent + regret < self.next_budget:
                    self.next_budget = spent + regret
                continue
            found = self._placed(options[1:], budget, spent + regret, taken | cells)
            if found is not None:
                found.append(slot)
                return found
        return None
