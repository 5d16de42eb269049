"""Tables over several runs; importing this package registers them."""

from calbench.analysis.summary import exact, featured, front, judge, same_tasks, table2, typical
from calbench.analysis.summary.runs import (
    EXPERIMENT,
    KIND_WORDS,
    SUMMARY,
    Runs,
    RunTables,
    evenly,
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
    "evenly",
    "exact",
    "featured",
    "front",
    "in_words",
    "judge",
    "same_tasks",
    "setting_title",
    "table2",
    "typical",
    "write_summary",
]
