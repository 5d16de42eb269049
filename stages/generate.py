"""Suite parameters -> data/suites/<experiment>.jsonl."""

from collections.abc import Iterable

from calbench.config.spec import RunSpec
from calbench.console import progress, warn
from calbench.pool import finished, workers
from calbench.scenarios.difficulty import unproven
from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import SuiteSpec
from calbench.scenarios.storage import write_suite
from calbench.scenarios.suites import build_named, together
from stages import paths

Named = tuple[str, SuiteSpec]
"""A suite, and the setting under which tables list it."""


def main(specs: list[RunSpec]) -> None:
    """Draw the suites of experiments, with oracle and difficulty; one of several only once."""
    built: dict[str, tuple[Scenario, ...]] = {}
    suites = distinct(suite for spec in specs for suite in spec.suites)
    processes = paths.processes(len(suites))
    with progress("suites", len(suites)) as tick, workers(processes) as pool:
        for suite, scenarios in finished(build_named, suites, pool):
            built[key(suite)] = scenarios
            tick(suite[0])
    for spec in specs:
        scenarios = together([built[key(suite)] for suite in spec.suites])
        if line := unproven(scenarios):
            warn(line)
        write_suite(paths.suite(spec.name), scenarios)


def distinct(suites: Iterable[Named]) -> list[Named]:
    """Return each suite once, those of large scenarios first: no worker is left with one."""
    once = {key(suite): suite for suite in suites}.values()
    return sorted(once, key=lambda suite: -size(suite[1]))


def key(suite: Named) -> str:
    """Return all that defines a suite."""
    name, spec = suite
    return f"{name} {spec.model_dump_json()}"


def size(spec: SuiteSpec) -> int:
    """Return the agents and meetings of a scenario, multiplied."""
    return spec.scenario.num_agents * spec.scenario.num_meetings


if __name__ == "__main__":
    paths.run_stage(main)
