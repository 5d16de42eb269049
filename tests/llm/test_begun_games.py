"""What a reply store notes of the games that were begun with it."""

import sqlite3
from pathlib import Path

import pytest

from calbench.errors import FileError
from calbench.llm.replies.games import BegunGame
from calbench.llm.replies.store import ReplyStore
from tests.llm.asking import put, recorded

GAMES = [BegunGame(f"game-{place}", "{}", '{"team": "\u2028"}') for place in (2, 1)]


def begin(path: Path, *games: BegunGame) -> Path:
    with ReplyStore.open(path) as store, store.writing():
        for game in games:
            store.begin(game)
    return path


def test_games_are_found_again_in_their_order_and_once(tmp_path: Path) -> None:
    path = begin(tmp_path / "r.sqlite", *GAMES, GAMES[0]._replace(config="another"))

    with ReplyStore.open(path) as store:
        assert list(store.begun()) == GAMES


def test_store_without_games_has_none(tmp_path: Path) -> None:
    with ReplyStore.open(tmp_path / "r.sqlite") as store:
        put(store, *recorded("Hi"))
        assert list(store.begun()) == []


def test_games_are_merged(tmp_path: Path) -> None:
    one, two = begin(tmp_path / "1.sqlite", GAMES[0]), begin(tmp_path / "2.sqlite", *GAMES)
    with ReplyStore.open(one) as into, ReplyStore.open(two) as other:
        into.merge(other)
        assert list(into.begun()) == GAMES


@pytest.mark.parametrize("statement", ["DELETE FROM games", "UPDATE games SET config = '{}'"])
def test_games_are_only_added(tmp_path: Path, statement: str) -> None:
    connection = sqlite3.connect(begin(tmp_path / "r.sqlite", *GAMES))

    with pytest.raises(sqlite3.IntegrityError, match="only added"):
        connection.execute(statement)

    connection.close()


@pytest.mark.parametrize("value", ['\'{"team": "other"}\'', "7", "x'00'"])
def test_game_that_was_changed_is_refused(tmp_path: Path, value: str) -> None:
    path = begin(tmp_path / "r.sqlite", *GAMES)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("DROP TRIGGER games_UPDATE")
    connection.execute(f"UPDATE games SET config = {value} WHERE id = 'game-1'")  # noqa: S608
    connection.close()

    with (
        ReplyStore.open(path) as store,
        pytest.raises(FileError, match=r"r\.sqlite: what is noted of game game-1 is damaged"),
    ):
        list(store.begun())
