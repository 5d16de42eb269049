"""The published tables of a run, a function each, by subject."""

from calbench.analysis.tables import audits, leaderboard
from calbench.analysis.tables.registry import TABLES, Table, tables_of

__all__ = ["TABLES", "Table", "audits", "leaderboard", "tables_of"]
