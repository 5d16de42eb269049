"""How often intervals hold the truth, on synthetic suites whose truth is known.

A suite draws scenarios from a population; agents of one game share its luck. Run with ``-s``
to see the figures that the method page quotes.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from calbench.stats.bootstrap import bootstrap_means
from calbench.stats.differences import paired_differences
from calbench.stats.proportions import Proportion, wilson
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Floats, Sums

SPEC = AnalysisSpec()
FEW_SWAPS = AnalysisSpec(permutations=9)
SUITES = 4000
AGENTS = 5

Values = npt.NDArray[np.float64]
"""By suite, scenario and agent; not a number where the agent-game does not count."""


def normal(chance: np.random.Generator, scenarios: int) -> Values:
    """Like coordination or VPS: a bell around 12, scenarios and agents of equal weight."""
    game = chance.normal(12, 2, (SUITES, scenarios, 1))
    return np.asarray(game + chance.normal(0, 2, (SUITES, scenarios, AGENTS)))


def counted(chance: np.random.Generator, scenarios: int) -> Values:
    """Like IMAP's excess cost: mean 0.25, and 0.04 apart from one suite of 45 to the next."""
    rate = chance.gamma(2.0, 0.125, (SUITES, scenarios, 1))
    return chance.poisson(np.broadcast_to(rate, (SUITES, scenarios, AGENTS))).astype(float)


def lopsided(chance: np.random.Generator, scenarios: int) -> Values:
    """The same mean, with games that go wrong rarely and then for everybody."""
    rate = chance.gamma(1.0, 0.25, (SUITES, scenarios, 1))
    return chance.poisson(np.broadcast_to(rate, (SUITES, scenarios, AGENTS))).astype(float)


def sparse(chance: np.random.Generator, scenarios: int) -> Values:
    """Like messages per meeting: agent-games with no meeting do not count, most in bad games."""
    luck = chance.beta(2, 2, (SUITES, scenarios, 1))
    values = 2 + 4 * (1 - luck) + chance.exponential(1.0, (SUITES, scenarios, AGENTS))
    counts = chance.random((SUITES, scenarios, AGENTS)) < luck
    return np.where(counts, values, np.nan)


def sums(values: Values) -> Sums:
    """Return suites as columns over their scenarios."""
    totals, counts = np.nansum(values, axis=2), (~np.isnan(values)).sum(axis=2)
    return Sums(totals.T, counts.T.astype(np.float64))


def side_by_side(first: Values, second: Values) -> tuple[Sums, list[tuple[int, int]]]:
    """Return two teams' suites as columns, and which to compare."""
    totals, counts = (np.hstack(parts) for parts in zip(sums(first), sums(second), strict=True))
    return Sums(totals, counts), [(suite, SUITES + suite) for suite in range(SUITES)]


# The mean of sparse is E[sum] / E[count]: 2 + 4 (1 - E[luck^2] / E[luck]) + 1 = 3 + 4 * 0.4.
MEANS = [(normal, 12.0), (counted, 0.25), (sparse, 4.6), (lopsided, 0.25)]


def coverage(low: Floats, high: Floats, truth: float) -> float:
    """Return how many of the intervals that there are hold the truth."""
    known = ~np.isnan(low)
    return float(((low <= truth) & (truth <= high))[known].mean())


def held_by(shares: Sequence[Proportion | None], truth: float) -> float:
    low, high = np.array([(share.low, share.high) for share in shares if share]).T
    return coverage(low, high, truth)


@pytest.mark.slow
@pytest.mark.parametrize("scenarios", [45, 15])
@pytest.mark.parametrize(("population", "truth"), MEANS)
def test_intervals_of_means_hold_the_truth(
    population: Callable[[np.random.Generator, int], Values],
    truth: float,
    scenarios: int,
) -> None:
    suites = population(np.random.default_rng(scenarios), scenarios)
    found = bootstrap_means(sums(suites), SPEC, "coverage")
    held = coverage(found.low, found.high, truth)
    print(f"mean, {population.__name__}, {scenarios} scenarios: {held:.1%}")
    assert 0.92 <= held <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("scenarios", [45, 15])
@pytest.mark.parametrize("population", [normal, counted, sparse])
def test_intervals_of_paired_differences_hold_the_truth(
    population: Callable[[np.random.Generator, int], Values], scenarios: int
) -> None:
    """Two teams that share the luck of their scenarios and differ by one, or not at all."""
    chance = np.random.default_rng(100 + scenarios)
    shared = population(chance, scenarios)
    other = shared + chance.normal(1, 1, shared.shape)
    columns, pairs = side_by_side(other, shared)
    found = paired_differences(columns, pairs, FEW_SWAPS, "coverage")
    held = coverage(found.low, found.high, 1.0)
    print(f"paired difference, {population.__name__}, {scenarios} scenarios: {held:.1%}")
    assert 0.92 <= held <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("scenarios", [45, 15])
def test_tests_of_equal_teams_reject_no_more_than_they_may(scenarios: int) -> None:
    chance = np.random.default_rng(200 + scenarios)
    columns, pairs = side_by_side(*(sparse(chance, scenarios) for _ in range(2)))
    spec = AnalysisSpec(bootstrap_resamples=1, permutations=999)
    p_values = paired_differences(columns, pairs, spec).p_value
    rejected = float((p_values[~np.isnan(p_values)] <= 0.05).mean())
    print(f"rejected of equal teams, {scenarios} scenarios: {rejected:.1%}")
    assert 0.03 <= rejected <= 0.065


@pytest.mark.slow
@pytest.mark.parametrize("truth", [0.05, 0.25, 0.6])
@pytest.mark.parametrize("trials", [30, 45, 225])
def test_wilson_intervals_hold_the_truth_of_independent_trials(truth: float, trials: int) -> None:
    successes = np.random.default_rng(trials).binomial(trials, truth, 20000)
    by_count = {count: wilson(count, trials, SPEC) for count in set(successes.tolist())}
    shares = [by_count[count] for count in successes.tolist()]
    held = held_by(shares, truth)
    print(f"Wilson, {trials} independent trials, share {truth}: {held:.1%}")
    assert 0.92 <= held <= 0.98


@pytest.mark.slow
def test_wilson_intervals_are_too_narrow_where_seats_of_a_game_go_together() -> None:
    """Which is why the tables say that they take seats as independent."""
    chance = np.random.default_rng(5)
    rates = chance.beta(1, 3, (SUITES, 45, 1))
    successes = (chance.random((SUITES, 45, AGENTS)) < rates).sum(axis=(1, 2))
    shares = [wilson(int(count), 45 * AGENTS, SPEC) for count in successes]
    held = held_by(shares, 0.25)
    print(f"Wilson, 45 games of {AGENTS} seats that go together: {held:.1%}")
    assert 0.7 <= held <= 0.92
