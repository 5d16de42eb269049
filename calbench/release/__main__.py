"""``make release`` and ``make changes``: what is published of the results, and what that changed.

``python -m calbench.release`` publishes what the pipeline computed; with the folder of another
release or of tables it lists what changed since, which is kept in every release.
"""

import lzma
import sys
from pathlib import Path

from calbench.console import say, say_error
from calbench.errors import CalbenchError
from calbench.files import write_atomically
from calbench.metrics.measure import METRICS_VERSION
from calbench.release.changes import changes, numbers
from calbench.release.manifest import TABLES
from calbench.release.pack import PACK, write_pack
from calbench.release.writer import CHANGES, write_release

DATA = Path("data")
"""Of a checkout, from whose folder this is started."""


def publish(data: Path) -> None:
    """Write the release of what is in a folder, into it."""
    release = data / "release"
    made = write_release(data, release)
    write_pack(data, release / PACK)
    games = sum(each.games for each in made.traces.values())
    say(
        f"{release}: {len(made.tables)} tables, {games} games, {len(made.suites)} suites; "
        f"of {len(made.files)} other files the checksum"
    )


def list_changes(before: Path, data: Path) -> None:
    """Write every number that changed since a release, and say how many in each table.

    Args:
        before: folder of the release, or of tables.
        data: folder of computed tables and of the present release.
    """
    found = changes(numbers(before), numbers(data / TABLES))
    path = data / "release" / CHANGES / f"metrics-{METRICS_VERSION}.csv.xz"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = found.to_csv(index=False, lineterminator="\n")
    write_atomically(path, lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    for (table, what), rows in found.groupby(["table", "what"], sort=True):
        say(f"{table}: {what}, {len(rows)}: {', '.join(sorted(set(rows['column']) - {''}))}")
    say(f"{path}: {len(found)} changes")


if __name__ == "__main__":
    try:
        list_changes(Path(sys.argv[1]), DATA) if sys.argv[1:] else publish(DATA)
    except CalbenchError as error:
        say_error(error)
        sys.exit(2)
