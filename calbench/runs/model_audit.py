"""A model that audits what there is: asked about each thing, several at the same time."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from calbench.agents.base import Completer
from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from calbench.engine.batch import Stoppable, first_leaf
from calbench.errors import CalbenchError, ConfigError, StoppedError, UnavailableError
from calbench.llm.client import Source
from calbench.llm.preflight import address
from calbench.runs.source import open_models

T = TypeVar("T")


def auditing_spec(settings: Sequence[str]) -> RunSpec:
    """Return the settings of an audit by the one model that they name.

    Raises:
        ConfigError: they do not fit, or keep no reply.
    """
    spec = compose(["teams=[my-model]", *settings])
    if spec.replies.mode == "live":
        raise ConfigError(
            "replies.mode=live: an audit keeps every reply; use record, or replay to ask nobody"
        )
    return spec


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

    async def run(self, source: Source, tick: Callable[[str], None]) -> None:
        """Ask about all, as far as that goes."""
        queue = deque(self.things)
        try:
            async with open_models(self.spec, source) as client, asyncio.TaskGroup() as group:
                asked = Stoppable(client, self._is_ending)
                for _ in range(min(self.spec.games_at_once, len(queue))):
                    group.create_task(self._take(queue, asked, tick))
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

    def check(self) -> None:
        """Refuse to go on with an audit that is not complete."""
        where = f"{self.done} of {len(self.things)} {self.what}"
        kept = "the replies that came are kept; the same command resumes"
        if self.failure is not None:
            (model,) = self.spec.models.values()
            asked = f"asked at {address(model)}"
            raise CalbenchError(f"{self.failure.detail} ({asked}): {where}; {kept}")
        if self.is_stopping():
            raise StoppedError(f"Stopped: {where}; {kept}")
