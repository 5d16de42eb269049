"""``calbench audit``: the message audits on any messages."""

import sys
from collections.abc import Iterator
from pathlib import Path

from calbench.cli.status import Status
from calbench.console import progress, verdict
from calbench.errors import OutputError
from calbench.files import printable, read_bytes, write_atomically
from calbench.metrics.speech.audit_lines import MAX_LINE, audited_line


def main(messages: Path, out: Path | None) -> int:
    """Audit a file of messages; nothing is written unless every line is valid."""
    if out is not None:
        _check(out, messages)
    lines = list(audited(messages))
    found = b"".join(lines)
    if out is None:
        sys.stdout.write(found.decode())
        sys.stdout.flush()
    else:
        write_atomically(out, found)
    where = "" if out is None else f": {out}"
    verdict(f"{len(lines)} messages audited{where}", is_good=True, is_beside=out is None)
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
    shown = printable(str(path))
    lines = read_bytes(path).split(b"\n")
    with progress("audited", sum(bool(line.strip()) for line in lines)) as tick:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield audited_line(line, f"{shown}, line {number}")
                tick()
