"""The pages of figures: which figures each section has, in which view."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from calbench.report.escape import html_text
from calbench.report.figures import audits, difficulty, published, regret, talk
from calbench.report.figures.figure import Figure, place
from calbench.report.figures.style import Style
from calbench.report.figures.views import View, who

ROOT = "../"
"""The way from these pages to the site's root."""

PAGES: Mapping[str, tuple[str, ...]] = {
    "talk": ("messages-excess", "messages-meeting", "first-vps", "first-cost"),
    "cost": ("fairness", "split", "optimum", "completion", "prior"),
    "difficulty": ("thirds-excess", "thirds-placed"),
    "words": ("patterns", "events", "own-slot", "leaks"),
}
"""The sections of each page; their names are those of markers and anchors."""


@dataclass(frozen=True)
class Gallery:
    """All figures that a switch chooses from.

    Attributes:
        views: what it chooses from, in its order.
        style_by_name: how each team and player looks.
        read: reads published numbers; ``None`` where there are none.
    """

    views: Sequence[View]
    style_by_name: Mapping[str, Style]
    read: published.Read | None = None

    @cached_property
    def figures(self) -> dict[str, list[tuple[View, Figure]]]:
        """The figures of each section, by view; those without a number too."""
        look = self.style_by_name
        make: dict[str, Callable[[View], Figure]] = {
            "messages-excess": lambda view: talk.messages_excess(view, look),
            "messages-meeting": lambda view: talk.messages_by_meeting(view, look),
            "first-vps": lambda view: talk.first_speaker(view, "vps"),
            "first-cost": lambda view: talk.first_speaker(view, "excess_cost"),
            "fairness": lambda view: regret.fairness(view, look),
            "split": regret.split,
            "optimum": regret.optimum_unreachable,
            "completion": lambda view: regret.completion(view, look),
            "prior": lambda view: regret.prior_moves(view, look),
            "thirds-excess": lambda view: difficulty.by_third(view, "excess"),
            "thirds-placed": lambda view: difficulty.by_third(view, "placed"),
            "patterns": lambda view: audits.patterns(view, look),
            "events": lambda view: audits.events(view, look),
            "own-slot": lambda view: audits.own_slot(view, look),
            "leaks": lambda view: audits.leaks(view, look),
        }
        return {name: [(view, build(view)) for view in self.views] for name, build in make.items()}

    @cached_property
    def published(self) -> dict[str, list[Figure]]:
        """The figures of published numbers by section."""
        return {} if self.read is None else published.figures(self.read)

    def shown(self, page: str) -> list[str]:
        """Return the views in which a page has something to show."""
        return [
            view.key
            for view in self.views
            if any(
                figure.rows
                for name in PAGES[page]
                for each, figure in self.figures[name]
                if each is view
            )
        ]

    def write(self, docs: Path) -> None:
        """Write page data and tables of every figure that has numbers."""
        for found in self.figures.values():
            for _, figure in found:
                if figure.rows:
                    figure.write(docs)
        for figures in self.published.values():
            for figure in figures:
                figure.write(docs)

    def parts(self) -> dict[str, Callable[[], str]]:
        """Return what stands for the markers of the pages."""
        return {
            f"views-{name}": partial(self._section, page, name)
            for page, names in PAGES.items()
            for name in names
        }

    def _section(self, page: str, name: str) -> str:
        """Return a section's figures, one view of which is shown at a time."""
        shown = self.shown(page)
        ours = [
            _view(view, name, figure, is_first=view.key == shown[0])
            for view, figure in self.figures[name]
            if view.key in shown
        ]
        theirs = [place(figure, ROOT) for figure in self.published.get(name, ())]
        if theirs:
            head = f'<h3 id="{name}-published">From the paper, of other games</h3>'
            theirs = [f'<div class="cb-theirs">\n{head}\n' + "\n".join(theirs) + "\n</div>"]
        return "\n\n".join([*ours, *theirs])


def _view(view: View, name: str, figure: Figure, *, is_first: bool) -> str:
    body = (
        place(figure, ROOT)
        if figure.rows
        else f"<p>Nothing to draw: no row of {html_text(figure.sources[0])} has a number.</p>"
    )
    style = "cb-view cb-shown" if is_first else "cb-view"
    return (
        f'<section class="{style}" data-view="{html_text(view.key)}" '
        f'data-title="{html_text(view.title)}" data-search-exclude>\n'
        f'<h3 id="{name}-{html_text(view.key)}">{html_text(view.title)}</h3>\n{body}\n</section>'
    )


def names_of(views: Sequence[View]) -> list[str]:
    """Return every team and player of the views, in their order."""
    return list(
        dict.fromkeys(
            name
            for view in views
            for name in (
                *(row["team"] for row in view.leaderboard),
                *(who(row) for row in view.rows("players.csv")),
            )
        )
    )
