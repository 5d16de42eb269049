"""Suite parameters -> data/suites/<setting>.jsonl."""

from calbench.config import RunSpec
from calbench.console import progress
from calbench.scenarios.storage import write_suite
from calbench.scenarios.suites import build_suite
from stages import paths


def main(spec: RunSpec) -> None:
    """Draw the suite of an experiment, with oracle and difficulty."""
    with progress("scenarios", spec.suite.num_scenarios) as tick:
        scenarios = build_suite(spec.suite, progress=lambda _done, _total: tick())
    write_suite(paths.suite(spec.suite.setting), scenarios)


if __name__ == "__main__":
    paths.run_stage(main)
