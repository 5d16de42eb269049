"""Tasks for workers: results in order, few of them under way, lost ones tried again."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from threading import Lock
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.errors import WorkerError
from calbench.pool import Pool, finished, mapped


def as_finished(
    function: Callable[[Any], Any], tasks: Iterable[Any], pool: Pool | None
) -> list[Any]:
    """Return the results of `finished` in the order of the tasks, which are different."""
    given = list(tasks)
    found = dict(finished(function, given, pool))
    return [found[task] for task in given]


WAYS = [lambda *given: list(mapped(*given)), as_finished]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [None, 2])
def test_every_task_has_its_result(way: Callable[..., list[str]], count: int | None) -> None:
    expected = [str(number) for number in range(50)]
    if count is None:
        assert way(str, range(50), None) == expected
        return
    with ThreadPoolExecutor(count) as executor:
        assert way(str, range(50), Pool(executor, count)) == expected


@pytest.mark.parametrize("way", [mapped, finished])
def test_tasks_are_begun_as_results_are_taken(way: Callable[..., Iterator[object]]) -> None:
    begun = 0

    def tasks() -> Iterator[int]:
        nonlocal begun
        for number in range(1000):
            begun += 1
            yield number

    with ThreadPoolExecutor(2) as executor:
        pool = Pool(executor, 2)
        for taken, _ in enumerate(way(str, tasks(), pool), start=1):
            assert begun <= taken + pool.tasks_ahead
    assert begun == 1000


class Growing(Pool):
    """A pool that gets workers while it works, as a cluster may."""

    def __init__(self, executor: ThreadPoolExecutor) -> None:
        super().__init__(executor, 1)
        self.workers = 1

    @property
    def size(self) -> int:
        return self.workers


def test_more_tasks_are_ahead_when_the_pool_has_grown() -> None:
    begun: list[str] = []

    def tasks() -> Iterator[str]:
        for number in range(100):
            begun.append(str(number))
            yield begun[-1]

    with ThreadPoolExecutor(1) as executor:
        pool = Growing(executor)
        results = mapped(str, tasks(), pool)
        next(results)
        assert len(begun) == pool.tasks_ahead
        pool.workers = 10
        next(results)
        assert len(begun) == 1 + pool.tasks_ahead
        assert len(list(results)) == 98


@pytest.mark.parametrize("way", WAYS)
def test_a_failure_ends_it_and_names_itself(way: Callable[..., object]) -> None:
    with ThreadPoolExecutor(2) as executor, pytest.raises(ValueError, match="invalid literal"):
        way(int, ["1", "two", "3"], Pool(executor, 2))


def test_an_executor_that_nobody_can_start_again_stays_broken() -> None:
    def lost(_: int) -> None:
        raise BrokenExecutor

    with ThreadPoolExecutor(2) as executor, pytest.raises(BrokenExecutor):
        list(mapped(lost, range(3), Pool(executor, 2)))


# --- lost workers


class Fragile(Pool):
    """Threads that act like processes: when one dies, nobody works before all are started anew."""

    def __init__(self, size: int, deaths: dict[int, int]) -> None:
        super().__init__(ThreadPoolExecutor(size), size)
        self.deaths = Counter(deaths)
        self.is_broken = False
        self.done: Counter[int] = Counter()
        self._lock = Lock()

    def work(self, task: int) -> int:
        """Do a task, which may be the death of its worker so many times."""
        with self._lock:
            if self.deaths[task] and not self.is_broken:
                self.deaths[task] -= 1
                self.is_broken = True
            if self.is_broken:
                raise BrokenExecutor
            self.done[task] += 1
            return -task

    def renew(self) -> bool:
        self._executor.shutdown(wait=True)
        self._executor, self.is_broken = ThreadPoolExecutor(self.size), False
        return True


DEATHS = st.dictionaries(st.integers(0, 29), st.integers(1, 4), max_size=4)


@pytest.mark.parametrize("way", WAYS)
@given(deaths=DEATHS, size=st.integers(1, 4))
def test_lost_tasks_are_done_again_and_only_what_is_deadly_is_named(
    way: Callable[..., list[int]], deaths: dict[int, int], size: int
) -> None:
    pool = Fragile(size, deaths)
    try:
        results = way(pool.work, range(30), pool)
    except WorkerError as error:
        named = int(str(error).rpartition(": ")[2])
        assert deaths[named] > pool.deaths[named]  # it was the death of one at least
        assert sum(deaths.values()) >= 3  # one or two lost workers end nothing
    else:
        assert results == [-task for task in range(30)]
        assert pool.done == Counter(range(30))  # what was done is not done again
        assert max(deaths.values(), default=0) < 3
    finally:
        pool.executor.shutdown()
