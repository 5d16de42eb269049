"""Fills templates: pages are Markdown with Jinja in them, and every value is escaped."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, PackageLoader, StrictUndefined, TemplateError
from jinja2.loaders import ChoiceLoader
from markupsafe import Markup

from calbench.analysis.measures import HEADLINE
from calbench.errors import FileError
from calbench.report import columns
from calbench.report.escape import html_text, markdown_text
from calbench.report.tables import cell_of, grouped, ordered, wide

MACROS = (
    "tables.jinja",
    "figures.jinja",
    "parts.jinja",
    "picture.jinja",
    "featured.jinja",
    "dictionary.jinja",
    "plane.jinja",
    "environment.jinja",
)
"""What every page may use, in ``calbench/report/templates``."""

COLUMNS: Mapping[str, Any] = {
    name: getattr(columns, name)
    for name in (
        *("head", "team", "word", "term", "vps_kind", "note", "link", "links"),
        *("number", "numbers", "interval", "intervals"),
        *("measure", "measures", "plain_measure", "plain_measures"),
        *("losses", "NO_INTERVAL"),
    )
} | {"HEADLINE": HEADLINE}
"""How a page's template says what a table shows."""

ASSETS: Mapping[str, tuple[str, ...]] = {
    "home": ("home/plane.css", "home/home.css"),
    "columns": ("results/columns.css", "results/columns.js"),
    "leaderboard": (
        "home/plane.css",
        "board/marks.css",
        "board/leaderboard.css",
        "board/leaderboard.js",
    ),
    "comparisons": ("board/leaderboard.css", "board/comparisons.js"),
    "method": ("method/environment.css",),
    "ratings": ("board/leaderboard.css",),
    "players": ("board/marks.css", "home/plane.css", "board/player.css"),
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
        "traces/menu.js",
        "traces/play.js",
        "traces/viewer.js",
    ),
}
"""Scripts and style sheets below the site's ``assets`` by what they serve, in the order in which
they are read; every page has those of MkDocs."""


def environment(folder: Path) -> Environment:
    """Return what fills the templates of a folder.

    Whatever is not markup is escaped for HTML on its way into a page; in Markdown outside of HTML
    the filter ``markdown`` escapes its marks too. A name without a value is an error. ``{#`` is no
    comment, as Markdown writes anchors that way.
    """
    found = Environment(
        loader=ChoiceLoader([FileSystemLoader(folder), PackageLoader("calbench.report")]),
        autoescape=True,
        extensions=["jinja2.ext.do"],
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        comment_start_string="{#-",
        comment_end_string="-#}",
    )
    found.filters["rounded"] = columns.rounded
    found.filters["apart"] = columns.apart
    found.tests["known"] = columns.is_known
    found.filters.update(grouped=grouped, ordered=ordered, wide=wide)
    found.filters["cell"] = cell_of
    found.globals["data"] = data
    found.filters["markdown"] = lambda value: Markup(markdown_text(value))  # noqa: S704
    return found


def _finalized(value: Any) -> Any:
    """Escape what is no markup, braces and backticks too."""
    return value if hasattr(value, "__html__") else Markup(html_text(value))  # noqa: S704


def data(cell: Any, digits: int | None = None) -> Markup:
    """Return a number rounded for the eye, with the cell of the CSV word for word in ``value``."""
    shown = html_text(columns.rounded(cell, digits))
    return Markup(f'<data value="{html_text(cell)}">{shown}</data>')  # noqa: S704


class Templates:
    """The templates of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = environment(folder)
        self.macros = lru_cache(self._macros)

    def filled(self, name: str, root: str, values: Mapping[str, Any]) -> str:
        """Return a template with its values.

        Args:
            name: of the template, below the folder.
            root: the way from the page to the site's root: empty, or ``../``.
            values: by name.

        Raises:
            FileError: the template is broken, or asks for a value that it is not given.
        """
        try:
            page = self._environment.get_template(name)
            return page.render({**COLUMNS, **self.macros(root), "root": root, **values})
        except TemplateError as error:
            line = getattr(error, "lineno", None)
            where = f"{self._folder / name}" + (f", line {line}" if line else "")
            raise FileError(f"{where}: {error}") from error

    def _macros(self, root: str) -> dict[str, Any]:
        """Return the macros of every page, for a way to the site's root."""
        found: dict[str, Any] = {}
        for name in MACROS:
            module = self._environment.get_template(name).make_module(
                {**COLUMNS, "ASSETS": ASSETS, "root": root}
            )
            found.update(
                {key: each for key, each in vars(module).items() if not key.startswith("_")}
            )
        return found
