"""The two largest tables of a run, written game by game: messages and calls."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from calbench.analysis.call_rows import call_rows
from calbench.analysis.cells import versioned
from calbench.analysis.dictionary import TABLES
from calbench.analysis.message_rows import message_rows
from calbench.analysis.order import GameOrder
from calbench.analysis.parquet import SpooledParquet
from calbench.analysis.spool import Places
from calbench.analysis.usage import Prices
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.metrics.privacy.loss import RoundBeliefs, round_beliefs
from calbench.traces.models import Trace

NAMES = ("messages", "calls")
"""The tables, as files ``privacy/<name>.parquet``."""


class TalkRows(NamedTuple):
    """One game's whole lines, by name of the table, and where they belong."""

    setting: str
    team: str
    scenario_id: str
    lines_by_table: Mapping[str, str]


class TalkTables:
    """Takes the rows of a run, in any order, and writes the tables in a fixed one.

    Rows wait on disk, so memory does not grow with the games. Use it as a context manager: what
    is not written is dropped.
    """

    def __init__(self, folder: Path, teams: Sequence[str], places: Places | None = None) -> None:
        """Prepare the folder, usually ``tables/privacy``.

        Args:
            folder: where the tables go; made if missing.
            teams: team ids in the order in which tables list them.
            places: of the games, shared with other tables of the run.

        Raises:
            OutputError: naming the place, if it cannot be written.
        """
        self._order = GameOrder(teams)
        self._tables = {
            name: SpooledParquet(
                folder / f"{name}.parquet", TABLES[f"privacy/{name}.parquet"], places=places
            )
            for name in NAMES
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for table in self._tables.values():
            table.close()

    def append(self, game: TalkRows) -> None:
        """Take the rows of one game, made here or in another process.

        Raises:
            ValueError: this team's game on this scenario was taken already.
            OutputError: the folder cannot be written.
        """
        key = self._order.key(game.setting, game.team, game.scenario_id)
        for name, table in self._tables.items():
            table.append(key, game.lines_by_table[name])

    def write(self) -> None:
        """Write the tables, each whole or not at all.

        Raises:
            OutputError: the folder cannot be written.
        """
        for table in self._tables.values():
            table.write()


def talk_rows(
    trace: Trace,
    measure: MeasureSpec = DEFAULT_MEASURE,
    prices: Prices | None = None,
    beliefs: Sequence[RoundBeliefs] | None = None,
) -> TalkRows:
    """Return a game's lines of both tables.

    Args:
        trace: the game.
        measure: the prior.
        prices: what tokens cost, where known.
        beliefs: its rounds, if they were replayed already.

    Raises:
        ConfigError: there is no such label bank as the trace names.
    """
    rounds = round_beliefs(trace, measure) if beliefs is None else beliefs
    blocks = {
        "messages": message_rows(trace, rounds, measure.belief_prior),
        "calls": call_rows(trace, {} if prices is None else prices),
    }
    scenario = trace.scenario
    return TalkRows(
        scenario.setting,
        trace.config.team.team_id,
        scenario.scenario_id,
        {name: versioned("".join(lines)) for name, lines in blocks.items()},
    )
