"""What libraries under LiteLLM write while models are asked: counted, and never shown.

Their warnings, logs and prints quote requests and replies, and with them keys. All of it goes
through a stream or a log: there it is told by the code on whose behalf it is written.
"""

import logging
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, TextIO

PACKAGES = frozenset({
    "litellm", "LiteLLM", "openai", "anthropic", "httpx", "httpcore", "aiohttp", "google", "boto3",
    "botocore", "urllib3", "requests",
})  # fmt: skip
"""Packages whose code, or code called by them, writes nothing."""

LOGS = PACKAGES | {"asyncio"}
"""Logs that are never shown; asyncio's quotes errors that nobody waited for."""

NOWHERE = -1
"""A level below that of every handler."""


@dataclass(slots=True)
class _Noise:
    """What was not shown, by what it was; how many hush at this moment, and what was before."""

    counts: Counter[str] = field(default_factory=Counter)
    depth: int = 0
    lock: Any = field(default_factory=threading.RLock)
    before: tuple[Any, ...] = ()


_noise = _Noise()


@contextmanager
def hushed() -> Iterator[None]:
    """Show nothing of what these libraries write, in any task or thread; may be nested."""
    with _noise.lock:
        _noise.depth += 1
        if _noise.depth == 1:
            _hush()
    try:
        yield
    finally:
        with _noise.lock:
            _noise.depth -= 1
            if _noise.depth == 0:
                _unhush()


def told() -> str | None:
    """Return a line about what was not shown since the last time; absent if nothing was."""
    with _noise.lock:
        counts, _noise.counts = _noise.counts, Counter()
    if not counts:
        return None
    kinds = ", ".join(f"{what}: {count}" for what, count in sorted(counts.items()))
    return f"Not shown, since they may quote requests and replies: {kinds}"


class _Sieve:
    """A stream without what is written by, or on behalf of, these libraries."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write what is not theirs."""
        package = _writer(sys._getframe(1)) if _noise.depth else None  # noqa: SLF001
        if package is None:
            return self._stream.write(text)
        if text.strip():
            _count(f"prints of {package}")
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write lines that are not theirs."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _hush() -> None:
    """Put ours in the place of the streams, of what makes log records and of the last hook."""
    record_of = logging.getLogRecordFactory()
    _noise.before = (sys.stdout, sys.stderr, record_of, sys.unraisablehook)

    def record(name: Any, level: Any, path: str, line: int, *rest: Any, **more: Any) -> Any:
        log = str(name).partition(".")[0].partition(" ")[0]
        writer = log if log in LOGS else _writer(sys._getframe(1))  # noqa: SLF001
        if writer is None or level is None:  # of a record that is made anew from its parts
            return record_of(name, level, path, line, *rest, **more)
        if level >= logging.WARNING:
            _count(f"log messages of {writer}")
        return record_of(name, NOWHERE, path, line, "not shown", (), None)

    def unraisable(raised: Any) -> None:
        _count(f"errors at the end of objects ({raised.exc_type.__name__})")

    sys.stdout, sys.stderr = _Sieve(sys.stdout), _Sieve(sys.stderr)
    sys.unraisablehook = unraisable
    logging.setLogRecordFactory(record)


def _unhush() -> None:
    """Put back what was before, but for a stream that somebody else replaced meanwhile."""
    stdout, stderr, record_of, hook = _noise.before
    if isinstance(sys.stdout, _Sieve):
        sys.stdout = stdout
    if isinstance(sys.stderr, _Sieve):
        sys.stderr = stderr
    sys.unraisablehook = hook
    logging.setLogRecordFactory(record_of)


def _count(what: str) -> None:
    with _noise.lock:
        _noise.counts[what] += 1


def _writer(frame: FrameType | None) -> str | None:
    """Return the package of these libraries on whose behalf code runs; absent if there is none."""
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package in PACKAGES:
            return package
        frame = frame.f_back
    return None
