"""Requests, call sites, models and time for tests of the sources of text."""

import asyncio
import random
from datetime import UTC, datetime
from typing import Any

from calbench.agents.base import CallSite
from calbench.domain.ids import AgentId
from calbench.domain.observations import Phase
from calbench.domain.usage import Usage
from calbench.llm.completion import ChatMessage, Completion, ModelSpec, Request, Role, Sampling
from calbench.llm.litellm_transport import ask_litellm, close_litellm, prepare_litellm
from calbench.llm.model import Endpoint, ModelConfig
from calbench.llm.prices import Price, Prices
from calbench.llm.provider import Surroundings
from calbench.llm.replies.record import Attempt, NamedRequest, Record, asked_of, named
from calbench.llm.replies.store import ReplyStore
from tests.llm.stub_server import StubServer

SITE = CallSite("stub", "game-1", AgentId(2), 1, Phase.CHEAP_TALK, 3, 0)
THEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def request(
    *texts: str, model: str = "openai/stub", logprobs: bool = False, **spec: Any
) -> Request:
    """A system prompt and the thread that alternates after it."""
    roles: tuple[Role, Role] = ("user", "assistant")
    messages = (
        ChatMessage("system", "You keep a calendar."),
        *(ChatMessage(roles[i % 2], text) for i, text in enumerate(texts)),
    )
    schema = spec.pop("reply_schema", None)
    sampling = Sampling(**spec.pop("sampling", {"max_tokens": 100}))
    return Request(
        spec=ModelSpec(model=model, sampling=sampling, **spec),
        messages=messages,
        reply_schema=schema,
        logprobs=logprobs,
    )


def record(asked: NamedRequest, text: str | None = "fine", **fields: Any) -> Record:
    return Record(
        **{
            **asked_of(asked),
            "text": text,
            "finish_reason": "stop",
            "usage": Usage(input_tokens=10, cached_tokens=4, output_tokens=2),
            "attempts": (Attempt(status=200, latency_s=0.5, cost_usd=0.25),),
            "recorded_at": THEN,
            **fields,
        }
    )


def put(store: ReplyStore, asked: NamedRequest, answer: Record) -> Record:
    """Add a reply, and return the one that the store keeps."""
    with store.writing():
        store.add_parts(asked)
        store.add(answer)
    kept = store.get(asked.key)
    assert kept is not None
    return kept


def recorded(*texts: str, reply: str = "fine", **spec: Any) -> tuple[NamedRequest, Record]:
    asked = named(request(*texts, **spec))
    return asked, record(asked, reply)


def model(**keys: Any) -> ModelConfig:
    return ModelConfig(
        **{"player": "stub", "name": "stub", "api_base": "http://127.0.0.1:9/v1", **keys}
    )


def endpoint(**keys: Any) -> Endpoint:
    return Endpoint(**keys)


def reply(text: str | None = "fine", **fields: Any) -> Completion:
    usage = Usage(input_tokens=10, cached_tokens=0, output_tokens=2)
    return Completion(**{"text": text, "finish_reason": "stop", "usage": usage, **fields})


class FakeTime:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        wake = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, wake)

    def surroundings(self, seed: int = 0) -> Surroundings:
        return Surroundings(clock=self.clock, sleep=self.sleep, chance=random.Random(seed))


class Script:
    """A transport in process: answers in order, the last one for ever; counts its calls."""

    def __init__(self, *answers: Completion | Exception) -> None:
        self.answers = list(answers) or [reply()]
        self.asked: list[Request] = []
        self.most_at_once = 0
        self._now = 0

    async def __call__(self, asked: Request, _: Endpoint) -> Completion:
        answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append(asked)
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            await asyncio.sleep(0.001)
        finally:
            self._now -= 1
        if isinstance(answer, Exception):
            raise answer
        return answer


def price(fresh: float, cached: float, output: float) -> Price:
    """A price in US dollars per million tokens."""
    return Price(input=fresh, cached_input=cached, output=output, source="test")


def prices(fresh: float, output: float) -> Prices:
    """A table that has the stub alone."""
    models = {"openai/stub": price(fresh, fresh, output)}
    return Prices(date=THEN.date(), models=models)


def attempt(asked: Request, where: Endpoint) -> Completion:
    """Make one attempt through the real LiteLLM, in an event loop of its own."""

    async def run() -> Completion:
        try:
            await prepare_litellm()
            return await ask_litellm(asked, where)
        finally:
            await close_litellm()

    return asyncio.run(run())


def ask_stub(
    server: StubServer, asked: Request | None = None, timeout_s: float = 60.0
) -> Completion:
    """Make one attempt to ask a server of one's own."""
    return attempt(asked or request("Hi"), Endpoint(api_base=server.url, timeout_s=timeout_s))
