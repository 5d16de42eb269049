"""The published tables of a run, a function each, by subject."""

from calbench.analysis.tables import leaderboard, privacy, reflections, talk
from calbench.analysis.tables.registry import TABLES, Table, tables_of

__all__ = ["TABLES", "Table", "leaderboard", "privacy", "reflections", "tables_of", "talk"]
