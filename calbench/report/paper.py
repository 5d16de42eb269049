"""The page that sets the paper's tables beside ours: published numbers apart from our own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from calbench.report import judge, numbers, paper_ours, sections
from calbench.report.audit_tables import patterns_table, sample_table
from calbench.report.audits import Audits
from calbench.report.escape import html_text
from calbench.report.paper_ours import Ours
from calbench.report.results import Row
from calbench.report.special import (
    CHANNELS,
    LANGUAGE,
    REPRODUCTION,
    SpecialResults,
    titled,
)

Columns = Mapping[str, str]
"""Header of each column by its name, in the order shown; the first one names the row."""

MEASURES: Columns = {
    "player": "Model",
    "agent_games": "Agent-games",
    "scheduled": "Scheduled meetings, of three",
    "coordination": "Coordination, percent",
    "excess_cost": "Excess cost",
    "messages": "Messages per meeting",
    "fairness": "Fairness",
    "excess_vps": "Excess VPS",
}

REGRET: Columns = {
    "player": "Model",
    "seats": "Seats",
    "full_seats": "Full seats",
    "mean_excess": "Mean excess",
    "nonzero_regret_percent": "Regret not 0, percent",
}

FIRST: Columns = {
    "player": "Model",
    "vps_first": "VPS, first",
    "vps_subsequent": "VPS, later",
    "vps_difference": "Difference",
    "vps_p_adjusted": "p adjusted",
    "cost_first": "Cost, first",
    "cost_subsequent": "Cost, later",
    "cost_difference": "Difference",
    "cost_p_adjusted": "p adjusted",
}

EXTRACTORS: Columns = {
    "label": "Extractor",
    "precision": "Precision",
    "precision_low": "low",
    "precision_high": "high",
    "recall": "Recall",
    "recall_low": "low",
    "recall_high": "high",
}

PROBE: Columns = {"property": "Property", "value": "Value"}

PATTERNS: Columns = {
    "pattern": "Pattern",
    "rank": "Rank",
    "level": "Level",
    "count": "Count",
    "top_models": "Mostly",
}

JUDGE_TOTALS: Columns = {
    "dataset": "Games of",
    "beliefs": "Beliefs",
    "judge_vps": "VPS by the judge",
    "judge_vps_calibrated": "calibrated",
    "primary_vps": "VPS by the primary measure",
}

JUDGE_AGREEMENT: Columns = {"statistic": "Statistic", "value": "Value"}

PRICES: Columns = {
    "player": "Model",
    "traces": "Traces",
    "price_usd_uniform": "US$, uniform",
    "price_usd_varied": "US$, varied",
    "price_usd": "US$",
}

WORDS = frozenset({"level", "top_models", "property"})
"""Columns of words; those of numbers may hold a few words too, as the paper prints them."""


@dataclass(frozen=True)
class Paper:
    """The published tables, our experiments, and the audits of language.

    Attributes:
        special: has the folder of published tables.
        ours: what stands beside them.
        audits: of those of our experiments in which somebody spoke in words.
    """

    special: SpecialResults
    ours: Ours
    audits: Audits

    def write(self, tables: Path) -> None:
        """Bring the judge's tables."""
        judge.write(self.ours.experiments, tables)


def parts(paper: Paper) -> dict[str, Callable[[], str]]:
    """Return what stands for the markers of the page."""
    ours = paper.ours
    return {
        "see-table-2": lambda: _see_table2(paper),
        "see-audits": lambda: _see_audits(paper),
        "table-1": lambda: _table1(paper),
        "table-11": lambda: _pair(paper, "table11", REGRET, paper_ours.table11(ours)),
        "table-12": lambda: _pair(paper, "table12", FIRST, paper_ours.table12(ours)),
        "table-13": lambda: _pair(paper, "table13", EXTRACTORS, sample_table(paper.audits.sample)),
        "table-14": lambda: _pair(paper, "table14", PROBE, paper_ours.table14(ours)),
        "table-15": lambda: _pair(paper, "table15", PATTERNS, _patterns(paper)),
        "table-16": lambda: _pair(paper, "table16", JUDGE_TOTALS, judge.totals(ours.experiments)),
        "table-17": lambda: _pair(
            paper, "table17", JUDGE_AGREEMENT, judge.agreement(ours.experiments)
        ),
        "figure-9": lambda: paper_ours.figure9(ours),
        "talk": lambda: paper_ours.talk(ours),
        "appendix-c": lambda: _pair(paper, "appendix_c", PRICES, paper_ours.usage(ours)),
        "downloads": lambda: sections.table_links(_downloads(paper)),
    }


def _see_table2(paper: Paper) -> str:
    if paper.special.named(REPRODUCTION) is None:
        return ""
    return (
        '<p><a href="reproduction.html">Table 2</a>, the one that our protocols can be held '
        "against, has a page of its own.</p>"
    )


def _see_audits(paper: Paper) -> str:
    if not paper.audits.experiments:
        return ""
    return '<p><a href="audits.html#patterns">Audits of language</a> has every channel.</p>'


def _pair(paper: Paper, name: str, columns: Columns, ours: str) -> str:
    return f"{_published(paper, name, columns)}\n\n{ours}"


def _published(paper: Paper, name: str, columns: Columns, setting: str | None = None) -> str:
    """Return a published table, word for word, with its source; nothing if we do not have it."""
    rows = [
        row
        for row in paper.special.published_rows(f"{name}.csv")
        if row["source"] == "paper" and (setting is None or row["setting"] == setting)
    ]
    if not rows:
        return ""
    notes = dict.fromkeys(row["note"] for row in rows)
    is_one = len(notes) == 1
    where = f", {setting}" if setting else ""
    shown = numbers.table(
        f"Published: {_printed(name)} of the paper{where}{f' ({next(iter(notes))})' * is_one}",
        [
            *(
                numbers.word_header(text) if name in WORDS else numbers.plain_header(text)
                for name, text in columns.items()
            ),
            *([] if is_one else [numbers.word_header("Where from")]),
        ],
        [
            [*_cells(row, columns), *([] if is_one else [numbers.word_cell(row["note"])])]
            for row in rows
        ],
    )
    return f'<div class="cb-published">\n{shown}\n</div>'


def _printed(name: str) -> str:
    return "Appendix C" if name == "appendix_c" else name.replace("table", "Table ")


def _cells(row: Row, columns: Columns) -> list[str]:
    first, *others = columns
    head = f'<th scope="row">{html_text(row[first].replace("_", " "))}</th>'
    return [head, *(_cell(name, row[name]) for name in others)]


def _cell(name: str, text: str) -> str:
    """Return a published cell: a number where it is one, else its words."""
    if name in WORDS or not text.replace(".", "").replace("-", "").isdigit():
        return numbers.word_cell(text) if text else numbers.number_cell("")
    return numbers.number_cell(text)


def _table1(paper: Paper) -> str:
    """Return Table 1 and ours, setting by setting."""
    shown = []
    for setting in paper.ours.settings:
        shown += [
            f'<h3 id="table-1-{html_text(setting)}">{html_text(setting)}</h3>',
            _published(paper, "table1", MEASURES, setting),
            paper_ours.table1(paper.ours, setting),
        ]
    return "\n\n".join(filter(None, shown))


def _patterns(paper: Paper) -> str:
    """Return our patterns; of the channels the first stands for all."""
    return "\n\n".join(
        patterns_table(results, setting, f"Ours: {titled(results)}, {setting}; count and rate")
        for results in paper.audits.experiments
        if results.name == LANGUAGE or results.name not in CHANNELS
        for setting in results.settings
    )


def _downloads(paper: Paper) -> list[str]:
    made = [
        "scheduled_by_player.csv",
        *(["audit_sample.csv"] if paper.audits.sample.is_file() else []),
    ]
    published = sorted(path.name for path in paper.special.published.glob("*.csv"))
    names = (
        "players", "completion_regret", "first_speaker", "prior_moves", "messages_by_meeting",
        "audit_patterns", "usage",
    )  # fmt: skip
    ours = [
        f"{results.name}/{name}.csv"
        for results in paper.ours.experiments
        for name in names
        if results.optional(f"{name}.csv")
    ]
    judged = judge.downloads(paper.ours.experiments)
    return [*made, *(f"published/{name}" for name in published), *ours, *judged]
