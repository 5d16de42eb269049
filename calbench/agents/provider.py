"""One model behind a provider: attempts, back-off, and the money of each attempt.

How a single attempt is made is a parameter, the :data:`Transport`.
"""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from calbench.agents.budget import (
    NANO,
    Budget,
    Price,
    estimated_usage,
    price_of,
    usage_bound,
)
from calbench.agents.completion import CallSite, Completion, Request, TokenLogprob
from calbench.agents.models import Endpoint
from calbench.agents.pace import Clock, Pace, Sleep
from calbench.agents.records import Attempt
from calbench.domain.replies import Usage
from calbench.errors import CalbenchError, UnavailableError
from calbench.files import printable, shorten

FIRST_BACKOFF_S = 1.0
LONGEST_BACKOFF_S = 60.0
"""Back-off before attempt n + 1 is drawn from 0 to ``FIRST * 2**n``, at most ``LONGEST`` [C]."""

LONGEST_RETRY_AFTER_S = 300.0
"""A provider that asks for a longer wait counts as down [C]."""

LOWEST_LOGPROB = -9999.0
"""Stands for what is infinitely unlikely, as some providers write it."""

MOST_TOKENS = 1_000_000_000
"""A provider that counts more is not believed [C]."""

CONTEXT_EXCEEDED = "context_exceeded"

RETRYABLE = frozenset({408, 409, 425, 429})

HINTS = {
    400: "the provider refuses the request; perhaps a parameter that the model does not take",
    401: "check the key",
    402: "the account has no credit",
    403: "check the key and what it may use",
    404: "check the model's name and api_base",
    422: "the provider refuses the request; perhaps a parameter that the model does not take",
}


class AttemptError(Exception):
    """An attempt that brought no reply.

    It holds no text of the provider's: error bodies repeat keys and addresses.

    Attributes:
        error: class of the error.
        status: HTTP status; absent if no reply arrived.
        retry_after_s: seconds the provider asks to wait.
        is_retryable: whether another attempt may go better.
        is_free: whether the provider answered with an error, for which nobody pays. After a
            timeout or a broken connection the model may have worked all the same.
    """

    def __init__(
        self,
        error: str,
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
        is_retryable: bool = True,
        is_free: bool = False,
    ) -> None:
        super().__init__(error)
        self.error = error
        self.status = status
        self.retry_after_s = retry_after_s
        self.is_retryable = is_retryable
        self.is_free = is_free


Transport = Callable[[Request, Endpoint], Awaitable[Completion]]
"""Makes one attempt; raises :class:`AttemptError`. Usage is absent if the provider gave none."""


def is_retryable(status: int) -> bool:
    """Tell faults that pass from those that stay."""
    return status in RETRYABLE or status >= 500


@dataclass(frozen=True, slots=True)
class Outcome:
    """A reply and the attempts it took."""

    completion: Completion
    attempts: tuple[Attempt, ...]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Time and chance, handed in."""

    clock: Clock
    sleep: Sleep
    chance: random.Random


class Provider:
    """Asks one model, as often as it takes and its endpoint allows."""

    def __init__(
        self,
        player: str,
        endpoint: Endpoint,
        transport: Transport,
        budget: Budget,
        price: Price | None,
        surroundings: Surroundings,
    ) -> None:
        self._player = player
        self._endpoint = endpoint
        self._transport = transport
        self._budget = budget
        self._price = price
        self._around = surroundings
        self._pace = Pace(endpoint, surroundings.clock, surroundings.sleep)
        self.is_closing = False

    async def ask(self, request: Request, site: CallSite) -> Outcome:
        """Return a reply.

        Raises:
            UnavailableError: if no attempt brought one, or the budget is spent.
        """
        attempts: list[Attempt] = []
        waited = 0.0
        while True:
            if self.is_closing:
                raise UnavailableError("provider_fault", f"{site}: the run is ending")
            try:
                completion, attempt = await self._attempt(request, waited)
            except _FailedAttempt as failure:
                attempts.append(failure.attempt)
                self._give_up_if_hopeless(failure.error, attempts)
                waited = self._backoff(failure.error, len(attempts))
                await self._around.sleep(waited)
            else:
                return Outcome(completion, (*attempts, attempt))

    def _give_up_if_hopeless(self, error: AttemptError, attempts: list[Attempt]) -> None:
        wait = error.retry_after_s or 0.0
        if not error.is_retryable:
            why = HINTS.get(error.status or 0, "asking again would not help")
        elif wait > LONGEST_RETRY_AFTER_S:
            why = f"the provider asks to wait {wait:.0f} s"
        elif len(attempts) >= self._endpoint.max_attempts:
            why = "no attempt is left"
        else:
            return
        count = "1 attempt" if len(attempts) == 1 else f"{len(attempts)} attempts"
        status = "" if error.status is None else f", status {error.status}"
        raise UnavailableError(
            "provider_fault", f"model {self._player}: {error.error}{status} after {count}; {why}"
        )

    def _backoff(self, error: AttemptError, failures: int) -> float:
        """Draw the wait before the next attempt, not below what the provider asks for."""
        most = min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2 ** (failures - 1))
        drawn = self._around.chance.uniform(0.0, most)
        if error.retry_after_s is None:
            return drawn
        self._pace.hold(error.retry_after_s)
        return error.retry_after_s + min(drawn, FIRST_BACKOFF_S)

    async def _attempt(self, request: Request, waited: float) -> tuple[Completion, Attempt]:
        bound = usage_bound(request)
        expected = estimated_usage(request, None).input_tokens + bound.output_tokens
        async with self._pace.call(expected):
            most = self._price_of(bound)
            reservation = await self._budget.reserve(most, request.spec.model)
            # Whatever happens, even a cancelled run: what may have been paid, counts.
            cost, is_estimated = most, True
            status, fault = None, None
            start = self._around.clock()
            try:
                completion, usage = await self._completion(request)
                cost, is_estimated = self._price_of(usage), usage.is_estimated
                status = 400 if completion.finish_reason == CONTEXT_EXCEEDED else 200
            except AttemptError as error:
                fault, status = error, error.status
                if error.is_free:
                    cost, is_estimated = 0, False
            except CalbenchError:
                cost = 0  # never sent
                raise
            finally:
                self._budget.settle(reservation, cost)
            attempt = Attempt(
                status=status,
                error=None if fault is None else fault.error,
                latency_s=round(max(0.0, self._around.clock() - start), 6),
                waited_s=round(waited, 6),
                cost_usd=None if self._price is None else cost / NANO,
                is_cost_estimated=self._price is not None and is_estimated,
            )
        if fault is not None:
            raise _FailedAttempt(fault, attempt)
        return completion, attempt

    def _price_of(self, usage: Usage) -> int:
        return 0 if self._price is None else price_of(usage, self._price)

    async def _completion(self, request: Request) -> tuple[Completion, Usage]:
        """Make an attempt within the time allowed, and clean what came back."""
        try:
            async with asyncio.timeout(self._endpoint.timeout_s):
                completion = clean(await self._transport(request, self._endpoint))
        except TimeoutError as error:
            raise AttemptError("Timeout") from error
        usage = completion.usage or estimated_usage(request, completion.text)
        return replace(completion, usage=usage), usage


class _FailedAttempt(Exception):  # noqa: N818
    """Carries the record of an attempt past the end of its reservation."""

    def __init__(self, error: AttemptError, attempt: Attempt) -> None:
        super().__init__(error.error)
        self.error = error
        self.attempt = attempt


def clean(completion: Completion) -> Completion:
    """Make a provider's reply fit to be written down, whatever it holds.

    Lone surrogates become U+FFFD, numbers finite, an empty text an absent one.
    """
    reason = completion.finish_reason
    return replace(
        completion,
        text=well_formed(completion.text) or None,
        finish_reason=None if reason is None else shorten(printable(well_formed(reason) or ""), 64),
        refusal=well_formed(completion.refusal) or None,
        logprobs=None
        if completion.logprobs is None
        else tuple(map(_clean_token, completion.logprobs)),
        usage=_clean_usage(completion.usage),
        key=None,
    )


def well_formed(text: str | None) -> str | None:
    """Replace lone surrogates, which no file and no request can hold."""
    if text is None or text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _clean_token(token: TokenLogprob) -> TokenLogprob:
    return TokenLogprob(
        well_formed(token.token) or "",
        _logprob(token.logprob),
        tuple((well_formed(text) or "", _logprob(value)) for text, value in token.top),
    )


def _logprob(value: float) -> float:
    return max(LOWEST_LOGPROB, value) if math.isfinite(value) else LOWEST_LOGPROB


def _clean_usage(usage: Usage | None) -> Usage | None:
    """Drop counts that cannot be; what is left unknown is estimated."""
    if usage is None:
        return None
    counts = (usage.input_tokens, usage.cached_tokens, usage.output_tokens)
    if not all(0 <= count <= MOST_TOKENS for count in counts):
        return None
    return replace(usage, cached_tokens=min(usage.cached_tokens, usage.input_tokens))
