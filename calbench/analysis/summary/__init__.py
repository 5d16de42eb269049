"""Tables over several runs; importing this package registers them."""

from calbench.analysis.summary import front, judge, table2
from calbench.analysis.summary.runs import (
    EXPERIMENT,
    KIND_WORDS,
    SUMMARY,
    Runs,
    RunTables,
    in_words,
    setting_title,
    write_summary,
)

__all__ = [
    "EXPERIMENT",
    "KIND_WORDS",
    "SUMMARY",
    "RunTables",
    "Runs",
    "front",
    "in_words",
    "judge",
    "setting_title",
    "table2",
    "write_summary",
]
