"""Games per second of every team of the scale experiment -> data/published/speed.csv.

No stage of the pipeline: what it writes depends on the machine. Run it by hand where the suite
of the experiment is there, ``python -m stages.measure_speed "what machine this is"``.
"""

import gc
import time
from collections.abc import Sequence

from calbench.config.spec import read_params
from calbench.console import say
from calbench.engine.drivers import run
from calbench.engine.seating import seat_policies
from calbench.files import write_atomically
from calbench.scenarios.models import Scenario
from calbench.scenarios.storage import read_suite
from calbench.traces.models import GameConfig
from stages import paths

EXPERIMENT = "scale"

LEAST_SECONDS = 2.0
"""Games are played again until they took this long."""

OUT = paths.DATA / "published" / "speed.csv"


def games_per_second(scenarios: Sequence[Scenario], config: GameConfig) -> float:
    """Play every scenario, whole rounds of them, and count by this process's own time."""
    gc.collect()
    games, start, taken = 0, time.process_time(), 0.0
    while taken < LEAST_SECONDS:
        for scenario in scenarios:
            run(scenario, config, seat_policies(config.team, scenario.num_agents, config.limits))
        games += len(scenarios)
        taken = time.process_time() - start
    return games / taken


def main(notes: list[str]) -> None:
    """Measure every team at every size and write the table."""
    spec = read_params(paths.PARAMS / f"{EXPERIMENT}.yaml")
    by_size: dict[int, list[Scenario]] = {}
    for scenario in read_suite(paths.suite(EXPERIMENT)):
        by_size.setdefault(scenario.num_agents, []).append(scenario)
    note = " ".join(notes).replace('"', "'")
    lines = ["team,agents,games_per_second,note"]
    for config in spec.game_configs:
        for agents, scenarios in by_size.items():
            rate = games_per_second(scenarios, config)
            lines.append(f'{config.team.team_id},{agents},{rate:.4g},"{note}"')
            say(lines[-1])
    write_atomically(OUT, ("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    paths.answer(main)
