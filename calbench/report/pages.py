"""Writes the folder from which the site is built: pages, page data, tables and schemas.

Text for people stands in ``site/``: pages under ``docs``, pages that are made once for each
setting under ``templates``. Where a page needs numbers it holds a marker, ``<!-- calbench:name
-->``, which is replaced here. Whatever comes from data passes :mod:`calbench.report.escape`.
"""

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path

import yaml

from calbench.errors import CalbenchError, FileError, OutputError
from calbench.report import (
    audit_tables,
    boards,
    cohort,
    dictionary,
    difficulty,
    documents,
    draws,
    explained,
    figures,
    frontier,
    language,
    reproduction,
    scale,
    sections,
    setting_page,
    timings,
)
from calbench.report.gamefiles import write_games
from calbench.report.language_tables import CALIBRATION
from calbench.report.links import playing
from calbench.report.navigation import grouped
from calbench.report.results import ExperimentResults, Summary
from calbench.report.setting import SettingResults
from calbench.report.special import (
    CHANNELS,
    FRONTIER,
    GAMES_SHOWN,
    NONE_SPECIAL,
    REPRODUCTION,
    SCALE,
    SMOLLM2,
    SpecialResults,
)
from calbench.scenarios.storage import scenario_schema
from calbench.traces.storage import trace_schema

__all__ = ["ExperimentResults", "SpecialResults", "write_site"]

MARKER = re.compile(r"<!-- calbench:([a-z0-9-]+) -->")

OWN_PAGES = explained.NAMES | {
    "comparisons",
    "cost",
    "difficulty",
    "language",
    "plane",
    "ratings",
    "reproduction",
    "scale",
    "smollm2",
    "talk",
    "words",
}
"""Pages of results that are not of one setting."""

OWN_MARK = ".calbench-site"
"""Names a folder that this module made, and may therefore replace."""


def write_site(
    sources: Path,
    experiments: Sequence[ExperimentResults],
    summary: Path,
    out: Path,
    special: SpecialResults = NONE_SPECIAL,
    executor: Executor | None = None,
) -> None:
    """Write the folder that :func:`calbench.report.build.build_site` builds.

    The same inputs give the same bytes. A folder that an earlier call made is replaced; any
    other one must be empty.

    Args:
        sources: the repository's ``site`` folder.
        experiments: what to show, in the order of the pages.
        summary: folder of the tables over several runs (:mod:`calbench.analysis.summary`).
        out: the folder to write; pages go to ``docs`` in it.
        special: what has pages of its own; few of them have games to step through.
        executor: where to write games; ``None`` writes them here. The folder does not depend on it.

    Raises:
        CalbenchError: two results would share a page, or a page holds an unknown marker.
        FileError: a table, suite or trace does not fit, or there are no tables over several runs.
        OutputError: the folder cannot be written, or holds something else.
    """
    if playing(experiments, special) and not summary.is_dir():
        raise FileError(f"{summary}: there is no such folder; write the tables over several runs")
    try:
        _clear(out)
        docs = out / "docs"
        shutil.copytree(sources / "docs", docs)
        shutil.copytree(sources / "assets", docs / "assets")
        _write_plotly(docs / "assets")
        played = [*experiments, *filter(None, map(special.named, GAMES_SHOWN))]
        kind_by_team = write_games(played, docs / "pagedata", executor)
        _copy_tables([*experiments, *special.experiments], docs / "tables")
        _write_schemas(docs / "schemas")
        _copy_csvs(summary, docs / "tables")
        pages = _write_results(sources, experiments, kind_by_team, docs, special, Summary(summary))
        slugs = [each.slug for each in setting_page.settings(experiments, kind_by_team)]
        settings = [f"results/{slug}.md" for slug in slugs]
        _write_config(sources / "mkdocs.yml", pages, settings, out / "mkdocs.yml")
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"{error.filename or out}: cannot be written ({reason})") from error


def _clear(out: Path) -> None:
    if out.exists() and not (out / OWN_MARK).is_file() and any(out.iterdir()):
        raise OutputError(f"{out}: holds other files; choose another folder for the site's pages")
    if out.exists():
        shutil.rmtree(out)
    out.mkdir(parents=True)
    (out / OWN_MARK).write_text("Made by calbench.report; replaced at the next build.\n")


def _write_plotly(assets: Path) -> None:
    """Write Plotly's script once; only pages with a figure load it."""
    from plotly.offline import get_plotlyjs

    (assets / "vendor" / "plotly.min.js").write_text(get_plotlyjs(), encoding="utf-8")


def _copy_tables(experiments: Sequence[ExperimentResults], folder: Path) -> None:
    for results in experiments:
        _copy_csvs(results.tables, folder / results.name)
        if results.name in {SMOLLM2, *CHANNELS} and (results.tables / CALIBRATION).is_file():
            target = folder / results.name / CALIBRATION
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(results.tables / CALIBRATION, target)


def _copy_csvs(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.glob("*.csv")):
        shutil.copyfile(path, target / path.name)


def _write_schemas(folder: Path) -> None:
    folder.mkdir()
    for name, schema in (("scenario", scenario_schema()), ("trace", trace_schema())):
        text = json.dumps(schema, indent=2, sort_keys=True) + "\n"
        (folder / f"{name}.schema.json").write_text(text, encoding="utf-8")


def _write_results(
    sources: Path,
    experiments: Sequence[ExperimentResults],
    kind_by_team: Mapping[str, str],
    docs: Path,
    special: SpecialResults,
    summary: Summary,
) -> list[dict[str, str]]:
    """Write every page that holds numbers; return the navigation below Results."""
    shown = setting_page.settings(experiments, kind_by_team)
    explaining = list(explained.pages(experiments, special, summary, docs / "tables"))
    speakers = language.Language(special, experiments, kind_by_team)
    views = figures.views(experiments, special)
    style_by_team = _styles(experiments, special, speakers, views)
    lines = _frontier_lines(shown, special)
    planes = {each.slug: _plane(each, style_by_team, lines[each.slug]) for each in shown}
    navigation = _write_settings(sources, docs, shown, planes, explaining, summary)
    gallery = figures.Gallery(
        views, style_by_team, special.published_rows if special.experiments else None
    )
    gallery.write(docs)
    _fill_pages(
        docs,
        {
            **documents.parts(sources.parent),
            **timings.parts(special.published),
            **boards.write(experiments, special, summary, docs),
            **gallery.parts(),
            **_write_difficulty(experiments, summary, docs),
            **DICTIONARY,
            "headline": lambda: sections.headline(shown),
            "language": lambda: language.home_line(speakers),
            "planes": lambda: sections.planes(shown, planes, lines),
            "explained": lambda: explained.see_also(explaining),
            "frontier": lambda: _about_lines(sources, lines),
            "pattern-definitions": audit_tables.pattern_definitions,
            "figure-scripts": lambda: sections.figure_scripts("../"),
        },
    )
    navigation += _write_special(sources, special, summary, kind_by_team, style_by_team, docs)
    navigation += _write_language(sources, speakers, style_by_team, docs, explaining)
    navigation += _write_explained(sources, docs, gallery, explaining)
    return navigation


def _styles(
    experiments: Sequence[ExperimentResults],
    special: SpecialResults,
    speakers: language.Language,
    views: Sequence[figures.View],
) -> Mapping[str, figures.Style]:
    """Return how everybody looks who stands in a figure."""
    protocols = [*experiments, *filter(None, [special.named(SCALE)])]
    teams = [team for results in protocols for team in results.teams]
    names = [*teams, *frontier.SIGNS, *speakers.teams, *figures.names_of(views)]
    return figures.styles(list(dict.fromkeys(names)))


DICTIONARY: Mapping[str, Callable[[], str]] = {
    "data-dictionary": dictionary.of_experiments,
    "data-of-site": dictionary.of_site,
    "data-of-figures": dictionary.of_figures,
    "data-of-others": dictionary.of_others,
}
"""Parts of the data page."""


def _write_difficulty(
    experiments: Sequence[ExperimentResults], summary: Summary, docs: Path
) -> dict[str, Callable[[], str]]:
    """Write the figure of difficulty; return what stands for their markers."""
    fractions = difficulty.fractions_by_setting(experiments)
    figure = figures.difficulties(fractions, [f"{each.name}/games.csv" for each in experiments])
    figure.write(docs)
    rows = summary.table("difficulty.csv")
    return {
        "difficulty-figure": lambda: figures.place(figure, "../", has_table=False),
        "difficulty-table": lambda: difficulty.table(rows),
    }


def _write_settings(
    sources: Path,
    docs: Path,
    shown: Sequence[SettingResults],
    planes: Mapping[str, figures.Figure],
    explaining: Sequence[explained.Page],
    summary: Summary,
) -> list[dict[str, str]]:
    """Write the page of each setting; return their navigation."""
    told = summary.table("revealing_messages.csv")
    text = (sources / "templates" / "setting.md").read_text(encoding="utf-8")
    navigation: list[dict[str, str]] = []
    for each in shown:
        page = f"results/{each.slug}.md"
        if any(page in entry.values() for entry in navigation) or each.slug in OWN_PAGES:
            raise CalbenchError(f"two results would share the page {page}; rename an experiment")
        navigation.append({each.title: page})
        planes[each.slug].write(docs)
        parts = setting_page.parts(each, planes[each.slug], explaining, told)
        (docs / page).write_text(_filled(text, page, parts), encoding="utf-8")
    return navigation


def _about_lines(sources: Path, lines: Mapping[str, Sequence[frontier.Line]]) -> str:
    """Return what the lines on the planes are, if there are any."""
    if not any(lines.values()):
        return ""
    return (sources / "templates" / "frontier.md").read_text(encoding="utf-8")


def _plane(
    each: SettingResults,
    style_by_team: Mapping[str, figures.Style],
    lines: Sequence[frontier.Line],
) -> figures.Figure:
    tables = [f"{each.results.name}/leaderboard.csv"]
    tables += [f"{FRONTIER}/leaderboard.csv"] if lines else []
    key = f"plane-{each.slug}"
    return figures.plane(
        key, each.title, each.leaderboard, style_by_team, tables, lines, each.results.confidence
    )


def _frontier_lines(
    shown: Sequence[SettingResults], special: SpecialResults
) -> dict[str, list[frontier.Line]]:
    """Return what is drawn beside the teams of each setting, by its slug."""
    results = special.named(FRONTIER)
    rows = [] if results is None else results.table("leaderboard.csv")
    return {
        each.slug: frontier.lines(
            [row for row in rows if row["setting"] == each.setting], each.leaderboard
        )
        for each in shown
    }


def _write_special(
    sources: Path,
    special: SpecialResults,
    summary: Summary,
    kind_by_team: Mapping[str, str],
    style_by_team: Mapping[str, figures.Style],
    docs: Path,
) -> list[dict[str, str]]:
    """Write the pages of special experiments that there are; return their navigation."""
    navigation = []
    if special.experiments:
        _copy_csvs(special.published, docs / "tables" / "published")
    if special.named(REPRODUCTION) is not None:
        found = draws.Reproduction(special, summary)
        _write_page(sources, docs, "reproduction", reproduction.parts(found))
        navigation.append({"Table 2": "results/reproduction.md"})
    results = special.named(SCALE)
    if results is not None:
        sizes = scale.Scale(special, results, summary, kind_by_team)
        curves = scale.curves(sizes, style_by_team)
        for figure in curves.values():
            figure.write(docs)
        _write_page(sources, docs, "scale", scale.parts(sizes, curves))
        navigation.append({"Scale": "results/scale.md"})
    return navigation


def _write_language(
    sources: Path,
    speakers: language.Language,
    style_by_team: Mapping[str, figures.Style],
    docs: Path,
    explaining: Sequence[explained.Page],
) -> list[dict[str, str]]:
    """Write the pages of language agents that there are; return their navigation."""
    navigation = []
    if speakers.channels:
        planes = language.planes(speakers, style_by_team)
        for figure in planes.values():
            figure.write(docs)
        about = {"explained": lambda: explained.see_also(explaining)}
        _write_page(sources, docs, "language", {**language.parts(speakers, planes), **about})
        navigation.append({"Language agents": "results/language.md"})
    recorded = speakers.special.named(SMOLLM2)
    if recorded is not None:
        _write_page(sources, docs, "smollm2", cohort.parts(cohort.Cohort(recorded)))
        navigation.append({"SmolLM2": "results/smollm2.md"})
    return navigation


def _write_explained(
    sources: Path, docs: Path, gallery: figures.Gallery, explaining: Sequence[explained.Page]
) -> list[dict[str, str]]:
    """Write the pages that explain numbers, and the figures of words; return their navigation."""
    navigation, drawn = [], ""
    if gallery.shown("words"):
        words = {
            **gallery.parts(),
            "explained": lambda: explained.see_also(explaining),
            "figure-scripts": lambda: sections.figure_scripts("../"),
        }
        _write_page(sources, docs, "words", words)
        navigation.append({"Messages in words": "results/words.md"})
        drawn = explained.drawn_in_words()
    for found in explaining:
        _write_page(sources, docs, found.name, {**found.parts, "drawn": lambda: drawn})
        navigation.append({found.title: f"results/{found.name}.md"})
    return navigation


def _write_page(
    sources: Path, docs: Path, name: str, parts: Mapping[str, Callable[[], str]]
) -> None:
    text = (sources / "templates" / f"{name}.md").read_text(encoding="utf-8")
    page = f"results/{name}.md"
    (docs / page).write_text(_filled(text, page, parts), encoding="utf-8")


def _fill_pages(docs: Path, parts: Mapping[str, Callable[[], str]]) -> None:
    """Replace the markers of the hand-written pages."""
    for path in sorted(docs.rglob("*.md")):
        page = path.relative_to(docs).as_posix()
        text = path.read_text(encoding="utf-8")
        if MARKER.search(text):
            path.write_text(_filled(text, page, parts), encoding="utf-8")


def _filled(text: str, page: str, parts: Mapping[str, Callable[[], str]]) -> str:
    """Replace the markers of a page.

    Raises:
        CalbenchError: it holds a marker that nothing stands for.
    """

    def part(match: re.Match[str]) -> str:
        if match[1] not in parts:
            raise CalbenchError(f"site page {page}: nothing is known as {match[1]}")
        return parts[match[1]]()

    return MARKER.sub(part, text)


def _write_config(
    source: Path, pages: list[dict[str, str]], settings: Sequence[str], target: Path
) -> None:
    """Copy MkDocs' configuration with the made pages under Results, in groups."""
    config = yaml.safe_load(source.read_text(encoding="utf-8"))
    for entry in config["nav"]:
        if "Results" in entry:
            entry["Results"] = grouped([*pages, *entry["Results"]], settings)
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    target.write_text(text, encoding="utf-8")
