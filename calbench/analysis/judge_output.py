"""Tables of the judge alone, and the file of what was shown to it."""

from collections.abc import Iterator
from pathlib import Path

from calbench.agents.judging import JUDGE_PROMPT
from calbench.analysis.settings import Settings
from calbench.analysis.tables import TABLES
from calbench.analysis.tables.registry import write_frames
from calbench.domain.canonical import canonical_json
from calbench.facts.judged import JUDGED
from calbench.facts.storage import Facts
from calbench.files import written_atomically
from calbench.metrics.measure import METRICS_VERSION

CASE_FILE = "judge_cases.json"
"""What was shown to the judge, and whether its answer could be read."""

JUDGE_TABLES = {
    Path(path).name: table for path, table in TABLES.items() if JUDGED.name in table.needs
}
"""Tables of the judge alone, by file."""


def write_judge_tables(facts: Facts, folder: Path, settings: Settings) -> None:
    """Write the tables of the judge alone, and its cases, at the top of a folder.

    Args:
        facts: of judged games.
        folder: where they go; made if missing.
        settings: of the estimates, and the floor.

    Raises:
        OutputError: the folder cannot be written.
    """
    write_cases(facts, folder)
    for name, table in JUDGE_TABLES.items():
        write_frames(folder / name, table.frames(facts, settings), table.columns)


def write_cases(facts: Facts, folder: Path) -> None:
    """Write the cases of all games, whole or not at all.

    Args:
        facts: of judged games.
        folder: where the file goes.

    Raises:
        OutputError: naming the place, if it cannot be written.
    """
    with (
        written_atomically(folder / CASE_FILE) as beside,
        beside.open("w", encoding="utf-8", newline="") as file,
    ):
        file.writelines(_parts(facts))


def _parts(facts: Facts) -> Iterator[str]:
    """Yield the text of the file."""
    judge = next(iter(facts.frame("judged_games")["judge"]), None)
    head = canonical_json(
        {"judge": judge, "metrics_version": METRICS_VERSION, "prompt": JUDGE_PROMPT}
    )
    yield f'{head[:-1]},"cases":[\n'
    between = ""
    for batch in facts.batches("judged_cases"):
        for case in batch["case"]:
            yield between + case
            between = ",\n"
    yield "\n]}\n"
