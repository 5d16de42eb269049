"""What libraries under LiteLLM write while models are asked: counted, and never shown.

Their warnings, logs and prints quote requests and replies, and with them keys. Their text reaches
neither a stream nor a handler of logs; how much there was is told in our own words.
"""

import logging
import sys
import threading
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, TextIO

LOGGERS = (
    "LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "litellm", "openai", "anthropic", "httpx",
    "httpcore", "aiohttp", "asyncio", "pydantic", "google", "boto3", "botocore", "urllib3",
)  # fmt: skip
"""Logs of the libraries that ask models; asyncio's quotes errors that nobody waited for."""

PACKAGES = frozenset({
    "litellm", "openai", "anthropic", "httpx", "httpcore", "aiohttp", "google", "boto3",
    "botocore", "urllib3", "requests",
})  # fmt: skip
"""Packages whose code, or code called by them, writes to no stream."""


@dataclass(slots=True)
class _Noise:
    """What was not shown, by what it was; how many keep it from being shown, and what they do."""

    counts: Counter[str] = field(default_factory=Counter)
    depth: int = 0
    lock: Any = field(default_factory=threading.RLock)
    undo: list[Any] = field(default_factory=list)

    def count(self, what: str) -> None:
        with self.lock:
            self.counts[what] += 1


_noise = _Noise()


@contextmanager
def hushed() -> Iterator[None]:
    """Show nothing of what these libraries write, in any task or thread; may be nested."""
    with _noise.lock:
        _noise.depth += 1
        if _noise.depth == 1:
            _noise.undo = [hush() for hush in (_hush_streams, _hush_warnings, _hush_unraisable)]
        # For good: some is logged when the event loop or the process ends.
        setattr(logging.Logger, "callHandlers", _call_other_handlers)  # noqa: B010 - for mypy
    try:
        yield
    finally:
        with _noise.lock:
            _noise.depth -= 1
            if _noise.depth == 0:
                while _noise.undo:
                    _noise.undo.pop()()


def told() -> str | None:
    """Return a line about what was not shown since the last time; absent if nothing was."""
    with _noise.lock:
        counts, _noise.counts = _noise.counts, Counter()
    if not counts:
        return None
    kinds = ", ".join(f"{what}: {count}" for what, count in sorted(counts.items()))
    return f"Not shown, since they may quote requests and replies: {kinds}"


_call_handlers = logging.Logger.callHandlers


def _call_other_handlers(logger: logging.Logger, record: logging.LogRecord) -> None:
    """Count what is logged by, or on behalf of, these libraries; let handlers have the rest."""
    name = record.name.partition(".")[0]
    is_on_behalf = _noise.depth and _writer(sys._getframe(1)) is not None  # noqa: SLF001
    if name not in LOGGERS and not is_on_behalf:
        _call_handlers(logger, record)
    elif record.levelno >= logging.WARNING:
        _noise.count(f"log messages of {name}")


class _Sieve:
    """A stream without what is written by, or on behalf of, these libraries."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.is_open = False

    def write(self, text: str) -> int:
        """Write what is not theirs."""
        package = None if self.is_open else _writer(sys._getframe(1))  # noqa: SLF001
        if package is None:
            return self._stream.write(text)
        if text.strip():
            _noise.count(f"prints of {package}")
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write lines that are not theirs."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _writer(frame: FrameType | None) -> str | None:
    """Return the package of these libraries on whose behalf code runs; absent if there is none."""
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).split(".", maxsplit=1)[0]
        if package in PACKAGES:
            return package
        frame = frame.f_back
    return None


def _replaced(holder: Any, name: str, new: Any) -> Callable[[], None]:
    """Put something in the place of another; return what undoes it, unless others did the same."""
    before = getattr(holder, name)
    setattr(holder, name, new)

    def undo() -> None:
        if getattr(holder, name) is new:
            setattr(holder, name, before)

    return undo


def _hush_streams() -> Callable[[], None]:
    """Let nothing of theirs through to standard output and error; return what undoes it."""
    sieves = {name: _Sieve(getattr(sys, name)) for name in ("stdout", "stderr")}
    undoing = [_replaced(sys, name, sieve) for name, sieve in sieves.items()]

    def undo() -> None:
        for sieve, put_back in zip(sieves.values(), undoing, strict=True):
            sieve.is_open = True  # others may have kept it
            put_back()

    return undo


def _hush_warnings() -> Callable[[], None]:
    """Count their warnings; return what undoes it."""
    before = warnings.showwarning

    def show(message: Any, category: type[Warning], *rest: Any, **options: Any) -> None:
        package = _writer(sys._getframe(1))  # noqa: SLF001
        if package is None:
            before(message, category, *rest, **options)
        else:
            _noise.count(f"warnings of {package} ({category.__name__})")

    return _replaced(warnings, "showwarning", show)


def _hush_unraisable() -> Callable[[], None]:
    """Count errors of theirs that nobody can catch; return what undoes it."""
    before = sys.unraisablehook

    def hook(unraisable: Any) -> None:
        module = getattr(unraisable.object, "__module__", None) or ""
        frames = [frame for frame, _ in traceback.walk_tb(unraisable.exc_traceback)]
        package = _writer(frames[-1] if frames else None)
        if package is None and module.split(".", maxsplit=1)[0] not in PACKAGES:
            before(unraisable)
        else:
            _noise.count(f"errors at the end of objects ({unraisable.exc_type.__name__})")

    return _replaced(sys, "unraisablehook", hook)
