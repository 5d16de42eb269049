"""What an error of an attempt means: by its class, its status and what came over the wire.

None of its text leaves this module: error bodies repeat keys and addresses.
"""

import re
import socket
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from calbench.domain.usage import Usage
from calbench.llm.completion import Completion
from calbench.llm.transport import (
    BROKEN,
    CONNECTION_REFUSED,
    CONTEXT_EXCEEDED,
    HOST_NOT_FOUND,
    NO_CREDIT,
    REDIRECTED,
    TIMEOUT,
    TOO_LONG,
    AttemptError,
    Exchange,
    UnreadableBodyError,
)

FAULTS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("faults.toml").read_text())
"""What goes wrong, how it is recognised, and what to do about it."""

RETRYABLE = frozenset({408, 409, 425, 429})

# e.g. "maximum context length is 8192 tokens"; not "at most 8192 tokens a minute"
SIGNS = {name: re.compile(sign["pattern"], re.IGNORECASE) for name, sign in FAULTS["signs"].items()}
"""How servers and libraries say what is wrong, by what that is."""

NO_KEY_FOUND = (
    "no key of its provider is in the environment; set the variable that model.api_key_env names"
)


def setup_problem(error: Exception) -> str | None:
    """Return what is missing on this machine, if that is what an error without an answer means."""
    if SIGNS["no_key"].search(str(error)):
        return NO_KEY_FOUND
    if SIGNS["no_project"].search(str(error)):
        return "no Google project is named; set VERTEXAI_PROJECT"
    for cause in _causes(error):
        if getattr(cause, "retryable", False):  # as the fetching of a token may be
            return None
        for kind in type(cause).__mro__:
            if kind.__name__ in FAULTS["setup"]:
                return str(FAULTS["setup"][kind.__name__])
    return None


def exceeded(error: Exception) -> Completion | None:
    """Return the reply that represents a thread too long for the model: not an error."""
    is_known = type(error).__name__ == "ContextWindowExceededError"
    is_refusal = getattr(error, "status_code", None) in {400, 413}
    if not (is_known or (is_refusal and SIGNS["context"].search(str(error)))):
        return None
    nothing = Usage(input_tokens=0, cached_tokens=0, output_tokens=0)
    return Completion(text=None, finish_reason=CONTEXT_EXCEEDED, usage=nothing)


def attempt_error(error: Exception, exchange: Exchange) -> AttemptError:
    """Type an error. LiteLLM calls a broken connection, and a broken reply, a status of 500."""
    name = type(error).__name__
    status: Any = getattr(error, "status_code", None)
    is_answered = exchange.status is not None and exchange.status >= 300
    if exchange.failure is not None and not is_answered:
        return _unanswered(error, exchange)
    if is_answered:
        status = exchange.status
        if SIGNS["no_credit"].search(exchange.text):
            is_free = not _is_unknown(status)
            return AttemptError(NO_CREDIT, status=status, is_retryable=False, is_free=is_free)
    if exchange.is_redirected:
        name = REDIRECTED
    elif any(isinstance(cause, UnreadableBodyError) for cause in _causes(error)):
        return AttemptError(TOO_LONG, status=exchange.status, is_retryable=False)
    if not isinstance(status, int) or (_is_unknown(status) and not is_answered):
        return _unanswered(error, exchange)
    return AttemptError(
        name,
        status=status,
        retry_after_s=_wait(exchange),
        is_retryable=status in RETRYABLE or status >= 500,
        is_free=not _is_unknown(status),
    )


def _is_unknown(status: int) -> bool:
    """Return whether a model may have worked, and be paid for, before such an answer.

    A gateway also says so of a server behind it that took too long.
    """
    return status == 408 or status >= 500


MOST_CAUSES = 20
"""Errors behind one that are looked at [C]."""

_UNSENT = frozenset({"ConnectTimeout", "PoolTimeout", "ClientConnectorError"})
"""Errors of a connection that was never made, by their class in httpx and aiohttp."""


def _unanswered(error: Exception, exchange: Exchange) -> AttemptError:
    """Type an error without an answer; it is free only if nothing was sent."""
    causes = [*_causes(error), *_causes(exchange.failure)]
    classes = {kind.__name__ for cause in causes for kind in type(cause).__mro__}
    is_free = not exchange.may_be_sent or bool(_UNSENT & classes)
    if type(error).__name__ == "Timeout" or "TimeoutException" in classes:
        return AttemptError(TIMEOUT, is_free=is_free)
    for cause in causes:
        if isinstance(cause, ConnectionRefusedError):
            return AttemptError(CONNECTION_REFUSED, is_free=True)
        if isinstance(cause, socket.gaierror):
            return AttemptError(HOST_NOT_FOUND, is_free=True)
    return AttemptError(BROKEN, is_free=is_free)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it was raised from, outermost first.

    Others' code sets causes, and may close them to a ring: so there is an end.
    """
    for _ in range(MOST_CAUSES):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _wait(exchange: Exchange) -> float | None:
    """Return the seconds to wait: from a header, or as Google writes them in the body."""
    wait = retry_after(exchange.headers)
    if wait is not None or exchange.status != 429:
        return wait
    found = SIGNS["wait"].search(exchange.text)
    return None if found is None else float(found[1])


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a provider asks to wait: a number, or a date against its own clock."""
    text = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text):
        return float(text)
    then = _date(text)
    if then is None:
        return None
    now = _date(headers.get("date", "")) or datetime.now(UTC)
    return max(0.0, (then - now).total_seconds())


def _date(text: str) -> datetime | None:
    try:
        then = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return then if then.tzinfo is not None else then.replace(tzinfo=UTC)
