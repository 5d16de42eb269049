"""Tasks for workers: few ahead, taken back in order, tried again if their worker is lost.

They take about a second, and are cut by how long their items are expected to take.
"""

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, BrokenExecutor, Executor, Future
from concurrent.futures import wait as wait_for
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Self, TypeVar

from calbench.errors import WorkerError
from calbench.files import printable, shorten

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
    shortest: float = LEAST_SECONDS,
) -> list[list[Item]]:
    """Return items in tasks, which depend on the items alone and not on who does them.

    Args:
        items: any number.
        seconds: processor time that is expected of each, roughly.
        together: what items share that are better done together: they follow each other, where
            the first of them was, and are in one task unless they are too many for it.
        shortest: seconds that a task takes if there are enough items.
    """
    groups: dict[Hashable, list[Item]] = {}
    for item in items:
        groups.setdefault(together(item), []).append(item)
    expected = {key: sum(map(seconds, group)) for key, group in groups.items()}
    limit = min(TASK_SECONDS, max(shortest, sum(expected.values()) / TASKS))
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


TASKS_AHEAD = 4
"""Most pending tasks and results per worker, which bounds memory [C]."""

MOST_LOSSES = 3
"""How often a task may be under way when a worker is lost: then it is held to be the reason [C]."""

Task = TypeVar("Task")
Result = TypeVar("Result")


class Pool:
    """An executor, and how many tasks it runs at once.

    Args:
        executor: its workers see the same files as this process.
        size: how many workers it has.
    """

    def __init__(self, executor: Executor, size: int) -> None:
        self._executor = executor
        self._size = size

    @property
    def executor(self) -> Executor:
        """What runs the tasks at present."""
        return self._executor

    losses_told: ClassVar[int] = 1
    """How often a worker was lost with a task when its loss is told."""

    @property
    def size(self) -> int:
        """How many tasks it runs at once at present."""
        return self._size

    @property
    def tasks_ahead(self) -> int:
        """Most tasks that are submitted and not yet taken back."""
        return TASKS_AHEAD * max(1, self.size)

    def wait(self, futures: Collection[Future[Any]], return_when: str = ALL_COMPLETED) -> None:
        """Wait until tasks are done, or one of them: as of :mod:`concurrent.futures`.

        Raises:
            WorkerError: nobody is left to do them.
        """
        wait_for(futures, return_when=return_when)

    def renew(self) -> bool:
        """Start workers in place of lost ones, if that is left to us; return whether it was done.

        What was under way has an outcome then.
        """
        return False

    def stop(self) -> None:
        """Begin nothing more, and wait until this machine's processes have done what they began."""
        self.executor.shutdown(wait=True, cancel_futures=True)

    def is_loss(self, error: BaseException | None) -> bool:
        """Whether a task failed because its worker was lost."""
        return isinstance(error, BrokenExecutor)

    def told(self, error: Exception) -> Exception:
        """Return what became of a task, as a user can understand it."""
        return error

    def blamed(self, task: str) -> WorkerError:
        """Return what is said of a task whose worker was lost each time, at last with it alone."""
        return WorkerError(
            f"a process died {MOST_LOSSES} times at the same task (out of memory?): {task}"
        )


def mapped(
    function: Callable[[Task], Result], tasks: Iterable[Task], pool: Pool | None
) -> Iterator[Result]:
    """Yield the results in the order of the tasks, with a bounded number ahead.

    ``Executor.map`` would start all tasks and keep all results. A task may be done twice, if a
    worker is lost, so doing it again has to change nothing.

    Raises:
        WorkerError: a task whose workers were lost each time.
    """
    if pool is None:
        yield from map(function, tasks)
        return
    with _Window(function, pool) as window:
        for task in tasks:
            window.send(task)
            while window.is_full:
                yield window.taken(window.sent[0])
        while window.sent:
            yield window.taken(window.sent[0])


def finished(
    function: Callable[[Task], Result], tasks: Iterable[Task], pool: Pool | None
) -> Iterator[tuple[Task, Result]]:
    """Yield tasks with their results as they finish; otherwise like :func:`mapped`."""
    if pool is None:
        yield from ((task, function(task)) for task in tasks)
        return
    with _Window(function, pool) as window:
        for task in tasks:
            window.send(task)
            while window.is_full:
                yield from window.done()
        while window.sent:
            yield from window.done()


@dataclass(slots=True, eq=False)
class _Sent(Generic[Task, Result]):
    """A task under way, and how often a worker was lost meanwhile."""

    task: Task
    future: Future[Result]
    losses: int = 0

    def is_lost(self, pool: Pool) -> bool:
        """Whether a worker was lost before it was done."""
        future = self.future
        return future.done() and not future.cancelled() and pool.is_loss(future.exception())


@dataclass(slots=True)
class _Window(Generic[Task, Result]):
    """The tasks under way, in their order."""

    function: Callable[[Task], Result]
    pool: Pool
    sent: deque[_Sent[Task, Result]] = field(default_factory=deque)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self.sent:
            each.future.cancel()

    @property
    def is_full(self) -> bool:
        """Whether no more are to be submitted before one is taken back."""
        return len(self.sent) >= self.pool.tasks_ahead

    def send(self, task: Task) -> None:
        """Submit one more."""
        self.sent.append(_Sent(task, self._submitted(task)))

    def done(self) -> Iterator[tuple[Task, Result]]:
        """Wait until some are done, and take them out."""
        self.pool.wait([each.future for each in self.sent], FIRST_COMPLETED)
        for each in [each for each in self.sent if each.future.done()]:
            yield each.task, self.taken(each)

    def taken(self, each: _Sent[Task, Result]) -> Result:
        """Wait for one and take it out.

        Raises:
            WorkerError: its workers were lost each time.
        """
        while True:
            self.pool.wait([each.future])
            try:
                result = each.future.result()
            except Exception as error:
                if self.pool.is_loss(error) and self.pool.renew():
                    self.pool.wait([other.future for other in self.sent])
                    self._send_again()
                    continue
                outcome = self.pool.told(error)
                if outcome is error:
                    raise
                raise outcome from error
            else:
                self.sent.remove(each)
                return result

    def _submitted(self, task: Task) -> Future[Result]:
        try:
            return self.pool.executor.submit(self.function, task)
        except BrokenExecutor as error:  # found out while nobody waited: lost like the others
            lost: Future[Any] = Future()
            lost.set_exception(error)
            return lost

    def _send_again(self) -> None:
        """Try lost tasks again, those lost for the second time each alone.

        Of several under way nobody knows which one ended its worker; of one it is certain.

        Raises:
            WorkerError: naming it.
        """
        lost = [each for each in self.sent if each.is_lost(self.pool)]
        for each in lost:
            each.losses += self.pool.losses_told
        for each in lost:
            if each.losses >= MOST_LOSSES - 1:
                each.future = self._submitted(each.task)
                self.pool.wait([each.future])
                if each.is_lost(self.pool):
                    raise self.pool.blamed(_name(each.task))
        for each in lost:
            if each.is_lost(self.pool):
                each.future = self._submitted(each.task)


def _name(task: object) -> str:
    return shorten(printable(str(task)), 200)
