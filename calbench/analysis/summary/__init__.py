"""Tables over several runs: all of them are registered once this package is imported."""

from calbench.analysis.summary import reproduction
from calbench.analysis.summary.runs import (
    CHANNEL_WORDS,
    EXPERIMENT,
    KIND_WORDS,
    SUMMARY,
    Runs,
    RunTables,
    SummaryTable,
    in_words,
    setting_title,
    together,
    write_summary,
)

__all__ = [
    "CHANNEL_WORDS",
    "EXPERIMENT",
    "KIND_WORDS",
    "SUMMARY",
    "RunTables",
    "Runs",
    "SummaryTable",
    "in_words",
    "reproduction",
    "setting_title",
    "together",
    "write_summary",
]
