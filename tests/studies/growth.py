"""How work grows with a scenario, and games per second -> growth, exponents and speed.csv.

What it writes depends on the machine: ``python -m tests.studies.growth "what machine this is"``,
in some minutes, where the suite of the experiment ``scale`` is. Times are of this process alone.
"""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
import zstandard

from calbench.analysis.scoring import ALL_FACTS
from calbench.config.composition import compose, compose_team
from calbench.console import say
from calbench.engine.drivers import run
from calbench.engine.seating import seat_policies
from calbench.facts.fact import measured
from calbench.files import write_atomically
from calbench.metrics.measure import DEFAULT_MEASURE
from calbench.oracle.cache import OracleCache
from calbench.oracle.solve import solve_best, solve_worst
from calbench.scenarios.difficulty import completed
from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import ScenarioParameters
from calbench.scenarios.sampling import sample_scenario
from calbench.scenarios.storage import read_suite
from calbench.traces.models import GameConfig, Limits, Trace
from calbench.traces.storage import trace_bytes
from stages import paths

TEAMS = ("imap", "sd-map", "dsm-private", "dsm-welfare")

BASE = {"agents": 20, "meetings": 5, "slots": 64}
"""The size from which one number at a time is varied [C]; meetings have three participants."""

SIZES = {"agents": (10, 20, 40, 80), "meetings": (5, 10, 20, 40), "slots": (32, 64, 128, 256)}

SCENARIOS = 4
"""Scenarios of each size, and as many games of each team."""

LEAST_SECONDS = 0.5
"""A step is repeated until it took this long."""

EXPERIMENT = "scale"
"""Whose games are counted by second."""

PUBLISHED = paths.DATA / "published"

Item = TypeVar("Item")


def scenarios(size: dict[str, int]) -> list[Scenario]:
    """Sample scenarios of a size: three quarters of the slots taken, one in eight blocked."""
    parameters = ScenarioParameters(
        num_agents=size["agents"],
        num_slots=size["slots"],
        num_meetings=size["meetings"],
        participants_per_meeting=3,
        density=0.75,
        blocked=size["slots"] // 8,
    )
    return [
        sample_scenario(parameters, seed=seed, scenario_id=f"size-{seed:03}", setting="size")
        for seed in range(SCENARIOS)
    ]


def milliseconds(work: Callable[[Item], object], items: Sequence[Item]) -> float:
    """Return the processor time that the work takes for one of the items."""
    work(items[0])  # caches of code are warm
    gc.collect()
    rounds, start, taken = 0, time.process_time(), 0.0
    while taken < LEAST_SECONDS:
        for item in items:
            work(item)
        rounds += 1
        taken = time.process_time() - start
    return 1000 * taken / rounds / len(items)


def points(size: dict[str, int]) -> Iterator[tuple[str, str, float, str]]:
    """Yield what every step takes at a size: step, team (if any plays), value and unit."""
    drawn = scenarios(size)
    yield "oracle", "", milliseconds(solved, drawn), "ms"
    whole = completed(drawn)
    for team in TEAMS:
        config = GameConfig(team=compose_team(team), channels=("dm",), limits=Limits())
        traces = [played(scenario, config) for scenario in whole]
        files = list(map(trace_bytes, traces))
        yield "play", team, milliseconds(partial(played, config=config), whole), "ms"
        yield "write", team, milliseconds(packed, traces), "ms"
        yield "measure", team, milliseconds(scored, traces), "ms"
        yield "file", team, sum(map(len, files)) / SCENARIOS, "bytes"
        yield "shard", team, len(zstandard.compress(b"".join(files))) / SCENARIOS, "bytes"


def solved(scenario: Scenario) -> object:
    """Return the best and the worst schedule."""
    return solve_best(scenario.problem), solve_worst(scenario.problem)


def played(scenario: Scenario, config: GameConfig) -> Trace:
    """Play one game."""
    return run(scenario, config, seat_policies(config.team, scenario.num_agents, config.limits))


def packed(trace: Trace) -> bytes:
    """Return what a shard would hold of a game alone."""
    return zstandard.compress(trace_bytes(trace))


def scored(trace: Trace) -> object:
    """Measure one game that is the only one on its scenario."""
    game = measured(trace, DEFAULT_MEASURE, OracleCache())
    return [fact.of(game) for fact in ALL_FACTS]


def growth() -> pd.DataFrame:
    """Measure every step at every size."""
    sizes = [{**BASE, axis: value} for axis, values in SIZES.items() for value in values]
    rows = [
        {"step": step, "team": team, **size, "value": value, "unit": unit}
        for place, size in enumerate(sizes)
        if size not in sizes[:place]
        for step, team, value, unit in points(size)
    ]
    return pd.DataFrame(rows)


def exponents(found: pd.DataFrame) -> pd.DataFrame:
    """Return the slope of the logarithm of every value over that of each size, by least squares."""
    rows = []
    for (step, team), own in found.groupby(["step", "team"], sort=False):
        for axis in SIZES:
            along = own[(own[[*BASE]] == BASE).drop(columns=axis).all(axis="columns")]
            slope, _ = np.polyfit(np.log(along[axis]), np.log(along["value"]), 1)
            rows.append({"step": step, "team": team, "axis": axis, "exponent": f"{slope:.2f}"})
    return pd.DataFrame(rows)


def speeds() -> pd.DataFrame:
    """Return the games per second of every team of the experiment, by number of agents."""
    by_size: dict[int, list[Scenario]] = {}
    for scenario in read_suite(paths.suite(EXPERIMENT)):
        by_size.setdefault(scenario.num_agents, []).append(scenario)
    rows = [
        (
            config.team.team_id,
            agents,
            f"{1000 / milliseconds(partial(played, config=config), own):.4g}",
        )
        for config in compose([f"+experiment={EXPERIMENT}"]).game_configs
        for agents, own in by_size.items()
    ]
    return pd.DataFrame(rows, columns=["team", "agents", "games_per_second"])


def main(notes: list[str]) -> None:
    """Measure everything and write the tables."""
    note, found = " ".join(notes), growth()
    shown = found.assign(value=found["value"].map("{:.4g}".format))
    for name, rows in (("growth", shown), ("exponents", exponents(found)), ("speed", speeds())):
        write(PUBLISHED / f"{name}.csv", rows.assign(note=note))


def write(path: Path, rows: pd.DataFrame) -> None:
    """Write a table."""
    write_atomically(path, rows.to_csv(index=False, lineterminator="\n").encode())
    say(f"{path}: {len(rows)} rows")


if __name__ == "__main__":
    paths.answer(main)
