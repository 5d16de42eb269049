"""Which games are compared with which: a view for every set of scenarios that a run played."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from calbench.analysis.summary import in_words
from calbench.analysis.summary.runs import CHANNEL_WORDS
from calbench.board.entries import Entry, Place, Run
from calbench.board.published import Results
from calbench.errors import FileError
from calbench.report.role import SETTINGS

LONGEST_NAME = 56
"""Most characters of the name of a view, before a number that tells it from another."""


@dataclass(frozen=True)
class View:
    """Teams of runs and published ones on the same scenarios, over the same channels.

    Attributes:
        name: of the experiment that shows it; that of a published one if it takes its place.
        title: what pages call it.
        part: how many scenarios of the published ones it has, in words; empty: all, or others.
        place: setting and channels.
        digests: its scenarios, with what defines a game on each.
        published: published experiments with games on all of them; the first is the one whose
            page shows the view, if it takes its place.
        entries: of runs, likewise.
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
        fitting.sort(key=lambda each: each.role.page != SETTINGS)  # stable
        taken = {view.name for view in views} | {each.name for each in published}
        views.append(_view(place, dict(sorted(scenarios)), own, fitting, runs, taken))
    return views


def _check(entry: Entry, runs: Sequence[Run], published: Sequence[Results]) -> None:
    """Refuse scenarios that have the names of published ones and are others."""
    setting = entry.place[0]
    known: dict[str, set[str]] = {}
    for each in published:
        for (name, _), digests in each.scenarios.items():
            if name == setting:
                for scenario_id, digest in digests.items():
                    known.setdefault(scenario_id, set()).add(digest)
    for scenario_id, digest in sorted(entry.digests.items()):
        if digest not in known.get(scenario_id, {digest}):
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
    setting, channels = place
    whole = [each for each in fitting if len(each.scenarios[place]) == len(digests)]
    held: dict[str, Any] = {"place": place, "digests": digests, "entries": entries}
    if whole and whole[0].role.page == SETTINGS:
        first = [whole[0], *(each for each in fitting if each is not whole[0])]
        return View(whole[0].name, setting, "", published=first, is_whole=True, **held)
    title, name = setting, setting
    if channels != "dm":
        title += f", {in_words(channels.split(), CHANNEL_WORDS)}"
        name += f"-{channels.replace(' ', '-')}"
    part = ""
    if fitting and not whole:
        total = len(fitting[0].scenarios[place])
        part = f"{len(digests)} of {total} scenarios"
        title, name = f"{title}, {part}", f"{name}-{len(digests)}-of-{total}"
    elif not fitting and name in taken:
        title = f"{title}, {runs[entries[0].run].name}"
    free = next(each for each in _names(name[:LONGEST_NAME]) if each not in taken)
    return View(free, title, part, published=fitting, is_whole=False, **held)


def _names(first: str) -> Iterator[str]:
    """Yield a name, and then others that are like it."""
    yield first
    yield from (f"{first}-{number}" for number in count(2))
