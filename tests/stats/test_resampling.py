"""The paired permutation test and the bootstrap: laws, numbers by hand, and other computations."""

from collections.abc import Sequence
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy import stats

from calbench.stats.resampling import (
    adjusted_p_values,
    holm_p_values,
    resample_weights,
    sign_flip_p_values,
    swap_p_values,
)
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Sums
from tests.stats.samples import UNITS, Unit, column

SPEC = AnalysisSpec()
QUICK = AnalysisSpec(permutations=255)


def p_value(differences: Sequence[float], spec: AnalysisSpec = SPEC) -> float:
    return float(sign_flip_p_values(np.array([differences], dtype=np.float64).T, spec)[0])


def test_exact_p_value_counts_every_flip() -> None:
    # Of 16 sums only 1 + 4 - 2 - 3 and its negative are closer to 0 than 1 + 2 + 3 - 4.
    differences = [1.0, 2.0, 3.0, -4.0]
    larger = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= 2
        for signs in product([1, -1], repeat=4)
    ]
    assert sum(larger) == 14
    assert p_value(differences) == 14 / 16


def test_exact_p_value_is_that_of_scipy() -> None:
    differences = np.random.default_rng(1).normal(0.5, 1, 11)
    theirs = stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=np.inf
    )
    assert p_value(differences.tolist()) == pytest.approx(theirs.pvalue)


def test_random_p_value_is_close_to_that_of_scipy() -> None:
    differences = np.random.default_rng(2).normal(0.3, 1, 45)
    theirs = stats.permutation_test(
        (differences,),
        np.sum,
        permutation_type="samples",
        n_resamples=20000,
        rng=np.random.default_rng(0),
    )
    assert p_value(differences.tolist()) == pytest.approx(theirs.pvalue, abs=0.01)


def test_swaps_exchange_sums_and_counts_together() -> None:
    first = [(3.0, 1), (8.0, 2), (1.0, 1), (9.0, 3), (4.0, 2)]
    second = [(1.0, 2), (5.0, 2), (2.0, 1), (2.0, 1), (1.0, 2)]

    def mean(side: Sequence[tuple[float, int]]) -> float:
        return sum(total for total, _ in side) / sum(count for _, count in side)

    def difference(swapped: Sequence[bool]) -> float:
        sides = [(b, a) if s else (a, b) for a, b, s in zip(first, second, swapped, strict=True)]
        return mean([ours for ours, _ in sides]) - mean([theirs for _, theirs in sides])

    seen = difference([False] * 5)
    every = [difference(swap) for swap in product([False, True], repeat=5)]
    sides = column(first), column(second)
    (found,) = swap_p_values(*sides, QUICK)
    assert found == pytest.approx(sum(abs(each) >= abs(seen) - 1e-9 for each in every) / 32)
    assert found < 1
    for one, other, sign in ((*sides, 1), (*sides[::-1], -1)):
        (lower,) = swap_p_values(one, other, QUICK, is_less=True)
        wanted = sum(sign * each <= sign * seen + 1e-9 for each in every) / 32
        assert lower == pytest.approx(wanted)


@pytest.mark.parametrize(("size", "within"), [(11, 1e-12), (45, 0.015)])
def test_one_sided_p_value_is_that_of_scipy(size: int, within: float) -> None:
    differences = np.random.default_rng(size).normal(-0.2, 1, size)
    theirs = stats.permutation_test(
        (differences,),
        np.sum,
        permutation_type="samples",
        n_resamples=np.inf if size < 12 else 20000,
        alternative="less",
        rng=np.random.default_rng(0),
    )
    values, ones = differences[:, np.newaxis], np.ones((size, 1))
    (found,) = swap_p_values(Sums(values, ones), Sums(0 * ones, ones), SPEC, is_less=True)
    assert found == pytest.approx(theirs.pvalue, abs=within)


@given(
    st.lists(st.tuples(UNITS, UNITS), min_size=1, max_size=12), st.randoms(use_true_random=False)
)
def test_p_values_depend_on_neither_order_nor_side(
    pairs: list[tuple[Unit, Unit]], chance: Random
) -> None:
    common = [(a, b) for a, b in pairs if a and b and a[1] and b[1]]
    if not common:
        return
    shuffled = chance.sample(common, len(common))
    first, second = (column([pair[side] for pair in common]) for side in (0, 1))
    mixed, other = (column([pair[side] for pair in shuffled]) for side in (0, 1))
    (found,) = swap_p_values(first, second, QUICK)
    assert 0 < found <= 1
    assert swap_p_values(second, first, QUICK).tolist() == [found]
    assert swap_p_values(mixed, other, QUICK).tolist() == [found]


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=40), st.integers(0, 5))
def test_units_without_a_difference_change_no_p_value(values: list[int], more: int) -> None:
    differences = [float(value) for value in values]
    alone = p_value(differences, QUICK)
    assert 0 < alone <= 1
    assert p_value([*[0.0] * more, *differences], QUICK) == alone
    assert p_value([-value for value in reversed(differences)], QUICK) == alone


def test_p_value_of_a_column_does_not_depend_on_its_neighbours() -> None:
    chance = np.random.default_rng(9)
    totals = chance.integers(-9, 10, (30, 6)).astype(float)
    totals[10:, 3] = 0
    ones, nothing = np.ones_like(totals), np.zeros_like(totals)
    together = swap_p_values(Sums(totals, ones), Sums(nothing, ones), QUICK)
    assert together.tolist() == [p_value(each.tolist(), QUICK) for each in totals.T]


def test_thirds_that_tie_count_as_ties() -> None:
    # 1/3 + 2/3 and 1 are equal, though their roundings are not: all four sums are 2 or 0.
    assert p_value([1 / 3, 2 / 3, 1.0]) == 2 / 8
    assert p_value([1 / 3, 2 / 3, -1.0]) == 1


def test_all_swaps_are_counted_up_to_the_number_of_random_ones() -> None:
    eight = [1.0] * 8
    assert p_value(eight, AnalysisSpec(permutations=255)) == 2 / 256
    # One swap less, and they are drawn: the observed one counts beside them.
    drawn = p_value(eight, AnalysisSpec(permutations=254))
    assert (drawn * 255).is_integer()
    assert p_value([1.0] * 60, AnalysisSpec(permutations=99)) == 1 / 100


def test_random_swaps_are_those_of_their_seed() -> None:
    differences = np.random.default_rng(5).normal(0.2, 1, 30).tolist()
    assert p_value(differences, QUICK) == p_value(differences, QUICK)
    other = AnalysisSpec(permutations=255, permutation_seed=1)
    assert p_value(differences, other) != p_value(differences, QUICK)


def test_without_any_difference_the_p_value_is_one() -> None:
    assert p_value([0.0, 0.0, 0.0]) == 1


@given(st.lists(st.floats(0.0001, 1), max_size=30))
def test_adjusted_p_values_are_larger_and_in_the_same_order(p_values: list[float]) -> None:
    found = adjusted_p_values(p_values)
    if p_values:
        expected = stats.false_discovery_control(p_values, method="bh")
        assert found == pytest.approx(expected, abs=1e-12)
    order = np.argsort(p_values, kind="stable")
    assert all(p <= q <= 1 for p, q in zip(p_values, found.tolist(), strict=True))
    assert all(np.diff(found[order]) >= 0)


def test_holms_p_values_by_hand() -> None:
    # Times 4, 3, 2, 1 from the least, then no less than those before; what is no test counts not.
    given_ = [0.04, 0.01, float("nan"), 0.02, 0.5]
    assert holm_p_values(given_) == pytest.approx([0.08, 0.04, np.nan, 0.06, 0.5], nan_ok=True)
    assert holm_p_values([0.4, 0.3]).tolist() == [0.6, 0.6]
    assert holm_p_values([0.9, 0.8]).tolist() == [1.0, 1.0]
    assert holm_p_values([]).shape == (0,)


def test_adjusted_p_values_by_hand() -> None:
    # Times 4/1, 4/2, 4/3, 4/4 by rank, then no greater than those of higher rank.
    assert adjusted_p_values([0.04, 0.01, 0.02, 0.5]) == pytest.approx([0.16 / 3, 0.04, 0.04, 0.5])


def test_what_is_no_test_counts_for_nothing() -> None:
    given_ = [0.04, float("nan"), 0.01, 0.02, 0.5, float("nan")]
    found = adjusted_p_values(given_)
    assert found == pytest.approx([0.16 / 3, np.nan, 0.04, 0.04, 0.5, np.nan], nan_ok=True)
    assert np.isnan(given_[1])
    assert np.isnan(adjusted_p_values([float("nan")])).all()
    assert adjusted_p_values([]).shape == (0,)


def test_resamples_draw_every_unit_equally_often() -> None:
    weights = np.concatenate(list(resample_weights(7, 2000, 0, "uniform")))
    assert weights.shape == (2000, 7)
    assert (weights.sum(axis=1) == 7).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(7), abs=0.1)


def test_resamples_are_those_of_their_seed_and_name() -> None:
    def first(seed: int, *names: str) -> list[float]:
        weights: list[float] = next(resample_weights(5, 7, seed, *names))[0].tolist()
        return weights

    assert first(0, "uniform") == first(0, "uniform") == [0, 0, 0, 3, 2]
    assert first(0, "varied") != first(0, "uniform")
    assert first(0, "uniform", "x") != first(0, "uniform")
    assert first(1, "uniform") != first(0, "uniform")


def test_resamples_do_not_depend_on_the_size_of_blocks() -> None:
    blocks = list(resample_weights(45, 7, 0, "uniform", draws_at_once=100))
    assert [len(block) for block in blocks] == [2, 2, 2, 1]
    (whole,) = resample_weights(45, 7, 0, "uniform")
    assert np.array_equal(np.concatenate(blocks), whole)
    assert [len(b) for b in resample_weights(45, 7, 0, "uniform", draws_at_once=1)] == [1] * 7


@pytest.mark.parametrize("settings", [{"seed": 1}, {"confidence": 1.0}, {"permutations": 0}])
def test_settings_refuse_what_they_do_not_know(settings: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        AnalysisSpec.model_validate(settings)
