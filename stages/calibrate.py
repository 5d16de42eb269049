"""Traces -> data/facts/<experiment>: every game measured, once."""

import shutil

from calbench.analysis.scoring import GAMES_PER_TASK, facts_of, measure_games
from calbench.config.spec import RunSpec
from calbench.console import progress
from calbench.engine.jobs import Job, plan_jobs
from calbench.pool import workers
from calbench.scenarios.storage import read_suite
from stages import paths
from stages.inputs import Inputs
from stages.kept import Kept, contents


def main(specs: list[RunSpec]) -> None:
    """Measure the games of experiments: scores, messages, beliefs, and what a judge reads.

    The facts of an experiment that would be the same are kept.
    """
    kept, inputs = Kept("calibrate", contents), Inputs("calibrate")
    recipes = {spec.name: inputs.recipe(spec) for spec in specs}
    missing = [spec for spec in specs if not kept.holds(paths.facts(spec.name), recipes[spec.name])]
    jobs = {spec.name: planned(spec) for spec in missing}
    total = sum(map(len, jobs.values()))
    processes = paths.processes(total // GAMES_PER_TASK)
    with progress("games", total) as tick, workers(processes) as pool:
        for spec in missing:
            folder, facts = paths.facts(spec.name), facts_of(spec.facts, spec.judge)
            shutil.rmtree(folder, ignore_errors=True)
            measure_games(jobs[spec.name], folder, spec.measure, tick, pool, facts)
            kept.note(folder, recipes[spec.name])
    kept.write()


def planned(spec: RunSpec) -> list[Job]:
    """Return the games of an experiment."""
    scenarios = read_suite(paths.suite(spec.name))
    folder = paths.traces(spec.name)
    return plan_jobs(scenarios, spec.game_configs, folder, replicates=spec.replicates)


if __name__ == "__main__":
    paths.run_stage(main)
