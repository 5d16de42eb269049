"""How fast an endpoint is asked: calls at once, calls and tokens per minute."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from calbench.llm.model import Endpoint

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
                await self._sleep(start - now)
            yield

    def hold(self, seconds: float) -> None:
        """Start no call for a while: the provider asked for it."""
        self._next_call = max(self._next_call, self._clock() + seconds)


def _seconds(per_minute: float | None) -> float:
    return 0.0 if per_minute is None else 60.0 / per_minute
