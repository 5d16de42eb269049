"""Suites and teams -> data/traces/<experiment>: every game, in shards."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from calbench.config.spec import RunSpec
from calbench.console import progress, say
from calbench.engine.batch import Played, play_jobs
from calbench.engine.jobs import Job
from calbench.errors import CalbenchError
from calbench.pool import Pool, workers
from calbench.runs.source import opener, reply_source
from calbench.traces.catalog import catalog, raw_trace
from calbench.traces.frames import packed_frames
from calbench.traces.packing import packed_at
from calbench.traces.store import Batch, ShardStore
from stages import paths
from stages.kept import Kept, sha256_of
from stages.teams import TeamGames, planned, team_games

RERECORD = "make record-local"
"""Records the cohort of the default pipeline anew; its miss says so."""


def main(specs: list[RunSpec]) -> None:
    """Play the games of experiments; those of a team that would be the same are kept.

    Traces can be made again without a paid call, so whatever is not kept is replaced: nothing
    stays there that this run does not define.
    """
    kept, teams = Kept("play", digests), team_games(specs)
    missing = [games for games in teams if not kept.holds(games.folder, games.recipe)]
    num_games = play(teams, missing)
    for games in missing:
        kept.note(games.folder, games.recipe)
    kept.write()
    say(f"{num_games} games played, those of {len(teams) - len(missing)} teams kept")


def digests(folder: Path) -> Mapping[str, str]:
    """Return the SHA-256 of every game of a team; nothing if the shards do not fit."""
    try:
        return {
            name: sha256_of(raw_trace(folder.parent / name))
            for name in sorted(catalog(folder.parent))
            if Path(name).parent.name == folder.name
        }
    except CalbenchError:
        return {}


def play(teams: Sequence[TeamGames], missing: Sequence[TeamGames]) -> int:
    """Play the games of some teams, and put them beside those of the others.

    Returns:
        How many were played.
    """
    jobs = planned(missing)
    total = sum(map(len, jobs.values()))
    by_experiment: dict[Path, list[TeamGames]] = {}
    for games in teams:
        by_experiment.setdefault(games.folder.parent, []).append(games)
    with progress("games", total) as tick, workers(games=total) as pool:
        for folder, here in by_experiment.items():
            kept = {games.folder.name for games in here if games.folder not in jobs}
            if kept == {games.folder.name for games in here} == team_names(folder):
                continue
            with packed_at(folder) as place:
                store = ShardStore(place, is_synced=False)
                store.commit(copied(folder, kept))
                moved = [
                    (games, [moved_to(place, job) for job in jobs[games.folder]])
                    for games in here
                    if games.folder in jobs
                ]
                play_experiment(moved, pool, store, lambda game: tick(game.job.team_id))
    return total


def team_names(folder: Path) -> set[str]:
    """Return the teams with games in the shards of a folder; none if they do not fit."""
    try:
        return {Path(name).parent.name for name in catalog(folder)}
    except CalbenchError:
        return set()


def copied(folder: Path, teams: Collection[str]) -> Batch:
    """Return the games of some teams as they are, ready to be kept elsewhere."""
    games = [each.game for name, each in catalog(folder).items() if Path(name).parent.name in teams]
    return Batch(tuple(packed_frames((game, raw_trace(folder / game.name)) for game in games)))


def moved_to(place: Path, job: Job) -> Job:
    """Return a game whose trace goes elsewhere."""
    return replace(job, path=place / job.path.parent.name / job.path.name)


def play_experiment(
    jobs: Sequence[tuple[TeamGames, Sequence[Job]]],
    pool: Pool | None,
    store: ShardStore,
    on_done: Callable[[Played], None],
) -> None:
    """Play the games of some teams of one experiment."""
    at_hand = [job for _, each in jobs for job in each if not job.waits]
    play_jobs(at_hand, pool, on_done, store=store)
    for games, each in jobs:
        waiting = [job for job in each if job.waits]
        source = opener(games.spec, reply_source(games.spec, RERECORD)) if waiting else None
        at_once = games.spec.games_at_once
        play_jobs(waiting, None, on_done, store=store, source=source, at_once=at_once)


if __name__ == "__main__":
    paths.run_stage(main)
