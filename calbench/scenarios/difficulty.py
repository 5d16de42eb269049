"""What is computed about a scenario: its oracle, and how hard it is (paper, sections 3, 3.1)."""

from collections.abc import Callable, Iterable, Sequence

from calbench.oracle.certificate import check_schedule
from calbench.oracle.count import difficulty
from calbench.oracle.greedy import greedy_cost
from calbench.oracle.solve import Infeasible, solve_best, solve_worst
from calbench.scenarios.certificates import entry_of, witness_schedule
from calbench.scenarios.models import DifficultyEntry, OracleEntry, Scenario, Tertile

TERTILES: tuple[Tertile, ...] = ("easy", "medium", "hard")

Progress = Callable[[int, int], None]
"""Is called with the number of steps done and of all steps."""


def with_difficulty(scenario: Scenario, tertile: Tertile | None = None) -> Scenario:
    """Return the scenario with its feasible fraction, or the reason why it has none."""
    found = difficulty(scenario.problem)
    entry = DifficultyEntry(
        feasible_count=found.feasible_count,
        feasible_fraction=found.feasible_fraction,
        tertile=tertile,
        reason=found.reason,
    )
    return scenario.updated(difficulty=entry)


def with_oracle(scenario: Scenario) -> Scenario:
    """Return the scenario with its oracle, and with its difficulty if that is missing."""
    best, worst = solve_best(scenario.problem), solve_worst(scenario.problem)
    oracle = OracleEntry(
        best=None if isinstance(best, Infeasible) else entry_of(best.schedule),
        worst=None if isinstance(worst, Infeasible) else entry_of(worst.schedule),
        infeasible=best.reason if isinstance(best, Infeasible) else None,
        greedy_cost=greedy_cost(scenario.problem),
        witness_cost=_witness_cost(scenario),
    )
    scored = scenario if scenario.difficulty is not None else with_difficulty(scenario)
    return scored.updated(oracle=oracle)


def _witness_cost(scenario: Scenario) -> int | None:
    """Return what the witness costs, ``None`` if there is none or it is not feasible."""
    witness = witness_schedule(scenario)
    if witness is None or check_schedule(scenario.problem, witness):
        return None
    return witness.cost


def completed(
    scenarios: Iterable[Scenario], progress: Progress | None = None
) -> tuple[Scenario, ...]:
    """Compute the oracle and the difficulty of the scenarios that lack them.

    What a scenario has is kept. Tertiles are not added, because they compare a scenario with
    candidates that are not in the file.
    """
    given = tuple(scenarios)
    done: list[Scenario] = []
    for scenario in given:
        if scenario.oracle is None:
            done.append(with_oracle(scenario))
        elif scenario.difficulty is None:
            done.append(with_difficulty(scenario))
        else:
            done.append(scenario)
        if progress is not None:
            progress(len(done), len(given))
    return tuple(done)


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
