"""Agreement of judge and reflection: by hand, by scipy, and by laws."""

from collections import Counter
from collections.abc import Sequence
from itertools import permutations, product

import numpy as np
import pytest
from calbench.metrics.judge.agreement import (
    COUNTS,
    SHARES,
    Statistic,
    cell_sums,
    chance_agreement,
    intervals,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from calbench.analysis.estimates import resample_weights
from calbench.metrics.judge.verdicts import Integers
from calbench.stats.spec import AnalysisSpec

SPEC = AnalysisSpec(bootstrap_resamples=200, permutations=999)

ALL: dict[str, Statistic] = {**COUNTS, **SHARES}

JUDGE = (3, 2, -1, 0, 0, -3, 1, 0, 2, 0)
REFLECTION = (1, -2, -3, 2, 0, 0, 3, 0, 1, -1)
"""Ten cells: 6 and 7 nonzero, 5 both, 4 of these the same way; 2 are 0 for both."""


def integers(values: Sequence[int]) -> Integers:
    return np.array(values, dtype=np.int64)


def of(judge: Sequence[int], reflection: Sequence[int]) -> dict[str, float]:
    sums = cell_sums(integers(judge), integers(reflection))
    return {name: float(statistic(sums)) for name, statistic in ALL.items()}


def kappa_by_hand(judge: Sequence[int], reflection: Sequence[int]) -> float:
    pairs = list(zip(np.sign(judge).tolist(), np.sign(reflection).tolist(), strict=True))
    ours, theirs = (Counter(side) for side in zip(*pairs, strict=True))
    agreed = sum(j == r for j, r in pairs) / len(pairs)
    expected = sum(ours[sign] * theirs[sign] for sign in (-1, 0, 1)) / len(pairs) ** 2
    return float((agreed - expected) / (1 - expected))


def test_ten_cells_by_hand() -> None:
    both = [(j, r) for j, r in zip(JUDGE, REFLECTION, strict=True) if j and r]
    # Signs: the judge has -2, +4, 0 four times; the reflection -3, +4, 0 three times.
    expected = (2 * 3 + 4 * 3 + 4 * 4) / 100
    assert of(JUDGE, REFLECTION) == pytest.approx(
        {
            "union_cells": 10,
            "judge_nonzero": 6,
            "reflection_nonzero": 7,
            "both_nonzero": 5,
            "same_direction": 4,
            "jaccard": 5 / 8,
            "judge_coverage": 5 / 7,
            "reflection_coverage": 5 / 6,
            "directional_agreement": 4 / 5,
            "kappa": (6 / 10 - expected) / (1 - expected),
            "pearson": pearsonr(JUDGE, REFLECTION).statistic,
            "pearson_both": pearsonr(*zip(*both, strict=True)).statistic,
        }
    )


CELLS = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=40)


@given(CELLS)
def test_laws(cells: list[tuple[int, int]]) -> None:
    judge, reflection = (list(side) for side in zip(*cells, strict=True))
    found, swapped = of(judge, reflection), of(reflection, judge)
    for name in ("jaccard", "directional_agreement", "kappa", "pearson", "pearson_both"):
        assert found[name] == pytest.approx(swapped[name], nan_ok=True)
    assert found["judge_coverage"] == pytest.approx(swapped["reflection_coverage"], nan_ok=True)
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


def drawn(games: int, seed: int, echo: float) -> tuple[list[Integers], list[Integers]]:
    """Return games of 30 cells whose reflections repeat the judge's with some probability."""
    chance = np.random.default_rng(seed)
    judge = [chance.integers(-3, 4, 30) for _ in range(games)]
    own = [chance.integers(-3, 4, 30) for _ in range(games)]
    return judge, [
        np.where(chance.random(30) < echo, j, r) for j, r in zip(judge, own, strict=True)
    ]


def test_intervals_are_those_of_resampled_cells() -> None:
    judge, reflection = drawn(8, seed=1, echo=0.5)
    sums = [cell_sums(j, r) for j, r in zip(judge, reflection, strict=True)]
    found = intervals(sums, list(SHARES.values()), SPEC, "here")
    resampled = []
    for weights in np.concatenate(list(resample_weights(8, SPEC, "here"))):
        chosen = [game for game, times in enumerate(weights) for _ in range(int(times))]
        cells = [np.concatenate([side[game] for game in chosen]) for side in (judge, reflection)]
        resampled.append([of(cells[0].tolist(), cells[1].tolist())[name] for name in SHARES])
    ends = np.quantile(np.array(resampled), [0.025, 0.975], axis=0)
    assert [each.low for each in found] == pytest.approx(list(ends[0]))
    assert [each.high for each in found] == pytest.approx(list(ends[1]))


def test_one_scenario_has_no_interval() -> None:
    sums = cell_sums(integers(JUDGE), integers(REFLECTION))
    (found,) = intervals([sums, np.zeros_like(sums)], [SHARES["jaccard"]], SPEC)
    assert found == (5 / 8, None, None)


def shares(judge: Sequence[Integers], reflection: Sequence[Integers]) -> list[float]:
    """Return directional agreement for each way to deal games out, the real one first."""
    found = []
    for deal in permutations(range(len(judge))):
        pairs = [(np.sign(judge[i]), np.sign(reflection[j])) for i, j in enumerate(deal)]
        same = sum(int(((j * r) > 0).sum()) for j, r in pairs)
        found.append(same / sum(int(((j * r) != 0).sum()) for j, r in pairs))
    return found


@pytest.mark.parametrize("echo", [0.0, 0.2])
def test_chance_is_what_all_deals_say(echo: float) -> None:
    judge, reflection = drawn(5, seed=3, echo=echo)
    every = shares(judge, reflection)
    exact = sum(share >= every[0] for share in every) / len(every)
    many = AnalysisSpec(permutations=9999)
    found = chance_agreement([np.sign(j) for j in judge], [np.sign(r) for r in reflection], many)
    assert found is not None
    assert found.p_value == pytest.approx(exact, abs=0.015)
    assert found.agreement == pytest.approx(np.mean(every), abs=0.005)


def test_habits_alone_are_no_agreement() -> None:
    # Both call all but a few slots occupied, each its own: the share is high, and so is chance's.
    rows = [1] * 9 + [-1]
    judge = [integers(rows[k:] + rows[:k]) for k in range(6)]
    reflection = [integers(rows[k + 3 :] + rows[: k + 3]) for k in range(6)]
    found = chance_agreement(judge, reflection, SPEC)
    assert found is not None
    assert found.agreement > 0.75
    assert found.p_value > 0.05
    echoed = chance_agreement(judge, judge, SPEC)
    assert echoed is not None
    assert echoed.p_value < 0.02


def test_games_of_several_sizes_can_be_compared() -> None:
    small, large = np.ones((1, 2), dtype=np.int8), np.ones((2, 3), dtype=np.int8)
    found = chance_agreement([small, large], [small, large], SPEC)
    assert found == (1.0, 1.0)


def test_nothing_to_compare_is_no_chance() -> None:
    nothing = np.zeros((2, 2), dtype=np.int8)
    assert chance_agreement([nothing], [nothing], SPEC) is None
    assert chance_agreement([nothing] * 3, [nothing] * 3, SPEC) is None


def test_sums_hold_every_pair_of_signs_once() -> None:
    pairs = list(product((-2, 0, 5), repeat=2))
    sums = cell_sums(*(integers(side) for side in zip(*pairs, strict=True)))
    assert sums[:9].tolist() == [1] * 9
    assert of(*(list(side) for side in zip(*pairs, strict=True)))["kappa"] == 0
