"""``python -m calbench.audit MESSAGES.jsonl [OUT]``: the message audits on anyone's messages.

Lines ``{"text", "labels": [{"label_id", "private_label", "terms", "tier"}]}`` go in, the same
lines with ``patterns``, ``own_slot`` and ``leaks`` come out, on standard output or in a file.
``terms`` may be empty; ``known`` may list labels that everybody addressed knows.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from calbench.console import ending_on_interrupt, say
from calbench.errors import CalbenchError, OutputError
from calbench.files import printable, read_bytes, write_atomically
from calbench.metrics.speech.audit_lines import audited_line

USAGE = "usage: python -m calbench.audit MESSAGES.jsonl [OUT]  (one JSON object a line)"


def main(arguments: Sequence[str]) -> int:
    """Audit a file of messages; return 0 if all was read, 1 if not, 2 on wrong use."""
    if len(arguments) not in {1, 2} or {"-h", "--help"} & set(arguments):
        print(USAGE)
        return 0 if {"-h", "--help"} & set(arguments) else 2
    path = Path(arguments[0])
    try:
        found = b"".join(audited(path))
        if len(arguments) == 2:
            write_atomically(_output(Path(arguments[1]), path), found)
        else:
            sys.stdout.write(found.decode())
    except CalbenchError as error:
        say(f"error: {error}")
        return 1
    return 0


def audited(path: Path) -> Iterator[bytes]:
    """Yield the audited lines of a file; empty lines are passed over.

    Raises:
        FileError: naming the file, the line and what is wrong with it.
    """
    shown = printable(str(path))
    for number, line in enumerate(read_bytes(path).split(b"\n"), 1):
        if line.strip():
            yield audited_line(line, f"{shown}, line {number}")


def _output(path: Path, source: Path) -> Path:
    """Return where to write; a folder or the messages themselves are no such place."""
    if path.is_dir() or path.resolve() == source.resolve():
        raise OutputError(f"{path}: is a folder or the file of messages itself; name another file")
    return path


if __name__ == "__main__":
    with ending_on_interrupt(lambda: "Stopped"):
        sys.exit(main(sys.argv[1:]))
