"""The ledger beside replies: the games that were begun, and what is reserved, and what it cost.

It alone says what was said so far in a game that was not played to its end.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from calbench.domain.canonical import digest
from calbench.errors import FileError, OutputError
from calbench.files import printable
from calbench.llm.replies.database import ReplyDatabase
from calbench.llm.replies.schema import keep, row_digest


class Presence:
    """A shared lock beside a store while it is recorded into: by it others are noticed.

    Where there are no such locks, somebody else may always be there.
    """

    def __init__(self, store: Path) -> None:
        """Take the lock of a store, by whatever name it is opened.

        Raises:
            OutputError: if there can be none.
        """
        place = Path(os.path.realpath(store))
        try:
            self._lock = os.open(place.with_name(f"{place.name}.lock"), os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise OutputError(f"{store}: cannot be locked ({error.strerror})") from error
        self._is_held = self._hold("LOCK_SH")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)

    def is_alone(self) -> bool:
        """Whether no other process records; two that ask at once may both be told so, once."""
        if not self._is_held:
            return False
        try:
            return self._hold("LOCK_EX", "LOCK_NB")
        finally:
            self._hold("LOCK_SH")

    def _hold(self, *flags: str) -> bool:
        """Whether the lock could be taken; not on Windows, nor on file systems without locks."""
        try:
            import fcntl

            fcntl.flock(self._lock, sum(getattr(fcntl, flag) for flag in flags))
        except (ImportError, OSError):
            return False
        return True


class BegunGame(NamedTuple):
    """A game whose models were asked: its id, and what defines it as JSON."""

    id: str
    scenario: str
    config: str


class Ledger(ReplyDatabase):
    """Games that were begun with a store, and what attempts may cost and did.

    Of all processes that use one file; like replies, entries are only added.
    """

    def __init__(self, path: Path | None, connection: sqlite3.Connection) -> None:
        super().__init__(path, connection)
        self._read = 0
        self._unread: list[tuple[int, str, int]] = []

    def reserve(self, model: str, nano_usd: int) -> int:
        """Note money before it may be spent; return its number. Inside of :meth:`writing`."""
        # What others reserved up to now is below the new number, where it is not looked for later.
        self._unread = self.others_reservations()
        (number,) = self._connection.execute(
            "SELECT coalesce(max(id), 0) + 1 FROM reservations"
        ).fetchone()
        row = (number, model, nano_usd)
        self._connection.execute(
            "INSERT INTO reservations VALUES (?, ?, ?, ?)", (*row, row_digest(*row))
        )
        self._added = self._added._replace(reservations=number)
        return int(number)

    def settle(self, number: int, nano_usd: int) -> None:
        """Note the cost of a reserved attempt; inside of :meth:`writing`."""
        row = (number, nano_usd)
        self._connection.execute(
            "INSERT INTO settlements VALUES (?, ?, ?)", (*row, row_digest(*row))
        )

    def spent(self) -> int:
        """Return the nano-dollars spent; what was never settled counts in full.

        Raises:
            FileError: if an entry is not as it was written.
        """
        self._check_rows("reservations")
        self._check_rows("settlements")
        with self._reporting():
            (total,) = self._connection.execute(
                "SELECT coalesce(sum(coalesce(s.nano_usd, r.nano_usd)), 0)"
                " FROM reservations r LEFT JOIN settlements s ON s.id = r.id"
            ).fetchone()
        return int(total)

    def open_entries(self) -> dict[int, tuple[str, int]]:
        """Return model and nano-dollars of what was never settled, by its number."""
        self._unread = []
        with self._reporting():
            rows = self._connection.execute(
                "SELECT id, model, nano_usd FROM reservations"
                " WHERE id NOT IN (SELECT id FROM settlements)"
            ).fetchall()
            (self._read,) = self._connection.execute(
                "SELECT coalesce(max(id), 0) FROM reservations"
            ).fetchone()
        return {int(number): (str(model), int(nano_usd)) for number, model, nano_usd in rows}

    def others_reservations(self) -> list[tuple[int, str, int]]:
        """Return number, model and nano-dollars of what others reserved since the last look."""
        unread, self._unread = self._unread, []
        with self._reporting():
            rows = self._connection.execute(
                "SELECT id, model, nano_usd FROM reservations WHERE id > ? ORDER BY id",
                (max(self._read, self._added.reservations),),
            ).fetchall()
        if rows:
            self._read = int(rows[-1][0])
        return unread + [(int(number), str(model), int(cost)) for number, model, cost in rows]

    def settlements(self, numbers: Sequence[int]) -> list[tuple[int, int]]:
        """Return number and nano-dollars of those of some reservations that are settled."""
        query = "SELECT id, nano_usd FROM settlements WHERE id = ?"
        with self._reporting():
            found = [self._connection.execute(query, (each,)).fetchone() for each in numbers]
        return [(int(row[0]), int(row[1])) for row in found if row is not None]

    def answered(self, model: str) -> list[tuple[int, int]]:
        """Return what was reserved for answered attempts of a model, and what they cost, in order.

        Both in nano-dollars. An attempt that cost nothing, or just what was reserved, may have had
        no answer, and is not among them.
        """
        with self._reporting():
            rows = self._connection.execute(
                "SELECT r.nano_usd, s.nano_usd FROM reservations r"
                " JOIN settlements s ON s.id = r.id"
                " WHERE r.model = ? AND s.nano_usd NOT IN (0, r.nano_usd) ORDER BY r.id",
                (model,),
            ).fetchall()
        return [(int(bound), int(nano_usd)) for bound, nano_usd in rows]

    def begin(self, game: BegunGame) -> None:
        """Note a game unless it is known; inside of :meth:`writing`.

        Stores get the table when their first game is begun.
        """
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS games (id TEXT PRIMARY KEY, scenario TEXT NOT NULL,"
            " config TEXT NOT NULL, digest TEXT NOT NULL)"
        )
        keep(self._connection, "games")
        self._connection.execute(
            "INSERT OR IGNORE INTO games VALUES (?, ?, ?, ?)", (*game, digest(list(game)))
        )

    def begun(self) -> Iterator[BegunGame]:
        """Yield the games in the order in which they were begun.

        Raises:
            FileError: naming one that is damaged.
        """
        with self._reporting():
            execute = self._connection.execute
            has_table = execute("SELECT 1 FROM sqlite_master WHERE name = 'games'").fetchone()
            query = "SELECT id, scenario, config, digest FROM games ORDER BY rowid"
            rows = execute(query).fetchall() if has_table else []
        for *values, expected in rows:
            game = BegunGame(*values)
            if not all(isinstance(value, str) for value in game) or digest(list(game)) != expected:
                raise FileError(
                    f"{self}: what is noted of game {printable(str(game.id)):.80} is damaged; "
                    "move the file away, and merge what was exported into a new one"
                )
            yield game
