"""Other processes of this machine, which Ctrl-C does not reach and which end with this one."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from multiprocessing import util
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import Any

from calbench.console import ENDING, silence
from calbench.endings import undo_all, undone
from calbench.pool.tasks import Pool

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
def processes(count: int) -> Iterator[Pool]:
    """Provide this many processes."""
    with safe_path():
        pool = _Processes(count)
        try:
            with undone(end_processes):
                yield pool
        finally:
            pool.executor.shutdown(wait=True, cancel_futures=True)


class _Processes(Pool):
    """Processes of which none is missed: if one dies, all are started again."""

    def __init__(self, count: int) -> None:
        super().__init__(_executor(count), count)

    def renew(self) -> bool:
        """Start all processes anew: Python ends the others, too, if one of them died."""
        self.executor.shutdown(wait=True)
        self._executor = _executor(self.size)
        return True


def _executor(count: int) -> ProcessPoolExecutor:
    with blocking():
        return _Executor(count, mp_context=_Context(), initializer=_begin)


def end_processes() -> None:
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


class _Executor(ProcessPoolExecutor):
    """Processes that Ctrl-C does not reach, not even while ``submit`` starts them.

    The signal goes to the whole process group, and a process that dies while it starts can make
    the pool wait for ever. New processes inherit the signals that are blocked here.

    They are started with the first task, and import the main module only if its function is there.
    """

    _knows_main: bool | None = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        is_of_main = _function(fn).__module__ == "__main__"
        if self._knows_main is None:
            self._knows_main = is_of_main
        if is_of_main and not self._knows_main:
            raise TypeError(f"{_function(fn).__name__}: the first task's function is elsewhere")
        with blocking(), nullcontext() if self._knows_main else _without_main():
            return super().submit(fn, *args, **kwargs)


def _function(fn: Callable[..., Any]) -> Callable[..., Any]:
    return _function(fn.func) if isinstance(fn, partial) else fn


@contextmanager
def _without_main() -> Iterator[None]:
    """Let processes that are started meanwhile not import the main module.

    It is a command, or the user's script, with all that it imports; and a script would be run
    again if it does not ask whether it is the main module.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def blocking() -> Iterator[None]:
    """Let the signals that end a command wait."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        with _answered_later():
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _answered_later() -> Iterator[None]:
    """Answer signals that came meanwhile at the end.

    The main thread answers those that another one was given, whatever it blocks itself.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    answers = {n: how for n in ENDING if callable(how := signal.getsignal(n))}
    for number in answers:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, how in answers.items():
            signal.signal(number, how)
        for each in came:
            signal.raise_signal(each)


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
