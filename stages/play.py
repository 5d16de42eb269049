"""Suite and teams -> data/traces/<experiment>/<team>/<scenario>.json."""

import shutil

from calbench.config.spec import RunSpec
from calbench.console import progress
from calbench.engine.batch import play_jobs
from calbench.engine.jobs import plan_jobs
from calbench.pool import workers
from calbench.runs.money import spent
from calbench.runs.source import opener, reply_source
from calbench.scenarios.storage import read_suite
from stages import paths

RERECORD = "make record-local"
"""Records the cohort of the default pipeline anew; its miss says so."""


def main(spec: RunSpec) -> None:
    """Play every game of an experiment.

    The folder is a stage output that can be rebuilt without a paid call, so it is emptied
    first: nothing stays there that this run does not define.
    """
    folder = paths.traces(spec.name)
    shutil.rmtree(folder, ignore_errors=True)
    jobs = plan_jobs(read_suite(paths.suite(spec.name)), spec.game_configs, folder)
    replies = reply_source(spec, RERECORD)
    with (
        progress("games", len(jobs), state=lambda: spent(spec, replies)) as tick,
        workers(spec.jobs) as pool,
    ):
        play_jobs(
            jobs,
            pool,
            lambda game: tick(game.job.team_id),
            source=opener(spec, replies),
            at_once=spec.games_at_once,
        )


if __name__ == "__main__":
    paths.run_stage(main)
