"""Where text comes from in a run: recorded replies first, then the models themselves."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from calbench.agents.budget import Budget, Prices, price_table
from calbench.agents.completion import CallSite, ChatMessage, Completer, Completion, Request
from calbench.agents.litellm_transport import ask_litellm, close_litellm, load_litellm
from calbench.agents.models import ModelConfig
from calbench.agents.provider import Outcome, Provider, Surroundings, Transport, well_formed
from calbench.agents.recorder import Recorder
from calbench.agents.records import Record, Recorded, named
from calbench.agents.shards import open_replies
from calbench.agents.store import ReplyStore
from calbench.errors import ConfigError, OutputError, ReplayMissError

Mode = Literal["live", "record", "replay"]
"""``live`` calls and keeps nothing, ``record`` calls for what is not recorded and keeps it,
``replay`` never calls."""

GRACE_S = 30.0
"""How long calls under way may finish when a run ends: they are paid for already [C]."""


@dataclass(slots=True)
class Tally:
    """What has happened so far, for progress lines."""

    calls: int = 0
    replayed: int = 0
    failed: int = 0
    spent_usd: float = 0.0


Watch = Callable[[Tally], None]
"""Told after every completion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """How a run gets its text.

    Attributes:
        mode: whether models are called and replies kept.
        store: a store's file; in ``replay`` a folder of shards as well. Absent in ``live``.
        max_usd: cap on the money of all runs with this store; absent: none.
        prices: by model; absent: nothing has a price.
        transport: how one attempt is made.
        rerecord: the command that records what ``replay`` misses, for its error.
        watch: told after every completion.
        seed: of the back-off's jitter; play does not depend on it.
        grace_s: seconds that calls under way may take when the run ends.
    """

    mode: Mode
    store: Path | None = None
    max_usd: float | None = None
    prices: Prices | None = None
    transport: Transport = ask_litellm
    rerecord: str = "the same command with mode record"
    watch: Watch = lambda _tally: None
    seed: int = 0
    grace_s: float = GRACE_S
    surroundings: Surroundings | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


@asynccontextmanager
async def open_completer(
    models: Mapping[str, ModelConfig], source: Source
) -> AsyncIterator[Completer]:
    """Open the source of text of one run, for one event loop.

    Args:
        models: by player, as call sites name them.
        source: recorded replies, money and mode.

    Raises:
        ConfigError: if the parts do not fit together, or a capped model has no price.
        FileError: if the recorded replies are damaged or not there.
        OutputError: if another run with a budget uses the same store.
    """
    with ExitStack() as stack:
        store = _store(source, stack)
        recorder = None
        if store is not None and source.mode == "record":
            recorder = stack.enter_context(Recorder(store))
        completer = _assemble(models, source, store, recorder)
        try:
            yield completer
        finally:
            await completer.close(source.grace_s)
            if source.transport is ask_litellm:
                await close_litellm()


def _store(source: Source, stack: ExitStack) -> ReplyStore | None:
    if source.mode == "live":
        if source.store is not None:
            raise ConfigError("replies: mode live keeps nothing; leave the store out, or record")
        return None
    if source.store is None:
        raise ConfigError(f"replies: mode {source.mode} needs a store")
    if source.mode == "replay":
        return stack.enter_context(open_replies(source.store))
    if source.store.is_dir():
        raise ConfigError(
            f"replies: {source.store} is a folder; record into a file such as "
            f"{source.store / 'replies.sqlite'}"
        )
    store = stack.enter_context(ReplyStore.open(source.store))
    if source.max_usd is not None:
        lock = FileLock(f"{source.store}.lock", blocking=False)
        try:
            stack.enter_context(lock)
        except Timeout as error:
            raise OutputError(
                f"{source.store}: another run with a budget records here; two would each spend "
                "the whole of it"
            ) from error
    return store


def _assemble(
    models: Mapping[str, ModelConfig],
    source: Source,
    store: ReplyStore | None,
    recorder: Recorder | None,
) -> "_Sources":
    providers: dict[str, Provider] = {}
    budget = Budget(source.max_usd, recorder)
    if source.mode != "replay":
        names = {player: config.spec.model for player, config in models.items()}
        prices = price_table(source.prices, names, is_capped=budget.is_capped)
        around = source.surroundings or Surroundings(
            clock=time.monotonic, sleep=asyncio.sleep, chance=random.Random(source.seed)
        )
        providers = {
            player: Provider(
                player,
                config.endpoint,
                source.transport,
                budget,
                prices.get(names[player]),
                around,
            )
            for player, config in sorted(models.items())
        }
    return _Sources(source, store, recorder, budget, providers)


@dataclass(slots=True)
class _Sources:
    """Routes by player: store, then budget, retries and pace, then the transport."""

    source: Source
    store: ReplyStore | None
    recorder: Recorder | None
    budget: Budget
    providers: Mapping[str, Provider]
    tally: Tally = field(default_factory=Tally)
    flights: dict[str, asyncio.Task[Completion]] = field(default_factory=dict)

    async def complete(self, request: Request, site: CallSite) -> Completion:
        request = _sendable(request)
        if self.store is None:
            return (await self._call(request, site)).completion
        asked = named(request)
        flight = self.flights.get(asked.key)
        if flight is None:
            record = self.store.get(asked.key)
            if record is not None:
                if self.recorder is not None:
                    await self.recorder.sync_others()
                self.tally.replayed += 1
                self._report()
                return record.completion()
            if self.recorder is None:
                raise ReplayMissError(self._miss(asked, site))
            flight = asyncio.create_task(self._recorded(asked, site, self.recorder))
            self.flights[asked.key] = flight
            flight.add_done_callback(lambda task: self._landed(asked.key, task))
        # Shielded: another game may wait for the same reply, and it may be paid for already.
        return await asyncio.shield(flight)

    def _landed(self, key: str, task: asyncio.Task[Completion]) -> None:
        self.flights.pop(key, None)
        if not task.cancelled():
            task.exception()  # looked at, so that asyncio does not complain of it

    async def _recorded(self, asked: Recorded, site: CallSite, recorder: Recorder) -> Completion:
        outcome = await self._call(asked.request, site)
        return (await recorder.put(asked, self._record(asked, outcome))).completion()

    async def _call(self, request: Request, site: CallSite) -> Outcome:
        provider = self.providers.get(site.player)
        if provider is None:
            raise ConfigError(f"model {site.player}: is not among the models of this run")
        if self.source.transport is ask_litellm:
            load_litellm()
        try:
            outcome = await provider.ask(request, site)
        except BaseException:
            self.tally.failed += 1
            raise
        else:
            self.tally.calls += 1
            return outcome
        finally:
            self._report()

    def _report(self) -> None:
        self.tally.spent_usd = self.budget.spent_usd
        self.source.watch(self.tally)

    def _record(self, asked: Recorded, outcome: Outcome) -> Record:
        request, reply = asked.request, outcome.completion
        return Record(
            key=asked.key,
            model=request.spec.model,
            sampling=request.spec.sampling,
            response_format=request.spec.response_format,
            reply_schema=asked.schema_digest,
            asked_logprobs=request.logprobs,
            replicate=request.spec.replicate,
            thread=asked.thread,
            text=reply.text,
            finish_reason=reply.finish_reason,
            refusal=reply.refusal,
            usage=reply.usage,
            logprobs=reply.logprobs,
            attempts=outcome.attempts,
            recorded_at=self.source.now(),
        )

    def _miss(self, asked: Recorded, site: CallSite) -> str:
        difference = None if self.store is None else self.store.difference(asked)
        near = (
            "nothing is recorded there"
            if difference is None
            else f"the nearest recorded request differs: {difference}"
        )
        return (
            f"{self.source.store}: no recorded reply for {asked.request.spec.model} ({site}); "
            f"{near}; record it with: {self.source.rerecord}"
        )

    async def close(self, grace_s: float) -> None:
        """Start no further attempt; let those under way finish for a while, then cut them."""
        for provider in self.providers.values():
            provider.is_closing = True
        flights = set(self.flights.values())
        if not flights:
            return
        _, late = await asyncio.wait(flights, timeout=grace_s)
        for flight in late:
            flight.cancel()
        await asyncio.gather(*late, return_exceptions=True)


def _sendable(request: Request) -> Request:
    """Replace what no request can hold: lone surrogates, out of another model's reply."""
    if all(well_formed(content) is content for _, content in request.messages):
        return request
    messages = tuple(
        ChatMessage(role, well_formed(content) or "") for role, content in request.messages
    )
    return replace(request, messages=messages)
