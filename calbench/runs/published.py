"""The published results, and the views of a board: which games of a run are compared with them.

They are those that the pipeline computed here, or those that come with the package. There is a
view for every set of scenarios that a run played.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calbench.analysis.audit_sample import SAMPLE
from calbench.analysis.datapackage import NAME
from calbench.analysis.output import write_tables
from calbench.analysis.registry import Settings, tables_of
from calbench.analysis.summary.runs import USUAL, conditions
from calbench.analysis.tables import TABLES as DECLARED
from calbench.config.composition import compose
from calbench.config.groups import PRICES, known_names
from calbench.config.spec import RunSpec
from calbench.engine.jobs import plan_jobs
from calbench.errors import ConfigError, FileError, among
from calbench.facts.storage import Facts
from calbench.files import printable, shorten
from calbench.llm.prices import read_prices
from calbench.pool import Pool, mapped
from calbench.release.archives import unpack
from calbench.release.pack import FACTS, PACK, TABLES, fill_ids
from calbench.report.experiment import Experiment
from calbench.report.role import SETTINGS, Role
from calbench.runs.entries import SAME_GAME, Entry, Place, Run, scenarios_of
from calbench.scenarios.storage import published_suite
from calbench.tree import DATA, in_tree

if TYPE_CHECKING:
    import pandas as pd

Digests = Mapping[str, str]
"""Digest of what defines a game on each scenario, by scenario id."""


@dataclass(frozen=True, eq=False)
class Results:
    """The results of a published experiment.

    Attributes:
        shown: as the site shows it. Without facts its teams are not ranked; its suite and its
            traces may not be here.
        settings: that make its tables.
    """

    shown: Experiment
    settings: Settings

    @cached_property
    def measured(self) -> Facts:
        """Its facts; only of experiments whose teams are ranked."""
        return Facts(self.shown.facts or self.shown.folder)

    @cached_property
    def scenarios(self) -> Mapping[Place, Digests]:
        """The scenarios of its games, by setting, channels and limits."""
        return {} if self.shown.facts is None else scenarios_of(self.measured.games)

    @cached_property
    def teams(self) -> tuple[str, ...]:
        """Its teams in their order."""
        return () if self.shown.facts is None else tuple(dict.fromkeys(self.measured.games["team"]))


@dataclass(frozen=True)
class Published:
    """All published results.

    Attributes:
        results: in the order of the site's pages.
        others: folder with the numbers of others.
        sample: table of the labelled sample of messages, if it is here.
        has_games: whether suites and traces are here.
    """

    results: Sequence[Results] = ()
    others: Path = Path("nothing")
    sample: Path | None = None
    has_games: bool = True


def read_published(data: Path, scratch: Path, pool: Pool | None = None) -> Published:
    """Return the published results.

    Those that the pipeline computed, with their games; or, where it has not run, those of the
    packed file of the release, without games.

    Args:
        data: folder of published and computed data.
        scratch: folder for what is unpacked.
        pool: where tables are made; ``None`` makes them here.

    Raises:
        FileError: there are neither, or they are broken.
    """
    names = [path.stem for path in sorted((data / "suites").glob("*.jsonl"))]
    specs = _specs(names)
    if specs and all(_is_computed(data, spec) for spec in specs):
        return _computed(data, specs)
    return _packed(data, scratch, pool)


def _specs(names: Iterable[str]) -> list[RunSpec]:
    """Return the experiments of the site, in the order of its pages."""
    specs = [
        compose([f"+experiment={name}"]) for name in names if name in known_names("experiment")
    ]
    return sorted(specs, key=lambda spec: (_role(spec).order, spec.name))


def _role(spec: RunSpec) -> Role:
    return spec.site or Role()


def settings_of(spec: RunSpec) -> Settings:
    """Return the settings that make the tables of a run."""
    return Settings(spec.measure, spec.analysis, read_prices(PRICES).models)


def _is_computed(data: Path, spec: RunSpec) -> bool:
    """Whether the pipeline has made the tables of an experiment, and everything before them."""
    last = (data / "facts" / spec.name / "games.parquet", data / "tables" / spec.name / NAME)
    return (data / "traces" / spec.name).is_dir() and all(path.is_file() for path in last)


def _computed(data: Path, specs: Iterable[RunSpec]) -> Published:
    results = []
    for spec in specs:
        shown = Experiment(
            spec.name,
            data / "suites" / f"{spec.name}.jsonl",
            data / "tables" / spec.name,
            data / "traces" / spec.name,
            role := _role(spec),
            facts=data / "facts" / spec.name if role.is_ranked else None,
            about=spec.about,
        )
        results.append(Results(shown, settings_of(spec)))
    return Published(results, data / "published", data / "tables" / SAMPLE.path)


def _packed(data: Path, scratch: Path, pool: Pool | None) -> Published:
    pack = data / "release" / PACK
    if not pack.is_file():
        raise FileError(
            f"{pack}: the published results are missing; get the file again, or run `dvc repro`"
        )
    unpack(pack, scratch)
    tables, facts = scratch / TABLES, scratch / FACTS
    names = sorted({path.name for folder in (tables, facts) for path in folder.glob("*/")})
    results = []
    for spec in _specs(names):
        own = facts / spec.name if (facts / spec.name).is_dir() else None
        role = _role(spec).model_copy(update={"games": 0})
        places = (scratch / "nothing", tables / spec.name, scratch / "nothing")
        shown = Experiment(spec.name, *places, role, facts=own, about=spec.about)
        results.append(Results(shown, settings_of(spec)))
        if own is not None:
            _name_games(spec, own)
    list(mapped(_write, [each for each in results if each.shown.facts is not None], pool))
    others = data / "published"
    if not others.is_dir():
        others = in_tree("data/published")
    return Published(results, others, tables / SAMPLE.path, has_games=False)


def published_names(scratch: Path) -> list[str]:
    """Return the names of the experiments whose facts the release has, unpacked into a folder.

    Raises:
        FileError: the published results are missing or broken.
    """
    unpack(DATA / "release" / PACK, scratch)
    return sorted(path.name for path in (scratch / FACTS).iterdir())


def published_facts(name: str, scratch: Path) -> Facts:
    """Return the facts of a published experiment, those computed here or those of the release.

    Args:
        name: of an experiment whose teams are ranked.
        scratch: folder for what is unpacked.

    Raises:
        ConfigError: no ranked experiment has this name; names the nearest.
        FileError: the published results are missing or broken.
    """
    computed = DATA / "facts" / name
    if (computed / "games.parquet").is_file():
        return Facts(computed)
    known = published_names(scratch)
    if name not in known:
        shown = printable(shorten(name))
        raise ConfigError(f"{shown}: no such teams are published; {among(name, known)}")
    return _named_facts(scratch, name)[0]


def facts_beside(played: "pd.DataFrame", scratch: Path) -> Iterator[Facts]:
    """Yield the facts of published experiments in which some of these games were played.

    Args:
        played: games, by :data:`SAME_GAME`.
        scratch: folder for what is unpacked.

    Raises:
        FileError: the published results are missing or broken.
    """
    for name in published_names(scratch):
        if len(Facts(scratch / FACTS / name).games[SAME_GAME].merge(played)):
            yield published_facts(name, scratch)


def unpacked_tables(folder: Path) -> dict[str, tuple[str, ...]]:
    """Unpack the published results; return the paths of the tables of each experiment.

    Args:
        folder: where they go; :func:`made_tables` makes those that are not there.

    Raises:
        FileError: the published results are missing or broken.
    """
    unpack(DATA / "release" / PACK, folder)
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted((folder / TABLES).glob("*/")):
        facts = folder / FACTS / path.name
        made = [each.path for each in tables_of(Facts(facts))] if facts.is_dir() else []
        held = [each.relative_to(path).as_posix() for each in path.rglob("*.csv")]
        found[path.name] = tuple(name for name in DECLARED if name in {*made, *held})
    return found


def made_tables(folder: Path, name: str, path: str) -> Path:
    """Return the folder of an experiment's tables, in which one of them is made if it is missing.

    Args:
        folder: of the unpacked results.
        name: of the experiment.
        path: of the table.
    """
    tables = folder / TABLES / name
    if not (tables / path).is_file():
        facts, settings = _named_facts(folder, name)
        DECLARED[path].write(facts, settings, tables)
    return tables


@cache
def _named_facts(folder: Path, name: str) -> tuple[Facts, Settings]:
    (spec,) = _specs([name])
    _name_games(spec, folder / FACTS / name)
    return Facts(folder / FACTS / name), settings_of(spec)


def _name_games(spec: RunSpec, facts: Path) -> None:
    """Put the ids of games, which follow from what was played, into facts that lack them."""
    jobs = plan_jobs(
        published_suite(spec.name), spec.game_configs, facts, replicates=spec.replicates
    )
    ids = {
        (job.scenario.setting, job.team_id, job.scenario_id, job.config.replicate): job.game_id
        for job in jobs
    }
    fill_ids(facts, ids)


def _write(results: Results) -> None:
    """Make the tables that the packed file has as facts."""
    write_tables(results.measured, results.shown.folder, results.settings)


LONGEST_NAME = 56
"""Most characters of the name of a view, before a number that tells it from another [C]."""


@dataclass(frozen=True)
class View:
    """Teams of runs and published ones on the same scenarios, channels and limits.

    Attributes:
        name: of the experiment that shows it; that of a published one if it takes its place.
        title: what pages call it.
        part: how many scenarios of the published ones it has, in words; empty: all, or others.
        place: setting, channels and limits.
        digests: its scenarios, with what defines a game on each.
        published: published experiments with games on all of them; the first is the one whose
            page shows the view, if it takes its place.
        entries: those of runs with games on all of them.
        is_whole: whether it takes the place of the first published experiment.
    """

    name: str
    title: str
    part: str
    place: Place
    digests: Mapping[str, str]
    published: Sequence[Results]
    entries: Sequence[Entry]
    is_whole: bool


def views_of(runs: Sequence[Run], published: Sequence[Results]) -> list[View]:
    """Return the views of some runs, in the order of their teams.

    Raises:
        FileError: a run played other scenarios than the published ones of the same names.
    """
    entries = [entry for run in runs for entry in run.entries]
    for entry in entries:
        _check(entry, runs, published)
    keys: dict[tuple[Place, frozenset[tuple[str, str]]], None] = {}
    for entry in entries:
        keys.setdefault((entry.place, frozenset(entry.digests.items())))
    views: list[View] = []
    for place, scenarios in keys:
        own = [e for e in entries if e.place == place and scenarios <= e.digests.items()]
        fitting = [each for each in published if scenarios <= each.scenarios.get(place, {}).items()]
        fitting.sort(key=lambda each: each.shown.role.page != SETTINGS)  # stable
        taken = {view.name for view in views} | {each.shown.name for each in published}
        views.append(_view(place, dict(sorted(scenarios)), own, fitting, runs, taken))
    return views


def _check(entry: Entry, runs: Sequence[Run], published: Sequence[Results]) -> None:
    """Refuse scenarios that have the names of published ones and are others."""
    known = {
        found
        for each in published
        for (setting, _, _), digests in each.scenarios.items()
        if setting == entry.place[0]
        for found in digests.items()
    }
    names = {scenario_id for scenario_id, _ in known}
    for scenario_id, digest in sorted(entry.digests.items()):
        if scenario_id in names and (scenario_id, digest) not in known:
            raise FileError(
                f"{runs[entry.run].name}: {scenario_id} is not the published scenario of this "
                "name: it is of another suite; play that with suite.setting=NAME, or leave it out"
            )


def _view(
    place: Place,
    digests: Mapping[str, str],
    entries: Sequence[Entry],
    fitting: Sequence[Results],
    runs: Sequence[Run],
    taken: set[str],
) -> View:
    setting, channels, limits = place
    whole = [each for each in fitting if len(each.scenarios[place]) == len(digests)]
    held: dict[str, Any] = {"place": place, "digests": digests, "entries": entries}
    if whole and whole[0].shown.role.page == SETTINGS:
        first = [whole[0], *(each for each in fitting if each is not whole[0])]
        return View(whole[0].shown.name, setting, "", published=first, is_whole=True, **held)
    title, name = setting, setting
    if (words := conditions(channels, limits)) != USUAL:
        title += f", {words}"
        name += "-" + re.sub(r"[^a-z]+", "-", words)
    part = ""
    if fitting and not whole:
        total = len(fitting[0].scenarios[place])
        part = f"{len(digests)} of {total} scenarios"
        title, name = f"{title}, {part}", f"{name}-{len(digests)}-of-{total}"
    elif not fitting and name in taken:
        title = f"{title}, {runs[entries[0].run].name}"
    name = name[:LONGEST_NAME]
    others = (f"{name}-{number}" for number in count(2))
    free = next(each for each in chain([name], others) if each not in taken)
    return View(free, title, part, published=fitting, is_whole=False, **held)
