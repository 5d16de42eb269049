"""Suite and teams -> data/traces/<experiment>/<team>/<scenario>.json."""

import shutil

from calbench.config import RunSpec
from calbench.console import progress
from calbench.engine.batch import Job, plan_jobs, play_jobs
from calbench.engine.pool import workers
from calbench.scenarios.storage import read_suite
from stages import paths


def main(spec: RunSpec) -> None:
    """Play every game of an experiment.

    The folder is a stage output that can be rebuilt without a paid call, so it is emptied
    first: nothing stays there that this run does not define.
    """
    folder = paths.traces(spec.name)
    shutil.rmtree(folder, ignore_errors=True)
    jobs = plan_jobs(read_suite(paths.suite(spec.name)), spec.game_configs, folder)
    with progress("games", len(jobs)) as tick, workers(spec.jobs) as executor:

        def finished(job: Job) -> None:
            tick(f"{job.config.team.team_id}, US$ 0.00")

        play_jobs(jobs, executor, finished)


if __name__ == "__main__":
    paths.run_stage(main)
