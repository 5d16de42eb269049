"""The model client of a run: recorded replies first, then the models themselves."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from calbench.console import say, warn
from calbench.errors import ConfigError, ReplayMissError, StoppedError
from calbench.files import STORE
from calbench.llm.budget import Budget
from calbench.llm.completion import ChatMessage, Completion, Request, Site, well_formed
from calbench.llm.litellm_transport import ask_litellm, close_litellm, prepare_litellm
from calbench.llm.model import ModelConfig, check_requirements
from calbench.llm.noise import hushed, told
from calbench.llm.prices import Price, Prices
from calbench.llm.provider import Outcome, Provider, Surroundings
from calbench.llm.replies.ledger import BegunGame, Presence
from calbench.llm.replies.record import NamedRequest, named, recorded
from calbench.llm.replies.shards import open_replies
from calbench.llm.replies.store import ReplyStore
from calbench.llm.replies.writer import ReplyWriter
from calbench.llm.transport import Transport

Mode = Literal["live", "record", "replay"]
"""``live`` calls and keeps nothing, ``record`` calls for what is not recorded and keeps it,
``replay`` never calls."""

SELDOM = 10_000
"""Objects made between two looks of the garbage collector [C]. Games at once keep so many alive
that Python's own 700 takes a fifth of the processor time of a call."""

WATCH_S = 0.1
"""How often it is looked whether the user stops a run [C]."""

GRACE_S = 30.0
"""How long calls in progress may take to finish when a run ends: they are already paid for [C]."""


@dataclass(slots=True)
class Totals:
    """Calls made so far, attempts beyond one for each that was answered, and their price.

    ``unreadable`` is a line about the first reply that could not be read, if any.
    """

    calls: int = 0
    replayed: int = 0
    failed: int = 0
    retries: int = 0
    unreadable: str = ""
    spent_usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a run's completions come from.

    Attributes:
        mode: whether models are called and replies kept.
        store: a store's file; in ``replay`` a folder of shards as well. Absent in ``live``.
        max_usd: cap on the money of all runs with this store; absent: none.
        prices: by model; absent: nothing has a price.
        transport: how one attempt is made.
        rerecord: the command that records what ``replay`` misses, for its error.
        totals: what was asked so far; counted up with every completion.
        grace_s: seconds that calls in progress may take when the run ends.
        is_stopping: asked often; once it is true, no call is sent.
        surroundings: time and randomness; play does not depend on them.
        now: the time of a record.
    """

    mode: Mode
    store: Path | None = None
    max_usd: float | None = None
    prices: Prices | None = None
    transport: Transport = ask_litellm
    rerecord: str = "the same command with mode record"
    totals: Totals = field(default_factory=Totals)
    grace_s: float = GRACE_S
    is_stopping: Callable[[], bool] = lambda: False
    surroundings: Surroundings = field(default_factory=Surroundings)
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


@contextmanager
def open_recorded(store: Path) -> Iterator["ModelClient"]:
    """Open recorded replies as the only source of completions: no model is asked.

    Raises:
        FileError: if they are damaged or not there.
    """
    source = Source(mode="replay", store=store, rerecord="the command that played the game")
    with open_replies(store) as replies:
        yield ModelClient(source, replies, None, Budget(), {})


@asynccontextmanager
async def open_completer(
    models: Mapping[str, ModelConfig], source: Source
) -> AsyncIterator["ModelClient"]:
    """Open the model client of one run, for one event loop.

    Args:
        models: by player, as call sites name them.
        source: recorded replies, money and mode.

    Raises:
        ConfigError: if the parts do not fit together, or a capped model has no price.
        FileError: if the recorded replies are damaged or not there.
    """
    with ExitStack() as stack:
        store = _store(source, stack)
        writer = presence = None
        stack.enter_context(_seldom_collected())
        if source.transport is ask_litellm and source.mode != "replay":
            stack.callback(_tell_noise)
            stack.enter_context(hushed())
        if store is not None and source.store is not None and source.mode == "record":
            presence = stack.enter_context(Presence(source.store))
            writer = stack.enter_context(ReplyWriter(store))
        budget = Budget(source.max_usd, writer, source.totals.spent_usd, presence)
        providers = {} if source.mode == "replay" else _providers(models, source, budget)
        client = ModelClient(source, store, writer, budget, providers)
        watch = asyncio.create_task(client.watch())
        try:
            yield client
        finally:
            watch.cancel()
            await client.close()
            if source.transport is ask_litellm:
                await close_litellm()


@contextmanager
def _seldom_collected() -> Iterator[None]:
    thresholds = gc.get_threshold()
    gc.set_threshold(SELDOM, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def _tell_noise() -> None:
    line = told()
    if line is not None:
        say(line)


def check_source(models: Mapping[str, ModelConfig], source: Source) -> None:
    """Refuse what cannot be opened, or asked for want of a price, package or key; nothing is made.

    With recorded replies, neither package nor key may be needed.

    Raises:
        CalbenchError: as opening it, or asking a model, would.
    """
    path, is_replay = source.store, source.mode == "replay"
    is_there = path is not None and path.exists()
    is_large = is_replay and path is not None and path.is_dir()  # it is read once, later
    if (is_there or is_replay) and not is_large:
        with ExitStack() as stack:
            _store(source, stack)
    if not is_replay:
        price_table(source.prices, models, is_capped=source.max_usd is not None)
    if not is_replay and not is_there:
        for player, config in sorted(models.items()):
            try:
                check_requirements(config)
            except ConfigError as error:
                raise ConfigError(f"model {player}: {error}") from error


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
            f"{source.store / STORE}"
        )
    store = stack.enter_context(ReplyStore.open(source.store))
    store.check()  # a damaged one would be asked, and paid for, again
    return store


def _providers(
    models: Mapping[str, ModelConfig], source: Source, budget: Budget
) -> dict[str, Provider]:
    prices = price_table(source.prices, models, is_capped=budget.is_capped)
    return {
        player: Provider(
            config,
            source.transport,
            budget,
            prices.get(player),
            source.surroundings,
            source.is_stopping,
        )
        for player, config in sorted(models.items())
    }


@dataclass(slots=True)
class ModelClient:
    """Routes by player: store, then budget, retries and rate limit, then the transport."""

    source: Source
    store: ReplyStore | None
    writer: ReplyWriter | None
    budget: Budget
    providers: Mapping[str, Provider]
    calls: dict[str, asyncio.Task[Completion]] = field(default_factory=dict)
    told: set[tuple[str, str | None]] = field(default_factory=set)

    async def complete(self, request: Request, site: Site) -> Completion:
        """Return the completion of a request; the same request at the same time is asked once.

        Raises:
            UnavailableError: if there is none to be had.
            ReplayMissError: in ``replay``, if it is not recorded.
            StoppedError: if the run is ending; calls already made finish and are recorded.
        """
        if self.source.is_stopping():
            raise StoppedError("stopped")
        request = _sendable(request)
        asked = named(request)
        if self.store is None:
            return replace((await self._ask(request, site)).completion, key=asked.key)
        call = self.calls.get(asked.key)
        if call is None:
            record = self.store.find(asked)
            if record is not None:
                if self.writer is not None:
                    await self.writer.sync_others()
                self.source.totals.replayed += 1
                self._note_spent()
                return record.completion()
            if self.writer is None:
                raise ReplayMissError(self._miss(self.store, asked, site))
            call = asyncio.create_task(self._recorded(asked, site, self.writer))
            self.calls[asked.key] = call
            call.add_done_callback(lambda task: self._finished(asked.key, task))
        # Shielded: another game may wait for the same reply, and it may be paid for already.
        return await asyncio.shield(call)

    def begin(self, game: BegunGame) -> None:
        """Note beside the replies, if they are recorded, which game they will be of."""
        if self.writer is not None:
            self.writer.begin(game)

    def _finished(self, key: str, task: asyncio.Task[Completion]) -> None:
        self.calls.pop(key, None)
        if not task.cancelled():
            task.exception()  # asyncio warns of exceptions that are never retrieved

    async def _recorded(self, asked: NamedRequest, site: Site, writer: ReplyWriter) -> Completion:
        outcome = await self._ask(asked.request, site)
        record = recorded(asked, outcome.completion, outcome.attempts, self.source.now())
        return (await writer.put(asked, record)).completion()

    async def _ask(self, request: Request, site: Site) -> Outcome:
        provider = self.providers.get(site.player)
        if provider is None:
            raise ConfigError(f"model {site.player}: is not among the models of this run")
        if self.source.transport is ask_litellm:
            await prepare_litellm()
        try:
            outcome = await provider.ask(request)
        except StoppedError:
            raise
        except BaseException:
            self.source.totals.failed += 1
            raise
        else:
            self._warn_of_another(request, outcome.completion, site)
            self.source.totals.calls += 1
            self.source.totals.retries += len(outcome.attempts) - 1
            return outcome
        finally:
            self._note_spent()

    def _warn_of_another(self, request: Request, reply: Completion, site: Site) -> None:
        """Tell the user once if another model is said to answer than was asked for."""
        said, asked = reply.provenance, request.spec.model
        if said is not None and said.is_other(asked) and (asked, said.model) not in self.told:
            self.told.add((asked, said.model))
            warn(
                f"model {site.player}: {asked} was asked for, and its server says that "
                f"{said.model} answered; its replies are kept under the name that was asked for"
            )

    def _note_spent(self) -> None:
        self.source.totals.spent_usd = self.budget.spent_usd

    def _miss(self, store: ReplyStore, asked: NamedRequest, site: Site) -> str:
        difference = store.nearest_difference(asked)
        near = (
            "nothing is recorded there"
            if difference is None
            else f"the nearest recorded request differs: {difference}"
        )
        return (
            f"{self.source.store}: no recorded reply for {asked.request.spec.model} ({site}); "
            f"{near}; record it with: {self.source.rerecord}"
        )

    def stop(self) -> None:
        """Send nothing any more; calls under way go on."""
        for provider in self.providers.values():
            provider.stop()

    async def watch(self) -> None:
        """Stop when the run does, and say so."""
        while not self.source.is_stopping():  # noqa: ASYNC110 - a signal sets no event
            await asyncio.sleep(WATCH_S)
        self.stop()
        count = sum(provider.under_way for provider in self.providers.values())
        calls = "1 call" if count == 1 else f"{count} calls"
        say(f"Stopping: {calls} under way, no other is sent; once more ends at once")

    async def close(self) -> None:
        """Start no further attempt; cancel the calls that do not finish within the grace time."""
        self.stop()
        calls = set(self.calls.values())
        if not calls:
            return
        _, late = await asyncio.wait(calls, timeout=self.source.grace_s)
        for call in late:
            call.cancel()
        await asyncio.gather(*late, return_exceptions=True)


def _sendable(request: Request) -> Request:
    """Replace what no request can hold: lone surrogates, out of another model's reply."""
    thread = "".join([message.content for message in request.messages])
    if well_formed(thread) == thread:
        return request
    messages = tuple(ChatMessage(role, well_formed(text)) for role, text in request.messages)
    return replace(request, messages=messages)


def price_table(
    prices: Prices | None, models: Mapping[str, ModelConfig], *, is_capped: bool
) -> dict[str, Price]:
    """Return the known prices of models, by player.

    Args:
        prices: the table; absent: no price is known.
        models: by player.
        is_capped: whether every model must have a price.

    Raises:
        ConfigError: naming the first model without a price, if money is capped.
    """
    known = {} if prices is None else prices.models
    found: dict[str, Price] = {}
    for player, config in sorted(models.items()):
        model = config.spec.model
        if model in known:
            found[player] = known[model]
        elif is_capped:
            raise ConfigError(
                f"model {player}: {model} has no price, so no budget can hold it; add it to "
                "conf/prices.yaml, with 0 for a server of your own"
            )
    return found
