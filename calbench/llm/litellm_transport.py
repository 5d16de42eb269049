"""One attempt through LiteLLM: a hosted model, or any OpenAI-compatible server.

LiteLLM takes seconds to import and is loaded by the first call only. Its own retries are off:
our attempts are recorded and paid one by one.
"""

import logging
import re
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from calbench.domain.usage import Usage
from calbench.errors import ConfigError
from calbench.llm.completion import Completion, Request, TokenLogprob
from calbench.llm.model import Endpoint
from calbench.llm.transport import (
    BROKEN,
    CONNECTION_REFUSED,
    CONTEXT_EXCEEDED,
    HOST_NOT_FOUND,
    TIMEOUT,
    AttemptError,
    is_retryable,
)

TOP_LOGPROBS = 10
"""Likeliest tokens asked for beside the sampled one: more than the seven deltas of a
reflection, and within what providers allow [C]."""

NO_KEY = "none"
"""Sent to the user's own server. With nothing given, LiteLLM would send it the provider's key
from the environment."""

_CONTEXT = re.compile(
    r"context[ _-]?(length|window|size|limit)|maximum (context|number of tokens)|too many tokens"
    r"|prompt is too long",
    re.IGNORECASE,
)
"""How servers say that a thread is too long, where LiteLLM does not know their words."""


async def ask_litellm(request: Request, endpoint: Endpoint) -> Completion:
    """Make one attempt.

    Raises:
        AttemptError: typed, without any of the provider's text.
        ConfigError: if the key that the endpoint names is not in the environment, or what
            the provider needs is not installed or not set up: no game could be played.
    """
    arguments = _arguments(request, endpoint)
    litellm = load_litellm()
    try:
        response = await litellm.acompletion(**arguments)
    except Exception as error:  # noqa: BLE001 - LiteLLM lets any type through
        exceeded = _exceeded(error)
        if exceeded is not None:
            return exceeded
        problem = _setup_problem(error)
        if problem is not None:
            raise ConfigError(f"{request.spec.model}: {problem}") from None
        # `from None`: the original contains the provider's text, which may repeat the key.
        raise _attempt_error(error) from None
    return _completion(response)


async def close_litellm() -> None:
    """Close the connections that LiteLLM keeps, if it was ever loaded."""
    litellm = sys.modules.get("litellm")
    if litellm is not None:
        await litellm.close_litellm_async_clients()


def load_litellm() -> Any:
    """Import LiteLLM and keep it quiet. The first time takes seconds, outside any attempt."""
    import litellm

    litellm.suppress_debug_info = True
    litellm.drop_params = False  # a parameter left out in silence would be another game
    litellm.telemetry = False
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # it quotes error bodies
    return litellm


def _arguments(request: Request, endpoint: Endpoint) -> dict[str, Any]:
    sampling = request.spec.sampling
    key = endpoint.key()
    if key is None and endpoint.api_base is not None:
        key = NO_KEY
    given = {
        "api_base": endpoint.api_base,
        "api_key": key,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
        "reasoning_effort": sampling.reasoning_effort,
        "response_format": _response_format(request),
        "logprobs": request.logprobs or None,
        "top_logprobs": TOP_LOGPROBS if request.logprobs else None,
    }
    return {
        "model": request.spec.model,
        "messages": [{"role": role, "content": content} for role, content in request.messages],
        "max_tokens": sampling.max_tokens,
        "timeout": endpoint.timeout_s,
        "num_retries": 0,
        "max_retries": 0,
        **{name: value for name, value in given.items() if value is not None},
    }


def _response_format(request: Request) -> dict[str, Any] | None:
    schema = request.sent_schema
    if request.spec.response_format == "none":
        return None
    if schema is None:
        return {"type": "json_object"}
    if request.spec.response_format == "json_object":
        return {"type": "json_object", "schema": schema}  # as llama.cpp's server takes it
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}


_SETUP = {
    "ImportError": "its provider needs a package that is not installed; for Google Vertex AI: "
    "pip install google-auth",
    "DefaultCredentialsError": "no Google credentials are found; run "
    "`gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS",
}
"""Faults of this machine that LiteLLM reports as the provider's, by their class."""


_NO_KEY_TEXT = re.compile(
    r"missing credentials|missing (\w+ )?api key|api_key client option must be set", re.IGNORECASE
)
"""How LiteLLM says that it found no key, before anything is sent."""

NO_KEY_FOUND = (
    "no key of its provider is in the environment; set the variable that model.api_key_env names"
)


def _setup_problem(error: Exception) -> str | None:
    if _headers(error) is None and _NO_KEY_TEXT.search(str(error)):
        return NO_KEY_FOUND
    for cause in _causes(error):
        for kind in type(cause).__mro__:
            if kind.__name__ in _SETUP:
                return _SETUP[kind.__name__]
    return None


def _exceeded(error: Exception) -> Completion | None:
    """Return the reply that represents a thread too long for the model: not an error."""
    is_known = type(error).__name__ == "ContextWindowExceededError"
    is_refusal = getattr(error, "status_code", None) in {400, 413}
    if not (is_known or (is_refusal and _CONTEXT.search(str(error)))):
        return None
    nothing = Usage(input_tokens=0, cached_tokens=0, output_tokens=0)
    return Completion(text=None, finish_reason=CONTEXT_EXCEEDED, usage=nothing)


def _attempt_error(error: Exception) -> AttemptError:
    """Type an error. LiteLLM calls a broken connection a status of 500, without headers."""
    name = type(error).__name__
    status = getattr(error, "status_code", None)
    headers = _headers(error)
    if not isinstance(status, int) or (headers is None and (status >= 500 or status == 408)):
        return _unanswered(error)
    return AttemptError(
        name,
        status=status,
        retry_after_s=retry_after(headers or {}),
        is_retryable=is_retryable(status),
        is_free=True,
    )


def _unanswered(error: Exception) -> AttemptError:
    """Type an error without an answer; it is free only if the connection was never made."""
    if type(error).__name__ == "Timeout":
        return AttemptError(TIMEOUT)
    for cause in _causes(error):
        if isinstance(cause, ConnectionRefusedError):
            return AttemptError(CONNECTION_REFUSED, is_free=True)
        if isinstance(cause, socket.gaierror):
            return AttemptError(HOST_NOT_FOUND, is_free=True)
    return AttemptError(BROKEN)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it was raised from, outermost first."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
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


def _completion(response: Any) -> Completion:
    """Read what LiteLLM returns, whose types cannot be relied on."""
    choices = getattr(response, "choices", None)
    if not isinstance(choices, Sequence) or not choices:
        raise AttemptError("NoChoices", status=200)
    choice = choices[0]
    message = getattr(choice, "message", None)
    text = _str(getattr(message, "content", None))
    finish_reason = _str(getattr(choice, "finish_reason", None))
    if text is None and getattr(message, "tool_calls", None):
        finish_reason = "tool_calls"
    return Completion(
        text=text,
        finish_reason=finish_reason,
        refusal=_refusal(message),
        usage=_usage(getattr(response, "usage", None)),
        logprobs=_logprobs(getattr(choice, "logprobs", None)),
    )


def _str(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _refusal(message: Any) -> str | None:
    fields = getattr(message, "provider_specific_fields", None)
    told = fields.get("refusal") if isinstance(fields, Mapping) else None
    return _str(getattr(message, "refusal", None)) or _str(told)


def _usage(usage: Any) -> Usage | None:
    """Read the counts; LiteLLM writes zeros where the provider wrote nothing."""
    tokens_in, tokens_out = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    if tokens_in is None or tokens_out is None or tokens_in + tokens_out == 0:
        return None
    details = getattr(usage, "prompt_tokens_details", None)
    cached = _count(details, "cached_tokens") or 0
    return Usage(input_tokens=tokens_in, cached_tokens=cached, output_tokens=tokens_out)


def _count(holder: Any, name: str) -> int | None:
    value = getattr(holder, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _logprobs(logprobs: Any) -> tuple[TokenLogprob, ...] | None:
    """Read log-probabilities; what cannot be read counts as absent."""
    content = getattr(logprobs, "content", None)
    if not isinstance(content, Sequence) or not content:
        return None
    try:
        return tuple(
            TokenLogprob(
                str(token.token),
                float(token.logprob),
                tuple((str(top.token), float(top.logprob)) for top in token.top_logprobs or ()),
            )
            for token in content
        )
    except (AttributeError, TypeError, ValueError):
        return None
