"""The games of a run: what each of them is, where its trace goes, and which are missing.

A game is finished if its trace is a complete document with the game id that this run would give
it; any other file at that path stops the run before anything is written. Of a document only the
outline is read, of a game in a shard its head: traces are read strictly when they are measured.
"""

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from calbench.console import progress
from calbench.engine.game import game_id
from calbench.errors import CalbenchError, ConfigError, OutputError
from calbench.files import no_collection
from calbench.scenarios.models import Scenario
from calbench.traces.catalog import Catalog
from calbench.traces.models import GameConfig
from calbench.traces.outlines import trace_name

GAME_SECONDS, MEETING_SECONDS, LANGUAGE_TIMES = 0.0015, 25e-6, 10
"""Time of a game, of each agent and meeting in it, and how many times longer sentences take [C].

As measured for 5 to 20 agents, within a factor of two.
"""


@dataclass(frozen=True, slots=True)
class Job:
    """One game to play and the path of its trace."""

    scenario: Scenario
    config: GameConfig
    path: Path

    @property
    def waits(self) -> bool:
        """Whether an agent in it takes time to answer: a model, or the user's own agent."""
        return self.config.team.is_open

    @property
    def team_id(self) -> str:
        """The team that plays it."""
        return self.config.team.team_id

    @property
    def scenario_id(self) -> str:
        """The scenario it is played on."""
        return self.scenario.scenario_id

    @property
    def seconds(self) -> float:
        """About how long it takes to play, and as long again to measure, if nobody in it waits."""
        scenario = self.scenario
        size = scenario.num_agents * len(scenario.meetings)
        typed = GAME_SECONDS + MEETING_SECONDS * size
        return typed * (LANGUAGE_TIMES if self.config.team.uses_language else 1)

    @property
    def game_id(self) -> str:
        """The id this run gives the game."""
        return game_id(self.scenario, self.config)


def plan_jobs(
    scenarios: Sequence[Scenario],
    configs: Sequence[GameConfig],
    folder: Path,
    chosen: Container[str] | None = None,
    replicates: int = 1,
) -> list[Job]:
    """Return every game of a run, team by team, at ``<folder>/<team>/<scenario_id>.json``.

    A team that rotates moves by one seat with each scenario of a setting, played or not. Further
    games of a team on a scenario are at ``<scenario_id>.r1.json`` and so on.

    Args:
        scenarios: of whole suites.
        configs: what defines the games of each team.
        folder: of the traces.
        chosen: ids of the scenarios that are played; absent: all.
        replicates: games on each scenario of teams with models or own agents; of all others the
            second would be the first, and they play once.

    Raises:
        ConfigError: two games would have one file, because an id ends like a replicate.
    """
    jobs = [
        Job(
            scenario,
            rotated.updated(replicate=replicate) if replicate else rotated,
            folder / trace_name(config.team.team_id, scenario.scenario_id, replicate),
        )
        for config in configs
        for place, scenario in _with_places(scenarios)
        if chosen is None or scenario.scenario_id in chosen
        for rotated in [config.rotated(place)]
        for replicate in range(replicates if config.team.is_open else 1)
    ]
    if replicates > 1:
        _check_files(jobs)
    return jobs


def effort(jobs: Sequence[Job]) -> int:
    """Return how many typed games of five agents and five meetings would take about as long."""
    return int(sum(job.seconds for job in jobs) / (GAME_SECONDS + 25 * MEETING_SECONDS))


def _check_files(jobs: Sequence[Job]) -> None:
    counts = Counter(job.path for job in jobs)
    for job in jobs:
        if job.config.replicate and counts[job.path] > 1:
            raise ConfigError(
                f"replicates: {job.path.name} would be the file of two games: give scenarios ids "
                "that do not end like a replicate"
            )


def _with_places(scenarios: Sequence[Scenario]) -> Iterator[tuple[int, Scenario]]:
    """Number the scenarios within their settings."""
    places: Counter[str] = Counter()
    for scenario in scenarios:
        yield places[scenario.setting], scenario
        places[scenario.setting] += 1


def unfinished(jobs: Sequence[Job]) -> list[Job]:
    """Return the games that still have to be played.

    Raises:
        OutputError: naming a file at a game's path that is not that game.
    """
    catalog = Catalog()
    there = {job.path for job in jobs if catalog.is_taken(job.path)}
    missing = []
    with progress("checked", len(there)) as tick, no_collection():
        for job in jobs:
            if job.path not in there:
                missing.append(job)
                continue
            if not _is_finished(job, catalog):
                missing.append(job)
            tick()
    return missing


def _is_finished(job: Job, catalog: Catalog) -> bool:
    """Whether what is at the place of a game is this game, played to its end."""
    try:
        found = catalog.outline(job.path)
    except CalbenchError as error:
        raise OutputError(
            f"{job.path} is not a complete trace ({error}); nothing was written: move it away, and "
            "the game is played anew, from the replies that are recorded"
        ) from error
    if found.game_id != job.game_id:
        raise OutputError(
            f"{job.path} holds another game ({found.game_id}, not {job.game_id}); nothing was "
            f"written: choose another folder, e.g. out={job.path.parents[2]}-2"
        )
    return not found.is_halted  # a game ended by a provider or the budget is resumed
