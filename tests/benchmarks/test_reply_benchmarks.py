"""Speed of the reply store, and what a call costs beside the model itself.

Times are never asserted; that the work was done is.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from statistics import median

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from calbench.llm.client import Source, open_completer
from calbench.llm.completion import ChatMessage, Completion, Request
from calbench.llm.litellm_transport import ask_litellm, close_litellm
from calbench.llm.model import Endpoint
from calbench.llm.replies.shards import merge_into, read_shards
from calbench.llm.replies.store import ReplyStore
from tests.llm.asking import SITE, THEN, model, prices, put, recorded, reply, request
from tests.llm.stub_server import Answer, serving

pytestmark = pytest.mark.benchmark(timer=time.process_time)

THREAD = [
    f"{i}: " + "slot 3 would cost me an errand; could we take slot 9? " * 20 for i in range(40)
]
"""Forty messages of a kilobyte: an agent's thread late in a game."""

CALLS = 200

HTTP_CALLS, FIRST, AT_ONCE = 400, 80, 8
"""Calls over HTTP, how many of them count as the first ones, and how many are made at once."""

PRICES = prices(1.0, 1.0)


def timed(benchmark: BenchmarkFixture, work: Callable[..., object], **options: object) -> float:
    """Run a benchmark; return its mean in seconds, 0 where benchmarks are switched off."""
    benchmark.pedantic(work, **options)  # type: ignore[no-untyped-call]
    return 0.0 if benchmark.stats is None else float(benchmark.stats.stats.mean)


async def at_once(_: Request, __: Endpoint) -> Completion:
    return reply("x" * 500)


def conversations(path: Path, mode: str) -> None:
    """Ask in ten growing threads of twenty turns, side by side."""
    source = Source(
        mode="record" if mode == "record" else "replay",
        store=path,
        prices=PRICES,
        max_usd=100.0,
        transport=at_once,
        now=lambda: THEN,
    )

    async def run() -> None:
        async with open_completer({"stub": model()}, source) as completer:

            async def game(number: int) -> None:
                # As agents do, it keeps its messages and adds to them.
                whole = request(f"game {number}", *THREAD)
                for turn in range(1, 41, 2):
                    asked = replace(whole, messages=whole.messages[: turn + 2])
                    await completer.complete(asked, SITE)

            await asyncio.gather(*(game(number) for number in range(10)))

    asyncio.run(run())


@pytest.mark.parametrize("mode", ["record", "replay"])
def test_call_beside_the_model(
    benchmark: BenchmarkFixture, mode: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    paths: list[Path] = []

    def fresh() -> tuple[tuple[Path, str], dict[str, str]]:
        path = tmp_path_factory.mktemp("store") / "r.sqlite"
        paths.append(path)
        if mode == "replay":
            conversations(path, "record")
        return (path, mode), {}

    mean = timed(benchmark, conversations, setup=fresh, rounds=5)
    benchmark.extra_info["cpu_ms_per_call"] = 1000 * mean / CALLS
    for path in paths:
        with ReplyStore.open(path) as store:
            assert len(list(store.records())) == CALLS


@pytest.mark.parametrize("turns", [10, 40, 160])
def test_call_late_in_a_game(
    benchmark: BenchmarkFixture, turns: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """How the cost of a call grows with what was said before: one thread, recorded."""
    said = [ChatMessage(("user", "assistant")[i % 2], THREAD[0] + f"{i}") for i in range(2 * turns)]

    def conversation() -> int:
        path = tmp_path_factory.mktemp("store") / "r.sqlite"
        source = Source(mode="record", store=path, prices=PRICES, transport=at_once)

        async def run() -> None:
            async with open_completer({"stub": model()}, source) as completer:
                for turn in range(turns):
                    asked = Request(spec=model().spec, messages=tuple(said[: 2 * turn + 1]))
                    await completer.complete(asked, SITE)

        asyncio.run(run())
        return source.totals.calls

    mean = timed(benchmark, conversation, rounds=3, warmup_rounds=1)
    benchmark.extra_info["cpu_ms_per_call"] = 1000 * mean / turns
    assert conversation() == turns


def test_put(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    with ReplyStore.open(tmp_path / "r.sqlite") as store:
        numbers = iter(range(10**9))

        def pair() -> tuple[tuple[object, ...], dict[str, str]]:
            return (store, *recorded(str(next(numbers)), *THREAD[:20])), {}

        timed(benchmark, put, setup=pair, rounds=500)
        assert len(list(store.records())) == next(numbers) > 0


def test_get(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    with ReplyStore.open(tmp_path / "r.sqlite") as store:
        pairs = [recorded(str(i), *THREAD[:20]) for i in range(100)]
        for pair in pairs:
            put(store, *pair)

        found = benchmark(lambda: [store.get(asked.key) for asked, _ in pairs])
        assert found == [answer for _, answer in pairs]


def test_shards_of_ten_thousand_replies(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    with ReplyStore.in_memory() as store:
        with store.writing():
            for i in range(10_000):
                asked, answer = recorded(f"game {i // 50}", f"turn {i}", reply="x" * 500)
                store.add_parts(asked)
                store.add(answer)
        merge_into(tmp_path, store)

    timed(benchmark, lambda: read_shards(tmp_path).close(), rounds=3)
    with read_shards(tmp_path) as shards:
        assert len(list(shards.records())) == 10_000
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    benchmark.extra_info["megabytes"] = size / 1e6


def test_calls_through_litellm(benchmark: BenchmarkFixture) -> None:
    """Processor time of client and stub server together: the stub runs in this process."""
    with serving() as server:

        async def call_all() -> None:
            endpoint = Endpoint(api_base=server.url)
            for start in range(0, 100, 10):
                await asyncio.gather(
                    *(ask_litellm(request(f"{start + i}"), endpoint) for i in range(10))
                )
            await close_litellm()

        mean = timed(benchmark, lambda: asyncio.run(call_all()), rounds=3, warmup_rounds=1)
        assert len(server.asked) >= 100
        assert len(server.asked) % 100 == 0  # every call once
    benchmark.extra_info["cpu_ms_per_call"] = 10 * mean


def test_cap_on_money_beside_calls_over_http(
    benchmark: BenchmarkFixture, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """By how much a cap slows down honest calls that are recorded.

    In processor time, and of its first calls, which wait for evidence once in a run, in seconds of
    a clock. With a cap and without take turns.
    """
    times: dict[tuple[bool, str], list[float]] = defaultdict(list)

    async def play(url: str, *, is_capped: bool) -> None:
        store = tmp_path_factory.mktemp("store") / "r.sqlite"
        cap = 1000.0 if is_capped else None
        source = Source(mode="record", store=store, prices=PRICES, max_usd=cap)
        config = model(api_base=url, concurrency=AT_ONCE)
        async with open_completer({"stub": config}, source) as completer:
            replied, began = [time.perf_counter()], time.process_time()

            async def call(number: int) -> None:
                await completer.complete(request(f"call {number}"), SITE)
                replied.append(time.perf_counter())

            await asyncio.gather(*(call(number) for number in range(HTTP_CALLS)))
        times[is_capped, "first"].append(replied[FIRST] - replied[0])
        times[is_capped, "all"].append(time.process_time() - began)
        assert source.totals.calls == HTTP_CALLS

    with serving(Answer(delay_s=0.1)) as server:

        def both() -> None:
            for is_capped in sorted((True, False), reverse=next(orders) % 2 == 0):
                asyncio.run(play(server.url, is_capped=is_capped))

        orders = count()
        asyncio.run(play(server.url, is_capped=False))  # loads LiteLLM
        times.clear()
        timed(benchmark, both, rounds=4)
    capped, free = (median(times[each, "all"]) for each in (True, False))
    benchmark.extra_info["slower_by"] = round(capped / free - 1, 4)
    capped, free = (median(times[each, "first"]) for each in (True, False))
    benchmark.extra_info["seconds_at_first"] = round(capped - free, 2)
