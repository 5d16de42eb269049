"""What is computed about a scenario: its oracle, and how hard it is (paper, sections 3, 3.1).

Beside that is measured what may make it hard: costs caused by cheap slots or the lack of them [C].
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from calbench.domain.ids import AgentId, Slot
from calbench.errors import GenerationError
from calbench.oracle.certificate import check_schedule
from calbench.oracle.choices import Direction
from calbench.oracle.count import difficulty
from calbench.oracle.problem import Problem, greedy_cost
from calbench.oracle.solve import Infeasible, Optimal, Stopped, solve_within
from calbench.scenarios.certificates import entry_of, witness_schedule
from calbench.scenarios.models import (
    DifficultyEntry,
    OracleEntry,
    Scenario,
    ScheduleEntry,
    Tertile,
)


class Obstacles(NamedTuple):
    """What keeps meetings from their cheapest slots, alone or together.

    Attributes:
        cheapest_cost: sum over the meetings of the accounting cost of their cheapest slots, each
            for itself; ``None`` if a meeting has no slot.
        clashes: expected number of pairs of meetings with a common participant that choose the
            same slot, if each chooses at random among its cheapest ones.
        greedy_cost: of :func:`calbench.oracle.problem.greedy_cost`; ``None`` if a meeting finds no
            slot.
    """

    cheapest_cost: int | None
    clashes: float | None
    greedy_cost: int | None


@lru_cache(maxsize=1024)
def obstacles(problem: Problem) -> Obstacles:
    """Return what may make a scenario hard beside the few slots that its calendars admit [C]."""
    greedy = greedy_cost(problem)
    cheapest: list[tuple[frozenset[AgentId], frozenset[Slot]]] = []
    total = 0
    for _, participants in problem.meetings:
        costs = {
            slot: problem.displacement_cost(participants, slot)
            for slot in problem.unheld_slots(participants)
        }
        if not costs:
            return Obstacles(None, None, greedy)
        least = min(costs.values())
        total += least
        slots = frozenset(slot for slot, cost in costs.items() if cost == least)
        cheapest.append((frozenset(participants), slots))
    clashes = sum(
        Fraction(len(slots & others), len(slots) * len(others))
        for (who, slots), (whom, others) in combinations(cheapest, 2)
        if not who.isdisjoint(whom)
    )
    return Obstacles(total, float(clashes), greedy)


TERTILES: tuple[Tertile, ...] = ("easy", "medium", "hard")


def with_difficulty(
    scenario: Scenario, tertile: Tertile | None = None, *, estimates: bool = True
) -> Scenario:
    """Return the scenario with its feasible fraction, or the reason why it has none.

    Args:
        scenario: of any size.
        tertile: third of the candidates from which it was chosen.
        estimates: whether an estimate replaces the fraction of one too large to be counted.
    """
    found = difficulty(scenario.problem, scenario.seed if estimates else None)
    return scenario.updated(difficulty=DifficultyEntry(**asdict(found), tertile=tertile))


def with_oracle(scenario: Scenario, effort: float | None = None) -> Scenario:
    """Return the scenario with its oracle, and with its difficulty if that is missing.

    Args:
        scenario: of any size.
        effort: deterministic seconds for each of the two schedules, after which the best one
            found is taken with a bound; ``None``: both are proven, however long it takes.

    Raises:
        GenerationError: no schedule was found with this effort.
    """
    best, worst = _answer(scenario, 1, effort), _answer(scenario, -1, effort)
    is_stopped = isinstance(best, Stopped) or isinstance(worst, Stopped)
    oracle = OracleEntry(
        best=_entry(best),
        worst=_entry(worst),
        infeasible=best.reason if isinstance(best, Infeasible) else None,
        greedy_cost=greedy_cost(scenario.problem),
        witness_cost=_witness_cost(scenario),
        effort=effort if is_stopped else None,
    )
    scored = scenario if scenario.difficulty is not None else with_difficulty(scenario)
    return scored.updated(oracle=oracle)


def _answer(
    scenario: Scenario, direction: Direction, effort: float | None
) -> Optimal | Stopped | Infeasible:
    """Return the best (1) or the worst (-1) complete schedule."""
    answer = solve_within(scenario.problem, direction, effort)
    if answer is None:
        raise GenerationError(
            f"scenario {scenario.scenario_id}: oracle_effort={effort:g} ended before any "
            "complete schedule was found: raise it, or set it to null for no limit"
        )
    return answer


def _entry(answer: Optimal | Stopped | Infeasible) -> ScheduleEntry | None:
    if isinstance(answer, Infeasible):
        return None
    entry = entry_of(answer.schedule)
    if isinstance(answer, Stopped):
        return entry.model_copy(update={"bound": answer.bound})
    return entry


def _witness_cost(scenario: Scenario) -> int | None:
    """Return what the witness costs, ``None`` if there is none or it is not feasible."""
    witness = witness_schedule(scenario)
    if witness is None or check_schedule(scenario.problem, witness):
        return None
    return witness.cost


def complete(
    scenario: Scenario, *, estimates: bool = True, effort: float | None = None
) -> Scenario:
    """Compute the oracle and the difficulty of a scenario that lacks them.

    What it has is kept. A tertile is not added, because it compares with candidates that are not
    in the file.

    Args:
        scenario: with or without them.
        estimates: as for :func:`with_difficulty`.
        effort: as for :func:`with_oracle`.

    Raises:
        GenerationError: no schedule was found with this effort.
    """
    if scenario.difficulty is None:
        scenario = with_difficulty(scenario, estimates=estimates)
    return scenario if scenario.oracle is not None else with_oracle(scenario, effort)


def completed(scenarios: Iterable[Scenario]) -> tuple[Scenario, ...]:
    """Return scenarios of which each is complete."""
    return tuple(complete(scenario) for scenario in scenarios)


def unproven(scenarios: Sequence[Scenario]) -> str | None:
    """Return how many oracles are not proven, and how far off they may be; ``None`` if none."""
    open_ones = [s.oracle for s in scenarios if s.oracle is not None and not s.oracle.is_proven]
    if not open_ones:
        return None
    gap = max(each.best.gap for each in open_ones if each.best is not None)
    return (
        f"{len(open_ones)} of {len(scenarios)} oracles are not proven: the solver was stopped; "
        f"a least cost may be up to {gap} lower"
    )


def tertile_choice(fractions: Sequence[float], num_chosen: int) -> list[tuple[int, Tertile]]:
    """Choose candidates evenly from the easy, the medium and the hard third [P, F].

    Candidates are ranked by feasible fraction, highest (easiest) first, ties by number, and cut
    into thirds. From each third of n candidates, m are taken at ranks
    ``round(i * (n - 1) / (m - 1))``, halves to the even rank, so its easiest and its hardest are
    included; for m = 1 the middle one. If a number is not divisible by three, the first thirds
    have one more.

    Args:
        fractions: feasible fraction of each candidate, 0 to 1.
        num_chosen: candidates to choose, at most ``len(fractions)``.

    Returns:
        (candidate, tertile) in order of tertile, then rank.
    """
    ranking = sorted(range(len(fractions)), key=lambda number: (-fractions[number], number))
    chosen: list[tuple[int, Tertile]] = []
    start = 0
    sizes = zip(_thirds(len(fractions)), _thirds(num_chosen), strict=True)
    for tertile, (size, quota) in zip(TERTILES, sizes, strict=True):
        third = ranking[start : start + size]
        chosen.extend((third[rank], tertile) for rank in _spread_ranks(size, quota))
        start += size
    return chosen


def _thirds(total: int) -> tuple[int, int, int]:
    """Split a number into three that differ by at most one, larger ones first."""
    return (total + 2) // 3, (total + 1) // 3, total // 3


def _spread_ranks(size: int, quota: int) -> list[int]:
    """Return ``quota`` distinct ranks spread over ``0..size-1``, both ends included."""
    if quota == 1:
        return [(size - 1) // 2]
    return [round(index * (size - 1) / (quota - 1)) for index in range(quota)]
