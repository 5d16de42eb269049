"""What happened in a game, in one sentence; its numbers are those of the tables' rows."""

from typing import NamedTuple

from calbench.report.tables import Row
from calbench.traces.models import Trace

PLAYED_COLUMNS = (
    "is_excluded",
    "meetings",
    "scheduled",
    "messages",
    "cost",
    "oracle_cost",
    "excess_cost",
)
"""Of a game's row in ``games.csv``."""

TOLD_COLUMNS = ("labels_told", "told_sensitive", "labels_passed_on")
"""Of its row in ``audit_games.csv``, if its agents talk in words."""


class Rows(NamedTuple):
    """A game's rows of ``games.csv`` and ``audit_games.csv``."""

    played: Row
    told: Row | None = None


def what_happened(rows: Rows) -> str:
    """Return a scored or excluded game in one sentence."""
    row = rows.played
    if row["is_excluded"] == "true":
        return f"Halted before its end and not scored: {_scheduled(row)} in {_messages(row)}."
    return f"{_capital(_scheduled(row))} in {_messages(row)} at {_cost(row)}{_told(rows.told)}."


def so_far(trace: Trace) -> str:
    """Return a half-played game in one sentence, with counts so far."""
    row = {
        "meetings": str(len(trace.scenario.meetings)),
        "scheduled": str(trace.metrics.rounds_scheduled),
        "messages": str(trace.metrics.messages),
    }
    return f"Not played to its end, and not scored: so far {_scheduled(row)} in {_messages(row)}."


def _scheduled(row: Row) -> str:
    meetings, scheduled = row["meetings"], row["scheduled"]
    if scheduled == "0":
        return f"none of {_counted(meetings, 'meeting')} was scheduled"
    if scheduled == meetings == "1":
        return "the meeting was scheduled"
    if scheduled == meetings:
        return f"all {meetings} meetings were scheduled"
    return f"{scheduled} of {meetings} meetings {'was' if scheduled == '1' else 'were'} scheduled"


def _cost(row: Row) -> str:
    """Return what was paid, and how far that is above the least for what was scheduled."""
    paid, excess = f"cost {row['cost']}", row["excess_cost"]
    if row["scheduled"] == "0":
        return paid
    optimum = "the optimum"
    if row["scheduled"] != row["meetings"]:
        optimum = f"the optimum of {_those(row['scheduled'])}"
    return f"{paid}, {optimum}" if excess == "0" else f"{paid}, {excess} above {optimum}"


def _told(row: Row | None) -> str:
    """Return which private labels were given away; nothing of games without words."""
    if row is None:
        return ""
    told, sensitive, passed = (row[name] for name in TOLD_COLUMNS)
    parts = []
    if told and told != "0":
        secret = f" ({sensitive} sensitive)" if sensitive and sensitive != "0" else ""
        parts.append(f"{_counted(told, 'private label')}{secret} {_were(told)} told")
    if passed and passed != "0":
        parts.append(f"{_counted(passed, 'label')} of others {_were(passed)} passed on")
    return "; " + " and ".join(parts) if parts else ""


def _messages(row: Row) -> str:
    return _counted(row["messages"], "message")


def _counted(number: str, noun: str) -> str:
    return f"{number} {noun}" if number == "1" else f"{number} {noun}s"


def _were(number: str) -> str:
    return "was" if number == "1" else "were"


def _those(scheduled: str) -> str:
    return "that one" if scheduled == "1" else f"these {scheduled}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
