"""The reply store: what was written is found again, whole, and never changed."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.errors import FileError, OutputError
from calbench.llm.replies.difference import nearest_difference
from calbench.llm.replies.request import named
from calbench.llm.replies.store import ReplyStore
from tests.llm.asking import put, record, recorded, request


def test_reply_is_found_again_as_it_was_after_the_file_was_closed(tmp_path: Path) -> None:
    asked, reply = recorded("Hi", "Ho", "Hm", reply="fine \u2028 \x00 'quoted'")
    with ReplyStore.open(tmp_path / "r.sqlite") as store:
        assert put(store, asked, reply) == reply

    with ReplyStore.open(tmp_path / "r.sqlite") as store:
        assert store.get(asked.key) == reply
        assert store.get("0" * 64) is None
        assert store.thread(asked.thread) == asked.request.messages


def test_second_reply_to_a_request_is_handed_the_first(tmp_path: Path) -> None:
    asked, first = recorded("Hi", reply="first")
    with (
        ReplyStore.open(tmp_path / "r.sqlite") as one,
        ReplyStore.open(tmp_path / "r.sqlite") as two,
    ):
        put(one, asked, first)
        assert put(two, asked, record(asked, "second")) == first
        assert two.get(asked.key) == first


@pytest.mark.parametrize("statement", ["DELETE FROM replies", "UPDATE replies SET body = '{}'"])
def test_nothing_recorded_can_be_changed(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "r.sqlite"
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

        assert store.orphan() is None
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
        assert nearest_difference(store, named(request(*texts))) is None
        put(store, *recorded("Hi", "Ho"))

        assert (nearest_difference(store, named(request(*texts))) or "").startswith(expected)


@pytest.mark.parametrize("place", [0, 1])
def test_difference_is_to_the_request_whose_next_message_parts_last(place: int) -> None:
    before = ("Hi",) * place
    with ReplyStore.in_memory() as store:
        for game in range(20):
            put(store, *recorded(*before, f"game {game}: slot 1", "Ho"))
        difference = nearest_difference(store, named(request(*before, "game 7: slot 2")))
    role = request(*before, "game").messages[-1].role
    assert difference == f"message {place + 1}: recorded {role} '...1', asked {role} '...2'"


def test_difference_names_the_model_when_the_messages_are_the_same() -> None:
    with ReplyStore.in_memory() as store:
        put(store, *recorded("Hi"))

        difference = nearest_difference(store, named(request("Hi", model="openai/b")))

    assert difference == "model: recorded 'openai/stub', asked 'openai/b'"


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


def test_store_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    ReplyStore.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 9")
    connection.close()

    with pytest.raises(FileError, match="version 9"):
        ReplyStore.open(path)


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


WRITER = """
import sys
from pathlib import Path
from calbench.llm.replies.store import ReplyStore
from tests.llm.asking import recorded, put
with ReplyStore.open(Path(sys.argv[1])) as store:
    for i in range(40):
        put(store, *recorded(f"shared {i}", reply=sys.argv[2]))
"""


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    repo = Path(__file__).resolve().parents[2]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], cwd=repo)
        for name in ("one", "two")
    ]

    assert [writer.wait() for writer in writers] == [0, 0]

    with ReplyStore.open(path) as store:
        assert store.stats().replies == 40
