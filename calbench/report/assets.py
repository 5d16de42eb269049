"""Scripts and style sheets of the pages, by what they serve; every page has those of MkDocs."""

from collections.abc import Mapping

ASSETS: Mapping[str, tuple[str, ...]] = {
    "home": ("home/home.css",),
    "leaderboard": ("board/leaderboard.css", "board/leaderboard.js"),
    "comparisons": ("board/leaderboard.css", "board/comparisons.js"),
    "ratings": ("board/leaderboard.css",),
    "figures": ("figures/figures.css", "vendor/plotly.min.js", "figures/figures.js"),
    "paper": ("results/paper.css",),
    "traces": (
        "traces/traces.css",
        "traces/finder.css",
        "traces/viewer.css",
        "traces/pagedata.js",
        "traces/finder.js",
        "traces/text.js",
        "traces/frames.js",
        "traces/private-view.js",
        "traces/grid.js",
        "traces/costs.js",
        "traces/talk.js",
        "traces/beliefs.js",
        "traces/ledger.js",
        "traces/prompts.js",
        "traces/game-view.js",
        "traces/compare.js",
        "traces/play.js",
        "traces/viewer.js",
    ),
}
"""Files below the site's ``assets``, in the order in which they are read."""
