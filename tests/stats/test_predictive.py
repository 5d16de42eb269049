"""Printed numbers against drawn suites: laws, all subsets of a small pool, and normal theory."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.analysis.measures import HEADLINE
from calbench.analysis.summary.pool import POOL, unpacked
from calbench.stats.predictive import (
    deviations,
    drawn_means,
    drawn_units,
    is_constant,
    joint_test,
    single_test,
    spreads,
)
from calbench.stats.sums import Floats, Ints, Sums
from tests.cli.runs import REPO

EXACT = 12
"""Decimals of a number that is not rounded."""


def pool(num_units: int, num_means: int, seed: int) -> Sums:
    """Return skewed sums with unequal counts, some of them 0."""
    chance = np.random.default_rng(seed)
    counts = chance.integers(0, 6, (num_units, num_means)).astype(np.float64)
    counts[0] = 5
    return Sums(np.rint(counts * chance.exponential(2, counts.shape) * 8) / 8, counts)


@given(st.integers(1, 4), st.integers(0, 9), st.integers(0, 99))
def test_suites_have_distinct_units_and_as_many_of_each_stratum(
    num_strata: int, more: int, seed: int
) -> None:
    strata = np.arange(num_strata * 6 + more) % num_strata
    size = 2 * num_strata + num_strata // 2
    units = drawn_units(strata, size, 20, "a test", seed)
    assert units.shape == (size, 20)
    for draw in units.T:
        assert len(set(draw)) == size
        shares = np.bincount(strata[draw], minlength=num_strata)
        assert shares.max() - shares.min() <= 1
    assert (units == drawn_units(strata, size, 20, "a test", seed)).all()


def test_a_stratum_that_is_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="stratum 1 has 1 units, not 2"):
        drawn_units(np.array([0, 0, 0, 1]), 4, 10, "a test")


@given(st.integers(0, 999))
def test_drawn_units_and_the_others_are_the_pool(seed: int) -> None:
    sums = pool(9, 3, seed)
    units = drawn_units(np.zeros(9, dtype=np.int64), 4, 30, seed)
    drawn = drawn_means(sums, units)
    counts = np.stack([sums.counts[draw].sum(axis=0) for draw in units.T])
    left = sums.counts.sum(axis=0) - counts
    ours = np.where(counts > 0, drawn.suites, 0) * counts
    theirs = np.where(left > 0, drawn.others, 0) * left
    assert ours + theirs == pytest.approx(np.broadcast_to(sums.totals.sum(axis=0), ours.shape))


def test_mean_of_the_draws_is_that_of_the_pool() -> None:
    sums = pool(300, 4, 1)
    sums = Sums(sums.totals, np.ones_like(sums.counts))
    drawn = drawn_means(sums, drawn_units(np.arange(300) % 3, 45, 10_000, "mean"))
    error = drawn.suites.std(axis=0) / 100
    assert (np.abs(drawn.suites.mean(axis=0) - drawn.pool) < 4 * error).all()
    # Of a mean of n of N, with that of the N - n others subtracted: s² (1/n + 1/(N - n)).
    spread = sums.totals.std(axis=0, ddof=1) * np.sqrt(1 / 45 + 1 / 255)
    found = np.column_stack([deviations(drawn, mean, EXACT) for mean in range(4)])
    assert spreads(found) == pytest.approx(spread, rel=0.03)


def test_p_is_the_share_of_all_subsets_of_a_small_pool() -> None:
    sums = pool(8, 1, 3)
    drawn = drawn_means(sums, drawn_units(np.zeros(8, dtype=np.int64), 3, 20_000, "all"))
    found = deviations(drawn, 0, EXACT)
    every = []
    for subset in combinations(range(8), 3):
        rest = [unit for unit in range(8) if unit not in subset]
        means = (sums.totals[list(u)].sum() / sums.counts[list(u)].sum() for u in (subset, rest))
        every.append(next(means) - next(means))
    for offset in (0.3, -0.8, 1.5, 2.4):
        share = float(np.mean(np.abs(every) >= abs(offset)))
        assert single_test(offset, found).p_value == pytest.approx(share, abs=0.015)


@given(st.floats(-3, 3), st.integers(0, 99), st.integers(-3, 3))
def test_units_change_neither_z_nor_p(offset: float, seed: int, power: int) -> None:
    sums = pool(20, 1, seed)
    units = drawn_units(np.zeros(20, dtype=np.int64), 6, 99, seed)
    here = deviations(drawn_means(sums, units), 0, EXACT)
    factor = 2.0**power  # exact, so that equal distances stay equal
    there = deviations(drawn_means(Sums(sums.totals * factor, sums.counts), units), 0, EXACT)
    one, other = single_test(offset, here), single_test(offset * factor, there)
    assert other.distance == pytest.approx(one.distance)
    assert other.p_value == pytest.approx(one.p_value, abs=0.011)


def test_a_number_at_the_mean_is_the_most_probable_one() -> None:
    sums = pool(50, 1, 5)
    drawn = drawn_means(sums, drawn_units(np.zeros(50, dtype=np.int64), 9, 999, "mean"))
    found = deviations(drawn, 0, 2)
    assert single_test(0.0, found) == (0.0, 1.0)
    assert single_test(1e6, found).p_value == 1 / 1000  # never 0


def test_a_number_is_known_to_half_of_its_last_digit() -> None:
    """Of 100 units one gives 99, the others 100; suites of 10 give 100.0 or 99.9."""
    totals = np.full((100, 1), 100.0)
    totals[7] = 99
    sums = Sums(totals, np.ones((100, 1)))
    drawn = drawn_means(sums, drawn_units(np.zeros(100, dtype=np.int64), 10, 9999, "last digit"))
    assert drawn.pool[0] == 99.99
    assert single_test(100 - drawn.pool[0], deviations(drawn, 0, 1)).p_value == 1
    lower = single_test(99.9 - drawn.pool[0], deviations(drawn, 0, 1))
    assert lower.p_value == pytest.approx(0.1, abs=0.02)
    assert not is_constant(drawn)[0]


def test_what_never_varies_is_constant_whatever_its_bits() -> None:
    sums = Sums(np.full((12, 2), 3.3), np.ones((12, 2)))
    sums.totals[4, 1] = 3.4
    drawn = drawn_means(sums, drawn_units(np.zeros(12, dtype=np.int64), 5, 50, "constant"))
    assert is_constant(drawn).tolist() == [True, False]


def normal(num_draws: int) -> tuple[Floats, Floats]:
    """Return draws of three correlated numbers, and their covariance."""
    mix = np.array([[2.0, 0.0, 0.0], [1.5, 0.1, 0.0], [-0.3, 0.02, 40.0]])
    drawn = np.random.default_rng(0).normal(size=(num_draws, 3)) @ mix.T
    return drawn, mix @ mix.T


def test_joint_test_is_that_of_chi_squared_if_all_is_normal() -> None:
    from scipy import stats

    drawn, covariance = normal(20_000)
    for offsets in ([1.0, 1.0, 5.0], [3.0, 2.0, -80.0], [0.5, 0.2, 0.0], [2.0, 1.8, 90.0]):
        square = np.array(offsets) @ np.linalg.solve(covariance, offsets)
        found = joint_test(np.array(offsets), drawn)
        expected = stats.chi2.sf(square, 3)
        assert found.distance == pytest.approx(np.sqrt(square), rel=0.03)
        assert found.p_value == pytest.approx(expected, abs=0.006 + 0.05 * expected)


def test_joint_test_does_not_depend_on_how_numbers_are_combined() -> None:
    drawn, _ = normal(999)
    offsets = np.array([1.0, 0.5, -20.0])
    one = joint_test(offsets, drawn)
    mix = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 0.1], [3.0, 0.0, 1.0]])
    mixed = joint_test(mix @ offsets, drawn @ mix.T)
    assert mixed.distance == pytest.approx(one.distance, rel=1e-3)
    assert mixed.p_value == pytest.approx(one.p_value, abs=0.003)
    twice = joint_test(offsets[[0, 1, 2, 0]], drawn[:, [0, 1, 2, 0]])
    assert twice == pytest.approx(one, rel=1e-3)


def test_joint_test_of_one_number_is_its_own_test() -> None:
    drawn, _ = normal(999)
    one, joint = single_test(-3.0, drawn[:, 0]), joint_test(np.array([-3.0]), drawn[:, :1])
    assert joint.distance == pytest.approx(-one.distance, rel=1e-4)
    assert joint.p_value == pytest.approx(one.p_value)


def pooled(rows: pd.DataFrame) -> tuple[Sums, Ints]:
    """Return the sums of all teams of a setting, ``[scenario, team and mean]``, and its strata."""
    teams = [own.sort_values("scenario") for _, own in rows.groupby(["experiment", "team"])]
    totals, counts = (
        np.hstack([own[[f"{name}{end}" for name in HEADLINE]] for own in teams])
        for end in ("", "_n")
    )
    strata, _ = pd.factorize(teams[0]["tertile"])
    return Sums(totals, counts.astype(np.float64)), strata


def improbable(sums: Sums, strata: Ints, suite: Ints) -> tuple[list[bool], list[bool]]:
    """Return whether numbers and rows of a suite have p below .05 in what is left of a pool."""
    left = np.setdiff1d(np.arange(len(strata)), suite)
    units = drawn_units(strata[left], 45, 399, "draws")
    drawn = drawn_means(Sums(sums.totals[left], sums.counts[left]), units)
    printed = np.round(sums.totals[suite].sum(axis=0) / sums.counts[suite].sum(axis=0), 2)
    offsets, varying = printed - drawn.pool, np.flatnonzero(~is_constant(drawn)).tolist()
    found = {mean: deviations(drawn, mean, 2) for mean in varying}
    singles = [single_test(offsets[mean], each).p_value < 0.05 for mean, each in found.items()]
    rows = []
    for first in range(0, len(printed), len(HEADLINE)):
        own = [mean for mean in varying if first <= mean < first + len(HEADLINE)]
        test = joint_test(offsets[own], np.column_stack([found[mean] for mean in own]))
        rows.append(test.p_value < 0.05)
    return singles, rows


@pytest.mark.heavy
@pytest.mark.parametrize("setting", ["uniform", "varied"])
def test_suites_of_the_pool_are_improbable_as_often_as_they_should_be(setting: str) -> None:
    """Of 300 suites, each tested against what is left of the pool, 5% have a p below .05.

    Tests of one suite go together, those of two hardly: the standard error is at most that of 300.
    """
    rows = unpacked(
        REPO / "data" / "predictive" / POOL, (REPO / "data" / "predictive" / POOL).read_bytes()
    )
    sums, strata = pooled(rows[rows["setting"] == setting])
    suites = drawn_units(strata, 45, 300, "left out", setting).T
    singles, together = zip(*(improbable(sums, strata, suite) for suite in suites), strict=True)
    assert 0.0125 < np.concatenate(singles).mean() < 0.0875
    assert 0.0125 < np.concatenate(together).mean() < 0.0875
