"""Suite parameters -> data/suites/<experiment>.jsonl."""

from contextlib import nullcontext

from calbench.console import progress, warn
from calbench.scenarios.difficulty import unproven
from calbench.scenarios.parameters import Subset
from calbench.scenarios.storage import write_suite
from calbench.scenarios.suites import Named, build_suites, chosen_ids, together
from stages import paths

READ = (paths.DATA / "cohorts",)
"""What it reads beside its code and its part."""


class Suites(paths.Part):
    """The suites of an experiment, and the part of them that it plays."""

    suites: tuple[Named, ...]
    subset: Subset | None


def main() -> None:
    """Draw the suites of experiments, with oracle and difficulty; one of several only once."""
    parts = paths.read_parts("generate", Suites)
    suites = {key(suite): suite for part in parts.values() for suite in part.suites}
    total = sum(spec.num_scenarios for _, spec in suites.values())
    with progress("scenarios", total) as tick, paths.pool(total) as pool:
        found = build_suites(list(suites.values()), lambda _: nullcontext(pool), done=tick)
    built = dict(zip(suites, found, strict=True))
    for name, part in parts.items():
        whole = together([built[key(suite)] for suite in part.suites])
        chosen = chosen_ids(whole, part.subset)
        scenarios = [scenario for scenario in whole if scenario.scenario_id in chosen]
        if line := unproven(scenarios):
            warn(line)
        write_suite(paths.suite(name), scenarios)
    paths.prune(paths.SUITES, {paths.suite(name) for name in parts})


def key(suite: Named) -> str:
    """Return all that defines a suite."""
    name, spec = suite
    return f"{name} {spec.model_dump_json()}"


if __name__ == "__main__":
    paths.run_stage(main, READ)
