"""Which games were begun with the replies of a store: so it alone says what was said so far."""

from collections.abc import Iterator
from typing import NamedTuple

from calbench.domain.canonical import digest
from calbench.errors import FileError
from calbench.files import printable
from calbench.llm.replies.database import ReplyDatabase

_COLUMNS = "id TEXT PRIMARY KEY, scenario TEXT NOT NULL, config TEXT NOT NULL, digest TEXT NOT NULL"

_STATEMENTS = (
    f"CREATE TABLE IF NOT EXISTS games ({_COLUMNS})",
    *(
        f"CREATE TRIGGER IF NOT EXISTS games_{verb} BEFORE {verb} ON games"
        f" BEGIN SELECT RAISE(ABORT, 'games are only added'); END"
        for verb in ("UPDATE", "DELETE")
    ),
)
"""Stores get the table when their first game is begun."""


class BegunGame(NamedTuple):
    """A game whose models were asked: its id, and what defines it as JSON."""

    id: str
    scenario: str
    config: str


class BegunGames(ReplyDatabase):
    """The games that were begun with a store; like replies they are only added."""

    def begin(self, game: BegunGame) -> None:
        """Note a game unless it is known; inside of :meth:`writing`."""
        for statement in _STATEMENTS:
            self._connection.execute(statement)
        self._connection.execute(
            "INSERT OR IGNORE INTO games VALUES (?, ?, ?, ?)", (*game, digest(list(game)))
        )

    def begun(self) -> Iterator[BegunGame]:
        """Yield the games in the order in which they were begun.

        Raises:
            FileError: naming one that is damaged.
        """
        for *values, expected in self._games():
            game = BegunGame(*values)
            if not all(isinstance(value, str) for value in game) or digest(list(game)) != expected:
                raise FileError(
                    f"{self}: what is noted of game {printable(str(game.id)):.80} is damaged; "
                    "move the file away, and merge what was exported into a new one"
                )
            yield game

    def _games(self) -> list[tuple[str, str, str, str]]:
        with self._reporting():
            execute = self._connection.execute
            if execute("SELECT 1 FROM sqlite_master WHERE name = 'games'").fetchone() is None:
                return []
            return execute(
                "SELECT id, scenario, config, digest FROM games ORDER BY rowid"
            ).fetchall()
