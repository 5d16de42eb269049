"""The page of every pair of teams: what is shown of their difference, and how surely."""

from typing import Any

from calbench.analysis.measures import MEASURES
from calbench.analysis.tables.silence import NO_BETTER
from calbench.analysis.verdicts import DIFFERENT, NOT_TOLD_APART, VERDICTS
from calbench.report.columns import MEASURE_BY_NAME, NO_INTERVAL, anchor
from calbench.report.experiment import level_of, percent
from calbench.report.pages.board.leaderboard import FIRST_MEASURE
from calbench.report.pages.board.views import has_page
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Row, cell_of

TABLE, SILENCE, PRICES = "comparisons.csv", "silence.csv", "break_even.csv"

COLUMNS = (
    "team_a", "team_b", "measure", "scenarios", "difference", "difference_low", "difference_high",
    "difference_interval", "p", "p_adjusted", "margin", "p_equivalent", "p_equivalent_adjusted",
    "verdict", "remark", "minimum_detectable_difference", "required_scenarios",
)  # fmt: skip
"""Of the table, as the page's data has them."""


def content(site: Site) -> Content:
    """Return the first setting's pairs in the first measure, and the data of all."""
    named = {"measure": FIRST_MEASURE}
    first = next((view for view in site.views if view.rows(TABLE, **named)), None)
    pairs = [{**row, "said": said(row)} for row in first.rows(TABLE, **named)] if first else []
    title = MEASURE_BY_NAME[FIRST_MEASURE].title
    against = [{**row, "games": view.title} for view in site.views for row in view.rows(SILENCE)]
    return Content(
        {
            "measure": title,
            "first": first,
            "pairs": pairs,
            "against": against,
            "unproven": [row for row in against if row["verdict"] == NO_BETTER],
            "level": level_of(site.ranked),
            "prices": {
                each.title: [row for row in each.rows(PRICES) if row["price"] is not None]
                for each in site.settings
            },
        },
        data={"comparisons": page_data(site)},
        tables=[f"{each.name}/{name}" for each in site.ranked for name in (SILENCE, PRICES)],
    )


def page_data(site: Site) -> dict[str, Any]:
    """Return what the page's script needs: all rows of the table, by setting."""
    return {
        "columns": list(COLUMNS),
        "first": FIRST_MEASURE,
        "no_interval": dict(NO_INTERVAL),
        "verdicts": [*VERDICTS],
        "players": sorted(
            {row["team"] for row in site.summary.optional("leaderboard.csv") if has_page(row)}
        ),
        "measures": [
            {
                **{part: getattr(each, part) for part in ("name", "title", "unit", "better")},
                "link": f"../method.html#{anchor(each.name)}",
            }
            for each in MEASURES
        ],
        "groups": [
            {
                "experiment": view.experiment.name,
                "setting": view.name,
                "confidence": view.confidence,
                "level": view.experiment.level,
                "power": percent(view.experiment.made_with.analysis.power),
                "rows": [[cell_of(row[name]) for name in COLUMNS] for row in view.rows(TABLE)],
            }
            for view in site.views
            if view.rows(TABLE)
        ],
    }


def would_be_found(row: Row) -> str:
    """Return which difference would have been found, of a pair that is not told apart."""
    size = row.get("minimum_detectable_difference")
    is_open = row["verdict"] == NOT_TOLD_APART and size is not None
    return f"; {size:.2f} would have been found" if is_open else ""


def said(row: Row) -> str:
    """Return what is shown of a pair: which team is better, or the verdict and a remark."""
    remark = f": {row['remark']}" if row["remark"] else ""
    if row["verdict"] != DIFFERENT:
        return f"{row['verdict']}{remark}{would_be_found(row)}"
    is_higher = row["difference"] > 0
    is_first = is_higher == (MEASURE_BY_NAME[row["measure"]].better == "higher")
    better = f"{row['team_a'] if is_first else row['team_b']} is better"
    return f"{better}, {row['remark']}" if row["remark"] else better
