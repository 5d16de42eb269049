"""Traces -> data/facts/<experiment>: every game measured, once."""

import shutil

from calbench.analysis.scoring import facts_of, measure_games
from calbench.config.spec import RunSpec
from calbench.console import progress
from calbench.engine.jobs import plan_jobs
from calbench.pool import workers
from calbench.scenarios.storage import read_suite
from stages import paths


def main(spec: RunSpec) -> None:
    """Measure the games of an experiment: scores, messages, beliefs, and what a judge reads."""
    jobs = plan_jobs(read_suite(paths.suite(spec.name)), spec.game_configs, paths.traces(spec.name))
    folder, facts = paths.facts(spec.name), facts_of(spec.facts, spec.judge)
    shutil.rmtree(folder, ignore_errors=True)
    with progress("games", len(jobs)) as tick, workers(spec.jobs) as pool:
        measure_games(jobs, folder, spec.measure, tick, pool, facts)


if __name__ == "__main__":
    paths.run_stage(main)
