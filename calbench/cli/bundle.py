"""``calbench bundle``: all that is published in one folder."""

from pathlib import Path

from calbench.bundle.files import sizes
from calbench.bundle.folder import write_bundle
from calbench.cli.words import Status, Words
from calbench.console import ending_on_interrupt, show, verdict
from calbench.terminal import new_table


def main(words: Words) -> int:
    """Write the bundle of a checkout, and say how large its parts are."""
    out = Path(words.options["out"])
    with ending_on_interrupt(
        lambda: "Stopped: no bundle was written; the same command starts again"
    ):
        files = write_bundle(Path(), out)
    table = new_table(None, ("part", "files", "MB"))
    for name, (count, size) in sizes(files).items():
        table.add_row(name, str(count), f"{size / 1e6:.1f}")
    show(table)
    total = sum(each.bytes for each in files)
    verdict(f"{len(files)} files, {total / 1e6:.1f} MB: {out / 'README.md'}", is_good=True)
    return Status.DONE
