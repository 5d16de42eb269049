"""Tasks for workers: results in order, few of them under way."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from calbench.pool import Pool, mapped


@pytest.mark.parametrize("processes", [None, 2])
def test_results_come_in_the_order_of_the_tasks(processes: int | None) -> None:
    if processes is None:
        assert list(mapped(str, range(50), None)) == [str(number) for number in range(50)]
        return
    with ThreadPoolExecutor(processes) as executor:
        assert list(mapped(str, range(50), Pool(executor, processes))) == [
            str(number) for number in range(50)
        ]


def test_tasks_are_begun_as_results_are_taken() -> None:
    begun = 0

    def tasks() -> Iterator[int]:
        nonlocal begun
        for number in range(1000):
            begun += 1
            yield number

    with ThreadPoolExecutor(2) as executor:
        pool = Pool(executor, 2)
        for taken, _ in enumerate(mapped(str, tasks(), pool), start=1):
            assert begun <= taken + pool.tasks_ahead
    assert begun == 1000


def test_a_failure_ends_it_and_names_itself() -> None:
    with ThreadPoolExecutor(2) as executor, pytest.raises(ValueError, match="invalid literal"):
        list(mapped(int, ["1", "two", "3"], Pool(executor, 2)))
