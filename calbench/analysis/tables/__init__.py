"""The published tables of a run, a function each, by subject."""

from calbench.analysis.tables import (
    comparisons,
    difficulty,
    draws,
    games,
    leaderboard,
    players,
    privacy,
    reflections,
    regret,
    results,
    standings,
    talk,
)
from calbench.analysis.tables.registry import TABLES, Table, tables_of

__all__ = [
    "TABLES",
    "Table",
    "comparisons",
    "difficulty",
    "draws",
    "games",
    "leaderboard",
    "players",
    "privacy",
    "reflections",
    "regret",
    "results",
    "standings",
    "tables_of",
    "talk",
]
