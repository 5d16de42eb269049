"""The page of the recorded cohort: a very small model whose replies are replayed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from calbench.metrics.outcomes import OUTCOMES
from calbench.report import language_tables as tables
from calbench.report import sections
from calbench.report.language import games_link
from calbench.report.language_tables import Named
from calbench.report.results import ExperimentResults
from calbench.report.setting import SettingResults


@dataclass(frozen=True)
class Cohort:
    """The games of one recorded model."""

    results: ExperimentResults

    @cached_property
    def settings(self) -> tuple[SettingResults, ...]:
        """Its settings."""
        kinds = tables.kind_by_team(self.results)
        return tuple(SettingResults(self.results, each, kinds) for each in self.results.settings)

    def count(self, column: str) -> int:
        """Return a count over all teams and settings (outcomes.csv)."""
        return sum(int(row[column]) for row in self.results.table("outcomes.csv"))


def parts(cohort: Cohort) -> dict[str, Callable[[], str]]:
    """Return what stands for the markers of the page."""
    named = [Named("", cohort.results)]
    return {
        "verdict": lambda: _verdict(cohort),
        "measures": lambda: "\n\n".join(
            tables.team_measures(
                each,
                f"{each.setting}: mean and {cohort.results.confidence} interval over scenarios",
            )
            for each in cohort.settings
        ),
        "outcomes": lambda: "\n\n".join(sections.outcomes(each) for each in cohort.settings),
        "replies": lambda: tables.replies(named),
        "tokens": lambda: tables.tokens(named),
        "calibration": lambda: tables.calibration(named),
        "traces": lambda: games_link(cohort.results),
        "downloads": lambda: sections.table_links(tables.downloads(cohort.results)),
    }


def _verdict(cohort: Cohort) -> str:
    """Return what became of the meetings, in a sentence or two (outcomes.csv)."""
    games, meetings, scheduled = (cohort.count(name) for name in ("games", "meetings", "scheduled"))
    ends = [
        f"{count} {ENDS[name]}"
        for name in OUTCOMES
        if name != "scheduled" and (count := cohort.count(name))
    ]
    share = f"{scheduled} of its" if scheduled else "None of its"
    verb = "was" if scheduled < 2 else "were"
    rest = (
        f" The others: {'; '.join(ends)}." if scheduled else f" They ended so: {'; '.join(ends)}."
    )
    return (
        f"<p><strong>{share} {meetings} {_plural('meeting', meetings)} in {games} "
        f"{_plural('game', games)} {verb} scheduled.</strong>{rest if ends else ''}</p>"
    )


ENDS = {
    "inconsistent_slots": "not in one slot of all participants",
    "no_batch": "without a valid batch of every participant",
    "earlier_meeting_broken": "at the price of an earlier meeting",
    "provider_fault": "lost to a fault of the provider",
    "budget_stop": "stopped by the budget",
}
"""How meetings end that are not scheduled."""


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"
