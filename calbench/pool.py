"""Where tasks run: in this process, in others, or in any executor of ``concurrent.futures``.

Whoever gives tasks to a pool bounds them by the size of the pool itself, not by this machine's.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import util
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, TypeVar

from calbench.console import ENDING, silence
from calbench.endings import undo_all, undone

TASKS_AHEAD = 4
"""Most pending tasks and results per worker, which bounds memory [C]."""

Task = TypeVar("Task")
Result = TypeVar("Result")

SAFE_PATH = "PYTHONSAFEPATH"
"""With it, new processes import nothing from the current folder, which may be anybody's."""


@dataclass(frozen=True, slots=True)
class Pool:
    """An executor, and how many tasks it runs at once.

    Attributes:
        executor: its workers see the same files as this process.
        size: how many workers it has.
    """

    executor: Executor
    size: int

    @property
    def tasks_ahead(self) -> int:
        """Most tasks that are submitted and not yet taken back."""
        return TASKS_AHEAD * self.size


def mapped(
    function: Callable[[Task], Result], tasks: Iterable[Task], pool: Pool | None
) -> Iterator[Result]:
    """Yield the results in the order of the tasks, with a bounded number ahead.

    ``Executor.map`` would start all tasks and keep all results.
    """
    if pool is None:
        yield from map(function, tasks)
        return
    running: deque[Future[Result]] = deque()
    try:
        for task in tasks:
            running.append(pool.executor.submit(function, task))
            if len(running) >= pool.tasks_ahead:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        for future in running:
            future.cancel()


def finished(
    function: Callable[[Task], Result], tasks: Iterable[Task], pool: Pool | None
) -> Iterator[tuple[Task, Result]]:
    """Yield tasks with their results as they finish, with a bounded number ahead."""
    if pool is None:
        yield from ((task, function(task)) for task in tasks)
        return
    waiting = iter(tasks)
    running: dict[Future[Result], Task] = {}
    try:
        while True:
            for task in waiting:
                running[pool.executor.submit(function, task)] = task
                if len(running) >= pool.tasks_ahead:
                    break
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.result()
    finally:
        for future in running:
            future.cancel()


@contextmanager
def safe_path() -> Iterator[None]:
    """Let processes that are started meanwhile import nothing from the current folder by itself.

    Those of a pool get the search path of this process as soon as they have begun.
    """
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        del os.environ[SAFE_PATH]
        if before is not None:
            os.environ[SAFE_PATH] = before


@contextmanager
def workers(count: int) -> Iterator[Pool | None]:
    """Provide this many processes; one is the calling process itself."""
    if count == 1:
        yield None
        return
    with safe_path():
        with _blocking():
            executor = _Processes(count, mp_context=_Context(), initializer=_begin)
        try:
            with undone(_end_processes):
                yield Pool(executor, count)
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


def _end_processes() -> None:
    """End the processes and give back their semaphores, or Python warns of these on the screen."""
    for process in multiprocessing.active_children():
        process.kill()
        process.join()
    finalize = util._run_finalizers  # type: ignore[attr-defined]  # noqa: SLF001
    finalize(0)  # as Python itself does at an orderly end


class _Process(SpawnProcess):
    """A process that ignores what asks it to end, until the pool itself ends it."""

    def terminate(self) -> None:
        """End it: the pool does if one of its processes died."""
        self.kill()


class _Context(SpawnContext):
    Process = _Process


class _Processes(ProcessPoolExecutor):
    """Processes that Ctrl-C does not reach, not even while ``submit`` starts them.

    The signal goes to the whole process group, and a process that dies while it starts can make
    the pool wait for ever. New processes inherit the signals that are blocked here.
    """

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        with _blocking():
            return super().submit(fn, *args, **kwargs)


@contextmanager
def _blocking() -> Iterator[None]:
    """Let the signals that end a command wait."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Leave signals and the talk to the parent, and end when the parent process ends."""
    silence()
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        undo_all()
        os._exit(1)
