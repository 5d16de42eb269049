"""Tasks for workers: cut by time, results in order, few under way, lost ones tried again."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from threading import Lock
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.errors import WorkerError
from calbench.pool import Pool, cut, finished, mapped
from calbench.pool.tasks import LEAST_SECONDS, MOST_ITEMS, TASK_SECONDS, TASKS


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


# --- cut by expected time

ITEMS = st.lists(st.tuples(st.integers(0, 9), st.floats(1e-4, 3)), max_size=400)
"""A group, and the expected seconds."""


@given(items=ITEMS)
def test_everything_is_in_one_task(items: list[tuple[int, float]]) -> None:
    tasks = cut(items, lambda item: item[1])
    assert [item for task in tasks for item in task] == items
    assert all(tasks)


@given(items=ITEMS, shortest=st.sampled_from([LEAST_SECONDS, 0.4]))
def test_tasks_are_as_long_as_they_may_be(items: list[tuple[int, float]], shortest: float) -> None:
    tasks = cut(items, lambda item: item[1], shortest=shortest)
    limit = min(TASK_SECONDS, max(shortest, sum(s for _, s in items) / TASKS))
    lengths = [sum(seconds for _, seconds in task) for task in tasks]
    for task, length in zip(tasks, lengths, strict=True):
        assert len(task) == 1 or (length <= limit + 1e-9 and len(task) <= MOST_ITEMS)
    for task, length, after in zip(tasks, lengths, tasks[1:], strict=False):
        assert len(task) == MOST_ITEMS or length + after[0][1] > limit - 1e-9


@given(items=ITEMS)
def test_what_goes_together_follows_each_other(items: list[tuple[int, float]]) -> None:
    tasks = cut(items, lambda item: item[1], lambda item: item[0])
    groups = list(dict.fromkeys(group for group, _ in items))
    ordered = sorted(items, key=lambda item: groups.index(item[0]))
    assert [item for task in tasks for item in task] == ordered


def test_a_group_that_fits_is_not_divided() -> None:
    items = [(group, 0.3) for group in range(300) for _ in range(4)]
    tasks = cut(items, lambda item: item[1], lambda item: item[0])
    assert [len(task) for task in tasks] == [4] * 300


def test_a_few_short_items_are_one_task_and_many_are_enough_for_dozens_of_workers() -> None:
    assert len(cut(range(20), lambda _: 0.001)) == 1
    assert len(cut(range(100_000), lambda _: 0.002)) >= 4 * 64
