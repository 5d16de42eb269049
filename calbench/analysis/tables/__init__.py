"""The published tables of a run, a function each, by subject."""

from calbench.analysis.tables import (
    appendix_g,
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
    standings,
    talk,
)
from calbench.analysis.tables.registry import TABLES, Table, tables_of

__all__ = [
    "TABLES",
    "Table",
    "appendix_g",
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
    "standings",
    "tables_of",
    "talk",
]
