"""Suite parameters -> data/suites/<experiment>.jsonl."""

from collections.abc import Iterable

from calbench.console import progress, warn
from calbench.pool import finished
from calbench.scenarios.difficulty import unproven
from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import SuiteSpec
from calbench.scenarios.storage import write_suite
from calbench.scenarios.suites import build_named, together
from stages import paths
from stages.parts import Part, read_parts

READ = (paths.DATA / "cohorts",)
"""What it reads beside its code and its part."""

Named = tuple[str, SuiteSpec]
"""A suite, and the setting under which tables list it."""


class Suites(Part):
    """The suites of an experiment."""

    suites: tuple[Named, ...]


def main() -> None:
    """Draw the suites of experiments, with oracle and difficulty; one of several only once."""
    parts = read_parts("generate", Suites)
    built: dict[str, tuple[Scenario, ...]] = {}
    suites = distinct(suite for part in parts.values() for suite in part.suites)
    with progress("suites", len(suites)) as tick, paths.pool(len(suites)) as pool:
        for suite, scenarios in finished(build_named, suites, pool):
            built[key(suite)] = scenarios
            tick(suite[0])
    for name, part in parts.items():
        scenarios = together([built[key(suite)] for suite in part.suites])
        if line := unproven(scenarios):
            warn(line)
        write_suite(paths.suite(name), scenarios)
    paths.prune(paths.SUITES, {paths.suite(name) for name in parts})


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
    paths.run_stage(main, READ)
