"""Errors of others are typed, whatever they were raised from."""

import pytest

from calbench.llm.fault import attempt_error, setup_problem
from calbench.llm.transport import BROKEN, Delivery
from calbench.llm.wire import Exchange


@pytest.mark.parametrize("name", ["__cause__", "__context__"])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_causes_that_close_to_a_ring_come_to_an_end(name: str, length: int) -> None:
    errors = [ValueError(str(number)) for number in range(length)]
    for error, behind in zip(errors, [*errors[1:], errors[0]], strict=True):
        setattr(error, name, behind)
    assert setup_problem(errors[0]) is None
    assert attempt_error(errors[0], Exchange(Delivery(), 1)).error == BROKEN
