"""One model at a provider: attempts, back-off, and what each attempt costs.

How a single attempt is made is a parameter, the :data:`Transport`.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

from calbench.domain.usage import Usage
from calbench.errors import CalbenchError, StoppedError, UnavailableError
from calbench.llm.budget import Budget
from calbench.llm.completion import Completion, Request
from calbench.llm.faults import FAULTS
from calbench.llm.model import Endpoint, ModelConfig
from calbench.llm.prices import (
    MOST_HIDDEN_TOKENS,
    NANO,
    Price,
    estimated_usage,
    is_possible,
    usage_bound,
)
from calbench.llm.replies.record import Attempt
from calbench.llm.transport import (
    CONTEXT_EXCEEDED,
    EXCHANGE,
    TIMEOUT,
    AttemptError,
    Exchange,
    Transport,
    clean,
)

MOST_HIDDEN = Usage(
    input_tokens=MOST_HIDDEN_TOKENS, cached_tokens=0, output_tokens=MOST_HIDDEN_TOKENS
)
"""What a reply may take beyond its bound, and be believed."""

Sleep = Callable[[float], Awaitable[None]]
Clock = Callable[[], float]


class RateLimiter:
    """Spaces calls evenly: no period of a minute has more than the endpoint allows."""

    def __init__(self, endpoint: Endpoint, clock: Clock, sleep: Sleep) -> None:
        self._slots = asyncio.Semaphore(endpoint.concurrency)
        self._seconds_a_call = _seconds(endpoint.requests_per_minute)
        self._seconds_a_token = _seconds(endpoint.tokens_per_minute)
        self._clock = clock
        self._sleep = sleep
        self._next_call = 0.0
        self._next_token = 0.0
        self._held_until = 0.0
        self._starts: dict[object, float] = {}

    @asynccontextmanager
    async def call(self, tokens: int) -> AsyncIterator[None]:
        """Wait until a call may start, and keep its slot until it is over.

        Args:
            tokens: that the call is expected to use.
        """
        async with self._slots:
            now = self._clock()
            start = max(now, self._next_call, self._next_token)
            # Reserved before the wait: the next caller queues up behind.
            self._next_call = start + self._seconds_a_call
            self._next_token = start + tokens * self._seconds_a_token
            if start > now:
                await self._wait_until(start)
            yield

    async def _wait_until(self, start: float) -> None:
        """Wait for a moment that a hold may put off."""
        ticket = object()
        self._starts[ticket] = start
        try:
            while (wait := self._starts[ticket] - self._clock()) > 0:
                await self._sleep(wait)
        finally:
            del self._starts[ticket]

    def hold(self, seconds: float) -> None:
        """Start no call for a while, also none that waits: the provider asked for it."""
        until = self._held_until = max(self._held_until, self._clock() + seconds)
        later = max(0.0, until - min(self._starts.values(), default=until))
        for ticket in self._starts:
            self._starts[ticket] += later
        self._next_call = max(self._next_call + later, until)
        self._next_token += later

    async def released(self) -> None:
        """Wait until the end of a hold that began while a call waited for something else."""
        if self._held_until > self._clock():
            await self._wait_until(self._held_until)


def _seconds(per_minute: float | None) -> float:
    return 0.0 if per_minute is None else 60.0 / per_minute


FIRST_BACKOFF_S = 1.0
LONGEST_BACKOFF_S = 60.0
"""Back-off before attempt n + 1 is drawn from 0 to ``FIRST * 2**n``, at most ``LONGEST`` [C]."""

LONGEST_RETRY_AFTER_S = 300.0
"""A provider that asks for a longer wait counts as unavailable [C]."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A reply and the attempts it took."""

    completion: Completion
    attempts: tuple[Attempt, ...]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Time, and the randomness of the back-off, as parameters."""

    clock: Clock = time.monotonic
    sleep: Sleep = asyncio.sleep
    chance: random.Random = field(default_factory=lambda: random.Random(0))


@dataclass(slots=True)
class Provider:
    """Asks one model, as often as necessary and its endpoint allows."""

    model: ModelConfig
    transport: Transport
    budget: Budget
    price: Price | None
    surroundings: Surroundings
    is_stopping: Callable[[], bool] = lambda: False
    is_closing: bool = False
    under_way: int = 0
    _limiter: RateLimiter = field(init=False)
    _waits: set[asyncio.Timeout] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self._limiter = RateLimiter(self.model, self.surroundings.clock, self.surroundings.sleep)

    async def ask(self, request: Request) -> Outcome:
        """Return a reply.

        Raises:
            UnavailableError: if no attempt succeeded, or the budget is spent.
            StoppedError: if the run is ending, and no attempt is under way.
        """
        attempts: list[Attempt] = []
        waited = 0.0
        while True:
            found, attempt = await self._attempt(request, waited)
            attempts.append(attempt)
            if isinstance(found, Completion):
                return Outcome(found, tuple(attempts))
            self._give_up_if_hopeless(found, attempts)
            waited = self._backoff(found, len(attempts))
            async with self._waiting():
                await self.surroundings.sleep(waited)

    def _go_on(self) -> None:
        if self.is_closing or self.is_stopping():
            raise StoppedError("stopped")

    def stop(self) -> None:
        """Send nothing any more: what waits is stopped, what is under way goes on."""
        if self.is_closing:  # those that wait were stopped before, and may be on their way
            return
        self.is_closing = True
        for wait in self._waits:
            wait.reschedule(0.0)

    @asynccontextmanager
    async def _waiting(self) -> AsyncIterator[None]:
        """Wait for something, unless the run is ending."""
        self._go_on()
        try:
            async with asyncio.timeout(None) as wait:
                self._waits.add(wait)
                try:
                    yield
                finally:
                    self._waits.discard(wait)
        except TimeoutError:
            raise StoppedError("stopped") from None

    def _give_up_if_hopeless(self, error: AttemptError, attempts: list[Attempt]) -> None:
        wait = error.retry_after_s or 0.0
        if not error.is_retryable:
            hints, status = FAULTS["final"], str(error.status)
            why = hints.get(error.error) or hints.get(status) or "asking again would not help"
        elif wait > LONGEST_RETRY_AFTER_S:
            why = f"the provider asks to wait {wait:.0f} s"
        elif len(attempts) >= self.model.max_attempts:
            why = FAULTS["unreached"].get(error.error, "no attempt is left")
        else:
            return
        count = "1 attempt" if len(attempts) == 1 else f"{len(attempts)} attempts"
        status = "" if error.status is None else f", status {error.status}"
        raise UnavailableError(
            "provider_fault",
            f"model {self.model.player}: {error.error}{status} after {count}; {why}",
            error.status,
        )

    def _backoff(self, error: AttemptError, failures: int) -> float:
        """Draw the wait before the next attempt, not below what the provider asks for."""
        most = min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2 ** (failures - 1))
        drawn = self.surroundings.chance.uniform(0.0, most)
        if error.retry_after_s is None:
            return drawn
        self._limiter.hold(error.retry_after_s)
        return error.retry_after_s + min(drawn, FIRST_BACKOFF_S)

    async def _attempt(
        self, request: Request, waited: float
    ) -> tuple[Completion | AttemptError, Attempt]:
        bound = usage_bound(request, self.price)
        expected = estimated_usage(request, None).input_tokens + bound.output_tokens
        async with AsyncExitStack() as stack:
            most = self._price_of(bound)
            async with self._waiting():
                await stack.enter_async_context(self._limiter.call(expected))
                dearest = self._price_of(MOST_HIDDEN)
                reservation = await self.budget.reserve(most, request.spec.model, dearest)
                cost = _Cost(most, is_estimated=True)
                try:
                    await self._limiter.released()
                    self._go_on()
                except BaseException:
                    self.budget.settle(reservation, 0, request.spec.model)  # nothing was sent
                    raise
            start = self.surroundings.clock()
            self.under_way += 1
            try:
                found = await self._found(request, bound, cost)
            finally:
                self.under_way -= 1
                # What may have been paid is counted, even if the run is cancelled.
                self.budget.settle(
                    reservation, cost.nano_usd, request.spec.model, is_answered=cost.is_answered
                )
            attempt = Attempt(
                status=_status(found),
                error=found.error if isinstance(found, AttemptError) else None,
                latency_s=round(max(0.0, self.surroundings.clock() - start), 6),
                waited_s=round(waited, 6),
                cost_usd=None if self.price is None else cost.nano_usd / NANO,
                is_cost_estimated=self.price is not None and cost.is_estimated,
            )
        return found, attempt

    async def _found(
        self, request: Request, bound: Usage, cost: "_Cost"
    ) -> Completion | AttemptError:
        """Make an attempt; note what it costs, which is its bound unless less is known."""
        exchange = Exchange(self.model.timeout_s)
        token = EXCHANGE.set(exchange)
        try:
            async with asyncio.timeout(self.model.timeout_s):
                completion = clean(await self.transport(request, self.model))
        except (AttemptError, TimeoutError) as error:
            if isinstance(error, TimeoutError):
                error = AttemptError(TIMEOUT, is_free=not exchange.may_be_sent)
            if error.is_free:
                cost.become(0)
            return error
        except (CalbenchError, asyncio.CancelledError) as error:
            if isinstance(error, CalbenchError) or not exchange.may_be_sent:
                cost.become(0)
            raise
        finally:
            EXCHANGE.reset(token)
        counted = completion.usage
        cost.is_answered = completion.finish_reason != CONTEXT_EXCEEDED
        if counted is not None and is_possible(counted, bound):
            cost.become(self._price_of(counted), is_estimated=counted.is_estimated)
            return completion
        estimate = estimated_usage(request, completion.text)
        is_readable = completion.text is not None or completion.received is None
        if counted is None and is_readable:
            cost.become(self._price_of(estimate), is_estimated=True)
        return replace(completion, usage=estimate)

    def _price_of(self, usage: Usage) -> int:
        return 0 if self.price is None else self.price.nano_usd(usage)


@dataclass(slots=True)
class _Cost:
    """What an attempt costs as far as it is known, and whether its model answered."""

    nano_usd: int
    is_estimated: bool
    is_answered: bool = False

    def become(self, nano_usd: int, *, is_estimated: bool = False) -> None:
        self.nano_usd, self.is_estimated = nano_usd, is_estimated


def _status(found: Completion | AttemptError) -> int | None:
    if isinstance(found, AttemptError):
        return found.status
    return 400 if found.finish_reason == CONTEXT_EXCEEDED else 200
