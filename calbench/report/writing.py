"""Writes the folder from which the site is built: pages, page data, tables and schemas."""

import json
import re
import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from calbench.analysis.audit_sample import SAMPLE
from calbench.analysis.summary import SUMMARY
from calbench.documents import read_yaml
from calbench.errors import FileError, OutputError
from calbench.folders import is_own, replaced
from calbench.pool import Pool
from calbench.report import hooks
from calbench.report.build import CONFIG
from calbench.report.downloads import NONE, Downloads, write_downloads
from calbench.report.escape import packed_text, write_data
from calbench.report.figures.figure import write_figures
from calbench.report.games.files import write_games
from calbench.report.pages import navigation, pages_of, see_also
from calbench.report.pages.page import Page
from calbench.report.panels import CARD, card_fits
from calbench.report.site import LEAKING, SECOND_HAND, Site
from calbench.report.tables import csv_bytes
from calbench.report.templating import Templates
from calbench.scenarios.storage import scenario_schema
from calbench.traces.storage import trace_schema

TABLES = "tables"
"""Folder of all tables, from which those that pages link are packed; MkDocs leaves it out."""

# e.g. 'data-table="regret/by_team.csv"'; not 'data-table=""'
LINKED = re.compile(r'data-table="([\w./-]+)"')
"""A link to a table, as ``templates/tables.jinja`` writes it."""


class Pages:
    """The pages that a site has.

    Args:
        site: what to show.
        docs: the folder that they are written to.
        only: path of the one page that is wanted; absent: all.

    Raises:
        CalbenchError: two results would share a page.
        FileError: a table does not fit.
    """

    def __init__(self, site: Site, docs: Path, only: str = "") -> None:
        self._site = site
        self._docs = docs
        self._contents = pages_of(site, only)

    @property
    def listed(self) -> list[Page]:
        """In the order of the navigation."""
        return list(self._contents)

    def write_data(self) -> None:
        """Write what the pages' scripts read."""
        figures = [figure for content in self._contents.values() for figure in content.figures]
        write_figures(figures, self._docs)
        for content in self._contents.values():
            for key, data in content.data.items():
                write_data(self._docs / "pagedata", key, data)

    def write_tables(self) -> None:
        """Pack the tables that pages link for their script, in one file for each folder."""
        linked = {name for content in self._contents.values() for name in content.tables}
        for page in self._contents:
            linked.update(LINKED.findall((self._docs / page.path).read_text(encoding="utf-8")))
        packed: dict[str, dict[str, str]] = {}
        for path in sorted(linked):
            *folder, name = path.split("/", 1)
            file = self._docs / TABLES / path
            if file.is_file():
                key = "/".join((TABLES, *folder))
                packed.setdefault(key, {})[name] = packed_text(file.read_bytes())
        for key, tables in packed.items():
            write_data(self._docs / "pagedata", key, tables)

    def write(self, offered: Downloads = NONE) -> None:
        """Write the pages, with the files that they offer.

        Raises:
            FileError: a template is broken.
        """
        templates = Templates(self._site.sources / "docs")
        shared = {
            "site": self._site,
            "explaining": see_also(self._contents),
            "paths": {page.path for page in self._contents},
            "offered": offered,
            "site_links": site_links(self._site.sources / CONFIG),
        }
        for page, content in self._contents.items():
            values = {**shared, "page": page, **content.values}
            path = self._docs / page.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(templates.filled(page.source, page.root, values), encoding="utf-8")


BELOW = (
    "privacy/reflection_calibration.csv",
    "privacy/stated_chances.csv",
    "privacy/vps_baselines.csv",
    "privacy/prior_sensitivity.csv",
    "privacy/bits_reliability.csv",
    "judge/metric_comparison.csv",
    "judge/judge_agreement.csv",
)
"""Small tables in folders of their own that the site offers, of experiments that are ranked."""

HOOKS = "hooks.py"
"""What MkDocs loads beside its configuration; a copy, so that no path of this machine is named."""


def write_site(site: Site, out: Path, pool: Pool | None = None) -> None:
    """Write the folder that :func:`calbench.report.build.build_site` builds.

    The same inputs give the same bytes. A folder that an earlier call made is replaced; any
    other one must be empty.

    Args:
        site: what to show.
        out: the folder to write; pages are in ``docs`` in it.
        pool: where to write games; ``None`` writes them here. The folder does not depend on it.

    Raises:
        CalbenchError: two results would share a page.
        FileError: a table, suite, trace or template does not fit, or there are no tables over
            several experiments.
        OutputError: the folder cannot be written, or holds something else.
    """
    if site.ranked and not site.summary.folder.is_dir():
        raise FileError(
            f"{site.summary.folder}: there is no such folder; write the tables over several runs"
        )
    try:
        if not is_own(out):
            raise OutputError(
                f"{out}: holds other files; choose another folder for the site's pages"
            )
        with replaced(out) as beside:
            _write(site, beside, pool)
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"{error.filename or out}: cannot be written ({reason})") from error


def _write(site: Site, out: Path, pool: Pool | None) -> None:
    docs = out / "docs"
    write_assets(site, docs / "assets")
    _write_schemas(docs / "schemas")
    with ThreadPoolExecutor(1) as beside:  # what compresses releases the interpreter lock
        downloads = beside.submit(write_downloads, site, docs)
        write_games(site.played, docs / "pagedata", pool)
        _copy_tables(site, docs / TABLES)
        pages = Pages(site, docs)
        pages.write_data()
    pages.write(downloads.result())
    pages.write_tables()
    write_config(site.sources / CONFIG, pages.listed, out / CONFIG)


def write_assets(site: Site, assets: Path) -> None:
    """Write styles, scripts and pictures, and Plotly's script: only pages with a figure load it.

    The sources have a bundle without what no figure of ours draws. An installed package does not:
    there it is the one of the Python package, three times as large.
    """
    shutil.copytree(site.sources / "assets", assets)
    if not card_fits(site):  # it would show the numbers of another site
        (assets / CARD).unlink(missing_ok=True)
    script = assets / "vendor" / "plotly.min.js"
    if not script.is_file():
        from plotly.offline import get_plotlyjs

        script.write_text(get_plotlyjs(), encoding="utf-8")


def _copy_tables(site: Site, target: Path) -> None:
    for each in site.experiments:
        _copy_csvs(each.folder, target / each.name)
    for each in site.ranked:
        for name in BELOW:
            if each.tables.has(name):
                path = target / each.name / name
                path.parent.mkdir(exist_ok=True)
                shutil.copyfile(each.folder / name, path)
    _copy_csvs(site.summary.folder, target)
    if site.published.folder.is_dir():
        _copy_csvs(site.published.folder, target / "published")
    if site.unattached.has(SAMPLE.path):
        shutil.copyfile(site.unattached.folder / SAMPLE.path, target / SAMPLE.path)
    for name, rows in ((LEAKING, site.leaking_messages), (SECOND_HAND, site.second_hand_leaks)):
        if site.summary.has(name):
            columns = [column.name for column in SUMMARY[name].columns]
            (target / name).write_bytes(csv_bytes(columns, rows))


def _copy_csvs(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.glob("*.csv")):
        shutil.copyfile(path, target / path.name)


def _write_schemas(folder: Path) -> None:
    folder.mkdir()
    for name, schema in (("scenario", scenario_schema()), ("trace", trace_schema())):
        text = json.dumps(schema, indent=2, sort_keys=True) + "\n"
        (folder / f"{name}.schema.json").write_text(text, encoding="utf-8")


FOOTER = (
    ("Glossary", "glossary.html"),
    ("How to cite", "cite.html"),
    ("Licences", "licences.html"),
)
"""Pages that every footer links, if the site has them."""

RUN = ("Reproduce", "reproduce.html")
"""What every page links in place of the code while nobody has said where that is."""

OVERRIDES = "overrides"
"""Templates of every page that stand above the theme's, beside MkDocs' configuration."""


def write_config(source: Path, pages: list[Page], target: Path) -> None:
    """Copy MkDocs' configuration with the navigation of the pages that there are, and our hooks."""
    shutil.copyfile(Path(hooks.__file__), target.with_name(HOOKS))
    shutil.copytree(source.with_name(OVERRIDES), target.with_name(OVERRIDES), dirs_exist_ok=True)
    config = without_widget(read_config(source))
    addresses = {page.address for page in pages}
    card = f"assets/{CARD}"
    config["extra"] = {
        **(config.get("extra") or {}),
        "card": card if (target.parent / "docs" / card).is_file() else "",
        "footer": [[*link] for link in FOOTER if link[1] in addresses],
        "run": [[*link] for link in (RUN,) if link[1] in addresses],
    }
    config |= {"nav": navigation(pages), "hooks": [HOOKS]}
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    target.write_text(text, encoding="utf-8")


def read_config(path: Path) -> dict[str, Any]:
    """Read MkDocs' configuration.

    Raises:
        CalbenchError: it is no mapping in YAML.
    """
    config = read_yaml(path)
    if not isinstance(config, dict):
        raise FileError(f"{path}: is no mapping")
    return config


def site_links(path: Path) -> dict[str, str]:
    """Return where the ``paper`` and the ``repository`` are, as MkDocs' configuration says.

    An address that is not known is empty.

    Raises:
        FileError: one of them is no address.
    """
    config = read_config(path)
    extra = config.get("extra") or {}
    _address(path, config, "site_url")  # which MkDocs reads by itself
    return {
        "paper": _address(path, extra, "paper"),
        "repository": _address(path, config, "repo_url") or _address(path, extra, "repository"),
    }


def without_widget(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration that names the repository where only our own pages read it.

    The theme's link to ``repo_url`` asks that host for stars from the reader's browser.
    """
    kept = {key: value for key, value in config.items() if key != "repo_url"}
    if config.get("repo_url"):
        kept["extra"] = {**(config.get("extra") or {}), "repository": config["repo_url"]}
    return kept


def _address(path: Path, values: Mapping[str, Any], name: str) -> str:
    value = values.get(name) or ""
    if not isinstance(value, str) or (value and not _is_address(value)):
        raise FileError(f"{path}: {name}: {value!r} is no address that begins with https://")
    return value


def _is_address(value: str) -> bool:
    parts = urlsplit(value)
    return parts.scheme in {"http", "https"} and bool(parts.netloc) and value.split() == [value]
