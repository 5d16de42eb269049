from collections.abc import Sequence
from itertools import product
from random import Random

import numpy as np
import pytest
from calbench.analysis.comparisons import (
    Comparison,
    Difference,
    adjusted,
    compare_teams,
    paired_differences,
)
from calbench.analysis.intervals import tail_share
from calbench.analysis.power import noncentrality, resolvable_gap, scenarios_needed
from calbench.analysis.proportions import wilson
from calbench.analysis.significance import (
    Sums,
    adjusted_p_values,
    sign_flip_p_value,
    swap_p_values,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calbench.analysis.estimates import ScenarioSum, estimate_means, resample_weights
from calbench.stats.spec import AnalysisSpec

SPEC = AnalysisSpec(bootstrap_resamples=200)
QUICK = AnalysisSpec(bootstrap_resamples=20, permutations=255)

sums = st.builds(ScenarioSum, st.integers(-30, 30).map(float), st.integers(0, 5))
suites = st.integers(1, 12).flatmap(
    lambda n: st.tuples(*[st.lists(st.none() | sums, min_size=n, max_size=n) for _ in range(2)])
)


def compare(
    first: Sequence[ScenarioSum | None],
    second: Sequence[ScenarioSum | None],
    spec: AnalysisSpec = QUICK,
) -> Difference | None:
    (found,) = paired_differences([first, second], [(0, 1)], spec, "uniform")
    return found


def whole(entries: Sequence[tuple[float, int]]) -> list[ScenarioSum | None]:
    return [ScenarioSum(*entry) for entry in entries]


def random_suite(seed: int, num_scenarios: int) -> list[ScenarioSum | None]:
    chance = np.random.default_rng(seed)
    return [
        ScenarioSum(float(chance.integers(0, 20)), int(chance.integers(1, 6)))
        for _ in range(num_scenarios)
    ]


def test_exact_p_value_counts_every_flip() -> None:
    # Of 16 sums only 1 + 4 - 2 - 3 and its negative are closer to 0 than 1 + 2 + 3 - 4.
    differences = [1.0, 2.0, 3.0, -4.0]
    larger = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= 2
        for signs in product([1, -1], repeat=4)
    ]
    assert sum(larger) == 14
    assert sign_flip_p_value(differences, SPEC) == 14 / 16


def test_exact_p_value_is_that_of_scipy() -> None:
    differences = np.random.default_rng(1).normal(0.5, 1, 11)
    theirs = stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip_p_value(differences.tolist(), SPEC) == pytest.approx(theirs.pvalue)


def test_random_p_value_is_close_to_that_of_scipy() -> None:
    differences = np.random.default_rng(2).normal(0.3, 1, 45)
    theirs = stats.permutation_test(
        (differences,),
        np.sum,
        permutation_type="samples",
        n_resamples=20000,
        rng=np.random.default_rng(0),
    )
    assert sign_flip_p_value(differences.tolist(), SPEC) == pytest.approx(theirs.pvalue, abs=0.01)


def test_swaps_exchange_sums_and_counts_together() -> None:
    first = [(3.0, 1), (8.0, 2), (1.0, 1), (9.0, 3), (4.0, 2)]
    second = [(1.0, 2), (5.0, 2), (2.0, 1), (2.0, 1), (1.0, 2)]

    def mean(side: Sequence[tuple[float, int]]) -> float:
        return sum(total for total, _ in side) / sum(count for _, count in side)

    def difference(swapped: Sequence[bool]) -> float:
        sides = [(b, a) if s else (a, b) for a, b, s in zip(first, second, swapped, strict=True)]
        return mean([ours for ours, _ in sides]) - mean([theirs for _, theirs in sides])

    seen = abs(difference([False] * 5))
    every = [abs(difference(swap)) >= seen - 1e-9 for swap in product([False, True], repeat=5)]
    found = compare(whole(first), whole(second))
    assert found is not None
    assert found.value == pytest.approx(difference([False] * 5))
    assert found.p_value == pytest.approx(sum(every) / 32)
    assert found.p_value < 1


def test_difference_is_that_of_a_loop_over_the_resamples() -> None:
    first, second = random_suite(3, 20), random_suite(4, 20)
    found = compare(first, second, SPEC)
    assert found is not None
    differences = []
    for weights in np.concatenate(list(resample_weights(20, SPEC, "uniform"))):
        means = [
            sum(w * e.total for w, e in zip(weights, side, strict=True) if e)
            / sum(w * e.count for w, e in zip(weights, side, strict=True) if e)
            for side in (first, second)
        ]
        differences.append(means[0] - means[1])
    tail = tail_share(20, SPEC.confidence)
    ends = np.quantile(differences, [tail, 1 - tail])
    assert (found.low, found.high) == pytest.approx(tuple(ends), abs=1e-6)


def test_difference_over_common_scenarios_is_that_of_the_means() -> None:
    columns = [random_suite(5, 12), random_suite(6, 12)]
    found = compare(columns[0], columns[1])
    a, b = estimate_means(columns, QUICK, "uniform")
    assert found is not None
    assert a is not None
    assert b is not None
    assert found.value == pytest.approx(a.value - b.value)


def test_only_scenarios_that_count_for_both_are_compared() -> None:
    first = [ScenarioSum(4.0, 2), ScenarioSum(100.0, 1), None, ScenarioSum(1.0, 1)]
    second = [ScenarioSum(1.0, 1), ScenarioSum(0.0, 0), ScenarioSum(7.0, 1), ScenarioSum(3.0, 1)]
    found = compare(first, second)
    assert found is not None
    assert found.num_scenarios == 2
    assert found.value == pytest.approx(5 / 3 - 2)
    assert compare([None, ScenarioSum(1.0, 1)], [ScenarioSum(1.0, 1), None]) is None
    assert compare([], []) is None


def test_one_common_scenario_gives_neither_interval_nor_spread() -> None:
    found = compare(whole([(4.0, 2)]), whole([(1.0, 1)]))
    assert found == Difference(1.0, None, None, 1.0, 1, None)
    assert found.resolvable_gap(SPEC) is found.scenarios_needed(SPEC) is None


def test_spread_of_equal_counts_is_that_of_the_differences() -> None:
    first, second = whole([(2.0, 2), (8.0, 2), (5.0, 2)]), whole([(4.0, 2), (2.0, 2), (1.0, 2)])
    found = compare(first, second)
    assert found is not None
    assert found.spread == pytest.approx(np.std([-1, 3, 2], ddof=1))


def test_spread_of_a_ratio_is_that_of_its_resamples() -> None:
    first, second = random_suite(7, 60), random_suite(8, 60)
    many = AnalysisSpec(bootstrap_resamples=4000)
    found = compare(first, second, many)
    assert found is not None
    assert found.spread is not None
    resampled = []
    for weights in np.concatenate(list(resample_weights(60, many, "uniform"))):
        means = [
            (weights @ [e.total for e in side if e]) / (weights @ [e.count for e in side if e])
            for side in (first, second)
        ]
        resampled.append(means[0] - means[1])
    assert found.spread / np.sqrt(60) == pytest.approx(np.std(resampled), rel=0.06)


@given(suites)
def test_differences_are_antisymmetric(suite: tuple[list[ScenarioSum | None], ...]) -> None:
    one, other = compare(suite[0], suite[1]), compare(suite[1], suite[0])
    if one is None or other is None:
        assert one is other
        return
    assert one.value == -other.value
    assert 0 < one.p_value <= 1
    assert one.p_value == other.p_value
    assert one.spread == pytest.approx(other.spread)
    if one.low is not None and one.high is not None:
        assert other.low is not None
        assert other.high is not None
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
        assert one.low <= one.high


@given(suites, st.randoms(use_true_random=False))
def test_p_values_do_not_depend_on_the_order_of_scenarios(
    suite: tuple[list[ScenarioSum | None], ...], chance: Random
) -> None:
    rows = list(zip(*suite, strict=True))
    chance.shuffle(rows)
    first, second = zip(*rows, strict=True)
    one, other = compare(suite[0], suite[1]), compare(list(first), list(second))
    assert (one and one.p_value) == (other and other.p_value)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=40), st.integers(0, 5))
def test_scenarios_without_a_difference_change_no_p_value(values: list[int], more: int) -> None:
    differences = [float(value) for value in values]
    alone = sign_flip_p_value(differences, QUICK)
    assert 0 < alone <= 1
    assert sign_flip_p_value([*[0.0] * more, *differences], QUICK) == alone
    assert sign_flip_p_value([-value for value in reversed(differences)], QUICK) == alone


def test_p_value_of_a_column_does_not_depend_on_its_neighbours() -> None:
    chance = np.random.default_rng(9)
    totals = chance.integers(-9, 10, (30, 6)).astype(float)
    totals[10:, 3] = 0
    ones, nothing = np.ones_like(totals), np.zeros_like(totals)
    together = swap_p_values(Sums(totals, ones), Sums(nothing, ones), QUICK)
    assert together == [sign_flip_p_value(column.tolist(), QUICK) for column in totals.T]


def test_thirds_that_tie_count_as_ties() -> None:
    # 1/3 + 2/3 and 1 are equal, though their roundings are not: all four sums are 2 or 0.
    assert sign_flip_p_value([1 / 3, 2 / 3, 1.0], SPEC) == 2 / 8
    assert sign_flip_p_value([1 / 3, 2 / 3, -1.0], SPEC) == 1


@given(st.lists(st.floats(0.0001, 1), max_size=30))
def test_adjusted_p_values_are_larger_and_in_the_same_order(p_values: list[float]) -> None:
    found = adjusted_p_values(p_values)
    order = np.argsort(p_values, kind="stable")
    assert all(p <= q <= 1 for p, q in zip(p_values, found, strict=True))
    assert all(np.diff(np.array(found)[order]) >= 0)


def test_adjusted_p_values_by_hand() -> None:
    # Times 4/1, 4/2, 4/3, 4/4 by rank, then no greater than those of higher rank.
    assert adjusted_p_values([0.04, 0.01, 0.02, 0.5]) == pytest.approx([0.16 / 3, 0.04, 0.04, 0.5])


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_intervals_are_those_of_the_formula(outcome: tuple[int, int]) -> None:
    successes, trials = outcome
    found = wilson(successes, trials, SPEC)
    assert found is not None
    z, share = stats.norm.ppf(0.975), successes / trials
    centre = (share + z**2 / (2 * trials)) / (1 + z**2 / trials)
    half = z / (1 + z**2 / trials) * np.sqrt(share * (1 - share) / trials + (z / 2 / trials) ** 2)
    assert found.value == share
    assert (found.low, found.high) == pytest.approx((centre - half, centre + half), abs=1e-9)
    assert found.low <= share <= found.high


def test_shares_without_trials_are_absent() -> None:
    assert wilson(0, 0, SPEC) is None


def test_resolvable_gap_is_found_with_the_power_it_promises() -> None:
    gap = resolvable_gap(2.0, 15, SPEC)
    assert gap is not None
    suites_drawn = np.random.default_rng(3).normal(gap, 2.0, (20000, 15))
    found = (stats.ttest_1samp(suites_drawn, 0, axis=1).pvalue < 0.05).mean()
    assert found == pytest.approx(0.8, abs=0.01)
    assert resolvable_gap(2.0, 2, SPEC) is None


@given(st.floats(0.01, 3), st.floats(0.01, 3))
def test_needed_scenarios_are_the_fewest_that_resolve(difference: float, spread: float) -> None:
    needed = scenarios_needed(difference, spread, SPEC)
    assert needed == scenarios_needed(-difference, spread, SPEC)
    assert needed is not None
    gap = resolvable_gap(spread, needed, SPEC)
    assert gap is not None
    assert gap <= difference * (1 + 1e-9)
    before = resolvable_gap(spread, needed - 1, SPEC)
    assert before is None or before > difference * (1 - 1e-9)


def test_no_suite_resolves_a_difference_of_zero() -> None:
    assert scenarios_needed(0.0, 1.0, SPEC) is None
    assert scenarios_needed(1.0, 0.0, SPEC) == 3


def test_t_and_normal_meet_where_one_takes_over() -> None:
    assert noncentrality(499, 0.05, 0.8) == pytest.approx(noncentrality(500, 0.05, 0.8), rel=0.003)


def test_teams_are_compared_pair_by_pair_and_adjusted_over_the_table() -> None:
    suites_played = {"cost": [random_suite(seed, 10) for seed in (1, 2, 3)]}
    rows = compare_teams("uniform", ["x", "y", "z"], suites_played.items(), QUICK)
    assert [(r.team_a, r.team_b) for r in rows] == [("x", "y"), ("x", "z"), ("y", "z")]
    corrected: list[Comparison] = adjusted(rows)
    theirs = stats.false_discovery_control([r.difference.p_value for r in rows])
    assert [r.p_adjusted for r in corrected] == pytest.approx(theirs.tolist())
    none = compare_teams("uniform", ["x", "y", "z"], suites_played.items(), QUICK, lambda *_: False)
    assert none == []
