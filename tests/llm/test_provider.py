"""Attempts, their pace, back-off and money, with a provider in process."""

import asyncio
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.domain.usage import Usage
from calbench.errors import ConfigError, StoppedError, UnavailableError
from calbench.llm.budget import Budget
from calbench.llm.completion import Completion, Request, TokenLogprob
from calbench.llm.model import Endpoint
from calbench.llm.prices import MOST_HIDDEN_TOKENS, NANO, Price, usage_bound
from calbench.llm.provider import (
    FIRST_BACKOFF_S,
    LONGEST_BACKOFF_S,
    Outcome,
    Provider,
    RateLimiter,
    Surroundings,
)
from calbench.llm.replies.store import ReplyStore
from calbench.llm.replies.writer import ReplyWriter
from calbench.llm.transport import EXCHANGE, LOWEST_LOGPROB, AttemptError, clean
from tests.effort import GUARD_S
from tests.llm.asking import FakeTime, Script, endpoint, model, reply, request

PRICE = Price(input=1.0, output=2.0, source="test")
BUSY = AttemptError("RateLimitError", status=429, is_free=True)
LOST = AttemptError("Timeout")


def ask(
    script: Script,
    time: FakeTime | None = None,
    budget: Budget | None = None,
    asked: Request | None = None,
    **keys: float,
) -> Outcome:
    time = time or FakeTime()
    provider = Provider(model(**keys), script, budget or Budget(), PRICE, time.surroundings())
    return asyncio.run(provider.ask(asked or request("Hi")))


def test_reply_after_faults_keeps_a_record_of_each() -> None:
    time = FakeTime()
    script = Script(BUSY, LOST, reply("fine"))

    outcome = ask(script, time)

    assert outcome.completion.text == "fine"
    assert [(a.status, a.error) for a in outcome.attempts] == [
        (429, "RateLimitError"),
        (None, "Timeout"),
        (200, None),
    ]
    assert [a.waited_s for a in outcome.attempts[1:]] == [
        pytest.approx(wait, abs=1e-5) for wait in time.slept
    ]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_fault_that_stays_fails_at_once(status: int) -> None:
    script = Script(AttemptError("Refused", status=status, is_retryable=False, is_free=True))

    with pytest.raises(UnavailableError, match=f"model stub: Refused, status {status} after 1 att"):
        ask(script)

    assert len(script.asked) == 1


def test_fault_that_passes_is_given_up_after_the_last_attempt() -> None:
    script = Script(BUSY)

    with pytest.raises(UnavailableError, match="after 3 attempts; no attempt is left") as caught:
        ask(script, max_attempts=3)

    assert caught.value.reason == "provider_fault"
    assert len(script.asked) == 3


def test_wait_is_never_below_what_the_provider_asks_for() -> None:
    time = FakeTime()
    busy = AttemptError("RateLimitError", status=429, retry_after_s=20.0, is_free=True)

    ask(Script(busy, busy, reply()), time)

    # Each wait is followed by none for the pace, which was held as long.
    waits = [slept for slept in time.slept if slept > 0]
    assert len(waits) == 2
    assert all(20.0 <= wait <= 20.0 + FIRST_BACKOFF_S for wait in waits)


def test_provider_that_asks_to_wait_for_an_hour_counts_as_down() -> None:
    busy = AttemptError("RateLimitError", status=429, retry_after_s=3600.0, is_free=True)

    with pytest.raises(UnavailableError, match="asks to wait 3600 s"):
        ask(Script(busy))


def test_backoff_is_drawn_from_zero_to_twice_as_much_each_time() -> None:
    time = FakeTime()

    with pytest.raises(UnavailableError):
        ask(Script(BUSY), time, max_attempts=12)

    most = [min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2**i) for i in range(11)]
    assert len(time.slept) == 11
    assert all(0 <= wait <= limit for wait, limit in zip(time.slept, most, strict=True))
    assert max(time.slept) > LONGEST_BACKOFF_S / 4


def test_lost_attempt_counts_in_full_and_a_refused_one_not_at_all() -> None:
    asked = request("Hi")
    bound = PRICE.nano_usd(usage_bound(asked))
    budget = Budget(1.0)

    outcome = ask(Script(BUSY, LOST, reply()), budget=budget, asked=asked)

    # 10 tokens at 1 USD and 2 at 2 USD a million
    costs = [0.0, bound / NANO, 14_000 / NANO]
    assert [a.cost_usd for a in outcome.attempts] == costs
    assert [a.is_cost_estimated for a in outcome.attempts] == [False, True, False]
    assert budget.spent_usd == pytest.approx(sum(costs))
    assert budget.reserved == 0


def test_cancelled_attempt_counts_in_full() -> None:
    asked = request("Hi")
    budget = Budget(1.0)
    provider = Provider(model(), Script(), budget, PRICE, FakeTime().surroundings())

    async def run() -> None:
        task = asyncio.create_task(provider.ask(asked))
        while budget.reserved == 0:  # noqa: ASYNC110 - a budget knows no event
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(run())

    assert budget.reserved == 0
    assert budget.spent_usd == PRICE.nano_usd(usage_bound(asked)) / NANO


def test_call_that_was_never_sent_costs_nothing() -> None:
    budget = Budget(1.0)

    with pytest.raises(ConfigError):
        ask(Script(ConfigError("no key")), budget=budget)

    assert budget.spent_usd == budget.reserved == 0


@given(
    answers=st.lists(st.sampled_from([BUSY, LOST, reply()]), min_size=1, max_size=6),
    cap=st.integers(0, 5_000_000),
    games=st.integers(1, 6),
)
def test_cap_holds_under_concurrent_calls_and_retries(
    answers: list[Completion | Exception], cap: int, games: int
) -> None:
    with ReplyStore.in_memory() as ledger:
        recorder = ReplyWriter(ledger)
        budget = Budget(cap / NANO, recorder)
        seen: list[float] = []

        async def transport(_: Request, __: Endpoint) -> Completion:
            seen.append(max(budget.spent_usd + budget.reserved / NANO, ledger.spent() / NANO))
            answer = answers[len(seen) % len(answers)]
            await asyncio.sleep(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        provider = Provider(
            model(concurrency=3), transport, budget, PRICE, FakeTime().surroundings()
        )

        async def run() -> list[Outcome | BaseException]:
            calls = (provider.ask(request(f"{i}")) for i in range(games))
            with recorder:
                return await asyncio.wait_for(
                    asyncio.gather(*calls, return_exceptions=True), GUARD_S
                )

        results = asyncio.run(run())

        assert all(isinstance(result, Outcome | UnavailableError) for result in results)
        assert all(round(most * NANO) <= cap for most in seen)
        assert ledger.spent() == round(budget.spent_usd * NANO) <= cap
        assert budget.reserved == 0


def test_usage_is_estimated_and_marked_where_the_provider_is_silent() -> None:
    outcome = ask(Script(reply("12345678", usage=None)))

    usage = outcome.completion.usage
    # "You keep a calendar." and "Hi": 22 bytes, at 4 bytes a token
    assert usage == Usage(input_tokens=6, cached_tokens=0, output_tokens=2, is_estimated=True)
    assert outcome.attempts[0].is_cost_estimated


@pytest.mark.parametrize("tokens", [-1, MOST_HIDDEN_TOKENS + 1000, 10**9, 10**18])
@pytest.mark.parametrize("kind", ["input_tokens", "output_tokens"])
def test_count_that_cannot_be_is_not_believed_and_charged_as_reserved(
    tokens: int, kind: str
) -> None:
    counts: dict[str, Any] = {"input_tokens": 2, "cached_tokens": 0, "output_tokens": 2}
    usage = Usage(**{**counts, kind: tokens})
    asked = request("Hi")
    budget = Budget(1.0)

    outcome = ask(Script(reply("kept", usage=usage)), budget=budget, asked=asked)

    found = outcome.completion.usage
    assert outcome.completion.text == "kept"
    assert found is not None
    assert found.is_estimated
    assert budget.spent_usd * NANO == PRICE.nano_usd(usage_bound(asked))
    assert outcome.attempts[0].is_cost_estimated


def test_dear_reply_is_booked_at_its_price_and_ends_the_run() -> None:
    dear = reply(usage=Usage(input_tokens=10, cached_tokens=0, output_tokens=500_000))
    budget = Budget(0.5)
    script = Script(dear)
    provider = Provider(model(concurrency=16), script, budget, PRICE, FakeTime().surroundings())

    async def run() -> list[Outcome | BaseException]:
        calls = (provider.ask(request(f"{i}")) for i in range(40))
        return await asyncio.gather(*calls, return_exceptions=True)

    found = asyncio.run(run())

    assert len(script.asked) == 1  # before its first reply nobody knows what a model charges
    (won,) = [each for each in found if isinstance(each, Outcome)]
    assert won.completion.text == "fine"
    stops = [each for each in found if isinstance(each, UnavailableError)]
    assert {stop.reason for stop in stops} == {"budget_stop"}
    assert len(stops) == 39
    assert "the budget of 0.50 USD is passed by 0.5000" in stops[0].detail
    assert budget.spent_usd == pytest.approx(1.00001)


def test_unreadable_reply_without_counts_is_charged_as_reserved() -> None:
    asked = request("Hi")
    budget = Budget(1.0)
    outcome = ask(Script(reply(None, usage=None, received="{}")), budget=budget, asked=asked)
    assert outcome.completion.received == "{}"
    assert budget.spent_usd * NANO == PRICE.nano_usd(usage_bound(asked))


@pytest.mark.parametrize(("factor", "most"), [(1.0, 100), (8.0, 800), (2.125, 213)])
def test_bound_of_a_model_that_thinks_starts_at_its_factor(factor: float, most: int) -> None:
    price = PRICE.model_copy(update={"thinking": factor})
    budget, asked = Budget(1.0), request("Hi")
    bound = usage_bound(asked, price)
    assert bound == replace(usage_bound(asked), output_tokens=most)
    reserved: list[int] = []

    async def answer(_: Request, __: Endpoint) -> Completion:
        reserved.append(budget.reserved)
        return reply(usage=Usage(input_tokens=2, cached_tokens=0, output_tokens=most))

    provider = Provider(model(), answer, budget, price, FakeTime().surroundings())
    asyncio.run(provider.ask(asked))

    assert reserved == [PRICE.nano_usd(bound)]
    assert budget.spent_usd * NANO == 2 * 1000 + most * 2000  # and it is believed


def test_thinking_as_long_as_its_price_says_is_no_surprise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Replies of eight times ``max_tokens``, with and without the factor that says so."""
    told = []
    for factor in (8.0, 1.0):
        long = reply(usage=Usage(input_tokens=2, cached_tokens=0, output_tokens=800))
        price, script = PRICE.model_copy(update={"thinking": factor}), Script(long)
        budget = Budget(1.0)
        provider = Provider(model(), script, budget, price, FakeTime().surroundings())
        asyncio.run(provider.ask(request("Hi")))
        told.append("counts more tokens than were asked for" in capsys.readouterr().err)
    assert told == [False, True]


@pytest.mark.parametrize(("may_be_sent", "share"), [(False, 0), (True, 1)])
def test_timeout_before_anything_was_sent_costs_nothing(may_be_sent: bool, share: int) -> None:
    async def slow(_: Request, __: Endpoint) -> Completion:
        exchange = EXCHANGE.get()
        assert exchange is not None
        exchange.may_be_sent = may_be_sent
        await asyncio.sleep(30)
        return reply()

    asked, budget = request("Hi"), Budget(1.0)
    provider = Provider(
        model(timeout_s=0.01, max_attempts=2), slow, budget, PRICE, FakeTime().surroundings()
    )
    with pytest.raises(UnavailableError, match="Timeout after 2 attempts"):
        asyncio.run(provider.ask(asked))

    assert budget.spent_usd * NANO == 2 * share * PRICE.nano_usd(usage_bound(asked))


@given(st.text(alphabet=st.characters(codec=None)))  # lone surrogates too
def test_text_can_always_be_written_down(text: str) -> None:
    found = clean(reply(text, finish_reason=text, refusal=text))

    for part in (found.text, found.finish_reason, found.refusal):
        (part or "").encode()
    assert found.text is None or found.text == text or max(text) >= "\ud800"


def test_odd_logprobs_become_finite() -> None:
    tokens = (TokenLogprob("\ud800", -math.inf, (("a", math.nan), ("b", -0.5))),)

    found = clean(reply(logprobs=tokens)).logprobs

    assert found == (TokenLogprob("\ufffd", LOWEST_LOGPROB, (("a", LOWEST_LOGPROB), ("b", -0.5))),)


def test_empty_text_is_an_absent_one() -> None:
    assert clean(reply("")).text is None


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


@given(count=st.integers(1, 30), per_minute=st.floats(1, 600), gap=st.floats(0, 5))
def test_no_minute_holds_more_calls_than_allowed(count: int, per_minute: float, gap: float) -> None:
    began = starts(count, 1, gap, requests_per_minute=per_minute)

    for first in began:
        within = sum(first <= start < first + 60 - 1e-6 for start in began)
        assert within <= per_minute + 1


def test_tokens_space_calls_by_their_size_where_they_are_limited() -> None:
    assert starts(3, 1000, tokens_per_minute=6000.0) == [100.0, 110.0, 120.0]
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


def test_hold_puts_off_calls_that_wait_already_and_keeps_their_distance() -> None:
    async def run() -> list[float]:
        loop = asyncio.get_running_loop()
        pace = RateLimiter(endpoint(requests_per_minute=1200.0), loop.time, asyncio.sleep)
        began: list[float] = []

        async def call() -> None:
            async with pace.call(1):
                await pace.released()
                began.append(loop.time())

        calls = [asyncio.create_task(call()) for _ in range(4)]
        while not began:  # noqa: ASYNC110 - a limiter knows no event
            await asyncio.sleep(0)
        pace.hold(0.3)
        held_from = loop.time()
        await asyncio.gather(*calls)
        return [each - held_from for each in began[1:]]

    first, second, third = sorted(asyncio.run(run()))
    assert first > 0.29
    assert second > 0.33
    assert third > 0.37


def test_provider_that_is_stopped_twice_stops_what_waits_once() -> None:
    async def stopped() -> None:
        waits = asyncio.Event()

        async def never(_: float) -> None:
            waits.set()
            await asyncio.Event().wait()

        surroundings = Surroundings(sleep=never)
        provider = Provider(model(), Script(BUSY), Budget(), PRICE, surroundings)
        call = asyncio.create_task(provider.ask(request("Hi")))
        await waits.wait()
        for _ in range(3):  # at each moment on its way
            provider.stop()
            await asyncio.sleep(0)
        with pytest.raises(StoppedError):
            await call

    asyncio.run(stopped())
