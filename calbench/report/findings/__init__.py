"""What was found, in sentences that are made of published tables and change with them.

A finding is a function from a site to a sentence, or to nothing where its tables are absent or
say no such thing. The home page shows the first ones that exist.
"""

from calbench.report.findings import best, models, reveal
from calbench.report.findings.contest import Finding
from calbench.report.site import Site

FINDINGS = (
    best.least_cost,
    reveal.labels_told,
    models.recorded,
    best.price_of_words,
    best.optimum_unreachable,
    best.unequal_burden,
)
"""In the order in which they are preferred."""

MOST = 3
"""On the home page [R]."""


def findings(site: Site, most: int = MOST) -> list[Finding]:
    """Return the first findings that a site's tables support."""
    found = (finding(site) for finding in FINDINGS)
    return [each for each in found if each is not None][:most]
