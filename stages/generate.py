"""Suite parameters -> data/suites/<experiment>.jsonl."""

from calbench.config.spec import RunSpec
from calbench.console import progress, warn
from calbench.pool import workers
from calbench.scenarios.difficulty import unproven
from calbench.scenarios.storage import write_suite
from calbench.scenarios.suites import build_suites
from stages import paths


def main(spec: RunSpec) -> None:
    """Draw the suites of an experiment, with oracle and difficulty."""
    total = sum(suite.num_scenarios for _, suite in spec.suites)
    with progress("scenarios", total) as tick, workers(spec.jobs) as pool:
        scenarios = build_suites(spec.suites, lambda _done, _total: tick(), pool)
    if line := unproven(scenarios):
        warn(line)
    write_suite(paths.suite(spec.name), scenarios)


if __name__ == "__main__":
    paths.run_stage(main)
