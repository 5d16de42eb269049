"""The published tables of a run, a function each, by subject."""

from calbench.analysis.tables import (
    audits,
    comparisons,
    difficulty,
    draws,
    games,
    judge,
    judge_agreement,
    leaderboard,
    players,
    privacy,
    ratings,
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
    "audits",
    "comparisons",
    "difficulty",
    "draws",
    "games",
    "judge",
    "judge_agreement",
    "leaderboard",
    "players",
    "privacy",
    "ratings",
    "reflections",
    "regret",
    "results",
    "standings",
    "tables_of",
    "talk",
]
