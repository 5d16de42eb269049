"""Processes to play in. Any other executor of ``concurrent.futures`` works as well."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

from calbench.console import silence

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
    context = multiprocessing.get_context("spawn")
    with safe_path():
        executor = _Processes(count, mp_context=context, initializer=_begin)
        try:
            yield executor
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


class _Processes(ProcessPoolExecutor):
    """Processes that Ctrl-C does not reach, not even while ``submit`` starts them.

    The signal goes to the whole process group, and a process that dies while it starts can make
    the pool wait for ever. New processes inherit the signals that are blocked here.
    """

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if not hasattr(signal, "pthread_sigmask"):
            return super().submit(fn, *args, **kwargs)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Leave Ctrl-C and the talk to the parent, and end when the parent process ends."""
    silence()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
