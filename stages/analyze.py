"""Traces -> data/tables/<experiment>/*.csv."""

from calbench.analysis.scoring import write_tables
from calbench.config import RunSpec
from calbench.console import progress
from calbench.engine.batch import plan_jobs
from calbench.engine.pool import workers
from calbench.prices import table_prices
from calbench.scenarios.storage import read_suite
from stages import paths


def main(spec: RunSpec) -> None:
    """Score an experiment's traces and write its tables."""
    scenarios = read_suite(paths.suite(spec.name))
    jobs = plan_jobs(scenarios, spec.game_configs, paths.traces(spec.name))
    with progress("games", len(jobs)) as tick, workers(spec.jobs) as executor:
        write_tables(
            jobs,
            paths.tables(spec.name),
            spec.measure,
            spec.analysis,
            tick,
            executor,
            table_prices(),
        )


if __name__ == "__main__":
    paths.run_stage(main)
