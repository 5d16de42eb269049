"""``calbench audit``: the message audits on any messages."""

import sys
from collections.abc import Iterator
from pathlib import Path

from calbench.cli.status import Status
from calbench.cli.words import Words
from calbench.console import progress, verdict
from calbench.errors import ConfigError, OutputError
from calbench.files import write_atomically
from calbench.metrics.speech.audit_lines import MAX_LINE, audit, placed, read_line, written_line
from calbench.metrics.speech.secondhand.hearsay import Hearsay

MOST_PATHS = 2
"""A file of messages, and one to write."""


def main(words: Words) -> int:
    """Audit a file of messages, by the detectors or by a model.

    Raises:
        CalbenchError: one line about what does not fit; nothing was written.
    """
    paths = words.some_paths("no messages are named: give a file of JSON Lines")
    if len(paths) > MOST_PATHS:
        raise ConfigError(f"{paths[2]}: one file of messages, and at most one to write")
    messages, out = paths[0], paths[1] if len(paths) == MOST_PATHS else None
    if out is not None:
        _check(out, messages)
    if words.settings:
        from calbench.runs.message_judge import judged

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
