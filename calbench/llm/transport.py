"""One attempt to reach a model: its interface, its errors, and cleaning of what it returns."""

import math
import tomllib
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any

from calbench.files import printable, shorten
from calbench.llm.completion import Completion, Request, TokenLogprob, well_formed
from calbench.llm.model import Endpoint

LOWEST_LOGPROB = -9999.0
"""Stands for what is infinitely unlikely, as some providers write it."""

MOST_RECEIVED = 100_000
"""Characters that are kept of a body as it was received [C]."""

CONTEXT_EXCEEDED = "context_exceeded"
"""Finish reason of a thread that no longer fits the model."""

CONNECTION_REFUSED, HOST_NOT_FOUND = "ConnectionRefused", "HostNotFound"
"""Classes of errors of requests that no server ever saw."""

TIMEOUT, BROKEN = "Timeout", "ConnectionOrReplyBroken"
"""Classes of other errors without a status."""

REDIRECTED, TOO_LONG = "Redirected", "ReplyTooLong"
"""Classes of answers that point elsewhere, and of those that are not read to their end."""

NO_CREDIT = "NoCredit"
"""Class of the answer that an account has no credit, whatever its status."""

FAULTS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("faults.toml").read_text())
"""What goes wrong, how it is recognised, and what to do about it."""

RETRYABLE = frozenset({408, 409, 425, 429})


@dataclass(eq=False)
class AttemptError(Exception):
    """An attempt without a reply.

    It contains none of the provider's text: error bodies repeat keys and addresses.

    Attributes:
        error: class of the error.
        status: HTTP status; absent if no reply arrived.
        retry_after_s: seconds the provider asks to wait.
        is_retryable: whether another attempt may succeed.
        is_free: whether the provider answered with an error, which costs nothing, or was never
            reached. After a timeout or a broken connection the model may have worked all the same.
    """

    error: str
    _: KW_ONLY
    status: int | None = None
    retry_after_s: float | None = None
    is_retryable: bool = True
    is_free: bool = False


@dataclass(slots=True)
class Delivery:
    """Whether the request of an attempt may have been sent: what was not, costs nothing.

    A transport that can tell says so; else it may.
    """

    may_be_sent: bool = True


DELIVERY: ContextVar[Delivery] = ContextVar("delivery")
"""That of the attempt under way in this task."""

Transport = Callable[[Request, Endpoint], Awaitable[Completion]]
"""Makes one attempt; raises :class:`AttemptError`. Usage is absent if the provider gave none."""


def is_retryable(status: int) -> bool:
    """Return whether a fault may pass."""
    return status in RETRYABLE or status >= 500


def clean(completion: Completion) -> Completion:
    """Make a provider's reply fit to be recorded, whatever it contains.

    Lone surrogates become U+FFFD, numbers finite, an empty text an absent one.
    """
    reason, received, usage = completion.finish_reason, completion.received, completion.usage
    return replace(
        completion,
        text=well_formed(completion.text or "") or None,
        finish_reason=None if reason is None else shorten(printable(well_formed(reason)), 64),
        refusal=well_formed(completion.refusal or "") or None,
        logprobs=None
        if completion.logprobs is None
        else tuple(map(_clean_token, completion.logprobs)),
        usage=None
        if usage is None
        else replace(usage, cached_tokens=min(usage.cached_tokens, usage.input_tokens)),
        received=None if received is None else shorten(well_formed(received), MOST_RECEIVED),
        key=None,
    )


def _clean_token(token: TokenLogprob) -> TokenLogprob:
    return TokenLogprob(
        well_formed(token.token),
        _logprob(token.logprob),
        tuple((well_formed(text), _logprob(value)) for text, value in token.top),
    )


def _logprob(value: float) -> float:
    return max(LOWEST_LOGPROB, value) if math.isfinite(value) else LOWEST_LOGPROB
