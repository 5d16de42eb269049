"""Kinds of bill against a cap: what the provider has charged, by its own count, when a run ends.

Each attack draws a kind of bill, how many calls are made at once, and how many runs share a store.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import pytest

from calbench.domain.usage import Usage
from calbench.errors import UnavailableError
from calbench.llm.client import Source, open_completer
from calbench.llm.completion import Completion, Request
from calbench.llm.model import Endpoint
from calbench.llm.prices import NANO
from calbench.llm.replies.store import ReplyStore
from calbench.llm.transport import AttemptError
from tests.conftest import Figures
from tests.effort import attacks
from tests.llm.asking import SITE, FakeTime, model, prices, request

pytestmark = pytest.mark.heavy

CAP_USD = 8.0
CALLS = 600
PRICES = prices(1.0, 10.0)
PRICE = PRICES.models["openai/stub"]
MOST_TOKENS = 4096

Bill = Callable[[random.Random, int], tuple[int, int]]
"""Input and output tokens of the n-th reply."""


def honest(chance: random.Random, _number: int) -> tuple[int, int]:
    return 20, chance.randint(200, MOST_TOKENS)


def tenfold(_chance: random.Random, _number: int) -> tuple[int, int]:
    return 20, 10 * MOST_TOKENS


def instructed(chance: random.Random, _number: int) -> tuple[int, int]:
    return 200_000, chance.randint(200, MOST_TOKENS)


def thinking(chance: random.Random, _number: int) -> tuple[int, int]:
    return 20, min(900_000, round(1000 * chance.lognormvariate(0, 2)))


def growing(_chance: random.Random, number: int) -> tuple[int, int]:
    return 20, 2000 * number


def rarely_dear(chance: random.Random, _number: int) -> tuple[int, int]:
    return 20, 900_000 if chance.random() < 0.02 else 500


def dear_later(_chance: random.Random, number: int) -> tuple[int, int]:
    return 20, 500 if number < 40 else 10 * MOST_TOKENS


def dear_next(_chance: random.Random, number: int) -> tuple[int, int]:
    return 20, 500 if number < 3 else 900_000


KINDS: tuple[Bill, ...] = (
    honest, tenfold, instructed, thinking, growing, rarely_dear, dear_later, dear_next,
)  # fmt: skip


@dataclass
class Biller:
    """A provider that counts what it charges; one call in twenty fails after it was sent."""

    bill: Bill
    chance: random.Random
    usd: float = 0.0
    dearest_usd: float = 0.0
    replies: int = 0
    book: Path | None = None

    async def __call__(self, asked: Request, _: Endpoint) -> Completion:
        number, self.replies = self.replies, self.replies + 1
        sent, received = self.bill(self.chance, number)
        usd = PRICE.usd(sent, 0, received)
        self.usd += usd
        self.dearest_usd = max(self.dearest_usd, usd)
        if self.book is not None:  # of a process of its own
            with self.book.open("a") as book:
                book.write(f"{usd}\n")
        for _turn in range(self.chance.randint(1, 20)):
            await asyncio.sleep(0)
        if self.chance.random() < 0.02 and usd < 0.04:  # what it cost is never said
            raise AttemptError("Timeout")
        usage = Usage(input_tokens=sent, cached_tokens=0, output_tokens=received)
        return Completion(text=asked.messages[-1].content, finish_reason="stop", usage=usage)


async def play(biller: Biller, store: Path, at_once: int, runs: int, name: str = "turn") -> int:
    """Ask as often as the cap allows; return how many calls were refused."""
    source = Source(
        mode="record",
        store=store,
        max_usd=CAP_USD,
        prices=PRICES,
        transport=biller,
        surroundings=FakeTime().surroundings(),
    )
    config = model(concurrency=at_once, max_tokens=MOST_TOKENS, max_attempts=2)
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(open_completer({"stub": config}, source))
            for _ in range(runs)
        ]
        calls = [
            clients[number % runs].complete(
                request(f"{name} {number}", sampling={"max_tokens": MOST_TOKENS}), SITE
            )
            for number in range(CALLS)
        ]
        found = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(each) for each in found} <= {Completion, UnavailableError}
        assert all(client.budget.reserved == 0 for client in clients)
    return sum(isinstance(each, UnavailableError) for each in found)


def test_no_kind_of_bill_passes_the_cap_by_more_than_one_reply(
    tmp_path: Path, figures: Figures
) -> None:
    passed: Counter[str] = Counter()
    for number in range(attacks(len(KINDS) * 4)):
        bill = KINDS[number % len(KINDS)]
        at_once, runs = [(8, 1), (64, 1), (8, 3), (64, 3)][number // len(KINDS) % 4]
        biller = Biller(bill, random.Random(f"bills-{number}"))
        refused = asyncio.run(play(biller, tmp_path / f"{number}.sqlite", at_once, runs))
        name = f"{bill.__name__}, {at_once} at once, {runs} runs"
        assert biller.usd <= CAP_USD + biller.dearest_usd, name
        assert refused or biller.usd <= CAP_USD, name
        passed["cap passed" if biller.usd > CAP_USD else "cap kept"] += 1
    figures("kinds of bill", passed)


def play_apart(number: int, store: Path, book: Path, bill: Bill, at_once: int) -> None:
    """Play as one of several processes, each with calls of its own."""
    biller = Biller(bill, random.Random(f"apart-{number}"), book=book)
    own = store if number else store.with_name("link.sqlite")
    asyncio.run(play(biller, own, at_once, runs=1, name=f"process {number}"))


def test_three_processes_share_one_cap(tmp_path: Path, figures: Figures) -> None:
    """Each process opens the store by a name of its own."""
    attack = [(bill, at_once) for bill in KINDS for at_once in (8, 64)]
    passed: Counter[str] = Counter()
    with ProcessPoolExecutor(3, get_context("spawn")) as pool:
        for bill, at_once in random.Random("apart").sample(attack, attacks(len(attack))):
            folder = tmp_path / f"{bill.__name__}-{at_once}"
            folder.mkdir()
            store, book = folder / "r.sqlite", folder / "book"
            ReplyStore.open(store).close()
            (folder / "link.sqlite").symlink_to(store)
            for ended in [
                pool.submit(play_apart, number, store, book, bill, at_once) for number in range(3)
            ]:
                ended.result()
            bills = [float(line) for line in book.read_text().splitlines()]
            assert CAP_USD / 2 < sum(bills) <= CAP_USD + max(bills), folder.name
            with ReplyStore.open(store) as ledger:
                assert ledger.spent() >= round(sum(bills) * NANO) - len(bills), folder.name
            passed["cap passed" if sum(bills) > CAP_USD else "cap kept"] += 1
    figures("kinds of bill in three processes", passed)
