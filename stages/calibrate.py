"""Traces -> data/tables/<experiment>/privacy: VPS and reflections (paper, appendix F)."""

from calbench.analysis.scoring import write_privacy_tables
from calbench.config import RunSpec
from calbench.console import progress
from calbench.engine.batch import plan_jobs
from calbench.scenarios.storage import read_suite
from stages import paths


def main(spec: RunSpec) -> None:
    """Measure what each message of an experiment gave away."""
    scenarios = read_suite(paths.suite(spec.name))
    jobs = plan_jobs(scenarios, spec.game_configs, paths.traces(spec.name))
    with progress("games", len(jobs)) as tick:
        folder = paths.tables(spec.name) / "privacy"
        write_privacy_tables(jobs, folder, spec.measure, tick, spec.analysis)


if __name__ == "__main__":
    paths.run_stage(main)
