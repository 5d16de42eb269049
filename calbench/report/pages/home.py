"""The home page: one game in a picture, and the paper's five measures of every team."""

from calbench.report.games.picture import first_round
from calbench.report.pages.page import Content
from calbench.report.site import Site

SPEAKING = {"language": "scripted speakers", "smollm2": "a very small model"}
"""Pages of agents that talk in plain language."""


def content(site: Site) -> Content:
    """Return the picture, the tables by setting, and what else there is to see."""
    return Content(
        {
            "shown": first_round(site),
            "settings": [(each, site.with_kinds(each.leaderboard)) for each in site.settings],
            "others": [(page, words) for page, words in SPEAKING.items() if site.on(page)],
        }
    )
