"""The cap holds at every moment."""

import asyncio
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from calbench.domain.usage import Usage
from calbench.errors import ConfigError, UnavailableError
from calbench.llm.budget import Budget
from calbench.llm.client import price_table
from calbench.llm.prices import NANO, Price, estimated_usage, read_prices, usage_bound
from calbench.llm.replies.store import ReplyStore
from calbench.llm.replies.writer import ReplyWriter
from tests.effort import GUARD_S
from tests.llm.asking import model, request
from tests.llm.test_model import CONF

JOBS = st.lists(
    st.tuples(
        st.integers(0, 40),  # bound
        st.integers(0, 40),  # what it comes to, at most the bound
        st.integers(0, 3),  # turns of the loop until it is settled
        st.booleans(),  # cancelled meanwhile
    ),
    max_size=14,
)


@given(jobs=JOBS, cap=st.integers(0, 100), start=st.integers(0, 30))
def test_spent_and_reserved_never_exceed_the_cap(
    jobs: list[tuple[int, int, int, bool]], cap: int, start: int
) -> None:
    with ReplyStore.in_memory() as ledger:
        ledger.settle(ledger.reserve("m", start), min(start, cap))
        recorder = ReplyWriter(ledger)
        budget = Budget(cap / NANO, recorder)
        paid = [min(start, cap)]
        stops: list[tuple[int, str]] = []

        async def job(bound: int, actual: int, turns: int) -> None:
            try:
                reservation = await budget.reserve(bound, "m")
            except UnavailableError as error:
                stops.append((bound, error.reason))
                return
            check()
            cost = bound
            try:
                for _ in range(turns):
                    await asyncio.sleep(0)
                    check()
                cost = min(bound, actual)
            finally:
                budget.settle(reservation, cost, "m")
                paid.append(cost)
                check()

        def check() -> None:
            assert round((budget.spent_usd + budget.reserved / NANO) * NANO) <= cap
            assert ledger.spent() <= cap

        async def run() -> None:
            tasks = [asyncio.create_task(job(*parts)) for *parts, _ in jobs]
            await asyncio.sleep(0)
            for task, (*_, is_cancelled) in zip(tasks, jobs, strict=True):
                if is_cancelled:
                    task.cancel()
            with recorder:
                await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), GUARD_S)
            for task in tasks:
                assert task.cancelled() or task.exception() is None

        asyncio.run(run())

        assert budget.reserved == 0
        assert round(budget.spent_usd * NANO) == sum(paid) == ledger.spent()
        # Nobody is sent away whom the money left over would have paid.
        assert all(sum(paid) + bound > cap for bound, _ in stops)
        assert {reason for _, reason in stops} <= {"budget_stop"}


def test_reservation_waits_for_what_others_give_back() -> None:
    async def run() -> list[str]:
        budget = Budget(10 / NANO)
        said: list[str] = []

        async def second() -> None:
            reservation = await budget.reserve(6, "m")
            said.append("second reserved")
            budget.settle(reservation, 6, "m")

        first = await budget.reserve(8, "m")
        waiting = asyncio.create_task(second())
        await asyncio.sleep(0.01)
        said.append("first settles")
        budget.settle(first, 2, "m")
        await waiting
        with pytest.raises(UnavailableError, match=r"budget of 0\.00 USD is spent"):
            await budget.reserve(3, "m")
        return said

    assert asyncio.run(run()) == ["first settles", "second reserved"]


def test_reservation_that_is_cancelled_while_it_is_written_gives_its_money_back() -> None:
    async def run() -> None:
        with ReplyStore.in_memory() as ledger, ReplyWriter(ledger) as recorder:
            budget = Budget(10 / NANO, recorder)
            for turns in range(4):
                task = asyncio.create_task(budget.reserve(10, "m"))
                for _ in range(turns):
                    await asyncio.sleep(0)
                if task.cancel():
                    await asyncio.wait([task])
                else:
                    budget.settle(task.result(), 0, "m")
                assert budget.reserved == 0
                await asyncio.sleep(0)
                assert ledger.spent() == 0

    asyncio.run(run())


def test_earlier_runs_count() -> None:
    with ReplyStore.in_memory() as ledger:
        ledger.reserve("m", 8)  # by a run that was killed
        budget = Budget(10 / NANO, ReplyWriter(ledger))

        assert round(budget.spent_usd * NANO) == 8
        with pytest.raises(UnavailableError):
            asyncio.run(budget.reserve(3, "m"))


@contextmanager
def two_runs(path: Path, cap: int) -> Iterator[tuple[Budget, Budget]]:
    """Yield the budgets of two runs on one store, with one cap in nano-dollars."""
    with (
        ReplyStore.open(path) as mine,
        ReplyStore.open(path) as theirs,
        ReplyWriter(mine) as own,
        ReplyWriter(theirs) as other,
    ):
        yield Budget(cap / NANO, own), Budget(cap / NANO, other)


def test_what_another_run_spent_between_a_look_and_the_ledger_is_not_waited_for(
    tmp_path: Path,
) -> None:
    async def play() -> None:
        with two_runs(tmp_path / "replies.sqlite", 10) as (budget, rival):
            rival.settle(await rival.reserve(8, "m"), 8, "m")
            with pytest.raises(UnavailableError, match="budget"):
                await asyncio.wait_for(budget.reserve(5, "m"), GUARD_S)

    asyncio.run(play())


def test_what_another_run_reserved_counts_while_a_dear_reply_raises_what_is_open(
    tmp_path: Path,
) -> None:
    async def play() -> None:
        with two_runs(tmp_path / "replies.sqlite", 1000) as (budget, rival):
            for _ in range(3):
                budget.settle(await budget.reserve(10, "m"), 9, "m", is_answered=True)
            first, second = [await budget.reserve(10, "m") for _ in range(2)]
            held = await rival.reserve(600, "other")
            budget.settle(first, 40, "m", is_answered=True)  # the second reserves more since
            budget.settle(second, 40, "m", is_answered=True)
            rival.settle(held, 600, "other")
            with pytest.raises(UnavailableError, match="budget"):
                await asyncio.wait_for(budget.reserve(320, "m"), GUARD_S)

    asyncio.run(play())


def test_dear_reply_stops_what_no_longer_fits_and_tells(capsys: pytest.CaptureFixture[str]) -> None:
    async def run() -> list[str]:
        budget = Budget(100 / NANO)
        first = await budget.reserve(10, "m")
        waiting = [asyncio.create_task(budget.reserve(10, name)) for name in ("m", "m", "other")]
        await asyncio.sleep(0)
        assert [each.done() for each in waiting] == [False, False, True]  # m is not yet known
        budget.settle(first, 130, "m", is_answered=True)
        found = await asyncio.gather(*waiting, return_exceptions=True)
        with pytest.raises(UnavailableError):
            await budget.reserve(1, "third")
        return [str(each) for each in found if isinstance(each, UnavailableError)]

    refused = asyncio.run(run())

    assert len(refused) == 2
    assert all("passed by 0.0000: a provider charged more" in line for line in refused)
    assert capsys.readouterr().err == (
        "warning: a reply of m cost 0.0000 USD, and 0.0000 were reserved: its provider counts "
        "more tokens than were asked for; each further call reserves 0.0000 more\n"
    )


def test_cheap_preflight_says_little_about_a_turn() -> None:
    async def run() -> None:
        budget = Budget(10_000 / NANO)
        budget.settle(await budget.reserve(10, "m"), 5, "m", is_answered=True)
        first = await budget.reserve(1000, "m")
        waiting = asyncio.create_task(budget.reserve(1000, "m"))
        await asyncio.sleep(0)
        assert not waiting.done()
        budget.settle(first, 6000, "m", is_answered=True)
        with pytest.raises(UnavailableError, match="the next call may cost"):
            await waiting  # at 6000 a call, for all that is known

    asyncio.run(run())


def test_calls_in_progress_reserve_more_after_a_dear_reply() -> None:
    async def run() -> None:
        with ReplyStore.in_memory() as ledger, ReplyWriter(ledger) as recorder:
            budget = Budget(100 / NANO, recorder)
            for _ in range(3):
                budget.settle(await budget.reserve(10, "m"), 2, "m", is_answered=True)
            first, second, third = [await budget.reserve(10, "m") for _ in range(3)]
            budget.settle(first, 30, "m", is_answered=True)
            assert budget.reserved == 60  # two, at 10 and 20 more
            assert round(budget.spent_usd * NANO) == 36
            assert ledger.spent() >= 96  # so does a run that is killed now
            late = asyncio.create_task(budget.reserve(1, "m"))
            await asyncio.sleep(0)
            assert not late.done()  # 21 would not fit beside them
            budget.settle(second, 10, "m", is_answered=True)
            budget.settle(third, 31, "m", is_answered=True)
            assert (await late).nano_usd == 22
            budget.settle(late.result(), 0, "m")
            assert budget.reserved == 0
            assert round(budget.spent_usd * NANO) == 77

    asyncio.run(run())


def test_resumed_run_knows_of_bills_what_the_first_one_knew() -> None:
    async def run() -> None:
        with ReplyStore.in_memory() as ledger, ReplyWriter(ledger) as recorder:
            budget = Budget(10**9 / NANO, recorder)
            for bound, cost in ((10, 9), (30, 20), (100, 99), (100, 140), (100, 99), (500, 3)):
                reservation = await budget.reserve(bound, "m")
                budget.settle(reservation, cost, "m", is_answered=True)
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                first, resumed = budget._bill("m"), Budget(1.0, recorder)._bill("m")
                assert (resumed.excess, resumed.known) == (first.excess, first.known)
                assert resumed.within == first.within

    asyncio.run(run())


@given(
    bills=st.lists(st.tuples(st.integers(1, 20), st.integers(0, 300)), min_size=1, max_size=20),
    cap=st.integers(0, 400),
)
def test_cap_is_passed_only_by_replies_dearer_than_any_before(
    bills: list[tuple[int, int]], cap: int
) -> None:
    budget = Budget(cap / NANO)

    async def job(bound: int, cost: int) -> None:
        try:
            reservation = await budget.reserve(bound, "m")
        except UnavailableError:
            return
        await asyncio.sleep(0)
        is_surprise = cost > reservation.nano_usd
        before = round((budget.spent_usd + budget.reserved / NANO) * NANO)
        budget.settle(reservation, cost, "m", is_answered=True)
        if not is_surprise:
            assert round((budget.spent_usd + budget.reserved / NANO) * NANO) <= max(before, cap)

    async def run() -> None:
        await asyncio.wait_for(asyncio.gather(*(job(*bill) for bill in bills)), 5)

    asyncio.run(run())

    assert budget.reserved == 0


@pytest.mark.parametrize("cap", [-1.0, float("nan"), float("inf")])
def test_impossible_cap_is_refused(cap: float) -> None:
    with pytest.raises(ConfigError, match="budget: expected dollars"):
        Budget(cap)


@pytest.mark.parametrize("text", ["", "Hello", "ü" * 10, "\U0001f600", "日本語"])
def test_bound_is_never_below_one_token_a_byte(text: str) -> None:
    asked = request(text, text)
    size = sum(len(content.encode()) for _, content in asked.messages)

    bound = usage_bound(asked)

    assert bound.input_tokens >= size
    assert bound.output_tokens == asked.spec.sampling.max_tokens
    assert estimated_usage(asked, text).input_tokens <= bound.input_tokens
    assert estimated_usage(asked, text).is_estimated


def test_bound_counts_the_bytes_of_options() -> None:
    options = {"stop": ["é", "a"], "top_k": 20}
    size = len('{"stop":["é","a"],"top_k":20}'.encode())
    plain, asked = request("Hi"), request("Hi", options=options)
    assert usage_bound(asked).input_tokens == usage_bound(plain).input_tokens + size


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9))
def test_cached_input_is_never_dearer_and_counts_once(tokens: int, cached: int, out: int) -> None:
    price = Price(input=2.0, cached_input=0.5, output=10.0, source="test")
    usage = Usage(input_tokens=tokens, cached_tokens=cached, output_tokens=out)

    used = min(cached, tokens)
    assert price.nano_usd(usage) == 2000 * (tokens - used) + 500 * used + 10_000 * out


def test_model_without_a_price_is_refused_only_under_a_cap() -> None:
    prices = read_prices(CONF / "prices.yaml")

    assert price_table(prices, {"a": model(player="a", name="unknown")}, is_capped=False) == {}
    with pytest.raises(ConfigError, match="model a: openai/unknown has no price"):
        price_table(prices, {"a": model(player="a", name="unknown")}, is_capped=True)


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        *(({"thinking": each}, "thinking") for each in (0.5, 0, -1, 1001, math.nan, math.inf)),
        ({"cached_input": 1.5}, "cached_input costs more than input"),
    ],
)
def test_price_that_no_model_has_is_refused(odd: dict[str, float], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Price(**{"input": 1.0, "output": 2.0, "source": "nowhere", **odd})
