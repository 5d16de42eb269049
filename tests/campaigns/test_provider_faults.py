"""Faults of providers over real HTTP, through the real LiteLLM, with a key that must not leak.

Each attack is one fault, of the same kind for all calls; which one, and its details, are drawn.
"""

import asyncio
import gzip
import json
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from calbench.errors import UnavailableError
from calbench.llm import transport
from calbench.llm.client import Mode, Source, open_completer
from calbench.llm.completion import Completion
from calbench.llm.prices import MOST_HIDDEN_TOKENS, NANO, usage_bound
from calbench.llm.replies.store import ReplyStore
from tests.conftest import Figures
from tests.effort import attacks
from tests.llm.asking import SITE, FakeTime, model, prices, request
from tests.llm.stub_server import Answer, StubServer, chat, serving

pytestmark = pytest.mark.heavy

KEY = "sk-canary/0123456789"
CAP_USD = 2.0
CALLS, ATTEMPTS = 3, 2
PRICES = prices(1.0, 10.0)
FEW_BYTES = 2_000_000
"""What is read of a reply here: a longer one takes too long to send."""

SLOW_S = 0.4


@dataclass(frozen=True)
class Fault:
    """What the provider answers, and what must come of it.

    Attributes:
        kind: for the figures.
        answer: to every request.
        text: of the replies; absent if there is none or it cannot be read.
        asked: requests in all.
        kept: replies in all.
        timeout_s: of the model.
    """

    kind: str
    answer: Answer
    text: str | None = None
    asked: int = CALLS
    kept: int = CALLS
    timeout_s: float = 60.0


def lost(kind: str, answer: Answer, *, is_final: bool = False, timeout_s: float = 60.0) -> Fault:
    """No reply: asked again unless that is useless."""
    return Fault(
        kind, answer, None, CALLS * (1 if is_final else ATTEMPTS), kept=0, timeout_s=timeout_s
    )


def raw(body: bytes, **headers: Any) -> Answer:
    headers = {"content_type": "application/json", "content_length": len(body), **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return Answer(raw="\r\n".join(["HTTP/1.1 200 OK", *lines, "", ""]).encode() + body)


# --- kinds of faults; each draws its details -----------------------------------------------


def status(chance: random.Random) -> Fault:
    code = chance.choice([400, 401, 403, 404, 410, 418, 429, 451, 500, 502, 503, 529, 599])
    wait = chance.choice(["0", "soon", "-3", "nan", "9" * 30, "", "1e9", "\x00"[:0], "0.5"])
    answer = Answer(
        {"error": {"message": f"bad key {KEY}", "code": KEY}},
        code,
        {"retry-after": wait, "x-request-id": quote(KEY, safe="")},
    )
    return lost("error statuses", answer, is_final=code < 500 and code != 429)


def malformed(chance: random.Random) -> Fault:
    text = json.dumps(chat(KEY))
    body = chance.choice([
        text[: chance.randrange(len(text) - 1)], "", f"<html>{KEY}</html>", "null", "[]", '"x"',
        "[" * 100_000, '{"id": "x", "choices": []}', f'{{"detail": "{KEY}"}}', "\ufeff", "{}" * 2,
    ])  # fmt: skip
    return lost("bodies that are no reply", Answer(body))


def hung_up(chance: random.Random) -> Fault:
    body = json.dumps(chat(KEY)).encode()
    whole = raw(body).raw or b""
    return lost("connections hung up", Answer(raw=whole[: chance.randrange(len(whole) - 1)]))


def wrong_length(chance: random.Random) -> Fault:
    body = json.dumps(chat("fine")).encode()
    return Fault("lengths too long", raw(body, content_length=len(body) + chance.randint(1, 999)),
                 "fine")  # fmt: skip


def odd_content(chance: random.Random) -> Fault:
    cases: list[tuple[Any, str | None]] = [
        (["fi", "ne"], "fine"),
        ([{"type": "text", "text": "fi"}, {"type": "text", "text": "ne"}], "fine"),
        ({"type": "text", "text": "fine"}, "fine"),
        ({"actions": [KEY]}, '{"actions": ["[key]"]}'),
        (f"a {KEY} b", "a [key] b"),
        (42, "42"), (None, None), ("\u0000\u202e", "\u0000\u202e"), ([], None),
        ("\ud83d", "\ufffd"),
    ]  # fmt: skip
    content, text = chance.choice(cases)
    return Fault("odd contents", Answer(chat(content)), text)


def odd_field(chance: random.Random) -> Fault:
    value: Any = chance.choice([KEY, [KEY], {"a": KEY}, 7, -1.5, True, [], [[]], "9" * 400])
    name = chance.choice(["id", "object", "created", "model", "system_fingerprint", "more",
                          "service_tier"])  # fmt: skip
    return Fault("odd fields", Answer({**chat("fine"), name: value}), "fine")


def odd_choice(chance: random.Random) -> Fault:
    body = chat("fine")
    choice = body["choices"][0]
    name = chance.choice(["index", "finish_reason", "logprobs", "message", "more", "choices"])
    value: Any = chance.choice([[KEY], {"a": KEY}, 7, KEY, [None, KEY], None])
    if name == "message":
        choice["message"] |= {chance.choice(["role", "tool_calls", "refused", "audio"]): value}
    elif name == "choices":
        body["choices"] = chance.choice([choice, [choice, value], [choice] * 3, [None, choice]])
    else:
        choice[name] = value
    return Fault("odd choices", Answer(body), "fine")


def odd_usage(chance: random.Random) -> Fault:
    value: Any = chance.choice(
        [math.nan, math.inf, -5, "12", "many", 2.5, None, [KEY], {}, True, KEY]
    )
    usage = chance.choice([
        value, {"prompt_tokens": value, "completion_tokens": 2},
        {"prompt_tokens": 2, "completion_tokens": value},
        {"prompt_tokens": 2, "completion_tokens": 2, "prompt_tokens_details": value},
    ])  # fmt: skip
    return Fault("odd usage", Answer({**chat("fine"), "usage": usage}), "fine")


def claimed(chance: random.Random) -> Fault:
    tokens = chance.choice([10**7, 10**9, 10**18, MOST_HIDDEN_TOKENS + 10_000])
    usage = {"prompt_tokens": 2, "completion_tokens": tokens}
    return Fault("impossible usage", Answer({**chat("fine"), "usage": usage}), "fine")


def dear(chance: random.Random) -> Fault:
    usage = {"prompt_tokens": 2, "completion_tokens": chance.randint(250_000, 900_000)}
    answer = Answer({**chat("fine"), "usage": usage})
    return Fault("replies dearer than the cap", answer, "fine", asked=1, kept=1)


def slow(chance: random.Random) -> Fault:
    whole = raw(json.dumps(chat(KEY)).encode()).raw
    answer = chance.choice([Answer(delay_s=3 * SLOW_S), Answer(raw=whole, pieces_s=SLOW_S)])
    return lost("slow answers", answer, timeout_s=SLOW_S)


def huge(chance: random.Random) -> Fault:
    size = chance.randint(2, 10) * FEW_BYTES
    answer = chance.choice([
        raw(gzip.compress(bytes(size)), content_encoding="gzip"),
        raw(bytes(size)),
        raw(gzip.compress(gzip.compress(bytes(size))), content_encoding="gzip, gzip"),
        Answer(chat(KEY * (size // len(KEY)))),
    ])  # fmt: skip
    return lost("huge bodies", answer, is_final=True)


def redirected(chance: random.Random) -> Fault:
    place = chance.choice(["/", f"http://127.0.0.1:9/{KEY}", "//", "", "http://[", "file:///etc"])
    answer = Answer(chat(), chance.choice([301, 302, 303, 307, 308]), {"location": place})
    return lost("redirects", answer, is_final=True)


def repeated(chance: random.Random) -> Fault:
    odd = chance.choice(["é" * 100, "\t", KEY, "x" * 4000])
    text = json.dumps(chat("fine"))
    body = text.replace('"id"', f'"id": {json.dumps(odd)}, "choices": [], "id"', 1)
    answer = Answer(body, headers={"x-odd": quote(odd), "Set-Cookie": f"k={quote(odd)}"})
    return Fault("repeated keys and headers", answer, "fine")


KINDS: tuple[Callable[[random.Random], Fault], ...] = (
    status, odd_content, odd_usage, malformed, odd_choice, odd_field, dear, claimed, hung_up,
    wrong_length, slow, huge, redirected, repeated,
)  # fmt: skip


# --- the attacks -----------------------------------------------------------------------------


def play(server: StubServer, store: Path, mode: Mode, fault: Fault) -> list[Any]:
    """Ask three times at once; also check that the money is what the ledger says."""

    async def run() -> list[Any]:
        source = Source(
            mode=mode,
            store=store,
            prices=PRICES,
            max_usd=CAP_USD,
            surroundings=FakeTime().surroundings(),
        )
        config = model(
            api_base=server.url,
            api_key_env="STUB_KEY",
            max_attempts=ATTEMPTS,
            timeout_s=fault.timeout_s,
        )
        async with open_completer({"stub": config}, source) as completer:
            calls = (completer.complete(request(f"turn {i}"), SITE) for i in range(CALLS))
            found = await asyncio.gather(*calls, return_exceptions=True)
            assert completer.budget.reserved == 0
            spent = round(completer.budget.spent_usd * NANO)
        if mode == "record":
            with ReplyStore.open(store) as ledger:
                assert ledger.spent() == spent
        return found

    return asyncio.run(run())


def most_usd(fault: Fault) -> float:
    """Return what may be spent: the cap, or what one reply claimed beyond what it should cost."""
    if fault.kind != "replies dearer than the cap":
        return CAP_USD
    tokens = fault.answer.body["usage"]["completion_tokens"]
    return PRICES.models["openai/stub"].usd(1000, 0, tokens)


def texts(values: list[Any]) -> Iterator[str]:
    for value in values:
        while isinstance(value, BaseException):
            yield repr(value) + str(vars(value))
            value = value.__cause__ or value.__context__  # noqa: PLW2901 - the one behind it
        yield repr(value)


def check(fault: Fault, server: StubServer, store: Path) -> list[str]:
    """Play a fault; return everything that was said and written."""
    first = play(server, store, "record", fault)
    replies = [each for each in first if isinstance(each, Completion)]

    assert {type(each) for each in first} <= {Completion, UnavailableError}
    assert [each.text for each in replies] == [fault.text] * fault.kept
    assert len(server.asked) == fault.asked
    with ReplyStore.open(store) as kept:
        assert kept.count() == fault.kept
        assert kept.spent() / NANO <= most_usd(fault)
    if fault.kept == CALLS:
        assert play(server, store, "replay", fault) == first
        assert len(server.asked) == fault.asked
    return [*texts(first), *(str(path.read_bytes()) for path in store.parent.iterdir())]


def test_no_fault_of_a_provider_costs_a_reply_a_key_or_the_cap(
    tmp_path: Path,
    figures: Figures,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("STUB_KEY", KEY)
    monkeypatch.setattr(transport, "MOST_BYTES", FEW_BYTES)
    outcomes: Counter[str] = Counter()
    for number in range(attacks(40)):
        chance = random.Random(f"provider faults-{number}")
        fault = KINDS[number % len(KINDS)](chance)
        folder = tmp_path / str(number)
        folder.mkdir()
        with serving(fault.answer) as server:
            try:
                said = check(fault, server, folder / "r.sqlite")
            except AssertionError as error:
                error.add_note(f"attack {number}: {fault.kind}: {str(fault.answer)[:400]}")
                raise
        said += [*capfd.readouterr(), caplog.text]
        for form in (KEY, "canary", quote(KEY, safe=""), "c2stY2FuYXJ5LzAxMjM0NTY3ODk"):
            assert not any(form in each for each in said), f"attack {number}: {fault.kind}"
        assert not any("Traceback" in each for each in said)
        outcomes[fault.kind] += 1
    figures("provider faults", outcomes)


def test_bound_of_a_reservation_is_what_the_campaign_assumes() -> None:
    """Three calls fit into the cap together, so that only a dear reply stops one."""
    price = PRICES.models["openai/stub"]
    assert CALLS * ATTEMPTS * price.nano_usd(usage_bound(request("turn 0"))) < CAP_USD * NANO


def test_every_kind_is_played() -> None:
    names: Mapping[str, int] = Counter(kind.__name__ for kind in KINDS)
    assert set(names.values()) == {1}
    assert len(KINDS) <= 40
