"""A model as reader of messages, for ``calbench audit``: asked, recorded, replayed."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from calbench.agents.completer import CallSite, Completer
from calbench.agents.judging import Finding, MessageCase, audit_request, read_finding
from calbench.config.composition import compose
from calbench.config.groups import PRICES
from calbench.config.spec import RunSpec
from calbench.console import noting_interrupt, progress, say
from calbench.domain.ids import AgentId
from calbench.domain.observations import REFLECTION
from calbench.domain.replies import Unreadable
from calbench.engine.batch import Stoppable, first_leaf
from calbench.errors import CalbenchError, ConfigError, StoppedError, UnavailableError
from calbench.llm.client import Source
from calbench.llm.litellm_transport import ask_litellm
from calbench.llm.preflight import address
from calbench.llm.prices import read_prices
from calbench.llm.transport import Transport
from calbench.metrics.speech.audit_lines import MessageLine, placed, read_line, written_line
from calbench.metrics.speech.patterns import message_patterns
from calbench.runs.money import money, open_models, spent
from calbench.runs.source import reply_source


class Line(NamedTuple):
    """One line: its object, the message in it, and where it stands."""

    given: dict[str, Any]
    message: MessageLine
    place: str


def judged(
    messages: Path, out: Path | None, settings: Sequence[str], transport: Transport = ask_litellm
) -> tuple[list[bytes], int]:
    """Return the lines of a file with what a model found, and how many answers were unreadable.

    Args:
        messages: the file.
        out: what will be written; replies are kept beside it unless told otherwise.
        settings: the model, replies and budget.
        transport: how models are asked.

    Raises:
        CalbenchError: one line about what does not fit; replies that came are kept.
    """
    spec = _spec(out, settings)
    lines = [Line(*read_line(line, place), place) for line, place, _ in placed(messages)]
    source = reply_source(spec, transport=transport)
    if source is None:
        raise ConfigError("no model is named: model=ID or model.name=NAME")
    with noting_interrupt(lambda: "Stopped; replies that came are kept") as is_stopping:
        audit = _Audit(lines, spec, is_stopping)
        with progress("audited", len(lines), state=lambda: spent(spec, source)) as tick:
            asyncio.run(audit.run(source, tick))
        audit.check()
    totals = source.totals
    cost = money(spec, read_prices(PRICES), totals.spent_usd)
    say(f"{totals.calls} replies paid for, {totals.replayed} replayed; {cost} spent")
    unread = sum(isinstance(found, Unreadable) for found in audit.findings.values())
    return [audit.written(number) for number in range(len(lines))], unread


def _spec(out: Path | None, settings: Sequence[str]) -> RunSpec:
    spec = compose(["teams=[my-model]", *settings])
    if spec.replies.mode == "live":
        raise ConfigError(
            "replies.mode=live: an audit keeps every reply; use record, or replay to ask nobody"
        )
    if spec.replies.path is not None:
        return spec
    if out is None:
        raise ConfigError("replies.path=FILE is missing: where replies are kept; or name OUT")
    kept = spec.replies.model_copy(update={"path": f"{out}.replies.sqlite"})
    return spec.model_copy(update={"replies": kept})


@dataclass(slots=True)
class _Audit:
    """A model's audit of messages, several at the same time.

    The first message that cannot be asked about ends it, as Ctrl-C does: calls under way are
    finished, no other is made.
    """

    lines: Sequence[Line]
    spec: RunSpec
    is_stopping: Callable[[], bool]
    findings: dict[int, Finding | Unreadable] = field(default_factory=dict)
    failure: UnavailableError | None = None

    @property
    def name(self) -> str:
        """The name of the model."""
        return next(iter(self.spec.models))

    async def run(self, source: Source, tick: Callable[[str], None]) -> None:
        """Ask about every message."""
        queue = deque(range(len(self.lines)))
        try:
            async with open_models(self.spec, source) as client, asyncio.TaskGroup() as group:
                asked = Stoppable(client, self._is_ending)
                for _ in range(min(self.spec.games_at_once, len(queue))):
                    group.create_task(self._take(queue, asked, tick))
        except* CalbenchError as failures:
            raise first_leaf(failures) from None

    async def _take(
        self, queue: deque[int], completer: Completer, tick: Callable[[str], None]
    ) -> None:
        model = self.spec.models[self.name].spec
        while queue and not self._is_ending():
            number = queue.popleft()
            case = case_of(self.lines[number].message)
            site = CallSite(self.name, self.lines[number].place, AgentId(0), 0, REFLECTION, 0, 0)
            try:
                completion = await completer.complete(audit_request(case, model), site)
            except StoppedError:
                return
            except UnavailableError as failure:
                self.failure = failure
                return
            found = read_finding(case, completion)
            self.findings[number] = found if isinstance(found, Unreadable) else found.value
            tick("")

    def _is_ending(self) -> bool:
        return self.failure is not None or self.is_stopping()

    def check(self) -> None:
        """Refuse to write an incomplete audit."""
        where = f"{len(self.findings)} of {len(self.lines)} messages are audited"
        kept = "the replies that came are kept; the same command resumes"
        if self.failure is not None:
            asked = address(self.spec.models[self.name])
            raise CalbenchError(f"{self.failure.detail} (asked at {asked}): {where}; {kept}")
        if self.is_stopping():
            raise StoppedError(f"Stopped: {where}; {kept}")

    def written(self, number: int) -> bytes:
        """Return a line with what was found in it."""
        line, found = self.lines[number], self.findings[number]
        return written_line(line.given | {"judge": self.name} | _shown(line.message, found))


def case_of(message: MessageLine) -> MessageCase:
    """Return what a reader may know: no terms and no tiers."""
    labels = {label.label_id: label.private_label for label in message.labels}
    return MessageCase(message.text, labels, message.known)


def _shown(message: MessageLine, found: Finding | Unreadable) -> dict[str, Any]:
    """Return the keys of an audit; what could not be read is null, never guessed."""
    patterns = list(message_patterns(message.text))
    if isinstance(found, Unreadable):
        return {"patterns": patterns, "own_slot": None, "leaks": None, "unread": found.problem}
    tiers = {label.label_id: label.tier for label in message.labels}
    leaks = [
        {
            "label_id": label_id,
            "span": words,
            "tier": tiers[label_id],
            "start": message.text.index(words),
            "end": message.text.index(words) + len(words),
        }
        for label_id, words in found.words.items()
    ]
    return {
        "patterns": patterns + ["semantic_label_leakage"] * bool(leaks),
        "own_slot": dict(found.flags),
        "leaks": leaks,
        "unread": None,
    }
