"""Traces -> VPS and reflections (paper, appendix F), audits of language (H), messages, calls."""

from calbench.analysis.scoring import write_privacy_tables
from calbench.config import RunSpec
from calbench.console import progress
from calbench.engine.batch import plan_jobs
from calbench.engine.pool import workers
from calbench.prices import table_prices
from calbench.scenarios.storage import read_suite
from stages import paths


def main(spec: RunSpec) -> None:
    """Measure what each message of an experiment gave away, and how its agents spoke."""
    scenarios = read_suite(paths.suite(spec.name))
    jobs = plan_jobs(scenarios, spec.game_configs, paths.traces(spec.name))
    with progress("games", len(jobs)) as tick, workers(spec.jobs) as executor:
        write_privacy_tables(
            jobs,
            paths.tables(spec.name),
            spec.measure,
            tick,
            spec.analysis,
            executor,
            table_prices(),
        )


if __name__ == "__main__":
    paths.run_stage(main)
