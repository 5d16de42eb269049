from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.stats.letters import cliques_of, compact_letters, letter, rank_ranges
from calbench.stats.sums import Truths


def ties(num_items: int, *pairs: tuple[int, int]) -> Truths:
    alike = np.zeros((num_items, num_items), dtype=np.bool_)
    for one, other in pairs:
        alike[one, other] = alike[other, one] = True
    return alike


graphs = st.integers(0, 7).flatmap(
    lambda n: (
        st.lists(st.sampled_from(list(combinations(range(n), 2))), unique=True).map(
            lambda pairs: ties(n, *pairs)
        )
        if n > 1
        else st.just(ties(n))
    )
)


@given(graphs)
def test_cliques_are_the_largest_sets_of_ties(alike: Truths) -> None:
    def is_tied(group: tuple[int, ...]) -> bool:
        return all(alike[a, b] for a, b in combinations(group, 2))

    items = range(len(alike))
    every = [g for size in items for g in combinations(items, size + 1) if is_tied(g)]
    largest = [g for g in every if not any(set(g) < set(other) for other in every)]
    assert cliques_of(alike) == sorted(largest)


@given(graphs)
def test_two_share_a_letter_if_and_only_if_they_are_tied(alike: Truths) -> None:
    letters = compact_letters(alike, [1] * len(alike))
    for a, b in combinations(range(len(alike)), 2):
        assert bool(set(letters[a]) & set(letters[b])) == alike[a, b]
    for item, own in enumerate(letters):
        assert bool(own) == bool(alike[item].any())


def test_one_may_be_tied_with_two_that_differ() -> None:
    chain = ties(4, (0, 1), (1, 2))
    assert cliques_of(chain) == [(0, 1), (1, 2), (3,)]
    assert compact_letters(chain, [1, 1, 2, 4]) == [("a",), ("a", "b"), ("b",), ()]


def test_better_groups_come_first_in_the_alphabet() -> None:
    two = ties(4, (0, 1), (2, 3))
    assert compact_letters(two, [3, 3, 1, 1]) == [("b",), ("b",), ("a",), ("a",)]
    assert compact_letters(two, [1, 1, 1, 1]) == [("a",), ("a",), ("b",), ("b",)]


def test_the_diagonal_plays_no_part() -> None:
    alike = ties(2, (0, 1))
    np.fill_diagonal(alike, val=True)
    assert cliques_of(alike) == [(0, 1)]
    assert compact_letters(np.ones((1, 1), dtype=np.bool_), [1]) == [()]
    assert compact_letters(ties(0), []) == []


@pytest.mark.parametrize(
    ("number", "expected"), [(0, "a"), (25, "z"), (26, "a2"), (51, "z2"), (52, "a3")]
)
def test_letters_never_end(number: int, expected: str) -> None:
    assert letter(number) == expected


def test_ranks_reach_as_far_as_comparisons_leave_open() -> None:
    # The first beats the third, all else is alike; the fourth was compared with the first alone.
    none = np.nan
    signs = np.array(
        [[none, 0, 1, -1], [0, none, 0, none], [-1, 0, none, none], [1, none, none, none]]
    )
    low, high, among = rank_ranges(signs)
    assert low.tolist() == [2, 1, 2, 1]
    assert high.tolist() == [3, 3, 3, 1]
    assert among.tolist() == [4, 3, 3, 2]
