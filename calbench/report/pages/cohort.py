"""The page of the recorded cohort: a very small model whose replies are replayed."""

from calbench.metrics.outcomes import OUTCOMES
from calbench.report.pages.language import spoken
from calbench.report.pages.page import Content
from calbench.report.site import Site, settings_of


def content(site: Site) -> Content | None:
    """Return what became of the meetings, and how the model's replies were read."""
    shown = site.on("smollm2")
    if not shown:
        return None
    outcomes = [row for each in shown for row in each.tables.rows("outcomes.csv")]
    counts = {
        name: sum(int(row[name]) for row in outcomes) for name in ("games", "meetings", *OUTCOMES)
    }
    return Content(
        {
            **spoken(site, shown),
            "counts": counts,
            "outcomes": [site.with_kinds(each.rows("outcomes.csv")) for each in settings_of(shown)],
            "outcome_names": OUTCOMES,
        }
    )
