"""``calbench audit``: the message audits on any messages, by our detectors or by a model."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from calbench.agents.base import CallSite, Completer
from calbench.agents.judging import Finding, MessageCase, audit_request, read_finding
from calbench.cli.words import Status, Words
from calbench.console import noting_interrupt, progress, say, verdict
from calbench.domain.ids import AgentId
from calbench.domain.observations import REFLECTION
from calbench.domain.replies import Unreadable
from calbench.errors import ConfigError, OutputError
from calbench.files import write_atomically
from calbench.llm.litellm_transport import ask_litellm
from calbench.llm.transport import Transport
from calbench.metrics.speech.audit_lines import (
    MAX_LINE,
    Hearsay,
    MessageLine,
    audit,
    placed,
    read_line,
    written_line,
)
from calbench.metrics.speech.patterns import message_patterns
from calbench.runs.source import ModelAudit, auditing_source, auditing_spec, money


def main(words: Words) -> int:
    """Audit a file of messages, by the detectors or by a model.

    Raises:
        CalbenchError: one line about what does not fit; nothing was written.
    """
    messages = words.paths[0]
    out = words.paths[1] if len(words.paths) > 1 else None
    if out is not None:
        _check(out, messages)
    if words.settings:
        lines, unread = judged(messages, out, words.settings)
    else:
        lines, unread = list(audited(messages)), 0
    found = b"".join(lines)
    if out is None:
        sys.stdout.write(found.decode())
        sys.stdout.flush()
    else:
        write_atomically(out, found)
    where = "" if out is None else f": {out}"
    beside = f", {unread} answers unreadable" if words.settings else ""
    verdict(
        f"{len(lines)} messages audited{beside}{where}", is_good=not unread, is_beside=out is None
    )
    return Status.DONE


def _check(out: Path, messages: Path) -> None:
    """Refuse a file that is no earlier audit.

    Raises:
        OutputError: naming it.
    """
    if out.is_dir() or out.resolve() == messages.resolve():
        raise OutputError(f"{out}: is a folder or the file of messages itself; name another file")
    if out.exists() and out.stat().st_size:
        with out.open("rb") as file:
            head = file.readline(MAX_LINE)
        if not all(f'"{key}":'.encode() in head for key in ("patterns", "own_slot", "leaks")):
            raise OutputError(f"{out}: is there already, and is no audit; name another file")


def audited(path: Path) -> Iterator[bytes]:
    """Yield the audited lines of a file; empty lines are skipped.

    Raises:
        FileError: naming the file, the line and what is wrong with it.
    """
    lines = [(*read_line(line, place), number) for line, place, number in placed(path)]
    hearsay = Hearsay(message for _, message, _ in lines)
    with progress("audited", len(lines)) as tick:
        for given, message, number in lines:
            found = audit(message)
            yield written_line(given | found | hearsay.audit(message, number))
            tick()


class Line(NamedTuple):
    """One line: its object, the message in it, and its place."""

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
    spec = auditing_spec(settings)
    if spec.replies.path is None:
        if out is None:
            raise ConfigError("replies.path=FILE is missing: where replies are kept; or name OUT")
        kept = spec.replies.model_copy(update={"path": f"{out}.replies.sqlite"})
        spec = spec.model_copy(update={"replies": kept})
    lines = [Line(*read_line(line, place), place) for line, place, _ in placed(messages)]
    source = auditing_source(spec, transport)
    ((name, model),) = spec.models.items()
    findings: dict[str, Finding | Unreadable] = {}

    async def ask(line: Line, completer: Completer) -> None:
        message = line.message
        labels = {label.label_id: label.private_label for label in message.labels}
        case = MessageCase(message.text, labels, message.known)  # no terms, and no tiers
        site = CallSite(name, line.place, AgentId(0), 0, REFLECTION, 0, 0)
        found = read_finding(case, await completer.complete(audit_request(case, model.spec), site))
        findings[line.place] = found if isinstance(found, Unreadable) else found.value

    with noting_interrupt(lambda: "Stopped; replies that came are kept") as is_stopping:
        ModelAudit(lines, "messages are audited", ask, spec, is_stopping).run(source, "audited")
    totals = source.totals
    cost = money(spec, source.prices, totals.spent_usd)
    say(f"{totals.calls} replies paid for, {totals.replayed} replayed; {cost} spent")
    unread = sum(isinstance(found, Unreadable) for found in findings.values())
    shown = (line.given | {"judge": name} | _shown(line, findings[line.place]) for line in lines)
    return list(map(written_line, shown)), unread


def _shown(line: Line, found: Finding | Unreadable) -> dict[str, Any]:
    """Return the keys of an audit; what could not be read is null, never guessed."""
    message = line.message
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
