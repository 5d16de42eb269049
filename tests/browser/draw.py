"""Draws one page or one figure of the site: `make draw OF=results/cost.md` or `OF=fairness-varied`.

From the tables that `dvc repro` made, with the code and texts that are here. A page looks as in the
site, but its links lead nowhere and its trace browser has no game. Nothing else is written.
"""

import json
from difflib import get_close_matches
from pathlib import Path

import yaml

from calbench.errors import ConfigError
from calbench.folders import replaced
from calbench.report.build import CONFIG, build_site
from calbench.report.figures.figure import Figure
from calbench.report.figures.style import checked
from calbench.report.pages import PAGES
from calbench.report.pages.gallery import SECTIONS
from calbench.report.site import Site
from calbench.report.writing import Pages, read_config, write_assets, write_config
from stages import paths
from stages.publish import site

DRAWN = paths.BUILD / "drawn"


def main(arguments: list[str]) -> None:
    """Draw what the argument names; print where it is."""
    name = arguments[0] if arguments else ""
    print(draw_page(site(), name, DRAWN) if name.endswith(".md") else draw_figure(site(), name))


def draw_page(shown: Site, path: str, folder: Path) -> Path:
    """Build a site of one page.

    Args:
        shown: what the pages show.
        path: of the page, as in ``PAGES``, such as ``results/cost.md`` or ``players/imap.md``.
        folder: where pages are drawn; what was drawn there before is replaced.

    Raises:
        CalbenchError: there is no such page, or it cannot be built.
    """
    with replaced(folder / "src") as written:
        pages = Pages(shown, written / "docs", path)
        if not pages.listed:
            raise _unknown("page", path, [page.path for page in PAGES])
        write_assets(shown, written / "docs" / "assets")
        pages.write_data()
        pages.write()
        config = written / CONFIG
        write_config(shown.sources / CONFIG, pages.listed, config)
        elsewhere = {"validation": {"links": dict.fromkeys(("not_found", "anchors"), "ignore")}}
        config.write_text(yaml.safe_dump(read_config(config) | elsewhere, sort_keys=False))
    build_site(folder / "src", folder / "site")
    return folder / "site" / pages.listed[0].address


def draw_figure(shown: Site, key: str, folder: Path = DRAWN) -> Path:
    """Write a figure of a page of figures as a page of Plotly's own.

    Args:
        shown: what the pages show.
        key: of the figure: its section and its setting, such as ``fairness-varied``.
        folder: where to.

    Raises:
        ConfigError: there is no such figure.
    """
    known = {
        f"{section.name}-{setting.slug}": (section, setting)
        for section in SECTIONS
        for setting in shown.views
    }
    if key not in known:
        raise _unknown("figure", key, list(known))
    section, setting = known[key]
    figure: Figure = section.figure(setting, shown.styles)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{key}.html"
    plain = json.loads(json.dumps(figure.drawn))  # Plotly knows no cells of tables
    drawn = checked(plain).update_layout(title=figure.title, height=figure.height)
    drawn.write_html(path, include_plotlyjs="directory")
    return path


def _unknown(what: str, name: str, known: list[str]) -> ConfigError:
    near = get_close_matches(name, known) or known
    return ConfigError(f"there is no {what} {name!r}; known are {', '.join(near)}")


if __name__ == "__main__":
    paths.answer(main)
