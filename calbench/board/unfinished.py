"""Half-played games of runs: from their reply stores to the trace browser."""

from collections.abc import Collection, Iterator, Mapping
from itertools import count
from pathlib import Path

from calbench.console import warn
from calbench.errors import CalbenchError
from calbench.report.experiment import Unfinished
from calbench.runs.fragments import STORE, read_fragments
from calbench.traces.catalog import Catalog
from calbench.traces.models import Trace

LONGEST = 24
"""Most characters of a setting in the name of a group [C]."""

END = "unfinished"
"""What the names of all groups end with."""


def has_store(path: Path) -> bool:
    """Whether a path is a reply store, or the folder of a run that has one."""
    return path.is_file() or (path / STORE).is_file()


def has_traces(path: Path) -> bool:
    """Whether games of a path are measured; a store alone has none, nor a run before its first."""
    if not has_store(path):
        return True
    return (path / "traces").is_dir() and Catalog().holds_traces(path)


def unfinished_of(named: Mapping[str, Path], taken: Collection[str]) -> list[Unfinished]:
    """Return the half-played games of some runs, by run and setting.

    What cannot be read is told in a line each; the games that have traces are shown all the same.

    Args:
        named: runs, or reply stores, by name.
        taken: names of experiments.
    """
    groups: dict[str, list[Trace]] = {}
    for run, path in named.items():
        if not has_store(path):
            continue
        for game in _games(path):
            first = f"{game.scenario.setting[:LONGEST].rstrip('-._')}-{run}-{END}"
            name = next(
                each
                for each in _numbered(first)
                if each not in taken and _is_alike(game, groups.get(each, ()))
            )
            own = groups.setdefault(name, [])
            own.append(_labelled(game, own))
    return [Unfinished(name, games) for name, games in groups.items()]


def _games(path: Path) -> Iterator[Trace]:
    try:
        found = read_fragments(path)
    except CalbenchError as error:
        warn(f"half-played games are not shown: {error}")
        return
    for problem in found.problems:
        warn(f"a half-played game is not shown: {problem}")
    yield from (game.trace for game in found.games)


def _is_alike(game: Trace, others: Collection[Trace]) -> bool:
    """Whether a scenario is that of its name in the other games."""
    return all(
        other.scenario.play_digest == game.scenario.play_digest
        for other in others
        if other.scenario.scenario_id == game.scenario.scenario_id
    )


def _labelled(game: Trace, others: Collection[Trace]) -> Trace:
    """Return a game under a name of its team that no other game on its scenario has."""
    scenario_id, team = game.scenario.scenario_id, game.config.team
    taken = {
        other.config.team.team_id for other in others if other.scenario.scenario_id == scenario_id
    }
    again = f".r{game.config.replicate}" if game.config.replicate else ""
    label = next(name for name in _numbered(f"{team.team_id[:56]}{again}") if name not in taken)
    if label == team.team_id:
        return game
    config = game.config.updated(team=team.model_copy(update={"team_id": label}))
    return game.model_copy(update={"config": config})


def _numbered(first: str) -> Iterator[str]:
    yield first
    yield from (f"{first}-{number}" for number in count(2))
