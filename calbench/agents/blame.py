"""Errors in the user's code, reported as such and with their traceback.

Only the call of that code is inside :func:`blaming`, so errors of this package are never
reported as the user's.
"""

import asyncio
import importlib
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from calbench.errors import AgentError, StoppedError, UnavailableError
from calbench.files import printable, shorten

WHAT_SHOWN = 200
"""Characters of an exception that the line repeats [C]: the traceback has it all."""

_IMPORTING = (importlib.__file__, "<frozen importlib")
"""Files between an import and the first line of what is imported."""


@contextmanager
def blaming(place: str, called: str) -> Iterator[None]:
    """Call the user's code inside; what it raises becomes an :class:`AgentError`.

    Three exceptions pass: a game that cannot continue (:class:`UnavailableError`), a run that the
    user stopped, and the cancellation of the game from outside.

    Args:
        place: where in the game.
        called: what is called, in words.

    Raises:
        AgentError: its cause is the exception, with its traceback from the first line of the
            called code on. Without a cause nothing of that code ran: the call did not fit.
    """
    try:
        yield
    except (UnavailableError, StoppedError):
        raise
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        if isinstance(error, asyncio.CancelledError) and _is_cancelled():
            raise
        below = _below(error.__traceback__)
        has_run = below is not None or isinstance(error, SyntaxError)
        blamed = AgentError(place, f"{called} raised {_what(error, below)}")
        raise blamed from error.with_traceback(below) if has_run else None


def _is_cancelled() -> bool:
    """Whether this game is cancelled from outside; if not, the called code raised it."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop
        return False
    return task is not None and task.cancelling() > 0


def _below(trace: TracebackType | None) -> TracebackType | None:
    """Cut off this module, its caller, and the machinery of an import."""
    for _ in range(2):
        trace = trace and trace.tb_next
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_IMPORTING):
        trace = trace.tb_next
    return trace


def _what(error: BaseException, trace: TracebackType | None) -> str:
    """Return kind and message of an exception, and the line that raised it, on one line."""
    lines = traceback.format_exception_only(error)
    text = lines[-1] if isinstance(error, SyntaxError) else lines[0]  # notes come after it
    said = shorten(printable(" ".join(text.split())), WHAT_SHOWN)
    if trace is None:
        return said
    frame, line = list(traceback.walk_tb(trace))[-1]
    return f"{said} ({frame.f_globals.get('__name__', '?')}, line {line})"
