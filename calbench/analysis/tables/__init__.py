"""The published tables of a run, a function each, by subject."""

from calbench.analysis.tables import audits, judge, judge_agreement, leaderboard
from calbench.analysis.tables.registry import TABLES, Table, tables_of

__all__ = ["TABLES", "Table", "audits", "judge", "judge_agreement", "leaderboard", "tables_of"]
