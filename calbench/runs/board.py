"""The site of runs of one's own: facts are joined, tables made of them, and pages of those."""

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from calbench.analysis.output import write_tables
from calbench.analysis.registry import Settings
from calbench.analysis.scoring import FACT_BY_NAME
from calbench.analysis.summary import write_summary
from calbench.config.composition import compose
from calbench.console import ending_on_interrupt, progress
from calbench.errors import ConfigError, OutputError
from calbench.facts.joining import Chosen, join_facts
from calbench.facts.storage import GameKey
from calbench.folders import check_not_here, is_own, replaced, scratch_folder
from calbench.pool import PROCESSES, ExecutorSpec, workers
from calbench.report.build import build_site
from calbench.report.experiment import Experiment
from calbench.report.role import SETTINGS, Role
from calbench.report.site import Site
from calbench.report.tables import Row, Tables
from calbench.report.writing import write_site
from calbench.runs.entries import Run, read_runs, run_names
from calbench.runs.published import (
    Published,
    View,
    read_published,
    settings_of,
    views_of,
)
from calbench.scenarios.storage import write_suite
from calbench.traces.catalog import Catalog, trace_paths
from calbench.traces.storage import TraceReader
from calbench.tree import DATA, SITE

BUILDERS = ("mkdocs", "material")
"""Modules that build pages; a plain installation lacks them."""


Submitted = Mapping[Path, Sequence[Row]]
"""By the folder of a submission, what the board says of each of its teams in each setting."""

NOTHING: Submitted = {}

STEPS = ("published results", "runs", "tables", "pages")
"""What has to be made, as progress says it."""


def write_board(
    paths: Sequence[Path],
    out: Path,
    count: int | None = 1,
    executor: ExecutorSpec = PROCESSES,
    *,
    has_published: bool = True,
    submitted: Submitted = NOTHING,
) -> None:
    """Build the site of some runs, whole or not at all.

    The same runs and published results give the same bytes.

    Args:
        paths: folders of runs, or of traces.
        out: folder of the built site; a new or an empty one, or one that an earlier call made.
        count: number of workers; absent: one for each processor.
        executor: of which kind.
        has_published: whether the published results are shown beside the runs.
        submitted: what is said of submissions, which are among the runs.

    Raises:
        CalbenchError: one line about what does not fit; nothing was written.
    """
    check_out(out)
    names = run_names(paths)
    check_builders()
    with (
        ending_on_interrupt(lambda: "Stopped: no site was written; the same command starts again"),
        scratch_folder("site") as scratch,
        workers(count, executor) as pool,
        progress("steps", len(STEPS)) as done,
    ):
        place = scratch / "published"
        published = read_published(DATA, place, pool) if has_published else Published()
        done(STEPS[0])
        settings = published.results[0].settings if published.results else settings_of(compose([]))
        taken = {team for each in published.results for team in each.teams}
        place, measure = scratch / "runs", settings.measure
        runs = read_runs(names, taken, place, measure, pool, is_verifying=has_published)
        done(STEPS[1])
        views = views_of(runs, published.results)
        site = _site(published, runs, views, scratch, settings)
        site = replace(site, submitted=tuple(_submitted(submitted, [*names.values()], views)))
        write_summary(site.runs, site.summary.folder)
        done(STEPS[2])
        write_site(site, scratch / "src", pool)
        build_site(scratch / "src", scratch / "site")
        _put(scratch / "site", out)
        done(STEPS[3])


def _submitted(submitted: Submitted, paths: Sequence[Path], views: Sequence[View]) -> Iterator[Row]:
    """Yield what is said of submissions, with the names that their teams have on the site."""
    for path, rows in submitted.items():
        for row in rows:
            for view in views:
                for entry in view.entries:
                    is_its = entry.own == row["team"] and entry.place[0] == row["setting"]
                    if is_its and paths[entry.run] == path and entry.digests == view.digests:
                        place = {"experiment": view.name, "scenarios": [*view.digests]}
                        yield {**row, **place, "team": entry.team}


def check_builders() -> None:
    """Refuse to build pages without what builds them.

    Raises:
        ConfigError: says how to install it.
    """
    if not all(map(find_spec, BUILDERS)):
        raise ConfigError("MkDocs builds the pages: pip install 'calbench[site]'")


def check_out(out: Path) -> None:
    """Refuse a folder that holds anything but an earlier site.

    Raises:
        OutputError: naming it.
    """
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out}: is not a folder; choose another one with out=")
    check_not_here(out)
    if not is_own(out):
        raise OutputError(f"{out}: holds other files; choose another folder with out=")


def _put(site: Path, out: Path) -> None:
    """Put a built site in its place, whole or not at all."""
    try:
        with replaced(out, check=lambda: check_out(out)) as beside:
            shutil.copytree(site, beside, dirs_exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"{out}: cannot be written ({reason}); choose another folder") from error


def _site(
    published: Published,
    runs: Sequence[Run],
    views: Sequence[View],
    scratch: Path,
    settings: Settings,
) -> Site:
    """Return the published experiments, and the views of runs in their place or behind them."""
    is_beside, folder = bool(published.results), scratch / "views"
    made = {
        view.name: _experiment(view, runs, folder / view.name, settings, is_beside=is_beside)
        for view in views
    }
    known = [made.get(each.shown.name) or each.shown for each in published.results]
    added = [each for each in made.values() if each not in known]
    behind = sum(each.role.page == SETTINGS for each in known)
    tables = scratch / "tables"
    tables.mkdir()
    if published.sample is not None and published.sample.is_file():
        shutil.copyfile(published.sample, tables / published.sample.name)
    return Site(
        SITE,
        (*known[:behind], *added, *known[behind:]),
        Tables(tables / "summary"),
        Tables(published.others),
        has_games=published.has_games,
    )


def _experiment(
    view: View, runs: Sequence[Run], folder: Path, settings: Settings, *, is_beside: bool
) -> Experiment:
    """Write tables, suite and games of a view; return it as an experiment.

    If published results are on the site, too, its teams are marked as not published, and as
    verified or not.
    """
    sources = list(_sources(view, runs))
    facts = [
        fact
        for fact in FACT_BY_NAME.values()
        if all(source.has(fact.beside or fact.name) for source, _ in sources)
    ]
    teams = [team for each in view.published for team in each.teams]
    teams += [entry.team for entry in view.entries]
    joined = join_facts(sources, folder / "facts", facts, teams)
    write_tables(joined, folder / "tables", settings)
    _link_games(view, runs, folder / "traces")
    base = view.published[0].shown if view.is_whole else None
    if base is not None and base.suite.is_file():
        suite = base.suite
    else:  # as the games of a run hold its scenarios
        suite, entry, reader = folder / "suite.jsonl", view.entries[0], TraceReader()
        paths = [runs[entry.run].traces / entry.team / f"{name}.json" for name in view.digests]
        write_suite(suite, [reader.read(path).scenario for path in paths])
    return Experiment(
        view.name,
        suite,
        folder / "tables",
        folder / "traces",
        Role(title=view.title) if base is None else base.role.model_copy(update={"games": "all"}),
        is_joint=True,
        unpublished={each.team: each.is_verified for each in view.entries if is_beside},
        part=view.part,
        facts=folder / "facts",
        about={team: text for each in view.published for team, text in each.shown.about.items()},
    )


def _sources(view: View, runs: Sequence[Run]) -> Iterator[Chosen]:
    """Yield facts with the games of a view among them; no game twice."""
    known: set[str] = set()
    for each in view.published:
        is_base = view.is_whole and not known
        yield each.measured, _games_of(view, None if is_base else {*each.teams} - known)
        known.update(each.teams)
    for number, run in enumerate(runs):
        teams = {entry.team for entry in view.entries if entry.run == number}
        if teams:
            yield run.facts, _games_of(view, teams)


def _games_of(view: View, teams: Collection[str] | None) -> Callable[[GameKey], bool]:
    """Return which games are in a view: those of some teams on its scenarios, or all."""
    setting, known = view.place[0], view.digests
    return lambda key: (
        teams is None or (key.setting == setting and key.team in teams and key.scenario_id in known)
    )


def _link_games(view: View, runs: Sequence[Run], folder: Path) -> None:
    """Put the games of a view in one folder, those of published teams where they are here.

    Games of other published experiments are in the trace browser already if the view is whole.
    """
    folder.mkdir(parents=True)
    catalog = Catalog()
    for each in view.published[:1] if view.is_whole else view.published:
        for team in each.teams:
            traces = each.shown.traces
            if not traces.is_dir() or (folder / team).exists():
                continue
            if (traces / team).is_dir():
                (folder / team).symlink_to((traces / team).resolve())
                continue
            (folder / team).mkdir()  # its games are in shards
            for path in trace_paths(traces):
                if path.parent.name == team:
                    (folder / team / path.name).write_bytes(catalog.read(path))
    for entry in view.entries:
        (folder / entry.team).symlink_to(runs[entry.run].traces / entry.team)
