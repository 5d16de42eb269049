"""Processes to play in. Any other executor of ``concurrent.futures`` serves as well."""

import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager


@contextmanager
def workers(count: int) -> Iterator[Executor | None]:
    """Provide this many processes; one means the calling process itself."""
    if count == 1:
        yield None
        return
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(count, mp_context=context, initializer=_ignore_interrupt)
    try:
        yield executor
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _ignore_interrupt() -> None:
    """Ctrl-C reaches the whole process group; the parent alone answers it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
