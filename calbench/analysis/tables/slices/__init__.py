"""Mixed teams as slices of a cohort: Table 1 of its players, and what further games would tell."""

from calbench.analysis.tables.slices import further, proposals, table1

__all__ = ["further", "proposals", "table1"]
