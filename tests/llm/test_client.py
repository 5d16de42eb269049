"""The whole way of a request: store, budget, retries, pace, transport."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any, TypeVar

import pytest

from calbench.agents.base import Completer
from calbench.errors import (
    ConfigError,
    FileError,
    ReplayMissError,
    StoppedError,
    UnavailableError,
)
from calbench.llm.client import Source, Totals, open_completer
from calbench.llm.completion import Completion, Provenance, Request
from calbench.llm.model import Endpoint, ModelConfig
from calbench.llm.replies.record import named
from calbench.llm.replies.store import ReplyStore
from calbench.llm.transport import AttemptError
from tests.llm.asking import SITE, THEN, FakeTime, Script, model, prices, reply, request

T = TypeVar("T")

PRICES = prices(1.0, 1.0)


def source(path: Path | None, script: Any, **fields: Any) -> Source:
    return Source(
        **{
            "mode": "record",
            "store": path,
            "transport": script,
            "surroundings": FakeTime().surroundings(),
            "now": lambda: THEN,
            **fields,
        }
    )


def within(
    opened: Source,
    work: Callable[[Completer], Awaitable[T]],
    models: Mapping[str, ModelConfig] | None = None,
) -> T:
    async def run() -> T:
        chosen = {"stub": model()} if models is None else models
        async with open_completer(chosen, opened) as completer:
            return await work(completer)

    return asyncio.run(run())


def asking(*requests: Request) -> Callable[[Completer], Awaitable[list[Completion]]]:
    """Ask one after the other."""

    async def work(completer: Completer) -> list[Completion]:
        return [await completer.complete(asked, SITE) for asked in requests]

    return work


def test_recorded_reply_is_never_paid_again(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    script = Script(reply("one"), reply("two"))
    first = within(source(path, script), asking(request("a"), request("b"), request("a")))

    again = within(source(path, script), asking(request("a"), request("b")))
    replayed = within(source(path, Script(), mode="replay"), asking(request("b"), request("a")))

    assert [found.text for found in first] == ["one", "two", "one"]
    assert again == first[:2] == replayed[::-1]
    assert len(script.asked) == 2
    assert len({found.key for found in first}) == 2


def test_miss_names_request_difference_and_command(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    within(source(path, Script()), asking(request("Hello Ann")))
    replaying = source(path, Script(), mode="replay", rerecord="make replies")

    with pytest.raises(ReplayMissError) as caught:
        within(replaying, asking(request("Hello Bob")))

    assert str(caught.value) == (
        f"{path}: no recorded reply for openai/stub (model stub, game game-1, agent 2, round 1, "
        "turn 3); the nearest recorded request differs: message 1: recorded user '...Ann', asked "
        "user '...Bob'; record it with: make replies"
    )


def test_games_that_ask_the_same_at_once_cause_one_call(tmp_path: Path) -> None:
    script = Script()

    async def work(completer: Completer) -> list[Completion]:
        calls = (completer.complete(request(text), SITE) for text in "ababab")
        return list(await asyncio.gather(*calls))

    found = within(source(tmp_path / "r.sqlite", script), work)

    assert len(script.asked) == 2
    assert len({completion.key for completion in found}) == 2


def test_game_that_is_stopped_takes_no_reply_from_another(tmp_path: Path) -> None:
    script = Script()

    async def work(completer: Completer) -> Completion:
        first, second = (
            asyncio.create_task(completer.complete(request("a"), SITE)) for _ in range(2)
        )
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert within(source(tmp_path / "r.sqlite", script), work).text == "fine"
    assert len(script.asked) == 1


def test_recorded_reply_is_not_handed_out_once_the_run_is_stopping(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    within(source(path, Script()), asking(request("a")))
    stopping = source(path, Script(), is_stopping=lambda: True)
    with pytest.raises(StoppedError):
        within(stopping, asking(request("a")))


def test_reply_under_way_when_the_run_ends_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"

    script = Script()

    async def leave(completer: Completer) -> None:
        task = asyncio.create_task(completer.complete(request("a"), SITE))
        while not script.asked:  # noqa: ASYNC110 - the script knows no event loop
            await asyncio.sleep(0)
        task.cancel()

    within(source(path, script), leave)

    (found,) = within(source(path, Script(), mode="replay"), asking(request("a")))
    assert found.text == "fine"


def test_no_attempt_starts_when_the_run_has_ended(tmp_path: Path) -> None:
    script = Script(AttemptError("RateLimitError", status=429, is_free=True), reply())

    async def leave(completer: Completer) -> None:
        asyncio.create_task(completer.complete(request("a"), SITE))  # noqa: RUF006 - abandoned
        while not script.asked:  # noqa: ASYNC110 - the script knows no event loop
            await asyncio.sleep(0)

    within(source(tmp_path / "r.sqlite", script), leave)

    assert len(script.asked) == 1


def test_failed_call_leaves_no_reply_and_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    down = Script(AttemptError("Refused", status=401, is_retryable=False, is_free=True))

    with pytest.raises(UnavailableError, match="check the key"):
        within(source(path, down), asking(request("a")))

    (found,) = within(source(path, Script()), asking(request("a")))
    assert found.text == "fine"


def test_live_keeps_nothing_and_asks_each_time() -> None:
    script = Script()

    found = within(source(None, script, mode="live"), asking(request("a"), request("a")))

    assert len(script.asked) == 2
    key = named(request("a")).key
    assert [completion.key for completion in found] == [key, key]


def test_calls_go_to_the_model_of_the_player(tmp_path: Path) -> None:
    seen: list[tuple[str, str | None]] = []

    async def transport(asked: Request, endpoint: Endpoint) -> Completion:
        seen.append((asked.spec.model, endpoint.api_base))
        return reply()

    models = {
        "one": model(player="one", name="m1", api_base="http://one.example/v1"),
        "two": model(player="two", name="m2", api_base="http://two.example/v1"),
    }

    async def work(completer: Completer) -> None:
        for player in ("two", "one"):
            asked = replace(request("a"), spec=models[player].spec)
            await completer.complete(asked, SITE._replace(player=player))
        with pytest.raises(ConfigError, match="model three: is not among"):
            await completer.complete(request("b"), SITE._replace(player="three"))

    within(source(tmp_path / "r.sqlite", transport), work, models)

    assert seen == [("openai/m2", "http://two.example/v1"), ("openai/m1", "http://one.example/v1")]


def test_cap_holds_over_all_runs_of_a_store(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    # 22 bytes, 96 tokens of overhead and 100 of output are reserved; 12 tokens are paid.
    budget = {"prices": PRICES, "max_usd": 0.000_300}
    script = Script()
    texts = [f"{i:02}" for i in range(30)]

    def play() -> int:
        with suppress(UnavailableError):
            within(source(path, script, **budget), asking(*map(request, texts)))
        return len(script.asked)

    first = play()
    assert 0 < first < 30
    assert play() == first  # replies are read again, and no more is spent
    budget["max_usd"] = 0.001
    assert play() == 30


def test_two_runs_share_the_cap_of_a_store_by_whatever_name_they_open_it(tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    other.symlink_to("r.sqlite")
    script = Script()
    budget = {"prices": PRICES, "max_usd": 0.000_400}

    async def work(completer: Completer) -> None:
        async with open_completer({"stub": model()}, source(other, script, **budget)) as second:
            texts = [f"{i:03}" for i in range(40)]
            calls = (
                each.complete(request(text), SITE)
                for each, text in zip(cycle((completer, second)), texts, strict=False)
            )
            found = await asyncio.gather(*calls, return_exceptions=True)
            stops = [each for each in found if isinstance(each, UnavailableError)]
            assert 40 - len(stops) == len(script.asked)

    within(source(tmp_path / "r.sqlite", script, **budget), work)

    # 23 bytes, 96 tokens of overhead and 100 of output are reserved; 12 tokens are paid.
    with ReplyStore.open(tmp_path / "r.sqlite") as ledger:
        assert 400_000 - 219_000 < ledger.spent() <= 400_000


def test_another_model_than_asked_for_is_told_once_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.sqlite"
    said = Provenance(model="another-1", address="loopback")

    found = within(source(path, Script(reply(provenance=said))), asking(request("a"), request("b")))

    assert capsys.readouterr().err.count("its server says that another-1 answered") == 1
    assert [each.provenance for each in found] == [said, said]
    with ReplyStore.open(path, must_exist=True) as store:
        assert store.stats().answered_by == {"openai/stub": {"another-1": 2}}
    assert within(source(path, Script(), mode="replay"), asking(request("a"))) == found[:1]


def test_store_with_two_names_of_its_own_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    ReplyStore.open(path).close()
    (tmp_path / "other.sqlite").hardlink_to(path)

    with pytest.raises(FileError, match="has several names"):
        within(source(path, Script()), asking())


@pytest.mark.parametrize(
    ("mode", "store", "complaint"),
    [
        ("live", "r.sqlite", "mode live keeps nothing"),
        ("record", None, "mode record needs a store"),
        ("replay", None, "mode replay needs a store"),
        ("record", ".", "is a folder; record into a file"),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    tmp_path: Path, mode: str, store: str | None, complaint: str
) -> None:
    path = None if store is None else tmp_path / store

    with pytest.raises(ConfigError, match=complaint):
        within(source(path, Script(), mode=mode), asking())


def test_replay_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no reply store"):
        within(source(tmp_path / "r.sqlite", Script(), mode="replay"), asking())


def test_totals_count_up_with_every_completion(tmp_path: Path) -> None:
    found: list[Totals] = []
    opened = source(tmp_path / "r.sqlite", Script(), prices=PRICES)

    async def work(completer: Completer) -> None:
        for asked in (request("a"), request("a")):
            await completer.complete(asked, SITE)
            found.append(replace(opened.totals))

    within(opened, work)

    assert [(each.calls, each.replayed, each.failed) for each in found] == [(1, 0, 0), (1, 1, 0)]
    assert found[-1].spent_usd == pytest.approx(12e-6)


def test_half_a_character_out_of_a_models_reply_can_be_asked_and_recorded(tmp_path: Path) -> None:
    script = Script(reply("\ud83d"))

    (found,) = within(source(tmp_path / "r.sqlite", script), asking(request("x\ud83d")))

    assert script.asked[0].messages[1].content == "x\ufffd"
    assert found.text == "\ufffd"
    assert within(
        source(tmp_path / "r.sqlite", Script(), mode="replay"), asking(request("x\ud83d"))
    ) == [found]


def test_nothing_of_it_loads_litellm() -> None:
    code = "import sys, calbench.llm.client, calbench.cli.stores; print('litellm' in sys.modules)"
    repo = Path(__file__).resolve().parents[2]

    said = subprocess.run(
        [sys.executable, "-c", code], cwd=repo, capture_output=True, text=True, check=True
    )

    assert said.stdout == "False\n"
