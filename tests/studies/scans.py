"""What ``calbench scan`` finds in planted texts and in the published games -> data/published.

No stage of the pipeline: run it again, ``python -m tests.studies.scans``, after ``dvc repro`` if
rules of the scan or published games changed. Recorded models are scanned with their replies.
"""

import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pandas as pd

from calbench.config.composition import compose
from calbench.files import write_atomically
from calbench.llm.replies.shards import open_replies
from calbench.runs.oddities import WORD_RULES
from calbench.runs.scan import RULES, Finding, Scan, scan
from stages import paths
from tests.runs.scan.planted import scores

COUNTS = paths.DATA / "published" / "scan.csv"

PLANTED = paths.DATA / "published" / "scan_planted.csv"

DRAWN, SEED = 30, 39
"""Findings that were looked at one by one, and the seed by which they are drawn."""


def scanned(folder: Path) -> Scan:
    """Scan the games of one published experiment, with the replies that it replays, if any."""
    replies = compose([f"+experiment={folder.name}"]).replies
    with ExitStack() as stack:
        is_recorded = replies.mode == "replay" and replies.path is not None
        store = stack.enter_context(open_replies(Path(str(replies.path)))) if is_recorded else None
        return scan([folder], store)


def counted(scans: Sequence[Scan]) -> pd.DataFrame:
    """Return a row for each rule: findings and games in all experiments."""
    games = sum(each.games for each in scans)
    return pd.DataFrame(
        {
            "rule": rule,
            "kind": kind,
            "about": about,
            "findings": sum(each.counts[rule] for each in scans),
            "games": sum(each.games_by_rule[rule] for each in scans),
            "of_games": games,
        }
        for rule, (kind, about) in RULES.items()
    )


def planted() -> pd.DataFrame:
    """Return how each rule on words does on texts that were written after it."""
    kept = scores(is_kept=True)
    return pd.DataFrame(
        {
            "rule": rule,
            "planted": kept[rule].planted,
            "found": kept[rule].found,
            "innocent": kept[rule].innocent,
            "false_alarms": kept[rule].alarms,
        }
        for rule in WORD_RULES
    )


def drawn(scans: Sequence[Scan]) -> Iterator[Finding]:
    """Yield the findings that are to be looked at, as many of each rule as there are, in turn."""
    chance = random.Random(SEED)
    left = {rule: [each for one in scans for each in one.findings if each.rule == rule]
            for rule in RULES}  # fmt: skip
    for each in left.values():
        chance.shuffle(each)
    count = 0
    while count < DRAWN and any(left.values()):
        for each in left.values():
            if each and count < DRAWN:
                count += 1
                yield each.pop()


def main() -> None:
    """Write both tables, and print the findings that are to be looked at."""
    scans = [scanned(folder) for folder in sorted((paths.DATA / "traces").glob("*/"))]
    for path, frame in ((COUNTS, counted(scans)), (PLANTED, planted())):
        write_atomically(path, frame.to_csv(index=False, lineterminator="\n").encode())
    for each in drawn(scans):
        print(each.rule, each.path, each.event, each.player, each.quote, sep=" | ")


if __name__ == "__main__":
    main()
