"""What a judge's answers are worth without messages: by all orders of slots, and by laws."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.metrics.judge.baseline import chance_loss, constant_loss
from calbench.metrics.privacy.reflection import is_toward_truth

answers = st.integers(1, 4).flatmap(
    lambda slots: st.lists(
        st.tuples(
            st.lists(st.integers(-3, 3), min_size=slots, max_size=slots),
            st.lists(st.booleans(), min_size=slots, max_size=slots),
        ),
        min_size=1,
        max_size=3,
    )
)


def loss(values: list[int], occupied: list[bool]) -> float:
    """Return the calibrated loss of an answer, slot by slot."""
    pairs = zip(values, occupied, strict=True)
    return sum(abs(v) for v, held in pairs if v and is_toward_truth(v, is_occupied=held)) / 3


@given(answers)
def test_chance_is_the_mean_over_all_orders_of_slots(given_answers: list) -> None:  # type: ignore[type-arg]
    values, occupied = (np.array(each) for each in zip(*given_answers, strict=True))
    expected = sum(
        np.mean([loss(list(order), held) for order in permutations(deltas)])
        for deltas, held in given_answers
    )
    assert chance_loss(values, occupied) == pytest.approx(expected)


@given(answers)
def test_constant_answers_are_worth_what_they_are_by_chance(given_answers: list) -> None:  # type: ignore[type-arg]
    values, occupied = (np.array(each) for each in zip(*given_answers, strict=True))
    ones = np.ones_like(values)
    expected = sum(loss([1] * len(held), held) for _, held in given_answers)
    assert constant_loss(values, occupied) == pytest.approx(expected)
    assert chance_loss(ones, occupied) == pytest.approx(expected)
