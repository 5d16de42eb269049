"""Calls at once and calls a minute."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from calbench.llm.provider import RateLimiter
from tests.llm.asking import FakeTime, endpoint


def starts(count: int, tokens: int, gap: float = 0.0, **limits: float) -> list[float]:
    """Start calls one after the other; return when each began."""
    time = FakeTime()
    began: list[float] = []

    async def run() -> None:
        pace = RateLimiter(endpoint(**limits), time.clock, time.sleep)
        for _ in range(count):
            async with pace.call(tokens):
                began.append(time.now)
            time.now += gap

    asyncio.run(run())
    return began


@given(
    count=st.integers(1, 30),
    per_minute=st.floats(1, 600),
    gap=st.floats(0, 5),
)
def test_no_minute_holds_more_calls_than_allowed(count: int, per_minute: float, gap: float) -> None:
    began = starts(count, 1, gap, requests_per_minute=per_minute)

    for first in began:
        within = sum(first <= start < first + 60 - 1e-6 for start in began)
        assert within <= per_minute + 1


def test_tokens_space_calls_by_their_size() -> None:
    assert starts(3, 1000, tokens_per_minute=6000.0) == [100.0, 110.0, 120.0]


def test_without_limits_nothing_waits() -> None:
    assert starts(3, 1000) == [100.0, 100.0, 100.0]


def test_no_more_calls_than_allowed_are_under_way() -> None:
    async def run() -> int:
        pace = RateLimiter(endpoint(concurrency=3), FakeTime().clock, asyncio.sleep)
        now = most = 0

        async def call() -> None:
            nonlocal now, most
            async with pace.call(1):
                now += 1
                most = max(most, now)
                await asyncio.sleep(0.001)
                now -= 1

        await asyncio.gather(*(call() for _ in range(10)))
        return most

    assert asyncio.run(run()) == 3


def test_hold_keeps_everybody_waiting() -> None:
    time = FakeTime()

    async def run() -> float:
        pace = RateLimiter(endpoint(), time.clock, time.sleep)
        pace.hold(7.0)
        async with pace.call(1):
            return time.now

    assert asyncio.run(run()) == 107.0
