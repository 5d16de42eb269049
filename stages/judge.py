"""Traces -> what the scripted judge makes of their messages (paper, appendix I)."""

from calbench.analysis.judge.judging import write_judge_tables
from calbench.config import RunSpec
from calbench.console import progress
from calbench.engine.batch import plan_jobs
from calbench.scenarios.storage import read_suite
from stages import paths


def main(spec: RunSpec) -> None:
    """Judge the delivered messages of an experiment, and compare with its primary measure."""
    scenarios = read_suite(paths.suite(spec.name))
    jobs = plan_jobs(scenarios, spec.game_configs, paths.traces(spec.name))
    with progress("judged", len(jobs)) as tick:
        write_judge_tables(
            jobs, paths.tables(spec.name) / "judge", tick, spec.measure, spec.analysis
        )


if __name__ == "__main__":
    paths.run_stage(main)
