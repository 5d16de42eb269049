"""Suites and teams -> data/traces/<experiment>: every game, in shards."""

import shutil
from functools import partial

from calbench.console import progress
from calbench.engine.batch import Played, play_jobs
from calbench.engine.batch import Source as Opener
from calbench.engine.jobs import Job, plan_jobs
from calbench.errors import ConfigError
from calbench.files import located, no_collection
from calbench.llm.client import Source, open_completer
from calbench.scenarios.storage import read_suite
from calbench.traces.models import GameConfig
from calbench.traces.store import ShardStore
from stages import paths

READ = (paths.SUITES, paths.DATA / "cohorts", paths.DATA / "label_banks")
"""What it reads beside its code and its part."""

RERECORD = "make record-local"
"""Records the cohort of the default pipeline anew; its miss says so."""


class Games(paths.Part):
    """The games of an experiment.

    Attributes:
        configs: what defines the games of each team.
        replicates: games of each team with models or own agents on each scenario.
        replies: where the replies of its models are.
    """

    configs: tuple[GameConfig, ...]
    replicates: int
    replies: str | None


def main() -> None:
    """Play the games of experiments. They are made without a paid call, so all are made again.

    Games are kept in the order of their parts, which are cut by the games alone, so the bytes of
    the shards do not depend on who plays them.
    """
    parts = paths.read_parts("play", Games)
    jobs = {name: planned(name, part) for name, part in parts.items()}
    total = sum(map(len, jobs.values()))
    paths.prune(paths.TRACES, {paths.TRACES / name for name in parts})
    with no_collection(), progress("games", total) as tick, paths.pool(total) as pool:

        def on_done(game: Played) -> None:
            tick(game.job.team_id)

        for name, part in parts.items():
            shutil.rmtree(paths.TRACES / name, ignore_errors=True)
            store = ShardStore(paths.TRACES / name, is_synced=False)
            source = recorded(name, part, jobs[name])
            play_jobs(jobs[name], pool, on_done, store=store, source=source)


def planned(name: str, part: Games) -> list[Job]:
    """Return the games of an experiment."""
    scenarios = read_suite(paths.suite(name))
    return plan_jobs(scenarios, part.configs, paths.TRACES / name, replicates=part.replicates)


def recorded(name: str, part: Games, jobs: list[Job]) -> Opener | None:
    """Return what opens the recorded replies of an experiment; ``None`` if it has no models.

    Raises:
        ConfigError: it has models and does not say where their replies are.
    """
    if not any(seat.kind == "model" for job in jobs for seat in job.config.team.seats):
        return None
    if part.replies is None:
        raise ConfigError(
            f"conf/experiment/{name}.yaml: replies.path is missing: models of the site are replayed"
        )
    source = Source(mode="replay", store=located(part.replies), rerecord=RERECORD)
    return partial(open_completer, {}, source)


if __name__ == "__main__":
    paths.run_stage(main, READ)
