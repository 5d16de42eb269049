"""Facts and tables of a few games, as a run makes them."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pyarrow import parquet

from calbench.analysis.registry import Settings
from calbench.analysis.scoring import ALL_FACTS
from calbench.analysis.tables import TABLES
from calbench.config.composition import compose_team
from calbench.domain.messages import CHANNELS
from calbench.engine.drivers import run
from calbench.engine.seating import seat_policies
from calbench.facts.fact import Fact, MeasuredGame, measured
from calbench.facts.frames import csv_text
from calbench.facts.storage import Facts, FactsWriter, GameKey, batch_of
from calbench.metrics.measure import DEFAULT_MEASURE, METRICS_VERSION, MeasureSpec
from calbench.scenarios.models import Scenario
from calbench.traces.models import GameConfig, Limits, Trace


def play_preset(name: str, scenario: Scenario) -> Trace:
    """Play a game of a published team, mediators too."""
    config = GameConfig(team=compose_team(name), channels=CHANNELS, limits=Limits())
    return run(scenario, config, seat_policies(config.team, scenario.num_agents))


def key_of(game: MeasuredGame) -> GameKey:
    return GameKey(game.score.setting, game.score.team_id, game.score.scenario_id)


def facts_of(
    folder: Path,
    traces: Sequence[Trace],
    teams: Sequence[str] = (),
    measure: MeasureSpec = DEFAULT_MEASURE,
    facts: Sequence[Fact] = ALL_FACTS,
) -> Facts:
    """Return the facts of some games."""
    return facts_of_games(folder, (measured(trace, measure) for trace in traces), teams, facts)


def facts_of_games(
    folder: Path,
    games: Iterable[MeasuredGame],
    teams: Sequence[str] = (),
    facts: Sequence[Fact] = ALL_FACTS,
) -> Facts:
    """Return the facts of games that were measured already, one batch a game."""
    with FactsWriter(folder, facts, teams) as writer:
        for game in games:
            writer.add(batch_of(facts, [(key_of(game), {f.name: f.of(game) for f in facts})]))
        return writer.write()


def values_of(fact: Fact, trace: Trace, measure: MeasureSpec = DEFAULT_MEASURE) -> dict[str, Any]:
    """Return a fact's rows of one game, column by column."""
    return fact.of(measured(trace, measure))


def rows_of(fact: Fact, trace: Trace, *names: str) -> list[tuple[Any, ...]]:
    """Return some columns of a fact's rows of one game."""
    values = values_of(fact, trace)
    return list(zip(*(values[name] for name in names), strict=True))


def path_of(name: str) -> str:
    """Return the path of a table that is called so, in whichever format."""
    return next(path for path in TABLES if path.rpartition(".")[0] == name)


def lines_of(facts: Facts, path: str, settings: Settings | None = None) -> list[str]:
    """Return the lines of a table behind its header, without the version of the metrics."""
    header, *lines = text_of(facts, path, settings).splitlines()
    if not header.endswith(",metrics_version"):
        return lines
    assert all(line.endswith(f",{METRICS_VERSION}") for line in lines)
    return [line.removesuffix(f",{METRICS_VERSION}") for line in lines]


def text_of(facts: Facts, path: str, settings: Settings | None = None) -> str:
    """Return a table as its file would hold it."""
    table = TABLES[path]
    return "".join(csv_text(table.frames(facts, settings or Settings()), table.columns))


def table_rows(facts: Facts, path: str, settings: Settings | None = None) -> list[dict[str, str]]:
    """Return the rows of a table, every cell as its file would hold it."""
    return list(csv.DictReader(text_of(facts, path, settings).splitlines()))


def written(facts: Facts, path: str, folder: Path, settings: Settings | None = None) -> Path:
    """Write a table and return its file."""
    TABLES[path].write(facts, settings or Settings(), folder)
    return folder / path


def parquet_rows(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return found
