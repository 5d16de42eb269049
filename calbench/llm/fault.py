"""What an error of LiteLLM means: by its class, its status and what came over the wire.

None of its text leaves this module: error bodies repeat keys and addresses.
"""

import re
import socket
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
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
    is_retryable,
)
from calbench.llm.wire import Exchange, UnreadableBodyError

_CONTEXT = re.compile(
    r"context[ _-]?(length|window|size|limit)|maximum (context|number of tokens)|too many tokens"
    r"|prompt is too long",
    re.IGNORECASE,
)
"""How servers say that a thread is too long, where LiteLLM does not know their words."""


_LOG_IN = (
    "run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to the "
    "file of a service account"
)

_SETUP = {
    "ImportError": "its provider needs a package that is not installed; for Google Vertex AI: "
    "pip install google-auth",
    "DefaultCredentialsError": f"no Google credentials can be read; {_LOG_IN}",
    "RefreshError": f"Google does not accept the credentials that are found; {_LOG_IN}",
}
"""Faults of this machine that LiteLLM reports as the provider's, by their class."""


_NO_KEY_TEXT = re.compile(
    r"missing credentials|missing (\w+ )?api key|api_key client option must be set", re.IGNORECASE
)
"""How LiteLLM says that it found no key, before anything is sent."""

NO_KEY_FOUND = (
    "no key of its provider is in the environment; set the variable that model.api_key_env names"
)


_NO_CREDIT = re.compile(rb'"insufficient_quota"|credit balance is too low')
"""How OpenAI, with the status of haste, and Anthropic, with that of a bad request, say that an
account has no credit. Others have a status for it."""


def setup_problem(error: Exception) -> str | None:
    """Return what is missing on this machine, if that is what an error means."""
    if _headers(error) is None and _NO_KEY_TEXT.search(str(error)):
        return NO_KEY_FOUND
    if "Could not resolve project_id" in str(error):
        return "no Google project is named; set VERTEXAI_PROJECT"
    for cause in _causes(error):
        if getattr(cause, "retryable", False):  # as the fetching of a token may be
            return None
        for kind in type(cause).__mro__:
            if kind.__name__ in _SETUP:
                return _SETUP[kind.__name__]
    return None


def exceeded(error: Exception) -> Completion | None:
    """Return the reply that represents a thread too long for the model: not an error."""
    is_known = type(error).__name__ == "ContextWindowExceededError"
    is_refusal = getattr(error, "status_code", None) in {400, 413}
    if not (is_known or (is_refusal and _CONTEXT.search(str(error)))):
        return None
    nothing = Usage(input_tokens=0, cached_tokens=0, output_tokens=0)
    return Completion(text=None, finish_reason=CONTEXT_EXCEEDED, usage=nothing)


def attempt_error(error: Exception, exchange: Exchange) -> AttemptError:
    """Type an error. LiteLLM calls a broken connection a status of 500, without headers."""
    name = type(error).__name__
    status: Any = getattr(error, "status_code", None)
    headers = _headers(error)
    is_answered = exchange.status is not None and exchange.status >= 300
    if exchange.failure is not None and not is_answered:  # LiteLLM may call it a status of 500
        return _unanswered(error, exchange)
    if is_answered:
        status, headers = exchange.status, exchange.headers
        if _NO_CREDIT.search(exchange.body):
            return AttemptError(NO_CREDIT, status=status, is_retryable=False, is_free=True)
    if exchange.is_redirected:
        name = REDIRECTED
    elif any(isinstance(cause, UnreadableBodyError) for cause in _causes(error)):
        return AttemptError(TOO_LONG, status=exchange.status, is_retryable=False)
    if not isinstance(status, int) or (headers is None and (status >= 500 or status == 408)):
        return _unanswered(error, exchange)
    return AttemptError(
        name,
        status=status,
        retry_after_s=_wait(headers, exchange),
        is_retryable=is_retryable(status),
        is_free=True,
    )


_UNSENT = frozenset({"ConnectTimeout", "PoolTimeout", "ClientConnectorError"})
"""Errors of a connection that was never made, by their class in httpx and aiohttp."""


def _unanswered(error: Exception, exchange: Exchange) -> AttemptError:
    """Type an error without an answer; it is free only if nothing was sent."""
    causes = [*_causes(error), *_causes(exchange.failure)]
    classes = {kind.__name__ for cause in causes for kind in type(cause).__mro__}
    is_free = not exchange.delivery.may_be_sent or bool(_UNSENT & classes)
    if type(error).__name__ == "Timeout" or "TimeoutException" in classes:
        return AttemptError(TIMEOUT, is_free=is_free)
    for cause in causes:
        if isinstance(cause, ConnectionRefusedError):
            return AttemptError(CONNECTION_REFUSED, is_free=True)
        if isinstance(cause, socket.gaierror):
            return AttemptError(HOST_NOT_FOUND, is_free=True)
    return AttemptError(BROKEN, is_free=is_free)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it was raised from, outermost first, each once.

    Others' code sets causes, and may close them to a ring.
    """
    cause, seen = error, set[int]()
    while cause is not None and id(cause) not in seen:
        yield cause
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__


def _headers(error: Exception) -> Mapping[str, str] | None:
    """Return the headers of the provider's answer; absent if there was none."""
    headers = getattr(error, "litellm_response_headers", None)
    if headers is None:
        headers = getattr(getattr(error, "response", None), "headers", None)
    if headers is None:
        return None
    try:
        return {str(name).lower(): str(value) for name, value in dict(headers).items()} or None
    except (TypeError, ValueError):
        return None


def _wait(headers: Mapping[str, str] | None, exchange: Exchange) -> float | None:
    """Return the seconds to wait: from a header, or as Google writes them in the body."""
    wait = retry_after(headers or {})
    if wait is not None or exchange.status != 429:
        return wait
    found = _RETRY_DELAY.search(exchange.body)
    return None if found is None else float(found[1])


_RETRY_DELAY = re.compile(rb'"retryDelay"\s*:\s*"(\d{1,9}(?:\.\d{1,9})?)s"')


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
