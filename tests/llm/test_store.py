"""The reply store: what was written is found again, whole, and never changed."""

import asyncio
import errno
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.errors import FileError, OutputError
from calbench.llm.replies import database
from calbench.llm.replies.ledger import BegunGame, Presence
from calbench.llm.replies.record import named
from calbench.llm.replies.schema import Extent, read_mark
from calbench.llm.replies.shards import merge, open_replies
from calbench.llm.replies.store import ReplyStore
from calbench.llm.replies.writer import ReplyWriter
from tests.llm.asking import put, record, recorded, request


def test_reply_is_found_again_as_it_was_after_the_file_was_closed(tmp_path: Path) -> None:
    asked, reply = recorded("Hi", "Ho", "Hm", reply="fine \u2028 \x00 'quoted'")
    with ReplyStore.open(tmp_path / "r.sqlite") as store:
        assert put(store, asked, reply) == reply

    with ReplyStore.open(tmp_path / "r.sqlite") as store:
        assert store.get(asked.key) == reply
        assert store.get("0" * 64) is None
        assert store.thread(asked.thread) == asked.request.messages


def test_somebody_else_may_be_there_where_locks_tell_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Presence(tmp_path / "r.sqlite") as ours:
        assert ours.is_alone()
        with Presence(tmp_path / "r.sqlite") as theirs:
            assert not ours.is_alone()
            assert not theirs.is_alone()
        assert ours.is_alone()
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows
    with Presence(tmp_path / "r.sqlite") as ours:
        assert not ours.is_alone()


def test_second_reply_to_a_request_is_handed_the_first(tmp_path: Path) -> None:
    asked, first = recorded("Hi", reply="first")
    with (
        ReplyStore.open(tmp_path / "r.sqlite") as one,
        ReplyStore.open(tmp_path / "r.sqlite") as two,
    ):
        put(one, asked, first)
        assert put(two, asked, record(asked, "second")) == first
        assert two.get(asked.key) == first


GAMES = [BegunGame(f"game-{place}", "{}", '{"team": "\u2028"}') for place in (2, 1)]


def begin(path: Path, *games: BegunGame) -> Path:
    with ReplyStore.open(path) as store, store.writing():
        for game in games:
            store.begin(game)
    return path


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM replies",
        "UPDATE replies SET body = '{}'",
        "DELETE FROM games",
        "UPDATE games SET config = '{}'",
    ],
)
def test_nothing_recorded_can_be_changed(tmp_path: Path, statement: str) -> None:
    path = begin(tmp_path / "r.sqlite", *GAMES)
    with ReplyStore.open(path) as store:
        put(store, *recorded("Hi"))
    connection = sqlite3.connect(path)

    with pytest.raises(sqlite3.IntegrityError, match="only added"):
        connection.execute(statement)

    connection.close()


def test_growing_thread_adds_one_message_for_each_message(tmp_path: Path) -> None:
    texts = [f"message {i}" for i in range(60)]
    with ReplyStore.open(tmp_path / "r.sqlite") as store:
        for length in range(1, 61):
            put(store, *recorded(*texts[:length]))

        assert len(list(store.messages())) == 61
        assert len(list(store.links())) == 61
        assert store.thread(named(request(*texts)).thread) == request(*texts).messages


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=4), min_size=1, max_size=8))
def test_every_thread_is_found_whatever_was_recorded_before(threads: list[list[str]]) -> None:
    with ReplyStore.in_memory() as store:
        for texts in threads:
            put(store, *recorded(*texts))

        assert all(store.check_key(each) is None for each in store.records())
        for texts in threads:
            asked = named(request(*texts))
            assert store.thread(asked.thread) == asked.request.messages
            assert store.get(asked.key) is not None


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("Hi", "Ho", "new"), "message 3: recorded no message there"),
        (("Hi",), "message 2: recorded assistant 'Ho', asked no message there"),
        (("Other",), "message 1: recorded user 'Hi', asked user 'Other'"),
    ],
)
def test_difference_is_to_the_request_with_the_longest_common_beginning(
    texts: tuple[str, ...], expected: str
) -> None:
    with ReplyStore.in_memory() as store:
        assert store.nearest_difference(named(request(*texts))) is None
        put(store, *recorded("Hi", "Ho"))

        assert (store.nearest_difference(named(request(*texts))) or "").startswith(expected)


@pytest.mark.parametrize("place", [0, 1])
def test_difference_is_to_the_request_whose_next_message_parts_last(place: int) -> None:
    before = ("Hi",) * place
    with ReplyStore.in_memory() as store:
        for game in range(20):
            put(store, *recorded(*before, f"game {game}: slot 1", "Ho"))
        difference = store.nearest_difference(named(request(*before, "game 7: slot 2")))
    role = request(*before, "game").messages[-1].role
    assert difference == f"message {place + 1}: recorded {role} '...1', asked {role} '...2'"


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\x00junk"])
def test_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "r.sqlite"
    path.write_bytes(content)

    with pytest.raises(FileError, match=r"r\.sqlite: not a reply store, or damaged"):
        ReplyStore.open(path)

    assert path.read_bytes() == content


def test_file_damaged_in_the_middle_is_named_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    with ReplyStore.open(path) as store:
        for i in range(200):
            put(store, *recorded(f"message {i}" * 50))
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xa5" * (len(whole) - 4096))

    with pytest.raises(FileError, match=r"r\.sqlite: .*damaged"), ReplyStore.open(path) as store:
        store.check()
    with pytest.raises(FileError, match=r"r\.sqlite: .*damaged"), ReplyStore.open(path) as store:
        list(store.records())


def test_other_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    before = path.read_bytes()

    with pytest.raises(FileError, match="another program's database"):
        ReplyStore.open(path)

    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("PRAGMA user_version = 9", "version 9"),
        (
            (
                "CREATE TABLE earlier_digests (place, name, digest);"
                "INSERT INTO earlier_digests VALUES ('replies', 'a', 'b')"
            ),
            "r.sqlite: was upgraded from version 1; export it with calbench 0.1.0",
        ),
    ],
)
def test_store_of_another_version_is_refused(tmp_path: Path, script: str, said: str) -> None:
    path = tmp_path / "r.sqlite"
    ReplyStore.open(path).close()
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()

    with pytest.raises(FileError, match=said):
        ReplyStore.open(path)


def test_store_that_cannot_be_written_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, (asked, answer) = tmp_path / "r.sqlite", recorded("Hi")
    with ReplyStore.open(path) as store:
        put(store, asked, answer)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with open_replies(path) as store:
        assert store.get(asked.key) == answer
        assert store.stats().replies == 1
        assert sorted(tmp_path.iterdir()) == [path]


TAMPERED = {
    "text": "UPDATE replies SET body = replace(body, 'fine', 'fane')",
    "usage": "UPDATE replies SET body = replace(body, '_tokens\":10', '_tokens\":11')",
    "cost": """UPDATE replies SET body = replace(body, '0.25', '0.20')""",
    "type": "UPDATE replies SET body = CAST(body AS BLOB)",
    "digest": "UPDATE replies SET digest = replace(digest, substr(digest, 1, 1), 'x')",
    "no digest": "UPDATE replies SET digest = NULL",
}


@pytest.mark.parametrize("change", TAMPERED.values(), ids=TAMPERED)
def test_changed_reply_is_found_whenever_it_is_read(tmp_path: Path, change: str) -> None:
    path, (asked, answer) = tmp_path / "r.sqlite", recorded("Hi")
    with ReplyStore.open(path) as store:
        put(store, asked, answer)
    tampered(path, change)

    with open_replies(path) as store, ReplyStore.in_memory() as other:
        for read in (
            lambda: store.get(asked.key),
            lambda: store.find(asked),
            lambda: list(store.records()),
            lambda: store._below(None),
            store.stats,
            lambda: merge(other, store),
        ):
            with pytest.raises(FileError, match="is not as it was written"):
                read()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE messages SET content = content || ' and lose'",
        "UPDATE messages SET content = 7",
        "UPDATE messages SET role = 'user'",
        "UPDATE threads SET parent = digest",
        "UPDATE threads SET parent = (SELECT max(digest) FROM threads)",
        "UPDATE threads SET message = digest WHERE parent IS NOT NULL",
        "DELETE FROM messages WHERE role = 'system'",
        "DELETE FROM threads WHERE parent IS NULL",
    ],
)
def test_changed_request_is_found_and_makes_no_endless_circle(tmp_path: Path, change: str) -> None:
    path, (asked, answer) = tmp_path / "r.sqlite", recorded("Hi", "Ho")
    with ReplyStore.open(path) as store:
        put(store, asked, answer)
    tampered(path, change)

    with open_replies(path) as store, ReplyStore.in_memory() as other:
        with pytest.raises(FileError):
            store.thread(asked.thread)
        with pytest.raises(FileError):
            merge(other, store)
        store._below(asked.thread)
        store._below(None)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE settlements SET nano_usd = 1",
        "UPDATE settlements SET id = 7",
        "UPDATE reservations SET nano_usd = 1 WHERE id = 2",
        "DELETE FROM reservations WHERE id = 1",
    ],
)
def test_changed_ledger_is_found(tmp_path: Path, change: str) -> None:
    path = tmp_path / "r.sqlite"
    with ReplyStore.open(path) as store, store.writing():
        store.settle(store.reserve("m", 100), 80)
        store.reserve("m", 40)
    tampered(path, change)

    with ReplyStore.open(path) as store, pytest.raises(FileError, match=r"reserv|settle"):
        store.spent()


def tampered(path: Path, change: str) -> None:
    """Change what the triggers protect."""
    with closing(sqlite3.connect(path)) as connection:
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (trigger,) in triggers.fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute(change)
        connection.commit()


def test_reply_under_the_key_of_another_request_is_not_used(tmp_path: Path) -> None:
    asked, _ = recorded("Hi")
    others, other = recorded("Ho")
    with ReplyStore.open(tmp_path / "r.sqlite") as store:
        with store.writing():
            store.add_parts(others)
            store.add(other.model_copy(update={"key": asked.key}))
        with pytest.raises(FileError, match=f"reply {asked.key}: the key is not that of its"):
            store.find(asked)
        with ReplyStore.in_memory() as target, pytest.raises(FileError, match=asked.key):
            merge(target, store)


def test_log_that_lost_what_was_synced_is_found(tmp_path: Path) -> None:
    path, copy = tmp_path / "r.sqlite", tmp_path / "copy" / "r.sqlite"
    copy.parent.mkdir()

    async def run() -> None:
        with ReplyStore.open(path) as store, ReplyWriter(store) as writer:
            for i in range(3):
                await writer.put(*recorded(str(i)))
            for end in ("", "-wal", "-mark"):
                shutil.copy(f"{path}{end}", f"{copy}{end}")

    asyncio.run(run())
    assert not path.with_name("r.sqlite-mark").exists()
    log = copy.with_name("r.sqlite-wal")
    log.write_bytes(log.read_bytes()[:-100])

    for must_exist in (True, False):
        with pytest.raises(FileError, match="3 replies and 0 reservations were on disk, of which"):
            ReplyStore.open(copy, must_exist=must_exist)
    copy.with_name("r.sqlite-mark").unlink()
    with ReplyStore.open(copy) as store:
        assert store.stats().replies == 2


@pytest.mark.parametrize("mark", [b"", b"\0" * 64, b"3 0 abc\n", b"\xff\n"])
def test_half_a_mark_is_none(tmp_path: Path, mark: bytes) -> None:
    tmp_path.joinpath("r.sqlite-mark").write_bytes(mark)
    assert read_mark(tmp_path / "r.sqlite") == Extent()
    with ReplyStore.open(tmp_path / "r.sqlite") as store:
        assert store.count() == 0


def test_emptied_store_is_found_and_its_log_is_left(tmp_path: Path) -> None:
    path, log = tmp_path / "r.sqlite", tmp_path / "r.sqlite-wal"
    path.touch()
    with pytest.raises(FileError, match="is empty"):
        open_replies(path)
    log.write_bytes(b"what was paid for")
    with pytest.raises(FileError, match="is empty"):
        ReplyStore.open(path)
    assert log.read_bytes() == b"what was paid for"


def test_nothing_is_used_after_the_disk_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    async def run() -> None:
        with ReplyStore.open(tmp_path / "r.sqlite") as store, ReplyWriter(store) as writer:
            await writer.put(*recorded("before"))
            with monkeypatch.context() as patched:
                patched.setattr(os, "fsync", failing)
                with pytest.raises(OutputError):
                    await writer.put(*recorded("lost"))
            for use in (lambda: writer.put(*recorded("after")), writer.sync_others):
                with pytest.raises(OutputError, match="Input/output error"):
                    await use()

    asyncio.run(run())
    log = tmp_path / "r.sqlite-wal"
    assert log.stat().st_size > 0  # was not moved: it may not be on the disk


def test_place_that_cannot_hold_a_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(OutputError, match=r"file/r\.sqlite"):
        ReplyStore.open(tmp_path / "file" / "r.sqlite")
    with pytest.raises(FileError, match="there is no reply store"):
        ReplyStore.open(tmp_path / "none.sqlite", must_exist=True)


def test_ledger_counts_what_was_never_settled_in_full(tmp_path: Path) -> None:
    with ReplyStore.open(tmp_path / "r.sqlite") as store:
        first = store.reserve("m", 100)
        store.reserve("m", 40)
        assert store.spent() == 140
        store.settle(first, 7)

    with ReplyStore.open(tmp_path / "r.sqlite") as store:
        assert store.spent() == 47


def test_own_entries_do_not_hide_what_others_reserved_before(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    with ReplyStore.open(path) as mine, ReplyStore.open(path) as theirs:
        assert (theirs.reserve("m", 7), mine.reserve("m", 9), theirs.reserve("m", 8)) == (1, 2, 3)

        assert mine.others_reservations() == [(1, "m", 7), (3, "m", 8)]
        assert theirs.others_reservations() == [(2, "m", 9)]
        assert mine.others_reservations() == theirs.others_reservations() == []


WRITER = """
import sys
import threading
from pathlib import Path
from calbench.llm.replies.store import ReplyStore
from tests.llm.asking import recorded, put
with ReplyStore.open(Path(sys.argv[1])) as store:
    for i in range(40):
        put(store, *recorded(f"shared {i}", reply=sys.argv[2]))
"""


@pytest.mark.heavy
def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    repo = Path(__file__).resolve().parents[2]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], cwd=repo)
        for name in ("one", "two", "three")
    ]

    assert [writer.wait() for writer in writers] == [0, 0, 0]

    with ReplyStore.open(path) as store:
        assert store.stats().replies == 40


def test_log_is_asked_for_until_another_process_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("CREATE TABLE t (x)")
    holder.execute("BEGIN IMMEDIATE")
    asking = sqlite3.connect(path, timeout=0.0, isolation_level=None)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        asking.execute("PRAGMA journal_mode = WAL")

    release = threading.Timer(0.2, holder.execute, ["COMMIT"])
    release.start()
    assert database.keep_log(asking) == "wal"

    release.join()
    holder.close()
    asking.close()


def test_games_are_found_again_in_their_order_and_once(tmp_path: Path) -> None:
    path = begin(tmp_path / "r.sqlite", *GAMES, GAMES[0]._replace(config="another"))

    with ReplyStore.open(path) as store:
        assert list(store.begun()) == GAMES


def test_games_are_merged(tmp_path: Path) -> None:
    one, two = begin(tmp_path / "1.sqlite", GAMES[0]), begin(tmp_path / "2.sqlite", *GAMES)
    with ReplyStore.open(one) as into, ReplyStore.open(two) as other:
        merge(into, other)
        assert list(into.begun()) == GAMES


@pytest.mark.parametrize("value", ['\'{"team": "other"}\'', "7", "x'00'"])
def test_game_that_was_changed_is_refused(tmp_path: Path, value: str) -> None:
    path = begin(tmp_path / "r.sqlite", *GAMES)
    tampered(path, f"UPDATE games SET config = {value} WHERE id = 'game-1'")  # noqa: S608
    with (
        ReplyStore.open(path) as store,
        pytest.raises(FileError, match=r"r\.sqlite: what is noted of game game-1 is damaged"),
    ):
        list(store.begun())
