"""How playing, writing, measuring and the oracle grow with a scenario -> data/published/growth.csv.

No stage of the pipeline: what it writes depends on the machine. Run it by hand, in a minute or
ten, ``python -m stages.measure_growth "what machine this is"``. Times are of this process alone.
"""

import csv
import gc
import io
import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import zstandard

from calbench.analysis.scoring import ALL_FACTS
from calbench.config.composition import compose_team
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

GROWTH, EXPONENTS = (paths.DATA / "published" / f"{name}.csv" for name in ("growth", "exponents"))


Item = TypeVar("Item")


class Point(NamedTuple):
    """What a step takes at a size; a team is absent where none plays."""

    step: str
    team: str
    agents: int
    meetings: int
    slots: int
    value: float
    unit: str


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


def points(size: dict[str, int]) -> Iterator[Point]:
    """Measure every step at a size."""

    def point(step: str, team: str, value: float, unit: str) -> Point:
        return Point(step, team, size["agents"], size["meetings"], size["slots"], value, unit)

    drawn = scenarios(size)
    yield point("oracle", "", milliseconds(solved, drawn), "ms")
    whole = completed(drawn)
    for team in TEAMS:
        config = GameConfig(team=compose_team(team), channels=("dm",), limits=Limits())
        traces = [played(scenario, config) for scenario in whole]
        files = list(map(trace_bytes, traces))
        yield point("play", team, milliseconds(partial(played, config=config), whole), "ms")
        yield point("write", team, milliseconds(packed, traces), "ms")
        yield point("measure", team, milliseconds(scored, traces), "ms")
        yield point("file", team, sum(map(len, files)) / SCENARIOS, "bytes")
        yield point("shard", team, len(zstandard.compress(b"".join(files))) / SCENARIOS, "bytes")


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


def exponent(found: Sequence[Point], axis: str) -> float:
    """Return the slope of the logarithm of a value over that of a size, by least squares."""
    x = [math.log(getattr(point, axis)) for point in found]
    y = [math.log(point.value) for point in found]
    middle, level = sum(x) / len(x), sum(y) / len(y)
    over = sum((a - middle) * (b - level) for a, b in zip(x, y, strict=True))
    return over / sum((a - middle) ** 2 for a in x)


def exponents(found: Sequence[Point]) -> Iterator[tuple[str, str, str, str]]:
    """Yield step, team, axis and exponent."""
    for step, team in dict.fromkeys((point.step, point.team) for point in found):
        mine = [point for point in found if (point.step, point.team) == (step, team)]
        for axis in SIZES:
            others = [name for name in SIZES if name != axis]
            along = [p for p in mine if all(getattr(p, name) == BASE[name] for name in others)]
            yield step, team, axis, f"{exponent(along, axis):.2f}"


def main(notes: list[str]) -> None:
    """Measure every step at every size and write both tables."""
    note = " ".join(notes)
    sizes = [{**BASE, axis: value} for axis, values in SIZES.items() for value in values]
    found: list[Point] = []
    for size in dict.fromkeys(tuple(size.items()) for size in sizes):
        for point in points(dict(size)):
            found.append(point)
            say(",".join(map(str, point)))
    rows = [(*point[:-2], f"{point.value:.4g}", point.unit, note) for point in found]
    write(GROWTH, (*Point._fields, "note"), rows)
    fitted = [(*row, note) for row in exponents(found)]
    write(EXPONENTS, ("step", "team", "axis", "exponent", "note"), fitted)


def write(path: Path, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write a table."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    write_atomically(path, text.getvalue().encode())


if __name__ == "__main__":
    paths.answer(main)
