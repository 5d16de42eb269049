"""The games of an experiment in its shards, and how they get there."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from calbench.config.spec import RunSpec
from calbench.engine.batch import Played, play_jobs
from calbench.engine.jobs import Job
from calbench.errors import CalbenchError
from calbench.pool import Pool
from calbench.runs.source import opener, reply_source
from calbench.traces.catalog import catalog, raw_trace
from calbench.traces.frames import packed_frames
from calbench.traces.packing import packed_at
from calbench.traces.store import Batch, ShardStore
from stages.kept import sha256_of
from stages.teams import TeamGames

RERECORD = "make record-local"
"""Records the cohort of the default pipeline anew; its miss says so."""

OnDone = Callable[[Played], None]


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


def team_names(folder: Path) -> set[str]:
    """Return the teams with games in the shards of a folder; none if something does not fit."""
    if any(path.parent != folder or path.suffix == ".json" for path in folder.rglob("*")):
        return set()  # it holds more than shards
    try:
        return {Path(name).parent.name for name in catalog(folder)}
    except CalbenchError:
        return set()


def play_experiment(
    folder: Path,
    kept: Collection[str],
    jobs: Sequence[tuple[TeamGames, Sequence[Job]]],
    pool: Pool | None,
    on_done: OnDone,
) -> None:
    """Play the games of some teams, and put them in shards with those of the teams that are kept.

    Args:
        folder: of the experiment's traces; it is replaced whole.
        kept: ids of teams whose games there are taken as they are.
        jobs: what each other team plays.
        pool: where to play.
        on_done: called for each game played.
    """
    with packed_at(folder) as place:
        store = ShardStore(place, is_synced=False)
        store.commit(_copied(folder, kept))
        moved = [(games, [_moved_to(place, job) for job in each]) for games, each in jobs]
        at_hand = [job for _, each in moved for job in each if not job.waits]
        play_jobs(at_hand, pool, on_done, store=store)
        waiting = [job for _, each in moved for job in each if job.waits]
        if waiting:
            _play_waiting(jobs[0][0].spec, waiting, store, on_done)


def _copied(folder: Path, teams: Collection[str]) -> Batch:
    """Return the games of some teams as they are, ready to be kept elsewhere."""
    if not teams:
        return Batch()
    games = [each.game for name, each in catalog(folder).items() if Path(name).parent.name in teams]
    return Batch(tuple(packed_frames((game, raw_trace(folder / game.name)) for game in games)))


def _moved_to(place: Path, job: Job) -> Job:
    """Return a game whose trace goes elsewhere."""
    return replace(job, path=place / job.path.parent.name / job.path.name)


def _play_waiting(spec: RunSpec, jobs: Sequence[Job], store: ShardStore, on_done: OnDone) -> None:
    """Play games of models, whose replies are recorded; they are read once."""
    source = opener(spec, reply_source(spec, RERECORD))
    play_jobs(jobs, None, on_done, store=store, source=source, at_once=spec.games_at_once)
