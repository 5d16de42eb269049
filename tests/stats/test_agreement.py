"""Agreement of two raters: by hand, by scipy, and by laws."""

from collections import Counter
from collections.abc import Sequence
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import pearsonr, sem, t

from calbench.stats import agreement
from calbench.stats.agreement import (
    NUM_SUMS,
    Statistic,
    cell_sums,
    chance_agreement,
    jackknife_intervals,
    ratio,
    spread_evenly,
    with_zeros,
)
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Floats, Ints

SPEC = AnalysisSpec(permutations=999)

SHARES: dict[str, Statistic] = {
    "jaccard": agreement.jaccard,
    "first_coverage": agreement.first_coverage,
    "second_coverage": agreement.second_coverage,
    "directional_agreement": agreement.directional_agreement,
    "kappa": agreement.kappa,
    "pearson": agreement.pearson,
    "pearson_both": agreement.pearson_both,
}

ALL: dict[str, Statistic] = {
    "cells": agreement.cells,
    "first_nonzero": agreement.first_nonzero,
    "second_nonzero": agreement.second_nonzero,
    "both_nonzero": agreement.both_nonzero,
    "same_direction": agreement.same_direction,
    **SHARES,
}

FIRST = (3, 2, -1, 0, 0, -3, 1, 0, 2, 0)
SECOND = (1, -2, -3, 2, 0, 0, 3, 0, 1, -1)
"""Ten cells: 6 and 7 nonzero, 5 both, 4 of these the same way; 2 are 0 for both."""


def integers(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def sums_of(first: Sequence[int], second: Sequence[int]) -> Floats:
    """Return the sums of one group of cells."""
    (sums,) = cell_sums(integers(first), integers(second), np.zeros(len(first), np.int64), 1)
    return np.asarray(sums)


def of(first: Sequence[int], second: Sequence[int]) -> dict[str, float]:
    sums = sums_of(first, second)
    return {name: float(statistic(sums)) for name, statistic in ALL.items()}


def kappa_by_hand(judge: Sequence[int], reflection: Sequence[int]) -> float:
    pairs = list(zip(np.sign(judge).tolist(), np.sign(reflection).tolist(), strict=True))
    ours, theirs = (Counter(side) for side in zip(*pairs, strict=True))
    agreed = sum(j == r for j, r in pairs) / len(pairs)
    expected = sum(ours[sign] * theirs[sign] for sign in (-1, 0, 1)) / len(pairs) ** 2
    return float((agreed - expected) / (1 - expected))


def test_ten_cells_by_hand() -> None:
    both = [(x, y) for x, y in zip(FIRST, SECOND, strict=True) if x and y]
    # Signs: the first has -2, +4, 0 four times; the second -3, +4, 0 three times.
    expected = (2 * 3 + 4 * 3 + 4 * 4) / 100
    assert of(FIRST, SECOND) == pytest.approx(
        {
            "cells": 10,
            "first_nonzero": 6,
            "second_nonzero": 7,
            "both_nonzero": 5,
            "same_direction": 4,
            "jaccard": 5 / 8,
            "first_coverage": 5 / 7,
            "second_coverage": 5 / 6,
            "directional_agreement": 4 / 5,
            "kappa": (6 / 10 - expected) / (1 - expected),
            "pearson": pearsonr(FIRST, SECOND).statistic,
            "pearson_both": pearsonr(*zip(*both, strict=True)).statistic,
        }
    )


def test_sums_are_those_of_each_group() -> None:
    groups = integers([2, 0, 2, 0, 2, 0, 2, 0, 2, 0])
    found = cell_sums(integers(FIRST), integers(SECOND), groups, 4)
    assert found.shape == (4, NUM_SUMS)
    assert found[0].tolist() == sums_of(FIRST[1::2], SECOND[1::2]).tolist()
    assert found[2].tolist() == sums_of(FIRST[::2], SECOND[::2]).tolist()
    assert not found[[1, 3]].any()
    nothing = integers([])
    assert cell_sums(nothing, nothing, nothing, 2).tolist() == [[0] * NUM_SUMS] * 2


def test_cells_of_which_both_say_nothing_can_be_added_later() -> None:
    moved = [(x, y) for x, y in zip(FIRST, SECOND, strict=True) if x or y]
    sums = np.array([sums_of(*zip(*moved, strict=True)), np.zeros(NUM_SUMS)])
    whole = with_zeros(sums, integers([10, 3]))
    assert whole[0].tolist() == sums_of(FIRST, SECOND).tolist()
    assert whole[1].tolist() == sums_of([0] * 3, [0] * 3).tolist()
    assert sums[1].tolist() == [0] * NUM_SUMS


def test_ratios_of_nothing_are_no_numbers() -> None:
    found = ratio(np.array([1.0, 0.0, 3.0]), np.array([0.0, 0.0, 2.0]))
    assert found.tolist() == [np.inf, pytest.approx(np.nan, nan_ok=True), 1.5]
    assert all(np.isnan(value) for value in list(of([], []).values())[5:])


CELLS = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=40)


@given(CELLS)
def test_laws(cells: list[tuple[int, int]]) -> None:
    judge, reflection = (list(side) for side in zip(*cells, strict=True))
    found, swapped = of(judge, reflection), of(reflection, judge)
    for name in ("jaccard", "directional_agreement", "kappa", "pearson", "pearson_both"):
        assert found[name] == pytest.approx(swapped[name], nan_ok=True)
    assert found["first_coverage"] == pytest.approx(swapped["second_coverage"], nan_ok=True)
    assert not found["kappa"] < -1
    assert not found["kappa"] > 1
    if len(set(np.sign(judge)) | set(np.sign(reflection))) > 1:
        assert found["kappa"] == pytest.approx(kappa_by_hand(judge, reflection))
    if len(set(judge)) > 1 and len(set(reflection)) > 1:
        assert found["pearson"] == pytest.approx(pearsonr(judge, reflection).statistic)


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=40))
def test_whoever_agrees_with_itself_agrees_wholly(cells: list[int]) -> None:
    found = of(cells, cells)
    is_moved, signs = any(cells), set(np.sign(cells))
    assert found["directional_agreement"] == pytest.approx(1 if is_moved else np.nan, nan_ok=True)
    assert found["kappa"] == pytest.approx(1 if len(signs) > 1 else np.nan, nan_ok=True)
    opposite = of(cells, [-cell for cell in cells])
    assert opposite["directional_agreement"] == pytest.approx(
        0 if is_moved else np.nan, nan_ok=True
    )


def drawn(units: int, seed: int, echo: float) -> tuple[list[Ints], list[Ints]]:
    """Return units of 30 cells of which the second rater repeats the first with some chance."""
    chance = np.random.default_rng(seed)
    first = [chance.integers(-3, 4, 30) for _ in range(units)]
    own = [chance.integers(-3, 4, 30) for _ in range(units)]
    return first, [
        np.where(chance.random(30) < echo, x, y) for x, y in zip(first, own, strict=True)
    ]


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_intervals_are_those_of_pseudovalues_of_cells(
    confidence: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The jackknife as textbooks have it, of logits, on the cells of all units but one."""
    monkeypatch.setattr(agreement, "LEAST_CORRELATED", 15)
    first, second = drawn(15, seed=1, echo=0.5)
    sums = np.array([sums_of(*each) for each in zip(first, second, strict=True)])  # type: ignore[arg-type]
    ranges = [(each, -1.0) for each in SHARES.values()]
    found = jackknife_intervals(sums, ranges, AnalysisSpec(confidence=confidence))
    whole = of(np.concatenate(first).tolist(), np.concatenate(second).tolist())
    for place, name in enumerate(SHARES):
        middle, pseudo = logit((whole[name] + 1) / 2), []
        for out in range(15):
            kept = [[*side[:out], *side[out + 1 :]] for side in (first, second)]
            without = of(*(np.concatenate(cells).tolist() for cells in kept))[name]
            pseudo.append(15 * middle - 14 * logit((without + 1) / 2))
        half = t(14).ppf(1 - 0.8 * (1 - confidence) / 2) * sem(pseudo)
        assert found.value[place] == pytest.approx(whole[name])
        assert found.low[place] == pytest.approx(2 * expit(middle - half) - 1)
        assert found.high[place] == pytest.approx(2 * expit(middle + half) - 1)
    assert found.kind == ["t"] * len(SHARES)


def test_few_units_and_one_contribution_of_most_have_no_interval_and_say_why() -> None:
    some, other = sums_of([1, 1, 0, -1], [1, -1, 2, -1]), sums_of([1, 1], [1, 0])
    ranges = [(SHARES["directional_agreement"], 0.0), (SHARES["jaccard"], 0.0)]
    found = jackknife_intervals(np.array([some, other, some] * 2), ranges, AnalysisSpec())
    assert found.kind == ["few", "few"]
    assert found.value.tolist() == [5 / 7, 7 / 10]
    same = jackknife_intervals(np.array([some, some, other, some] * 4), ranges, AnalysisSpec())
    assert same.kind == ["same", "same"]  # three of four
    shown = jackknife_intervals(np.array([some, other] * 8), ranges, AnalysisSpec())
    assert shown.kind == ["t", "t"]
    assert (shown.high <= 1).all()
    for each in (found, same):
        assert np.isnan([*each.low, *each.high]).all()


def test_statistics_without_a_value_have_no_word_either() -> None:
    nowhere, some = sums_of([0, 0], [0, 1]), sums_of([1, 1, 0, -1], [1, -1, 2, -1])
    ranges = [(SHARES["directional_agreement"], 0.0)]
    found = jackknife_intervals(np.array([nowhere] * 9), ranges, AnalysisSpec())
    assert np.isnan([*found.value, *found.low, *found.high]).all()
    assert found.kind == [""]
    found = jackknife_intervals(np.array([nowhere] * 29 + [some]), ranges, AnalysisSpec())
    assert (found.value.tolist(), found.kind) == ([2 / 3], ["few"])  # one has a value
    found = jackknife_intervals(np.array([nowhere] * 15 + [some] * 15), ranges, AnalysisSpec())
    assert (found.value.tolist(), found.kind) == ([2 / 3], ["same"])


def test_intervals_reach_what_many_units_have() -> None:
    """Of 15 units 6 or 4 agree wholly, 6/15 being more than 30%; the others do by a quarter."""
    ranges = [(SHARES["directional_agreement"], 0.0)]
    wholly = sums_of([1, 1, -1, 1], [1, 1, -1, 1])
    parts = [sums_of([1] * n, [1] * (k + 1) + [-1] * (n - k - 1)) for n in (8, 9) for k in range(6)]
    many, fewer = np.array([wholly] * 6 + parts[:9]), np.array([wholly] * 4 + parts[:11])
    assert jackknife_intervals(many, ranges, AnalysisSpec()).high.tolist() == [1.0]
    assert jackknife_intervals(fewer, ranges, AnalysisSpec()).high[0] < 1


def test_correlations_need_more_units_than_shares() -> None:
    first, second = drawn(20, seed=3, echo=0.5)
    sums = np.array([sums_of(*each) for each in zip(first, second, strict=True)])  # type: ignore[arg-type]
    ranges = [(SHARES[name], -1.0) for name in ("kappa", "pearson", "pearson_both")]
    found = jackknife_intervals(sums, ranges, AnalysisSpec())
    assert found.kind == ["t", "few", "few"]
    assert np.isfinite(found.value).all()


def signs(cells: Sequence[Ints]) -> Floats:
    return np.sign(np.array(cells)).astype(np.float64)


def shares(first: Sequence[Ints], second: Sequence[Ints]) -> list[float]:
    """Return directional agreement for each way to deal units out, the real one first."""
    found = []
    for deal in permutations(range(len(first))):
        pairs = [(np.sign(first[i]), np.sign(second[j])) for i, j in enumerate(deal)]
        same = sum(int(((x * y) > 0).sum()) for x, y in pairs)
        found.append(same / sum(int(((x * y) != 0).sum()) for x, y in pairs))
    return found


@pytest.mark.parametrize("echo", [0.0, 0.2])
def test_chance_is_what_all_deals_say(echo: float) -> None:
    first, second = drawn(5, seed=3, echo=echo)
    every = shares(first, second)
    exact = sum(share >= every[0] for share in every) / len(every)
    found = chance_agreement(signs(first), signs(second), AnalysisSpec(permutations=9999))
    assert found is not None
    assert found.p_value == pytest.approx(exact, abs=0.015)
    assert found.agreement == pytest.approx(np.mean(every), abs=0.005)


def test_equal_names_and_seeds_give_equal_deals() -> None:
    first, second = drawn(5, seed=3, echo=0.2)
    one = chance_agreement(signs(first), signs(second), SPEC, "judge", "here")
    assert one == chance_agreement(signs(first), signs(second), SPEC, "judge", "here")
    assert one != chance_agreement(signs(first), signs(second), SPEC, "judge", "there")
    other = AnalysisSpec(permutations=999, permutation_seed=1)
    assert one != chance_agreement(signs(first), signs(second), other, "judge", "here")


def test_habits_alone_are_no_agreement() -> None:
    # Both call all but a few cells positive, each its own: the share is high, and so is chance's.
    rows = [1] * 9 + [-1]
    first = signs([integers(rows[k:] + rows[:k]) for k in range(6)])
    second = signs([integers(rows[k + 3 :] + rows[: k + 3]) for k in range(6)])
    found = chance_agreement(first, second, SPEC)
    assert found is not None
    assert found.agreement > 0.75
    assert found.p_value > 0.05
    echoed = chance_agreement(first, first, SPEC)
    assert echoed is not None
    assert echoed.p_value < 0.02


def test_chance_by_hand() -> None:
    # Dealt as they are, both cells agree; the other way none does. Half of all deals are each.
    first = np.array([[1.0], [-1.0]])
    found = chance_agreement(first, first, SPEC)
    assert found is not None
    hits = round(found.p_value * 1000) - 1
    assert 430 < hits < 570
    assert found.agreement == pytest.approx(hits / 999)
    opposed = chance_agreement(first, -first, SPEC)
    assert opposed is not None
    assert opposed.p_value == 1
    assert opposed.agreement == pytest.approx(1 - hits / 999)


def test_cells_that_a_unit_lacks_are_not_compared() -> None:
    cells = np.array([[1.0, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]])
    assert chance_agreement(cells, cells, SPEC) == (1.0, 1.0)


def test_a_deal_without_a_cell_to_compare_counts_against() -> None:
    # Each unit has a cell of its own: dealt otherwise there is nothing to compare.
    cells = np.eye(2)
    found = chance_agreement(cells, cells, SPEC)
    assert found == (1.0, 1.0)


def test_nothing_to_compare_is_no_chance() -> None:
    nothing = np.zeros((1, 4))
    assert chance_agreement(nothing, nothing, SPEC) is None
    assert chance_agreement(np.ones((1, 4)), np.ones((1, 4)), SPEC) is None
    assert chance_agreement(np.zeros((3, 4)), np.zeros((3, 4)), SPEC) is None


def test_units_of_the_test_are_spread_over_all() -> None:
    assert spread_evenly(0).tolist() == []
    assert spread_evenly(5).tolist() == [0, 1, 2, 3, 4]
    assert spread_evenly(5, 2).tolist() == [0, 2]
    assert spread_evenly(7, 3).tolist() == [0, 2, 4]
    assert len(spread_evenly(1001)) == 1000
    assert spread_evenly(2500)[-1] == 2497


def test_sums_hold_every_pair_of_signs_once() -> None:
    pairs = list(product((-2, 0, 5), repeat=2))
    first, second = zip(*pairs, strict=True)
    assert sums_of(first, second)[:9].tolist() == [1] * 9
    assert of(first, second)["kappa"] == 0
