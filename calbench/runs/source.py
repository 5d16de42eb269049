"""The source of a run's model replies, by its configuration, and audits by a model that it opens.

With it goes what a run says about money: before the first call, while it plays, at its end.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from calbench.agents.base import Completer
from calbench.config.composition import compose
from calbench.config.groups import PRICES
from calbench.config.spec import RunSpec
from calbench.console import progress, say
from calbench.domain.ids import AgentId
from calbench.engine.batch import Halted, first_leaf
from calbench.engine.batch import Source as Opener
from calbench.engine.jobs import Job
from calbench.errors import CalbenchError, ConfigError, StoppedError, UnavailableError
from calbench.files import printable, shorten
from calbench.llm.client import ModelClient, Source, check_source, open_completer
from calbench.llm.litellm_transport import ask_litellm
from calbench.llm.model import ModelConfig
from calbench.llm.preflight import address
from calbench.llm.prices import Prices, read_prices
from calbench.llm.transport import Transport
from calbench.runs.status import Status, Watched


@asynccontextmanager
async def open_models(spec: RunSpec, source: Source) -> AsyncIterator[ModelClient]:
    """Open the models of a run for one event loop, and say what they may cost at most.

    Raises:
        CalbenchError: as :func:`calbench.llm.client.open_completer` does; nothing was said.
    """
    async with open_completer(spec.models, source) as client:
        source.totals.spent_usd = client.budget.spent_usd
        say(budget_line(spec, source))
        yield client


def budget_line(spec: RunSpec, source: Source) -> str:
    """Return what a run may cost at most, and what its totals say was spent before."""
    if source.mode == "replay":
        return f"Budget: nothing is spent, replies come from {source.store}"
    before = f"{source.totals.spent_usd:.2f} spent before"
    if spec.budget.max_usd is not None:
        return f"Budget: at most US$ {spec.budget.max_usd:.2f}, {before}"
    if unpriced := _unpriced(spec, source.prices):
        return (
            f"Budget: no cap, and the price of {', '.join(unpriced)} is unknown: its cost is not "
            "counted"
        )
    return f"Budget: no cap (budget.max_usd=N sets one), US$ {before}; `estimate` forecasts more"


def spent(spec: RunSpec, source: Source | None) -> str:
    """Return what models have cost so far; empty where none is asked."""
    if source is None or source.mode == "replay":
        return ""
    return money(spec, source.prices, source.totals.spent_usd)


def money(spec: RunSpec, prices: Prices | None, spent_usd: float) -> str:
    """Return a sum that models cost, and its cap: ``US$ 0.42 of 15.00``.

    A dash if the price of no model is known.
    """
    unpriced = _unpriced(spec, prices)
    if len(unpriced) == len(spec.models):
        return "US$ -"
    cap = "" if spec.budget.max_usd is None else f" of {spec.budget.max_usd:.2f}"
    return f"US$ {spent_usd:.2f}{cap}{' and more' if unpriced else ''}"


def _unpriced(spec: RunSpec, prices: Prices | None) -> list[str]:
    """Return the players whose model has no known price."""
    known = {} if prices is None else prices.models
    return [player for player, model in spec.models.items() if model.spec.model not in known]


REASON_LENGTH = 160
"""Most characters of a reason why a game was cut short [C]; its trace has all of them."""


def reply_source(
    spec: RunSpec,
    rerecord: str = "the same command with replies.mode=record",
    transport: Transport = ask_litellm,
) -> Source | None:
    """Return how a run gets the replies of its models; ``None`` if no model sits in its teams.

    Args:
        spec: the run.
        rerecord: the command that records what a replay misses, for its error.
        transport: how models are asked.

    Raises:
        ConfigError: if mode and path contradict each other.
        FileError: if the price table is invalid.
    """
    if not any(seat.kind == "model" for team in spec.teams for seat in team.seats):
        return None
    mode, path = spec.replies.mode, spec.replies.path
    if mode == "live" and path is not None:
        raise ConfigError("replies.path: mode live keeps nothing; leave it out, or record")
    return Source(
        mode=mode,
        store=spec.store,
        max_usd=spec.budget.max_usd,
        prices=read_prices(PRICES),
        transport=transport,
        rerecord=rerecord,
    )


def opener(spec: RunSpec, replies: Source | None, status: Status | None = None) -> Opener | None:
    """Return what opens the models of a run for as long as games are played."""
    if replies is None:
        return None

    @asynccontextmanager
    async def opened() -> AsyncIterator[Completer]:
        async with open_models(spec, replies) as client:
            yield client if status is None else Watched(client, status)

    return opened


def seated_models(jobs: Iterable[Job], spec: RunSpec) -> dict[str, ModelConfig]:
    """Return the models of a run that sit in some of its games, by player."""
    seats = (
        job.config.team.seat_of(AgentId(agent))
        for job in jobs
        for agent in range(job.scenario.num_agents)
    )
    return {seat.player: spec.models[seat.player] for seat in seats if seat.kind == "model"}


def why_cut_short(halt: Halted, models: Mapping[str, ModelConfig]) -> str:
    """Return what ended a game, with the address of the model that did not answer.

    The trace has no address: where a model is asked defines no game.
    """
    text = f"{halt.reason}: {shorten(printable(halt.detail), REASON_LENGTH)}"
    model = models.get(halt.player)
    if halt.reason != "provider_fault" or model is None:
        return text
    return f"{text} (asked at {address(model)})"


# --- audits by a model: it is asked about each thing, several at the same time

T = TypeVar("T")


def auditing_spec(settings: Sequence[str]) -> RunSpec:
    """Return the settings of an audit by the one model that they name.

    Raises:
        ConfigError: they do not fit, or keep no reply.
    """
    try:
        spec = compose(["teams=[my-model]", *settings])
    except ConfigError as error:  # in words of the command, which has no teams
        raise ConfigError(str(error).removeprefix("teams.my-model.players.")) from error
    if spec.replies.mode == "live":
        raise ConfigError(
            "replies.mode=live: an audit keeps every reply; use record, or replay to ask nobody"
        )
    return spec


def auditing_source(spec: RunSpec, transport: Transport) -> Source:
    """Return how an audit gets the replies of its model.

    Raises:
        CalbenchError: no model is named, or it cannot be asked; nothing was made.
    """
    source = reply_source(spec, transport=transport)
    if source is None:
        raise ConfigError("no model is named: model=ID or model.name=NAME")
    check_source(spec.models, source)
    return source


@dataclass(slots=True)
class ModelAudit(Generic[T]):
    """Asks a model about things.

    The first one about which it cannot be asked ends it, as Ctrl-C does: calls under way are
    finished, no other is made.

    Attributes:
        things: what it is asked about; ``what`` says what they are, and what becomes of them.
        ask: asks about one, and keeps what came of it.
        spec: of the run, with the model.
        is_stopping: whether the user stops it.
    """

    things: Sequence[T]
    what: str
    ask: Callable[[T, Completer], Awaitable[None]]
    spec: RunSpec
    is_stopping: Callable[[], bool]
    done: int = 0
    failure: UnavailableError | None = None

    def run(self, source: Source, task: str) -> None:
        """Ask about all, and show how far that is.

        Raises:
            CalbenchError: it is not complete; the line says what is kept.
        """
        with progress(task, len(self.things), state=lambda: spent(self.spec, source)) as tick:
            asyncio.run(self._ask_all(source, tick))
        where = f"{self.done} of {len(self.things)} {self.what}"
        kept = "the replies that came are kept; the same command resumes"
        if self.failure is not None:
            (model,) = self.spec.models.values()
            asked = f"asked at {address(model)}"
            raise CalbenchError(f"{self.failure.detail} ({asked}): {where}; {kept}")
        if self.is_stopping():
            raise StoppedError(f"Stopped: {where}; {kept}")

    async def _ask_all(self, source: Source, tick: Callable[[str], None]) -> None:
        queue = deque(self.things)
        try:
            source = replace(source, is_stopping=self._is_ending)
            async with open_models(self.spec, source) as client, asyncio.TaskGroup() as group:
                for _ in range(min(self.spec.games_at_once, len(queue))):
                    group.create_task(self._take(queue, client, tick))
        except* CalbenchError as failures:
            raise first_leaf(failures) from None

    async def _take(
        self, queue: deque[T], completer: Completer, tick: Callable[[str], None]
    ) -> None:
        while queue and not self._is_ending():
            try:
                await self.ask(queue.popleft(), completer)
            except StoppedError:
                return
            except UnavailableError as failure:
                self.failure = failure
                return
            self.done += 1
            tick("")

    def _is_ending(self) -> bool:
        return self.failure is not None or self.is_stopping()
