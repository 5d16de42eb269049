"""Several tables of one run that take each game's rows together."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, Self

from calbench.analysis.order import GameOrder
from calbench.analysis.spool import SpooledTable


class GameRows(NamedTuple):
    """One game's whole lines, by name of the table, and where they belong."""

    setting: str
    team: str
    scenario_id: str
    lines_by_table: Mapping[str, str]


class SpooledTables:
    """Takes the rows of a run, in any order, and writes the tables in a fixed one.

    Rows wait on disk, so memory does not grow with the games. Use it as a context manager: what
    is not written is dropped.
    """

    def __init__(self, teams: Sequence[str], tables: Mapping[str, SpooledTable]) -> None:
        """Take the tables, which it closes.

        Args:
            teams: team ids in the order in which tables list them.
            tables: by the names under which games bring their rows.
        """
        self._order = GameOrder(teams)
        self._tables = tables

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

    def append(self, game: GameRows) -> None:
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
