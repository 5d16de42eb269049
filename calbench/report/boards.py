"""Where the home page, the leaderboard, ratings and comparisons get their numbers from."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from calbench.report import comparisons, leaderboard, ratings
from calbench.report.board import COLUMNS, build_views
from calbench.report.gamefiles import write_data
from calbench.report.picture import picture
from calbench.report.results import ExperimentResults
from calbench.report.special import LANGUAGE, SMOLLM2, SpecialResults, write_table


def write(
    experiments: Sequence[ExperimentResults], special: SpecialResults, docs: Path
) -> Mapping[str, Callable[[], str]]:
    """Write the pages' data and ``tables/leaderboard.csv``.

    Args:
        experiments: those with pages of their own.
        special: what has special pages; language agents and the recorded cohort join in.
        docs: the folder of pages.

    Returns:
        What stands for the markers of these pages.
    """
    recorded = special.named(SMOLLM2)
    shown = [*experiments, *special.of_channels(), *([recorded] if recorded else [])]
    views = build_views(shown)
    rows = [row for view in views for row in view.rows]
    write_table(docs / "tables" / "leaderboard.csv", rows, COLUMNS)
    write_data(docs / "pagedata", "leaderboard", leaderboard.page_data(views))
    write_data(docs / "pagedata", "comparisons", comparisons.page_data(shown))
    spoken = special.named(LANGUAGE)
    return {
        "picture": lambda: picture([*([spoken] if spoken else []), *experiments]),
        "leaderboard": lambda: leaderboard.table(views),
        "published": lambda: leaderboard.published(special),
        "ratings": lambda: ratings.ratings(shown),
        "apart": lambda: ratings.apart(shown),
        "comparisons": lambda: comparisons.table(shown),
        "comparison-tables": lambda: comparisons.downloads(shown),
    }
