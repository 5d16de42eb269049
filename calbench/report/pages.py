"""Writes the folder from which the site is built: pages, page data, tables and schemas.

Text for people stands in ``site/``: pages under ``docs``, pages that are made once for each
setting under ``templates``. Where a page needs numbers it holds a marker, ``<!-- calbench:name
-->``, which is replaced here. Whatever comes from data passes :mod:`calbench.report.escape`.
"""

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from calbench.errors import CalbenchError, OutputError
from calbench.report import cohort, figures, frontier, language, reproduction, scale, sections
from calbench.report.escape import data_script, markdown_text
from calbench.report.games import (
    game_data,
    game_entry,
    prompt_data,
    scenario_data,
    scenario_entry,
    shown_note,
    team_kind,
)
from calbench.report.language_tables import CALIBRATION
from calbench.report.results import ExperimentResults
from calbench.report.special import (
    CHANNELS,
    FRONTIER,
    GAMES_SHOWN,
    NONE_SPECIAL,
    REPRODUCTION,
    SCALE,
    SMOLLM2,
    SpecialResults,
    write_table,
)
from calbench.scenarios.storage import scenario_schema
from calbench.traces.models import Trace
from calbench.traces.storage import trace_schema

__all__ = ["ExperimentResults", "SpecialResults", "write_site"]

MARKER = re.compile(r"<!-- calbench:([a-z-]+) -->")

OWN_PAGES = frozenset({"difficulty", "language", "plane", "reproduction", "scale", "smollm2"})
"""Pages of results that are not of one setting."""

OWN_MARK = ".calbench-site"
"""Names a folder that this module made, and may therefore replace."""


def write_site(
    sources: Path,
    experiments: Sequence[ExperimentResults],
    out: Path,
    special: SpecialResults = NONE_SPECIAL,
) -> None:
    """Write the folder that :func:`calbench.report.build.build_site` builds.

    The same inputs give the same bytes. A folder that an earlier call made is replaced; any
    other one must be empty.

    Args:
        sources: the repository's ``site`` folder.
        experiments: what to show, in the order of the pages.
        out: the folder to write; pages go to ``docs`` in it.
        special: what has pages of its own; few of them have games to step through.

    Raises:
        CalbenchError: two results would share a page, or a page holds an unknown marker.
        FileError: a table, suite or trace does not fit.
        OutputError: the folder cannot be written, or holds something else.
    """
    try:
        _clear(out)
        docs = out / "docs"
        shutil.copytree(sources / "docs", docs)
        shutil.copytree(sources / "assets", docs / "assets")
        _write_plotly(docs / "assets")
        played = [*experiments, *filter(None, map(special.named, GAMES_SHOWN))]
        kind_by_team = _write_games(played, docs / "pagedata")
        _copy_tables([*experiments, *special.experiments], docs / "tables")
        _write_schemas(docs / "schemas")
        pages = _write_results(sources, experiments, kind_by_team, docs, special)
        _write_config(sources / "mkdocs.yml", pages, out / "mkdocs.yml")
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


def _write_data(folder: Path, key: str, value: Any) -> None:
    path = folder / f"{key}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data_script(key, value))


def _write_games(experiments: Sequence[ExperimentResults], folder: Path) -> dict[str, str]:
    """Write the trace browser's data; return the kind of every team that played.

    Keys begin with the experiment: settings, teams and scenarios of several experiments may
    have the same names.
    """
    kind_by_team: dict[str, str] = {}
    index = []
    for results in experiments:
        per_setting = GAMES_SHOWN.get(results.name)
        scenarios = results.spread(per_setting)
        number_by_id = {s.scenario_id: number for number, s in enumerate(scenarios)}
        shown: set[str] = set()
        teams: list[dict[str, Any]] = []
        for team in results.teams:
            games: list[list[int] | None] = [None] * len(number_by_id)
            kind = ""
            for trace in results.traces_of(team, scenarios):
                kind = kind or team_kind(trace.config.team.seats)
                games[number_by_id[trace.scenario.scenario_id]] = game_entry(trace)
                _write_game(folder, trace, results.name, shown)
            if any(games):
                teams.append({"team": team, "kind": kind, "games": games})
                kind_by_team.setdefault(team, kind)
        if teams:
            entry = {
                "name": results.name,
                "teams": teams,
                "scenarios": [scenario_entry(scenario) for scenario in scenarios],
            }
            note = shown_note(results, per_setting)
            index.append({**entry, "note": note} if note else entry)
    _write_data(folder, "index", {"experiments": index})
    return kind_by_team


def _write_game(folder: Path, trace: Trace, experiment: str, shown: set[str]) -> None:
    """Write a game with its prompts, and its scenario if no game before had it."""
    scenario_id = trace.scenario.scenario_id
    name = f"{experiment}/{trace.config.team.team_id}/{scenario_id}"
    _write_data(folder, f"games/{name}", game_data(trace, experiment))
    prompts = prompt_data(trace)
    if prompts is not None:
        _write_data(folder, f"prompts/{name}", prompts)
    if scenario_id not in shown:
        shown.add(scenario_id)
        _write_data(folder, f"scenarios/{experiment}/{scenario_id}", scenario_data(trace.scenario))


def _copy_tables(experiments: Sequence[ExperimentResults], folder: Path) -> None:
    for results in experiments:
        _copy_csvs(results.tables, folder / results.name)
        if results.name in {SMOLLM2, *CHANNELS} and (results.tables / CALIBRATION).is_file():
            target = folder / results.name / CALIBRATION
            target.parent.mkdir()
            shutil.copyfile(results.tables / CALIBRATION, target)


def _copy_csvs(source: Path, target: Path) -> None:
    target.mkdir(parents=True)
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
) -> list[dict[str, str]]:
    """Write every page that holds numbers; return the navigation below Results."""
    shown = [
        sections.SettingResults(results, setting, kind_by_team)
        for results in experiments
        for setting in results.settings
    ]
    navigation: list[dict[str, str]] = []
    for each in shown:
        page = f"results/{each.slug}.md"
        if any(page in entry.values() for entry in navigation) or each.slug in OWN_PAGES:
            raise CalbenchError(f"two results would share the page {page}; rename an experiment")
        navigation.append({each.title: page})
        text = (sources / "templates" / "setting.md").read_text(encoding="utf-8")
        (docs / "results").mkdir(exist_ok=True)
        (docs / page).write_text(_filled(text, page, _setting_parts(each)), encoding="utf-8")
    playing = [*experiments, *filter(None, [special.named(SCALE)])]
    teams = list(dict.fromkeys(team for results in playing for team in results.teams))
    speakers = language.Language(special, experiments, kind_by_team)
    style_by_team = figures.styles(list(dict.fromkeys([*teams, *frontier.SIGNS, *speakers.teams])))
    lines = _frontier_lines(shown, special)
    for each in shown:
        figure = figures.plane(each.leaderboard, style_by_team, lines.get(each.slug, ()))
        _write_data(docs / "pagedata", f"figures/plane-{each.slug}", figure)
    fractions = sections.fractions_by_setting(experiments)
    _write_data(docs / "pagedata", "figures/difficulty", figures.difficulties(fractions))
    _fill_pages(sources, docs, shown, fractions, lines, speakers)
    navigation += _write_special(sources, special, kind_by_team, style_by_team, docs)
    navigation += _write_language(sources, speakers, style_by_team, docs)
    return navigation


def _frontier_lines(
    shown: Sequence[sections.SettingResults], special: SpecialResults
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
    kind_by_team: Mapping[str, str],
    style_by_team: Mapping[str, figures.Style],
    docs: Path,
) -> list[dict[str, str]]:
    """Write the pages of special experiments that there are; return their navigation."""
    navigation = []
    tables = docs / "tables"
    if special.experiments:
        _copy_csvs(special.published, tables / "published")
    if special.named(REPRODUCTION) is not None:
        found = reproduction.Reproduction(special)
        write_table(tables / "table2.csv", found.rows, reproduction.COLUMNS)
        _write_page(sources, docs, "reproduction", reproduction.parts(found))
        navigation.append({"Table 2": "results/reproduction.md"})
    results = special.named(SCALE)
    if results is not None:
        sizes = scale.Scale(special, results, kind_by_team)
        write_table(tables / "scale_bytes.csv", sizes.bytes_rows, scale.COLUMNS)
        for name, figure in scale.curves(sizes, style_by_team).items():
            _write_data(docs / "pagedata", f"figures/scale-{name}", figure)
        _write_page(sources, docs, "scale", scale.parts(sizes))
        navigation.append({"Scale": "results/scale.md"})
    return navigation


def _write_language(
    sources: Path,
    speakers: language.Language,
    style_by_team: Mapping[str, figures.Style],
    docs: Path,
) -> list[dict[str, str]]:
    """Write the pages of language agents that there are; return their navigation."""
    navigation = []
    if speakers.channels:
        for setting, figure in language.planes(speakers, style_by_team).items():
            _write_data(docs / "pagedata", f"figures/plane-language-{setting}", figure)
        _write_page(sources, docs, "language", language.parts(speakers))
        navigation.append({"Language agents": "results/language.md"})
    recorded = speakers.special.named(SMOLLM2)
    if recorded is not None:
        _write_page(sources, docs, "smollm2", cohort.parts(cohort.Cohort(recorded)))
        navigation.append({"SmolLM2": "results/smollm2.md"})
    return navigation


def _write_page(
    sources: Path, docs: Path, name: str, parts: Mapping[str, Callable[[], str]]
) -> None:
    text = (sources / "templates" / f"{name}.md").read_text(encoding="utf-8")
    page = f"results/{name}.md"
    (docs / page).write_text(_filled(text, page, parts), encoding="utf-8")


def _setting_parts(each: sections.SettingResults) -> dict[str, Callable[[], str]]:
    return {
        "title": lambda: markdown_text(each.title),
        "counts": lambda: sections.counts(each),
        "measures": lambda: sections.measures(each, "../method.html"),
        "definitions": lambda: sections.definitions("../method.html"),
        "outcomes": lambda: sections.outcomes(each),
        "sensitivity": lambda: sections.sensitivity(each),
        "leaks": lambda: sections.leaks(each),
        "figure": lambda: sections.figure(
            f"plane-{each.slug}", f"Cost against privacy, {each.title}", "../"
        ),
        "downloads": lambda: sections.downloads(each),
        "traces": lambda: f"../traces.html#{each.results.name}",
    }


def _fill_pages(
    sources: Path,
    docs: Path,
    shown: Sequence[sections.SettingResults],
    fractions: Mapping[str, Mapping[str, Sequence[float]]],
    lines: Mapping[str, Sequence[frontier.Line]],
    speakers: language.Language,
) -> None:
    """Replace the markers of the hand-written pages."""
    about_lines = (sources / "templates" / "frontier.md").read_text(encoding="utf-8")
    parts: dict[str, Callable[[], str]] = {
        "headline": lambda: sections.headline(shown),
        "language": lambda: language.home_line(speakers),
        "planes": lambda: sections.planes(shown, lines),
        "frontier": lambda: about_lines if any(lines.values()) else "",
        "difficulty-figure": lambda: sections.figure(
            "difficulty", "Feasible fraction of every scenario, by third and setting", "../"
        ),
        "difficulty-table": lambda: sections.difficulty_table(fractions),
        "data-dictionary": sections.data_dictionary,
    }
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


def _write_config(source: Path, pages: list[dict[str, str]], target: Path) -> None:
    """Copy MkDocs' configuration with the made pages first under Results."""
    config = yaml.safe_load(source.read_text(encoding="utf-8"))
    for entry in config["nav"]:
        if "Results" in entry:
            entry["Results"] = [*pages, *entry["Results"]]
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    target.write_text(text, encoding="utf-8")
