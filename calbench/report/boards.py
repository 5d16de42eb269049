"""Where the home page, the leaderboard, ratings and comparisons get their numbers from."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from calbench.report import comparisons, leaderboard, ratings
from calbench.report.board import views_of
from calbench.report.gamefiles import write_data
from calbench.report.links import playing
from calbench.report.picture import picture
from calbench.report.results import ExperimentResults, Summary
from calbench.report.special import LANGUAGE, SpecialResults


def write(
    experiments: Sequence[ExperimentResults],
    special: SpecialResults,
    summary: Summary,
    docs: Path,
) -> Mapping[str, Callable[[], str]]:
    """Write the pages' data.

    Args:
        experiments: those with pages of their own.
        special: what has special pages; language agents and the recorded cohort join in.
        summary: tables over several runs.
        docs: the folder of pages.

    Returns:
        What stands for the markers of these pages.
    """
    shown = playing(experiments, special)
    views = views_of(summary.table("leaderboard.csv"), shown)
    write_data(docs / "pagedata", "leaderboard", leaderboard.page_data(views))
    write_data(docs / "pagedata", "comparisons", comparisons.page_data(shown))
    spoken = special.named(LANGUAGE)
    return {
        "picture": lambda: picture([*([spoken] if spoken else []), *experiments]),
        "leaderboard": lambda: leaderboard.table(views),
        "published": lambda: leaderboard.published(special),
        "ratings": lambda: ratings.ratings(shown),
        "apart": lambda: ratings.unrated(shown),
        "comparisons": lambda: comparisons.table(shown),
        "comparison-tables": lambda: comparisons.downloads(shown),
    }
