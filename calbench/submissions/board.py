"""Submissions on the board: those whose check holds, with what is said of each."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from calbench.console import warn
from calbench.errors import FileError
from calbench.files import check_no_link, printable
from calbench.runs.board import Submitted
from calbench.submissions.again import Report
from calbench.submissions.check import CANNOT_SHOW, Checked, check
from calbench.submissions.folder import SUBMISSION, Seated
from calbench.traces.catalog import TRACES_FOLDER

SHORT_ID = 12
"""Digits of an id that a table shows [C]; the whole one stands below it."""


def read_submissions(folder: Path, reports: Mapping[str, Report]) -> Submitted:
    """Check every submission in a folder; return those that hold, and warn of the others.

    Args:
        folder: with a folder for each submission; others in it are passed over.
        reports: what came of asking again, by the id of the submission.

    Returns:
        By the folder of a submission, a row for each of its teams in each setting.

    Raises:
        FileError: there is no such folder, or no submission in it.
    """
    if not folder.is_dir():
        raise FileError(f"{folder}: there is no such folder; name the one of submissions")
    paths = [path for path in sorted(folder.iterdir()) if (path / SUBMISSION).is_file()]
    if not paths:
        raise FileError(f"{folder}: holds no submission (NAME/{SUBMISSION})")
    held = {}
    for path in paths:
        check_no_link(path)
        found = check(path)
        if found.problems:
            warn(f"{path}: refused, and not on the board: {found.problems[0]}")
        elif found.tier is not None:
            held[path] = found
    shared = _shared([*held.values()])
    return {
        path: list(_rows(each, reports.get(each.id), is_shared=each.id in shared))
        for path, each in held.items()
    }


def _shared(held: list[Checked]) -> set[str]:
    """Return the ids of submissions that have their games in common with another one."""
    games = {
        each.id: {
            digest
            for name, digest in each.submission.files.items()
            if name.startswith(f"{TRACES_FOLDER}/")
        }
        for each in held
        if each.submission is not None
    }
    counts = Counter(digest for own in games.values() for digest in own)
    return {name for name, own in games.items() if any(counts[each] > 1 for each in own)}


def _rows(checked: Checked, report: Report | None, *, is_shared: bool) -> Iterator[dict[str, Any]]:
    submission, tier = checked.submission, checked.tier
    if submission is None or tier is None:
        return
    common = ["its games are also those of another submission here"] if is_shared else []
    for row in checked.standings:
        players = [player for player in submission.players if player.team == row.team]
        yield {
            **row._asdict(),
            "halted": len(row.halted),
            "submission": submission.name,
            "tier": tier,
            "place": [*CANNOT_SHOW].index(tier),
            "reason": checked.reason,
            "unshown": CANNOT_SHOW[tier],
            "remarks": [*checked.remarks, *common],
            "date": submission.date.isoformat(),
            "contact": submission.contact,
            "framework": _in_words(player.framework for player in players),
            "model": _in_words(_model(player, submission.says_model) for player in players),
            "asked_at": _in_words(player.address or "" for player in players),
            "again": "no" if report is None else str(report),
            "id": checked.id,
            "short_id": checked.id[:SHORT_ID],
        }


def _model(player: Seated, says: str | None) -> str:
    """Return the model of a player; of own code in its author's words, which nothing proves."""
    if player.kind == "custom":
        return f"{says} (as its author says)" if says else "not said"
    return player.model or ""


def _in_words(words: Iterator[str]) -> str:
    return ", ".join(printable(word) for word in dict.fromkeys(words) if word)
