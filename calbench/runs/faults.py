"""What keeps numbers from meaning what they seem to: a line for each, from tables and settings."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pandas as pd

from calbench.analysis.measures import FLAGGED_BELOW
from calbench.domain.replies import Problem, Unreadable
from calbench.files import printable, shorten
from calbench.metrics.usage import PROBLEMS
from calbench.protocols.registry import Needs, needs_of
from calbench.runs.results import read_run
from calbench.traces.models import GameConfig

REFLECTIONS = "privacy/reflection_calibration"
"""The table that counts reflections; runs that measure scores alone have none."""


def faults_of(tables: Path) -> list[str]:
    """Return what the tables of a run say of unreadable replies and missing reflections.

    Raises:
        FileError: one of them cannot be read.
    """
    results = read_run(tables)
    found = list(unread_replies(results.table("reply_outcomes")))
    if REFLECTIONS in results.tables:
        found += missing_reflections(results.table(REFLECTIONS))
    return found


REMEDIES: Mapping[Problem, str] = {
    "not_json": "hold it to JSON: model.response_format=json_schema, or json_object",
    "wrong_shape": "hold it to the form that is asked for: model.response_format=json_schema",
    "truncated": "let it say more: raise model.max_tokens, or model.reflection_max_tokens",
    "refused": "its provider's filter stops it; ask the provider, or another model",
    "empty": "reasoning may have used all that it may say: raise model.max_tokens",
    "context_exceeded": "its context is too short for these games; choose a longer one",
}
"""What the user can do about unreadable replies, by why they are."""

SHOWN = 120
"""Most characters of a reply that are shown [C]."""


def example(text: str | None, why: Unreadable) -> str:
    """Return a line about one reply that could not be read, with what to do about it."""
    said = printable(shorten(" ".join((text or "").split()), SHOWN)) or "nothing"
    return f"e.g. {why.problem} ({printable(why.detail)}): {said}; {REMEDIES[why.problem]}"


def is_nothing_read(tables: Path) -> bool:
    """Whether a player replied and none of its replies could be read.

    Raises:
        FileError: a table cannot be read.
    """
    rows = read_run(tables).table("reply_outcomes")
    counts = rows.groupby("player")[["replies", "read"]].sum()
    return bool(((counts["replies"] > 0) & (counts["read"] == 0)).any())


def unread_replies(rows: pd.DataFrame) -> Iterator[str]:
    """Yield a line for each player that gave replies nobody could read.

    Args:
        rows: with ``player``, ``kind``, ``replies``, ``read`` and why they could not be read.
    """
    counted = rows.groupby(["player", "kind"], sort=True)[["replies", "read", *PROBLEMS]].sum()
    for counts in counted.astype("int64").reset_index().to_dict("records"):
        replies, unread = counts["replies"], counts["replies"] - counts["read"]
        if not unread:
            continue
        why = ", ".join(f"{counts[problem]} {problem}" for problem in PROBLEMS if counts[problem])
        end = "; it has no score" if unread == replies else ""
        yield (
            f"{unread} of {replies} replies of {counts['player']} were unreadable "
            f"({_share(unread, replies)}: {why}){end}"
        )


def missing_reflections(rows: pd.DataFrame) -> Iterator[str]:
    """Yield a line for each team whose agents were asked what they learnt and did not say.

    Args:
        rows: with ``setting``, ``team``, ``reflections`` and, of these, ``unread``.
    """
    for row in rows[rows["unread"] > 0].to_dict("records"):
        asked, missing = int(row["reflections"]), int(row["unread"])
        if missing == asked:  # agents of one's own need not say what they learnt
            who = f"{row['team']} ({row['setting']})"
            yield (
                f"none of {asked} reflections of {who} could be read: agents of your own may leave "
                "them out; otherwise do not rely on its VPS"
            )
            continue
        is_few = missing > (1 - FLAGGED_BELOW) * asked
        end = f"; less than {FLAGGED_BELOW:.0%} were, so do not rely on its VPS"
        yield (
            f"{missing} of {asked} reflections of {row['team']} ({row['setting']}) were not "
            f"readable ({_share(missing, asked)}){end if is_few else ''}"
        )


def excluded_games(rows: pd.DataFrame) -> Iterator[str]:
    """Yield a line for each team with games that are in no mean.

    Args:
        rows: a row for each game recorded, with ``team`` and ``is_excluded``.
    """
    for team, excluded in rows.groupby("team", sort=True)["is_excluded"]:
        count = int(excluded.sum())
        if count:
            yield (
                f"{count} of {len(excluded)} games of {team} are excluded: a provider or the "
                "budget cut them short"
            )


def closed_channels(configs: Iterable[GameConfig]) -> Iterator[str]:
    """Yield a line for each player that cannot talk because its channels are closed."""
    for config in configs:
        seats = config.team.seats
        known = {seat.player for seat in seats if seat.kind in {"protocol", "degenerate"}}
        for player in sorted(known):
            usable = (needs_of(player) or Needs()).talks_on
            if usable and not set(usable) & set(config.channels):
                is_or_are = "is" if len(usable) == 1 else "are"
                yield (
                    f"{player} talks on {' or '.join(usable)}, which {is_or_are} closed: in team "
                    f"{config.team.team_id} it says nothing; open it with channels={usable[0]}"
                )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%"
