"""Many scenarios like those of Table 2, played by its protocols -> data/predictive.

The pipeline reads what this writes. It plays more games than all experiments together: ``make
predictive``, in some minutes; the same code gives the same text.
"""

import lzma
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import pandas as pd

from calbench.analysis.estimates import group_totals
from calbench.analysis.measures import HEADLINE, MEASURE_BY_NAME
from calbench.analysis.summary.pool import AS_RELEASED, COLUMNS, PLACE, POOL
from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from calbench.console import progress, say
from calbench.engine.drivers import run
from calbench.engine.seating import seat_policies
from calbench.errors import CalbenchError
from calbench.facts.frames import cast, csv_text
from calbench.files import write_atomically
from calbench.metrics.authors import AuthorsScore, authors_score
from calbench.metrics.game import GameScore, score_game
from calbench.oracle.cache import OracleCache
from calbench.pool import finished
from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import SuiteSpec
from calbench.scenarios.suites import build_suites
from stages import paths

OUT = paths.DATA / "predictive"

EXPERIMENTS = ("reproduction", "reproduction-cap4")
"""Their teams play, with their limits."""

FIRST_SEED = 1000
"""Of the suites; no experiment uses it or a later one [C]."""

SUITES = 40
"""Canonical suites of each setting, 45 scenarios each [C]."""

Task = tuple[str, int]
"""A setting, and the number of one of its suites."""


def specs() -> tuple[RunSpec, ...]:
    """Return the experiments whose teams play."""
    return tuple(compose([f"+experiment={name}"]) for name in EXPERIMENTS)


def tasks(found: tuple[RunSpec, ...]) -> list[Task]:
    """Return every suite of every setting."""
    return [(name, number) for name in settings(found) for number in range(SUITES)]


def settings(found: tuple[RunSpec, ...]) -> dict[str, SuiteSpec]:
    """Return how the suites of each setting are drawn."""
    return {part.setting: part for each in found for _, part in each.suites}


def rows_of(task: Task, found: tuple[RunSpec, ...]) -> pd.DataFrame:
    """Draw one suite, play and measure all its games."""
    setting, number = task
    spec = settings(found)[setting].model_copy(update={"seed": FIRST_SEED + number})
    (suite,) = build_suites([(setting, spec)])
    start = number * spec.num_scenarios
    return scenario_rows(
        (name, start + index, score, released)
        for index, scenario in enumerate(suite)
        for name, score, released in games(scenario, found)
    )


def scenario_rows(scores: Iterable[tuple[str, int, GameScore, AuthorsScore]]) -> pd.DataFrame:
    """Return the rows of games, one for each.

    Args:
        scores: experiment, number of the scenario, score, and the score in the measures of the
            authors' release.

    Raises:
        CalbenchError: a game is excluded; games of typed agents never are.
    """
    agents = []
    for experiment, scenario, score, released in scores:
        if score.is_excluded:
            raise CalbenchError(f"{score.team_id} on {score.scenario_id}: the game is excluded")
        place = {"experiment": experiment, "scenario": scenario, "tertile": score.tertile}
        names = {"setting": score.setting, "team": score.team_id}
        means = {name: getattr(released, own) for name, own in AS_RELEASED.items()}
        for agent in score.agents:
            of_agent = {name: getattr(agent, name) for name in _OF_AGENT}
            agents.append({**place, **names, **of_agent, **means})
    rows = pd.DataFrame(agents)
    ours = {name: MEASURE_BY_NAME[name].value(rows) for name in HEADLINE if name not in AS_RELEASED}
    values = pd.DataFrame({name: ours.get(name, rows.get(name)) for name in HEADLINE})
    counts = values.notna().astype("float64").add_suffix("_n")
    by = [*PLACE, "tertile"]
    return cast(group_totals(rows[by].join(values).join(counts), by), COLUMNS)


_OF_AGENT = ("assigned", "scheduled", "excess_vps")
"""Of an agent's game: what the measures are made from."""


def write_pool(folder: Path, rows: pd.DataFrame) -> None:
    """Write a pool; the same rows give the same text.

    Raises:
        OutputError: the folder cannot be written.
    """
    ordered = rows.sort_values(PLACE, kind="stable")
    packed = lzma.compress("".join(csv_text([ordered], COLUMNS)).encode(), preset=9)
    write_atomically(folder / POOL, packed)


def games(
    scenario: Scenario, found: tuple[RunSpec, ...]
) -> Iterator[tuple[str, GameScore, AuthorsScore]]:
    """Yield the games of every team on a scenario, measured by us and as the release measures.

    Raises:
        CalbenchError: the release's measures are not defined on the scenario.
    """
    oracle = OracleCache()
    for spec in found:
        for config in spec.game_configs:
            seats = seat_policies(config.team, scenario.num_agents, config.limits)
            score = score_game(run(scenario, config, seats), measure=spec.measure, oracle=oracle)
            released = authors_score(score, scenario)
            if released is None:
                raise CalbenchError(f"{scenario.scenario_id}: the paper's measures are not defined")
            yield spec.name, score, released


def main(_: list[str]) -> None:
    """Play all games and write the pool."""
    found = specs()
    made: dict[Task, pd.DataFrame] = {}
    every = tasks(found)
    with progress("suites", len(every)) as tick, paths.pool(len(every)) as pool:
        for task, rows in finished(partial(rows_of, found=found), every, pool):
            made[task] = rows
            tick(task[0])
    rows = pd.concat([made[task] for task in every], ignore_index=True)
    write_pool(OUT, rows)
    say(f"{len(rows)} games on {len(every)} suites, {OUT}")


if __name__ == "__main__":
    paths.answer(main)
