"""Processes to play in. Any other executor of ``concurrent.futures`` works as well."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import util
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

from calbench.console import ENDING, silence
from calbench.endings import undo_all, undone

SAFE_PATH = "PYTHONSAFEPATH"
"""With it, new processes import nothing from the current folder, which may be anybody's."""


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
def workers(count: int) -> Iterator[Executor | None]:
    """Provide this many processes; one is the calling process itself."""
    if count == 1:
        yield None
        return
    with safe_path():
        with _blocking():
            executor = _Processes(count, mp_context=_Context(), initializer=_begin)
        try:
            with undone(_end_processes):
                yield executor
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
