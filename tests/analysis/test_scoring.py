"""Tasks for workers: results in order, few of them under way."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from calbench.analysis.scoring import TASKS_AHEAD, mapped


@pytest.mark.parametrize("processes", [None, 2])
def test_results_come_in_the_order_of_the_tasks(processes: int | None) -> None:
    if processes is None:
        assert list(mapped(str, range(50), None)) == [str(number) for number in range(50)]
        return
    with ThreadPoolExecutor(processes) as executor:
        assert list(mapped(str, range(50), executor)) == [str(number) for number in range(50)]


def test_tasks_are_begun_as_results_are_taken() -> None:
    begun = 0

    def tasks() -> Iterator[int]:
        nonlocal begun
        for number in range(1000):
            begun += 1
            yield number

    with ThreadPoolExecutor(2) as executor:
        for taken, _ in enumerate(mapped(str, tasks(), executor), start=1):
            assert begun <= taken + TASKS_AHEAD * (os.cpu_count() or 1)
    assert begun == 1000


def test_a_failure_ends_it_and_names_itself() -> None:
    with ThreadPoolExecutor(2) as executor, pytest.raises(ValueError, match="invalid literal"):
        list(mapped(int, ["1", "two", "3"], executor))
