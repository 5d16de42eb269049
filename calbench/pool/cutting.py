"""Tasks of about a second, cut by how long their items are expected to take."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

TASK_SECONDS = 1.5
"""Longest task [C]: a thousand times what it takes to hand one out, on a cluster too."""

LEAST_SECONDS = 0.05
"""Shortest task [C], unless there are no more items or :data:`MOST_ITEMS`."""

TASKS = 256
"""Fewest tasks of a long work [C]: enough to keep dozens of workers busy to its end.

What is killed loses no more than this part of itself for each worker.
"""

MOST_ITEMS = 100
"""Items of a task [C], the results of which are in a worker's memory at once."""

Item = TypeVar("Item")


def cut(
    items: Iterable[Item],
    seconds: Callable[[Item], float],
    together: Callable[[Item], Hashable] = lambda _: object(),
) -> list[list[Item]]:
    """Return items in tasks, which depend on the items alone and not on who does them.

    Args:
        items: any number.
        seconds: processor time that is expected of each, roughly.
        together: what items share that are better done together: they follow each other, where
            the first of them was, and are in one task unless they are too many for it.
    """
    groups: dict[Hashable, list[Item]] = {}
    for item in items:
        groups.setdefault(together(item), []).append(item)
    expected = {key: sum(map(seconds, group)) for key, group in groups.items()}
    limit = min(TASK_SECONDS, max(LEAST_SECONDS, sum(expected.values()) / TASKS))
    tasks: list[list[Item]] = []
    left, room = 0.0, 0
    for key, group in groups.items():
        if expected[key] > left or len(group) > room:
            left = 0
        for item in group:
            if (needed := seconds(item)) > left or not room:
                tasks.append([])
                left, room = limit, MOST_ITEMS
            tasks[-1].append(item)
            left, room = left - needed, room - 1
    return tasks
