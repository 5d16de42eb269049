"""Tasks are cut by expected time, and hold everything once."""

from hypothesis import given
from hypothesis import strategies as st

from calbench.pool import cut
from calbench.pool.tasks import LEAST_SECONDS, MOST_ITEMS, TASK_SECONDS, TASKS

ITEMS = st.lists(st.tuples(st.integers(0, 9), st.floats(1e-4, 3)), max_size=400)
"""A group, and the expected seconds."""


@given(items=ITEMS)
def test_everything_is_in_one_task(items: list[tuple[int, float]]) -> None:
    tasks = cut(items, lambda item: item[1])
    assert [item for task in tasks for item in task] == items
    assert all(tasks)


@given(items=ITEMS)
def test_tasks_are_as_long_as_they_may_be(items: list[tuple[int, float]]) -> None:
    tasks = cut(items, lambda item: item[1])
    limit = min(TASK_SECONDS, max(LEAST_SECONDS, sum(s for _, s in items) / TASKS))
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
