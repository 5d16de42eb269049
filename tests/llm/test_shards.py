"""Recorded replies as sorted text: union, same bytes, damage named."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.errors import FileError
from calbench.llm.replies.request import named
from calbench.llm.replies.shards import merge_into, open_replies, read_shards, write_shards
from calbench.llm.replies.store import ReplyStore
from tests.llm.asking import put, record, recorded, request

THREADS = st.lists(
    st.lists(st.sampled_from(["a", "b", "ü\u2028"]), max_size=3).map(tuple), max_size=6, unique=True
)


def store_of(threads: list[tuple[str, ...]], reply: str = "fine") -> ReplyStore:
    store = ReplyStore.in_memory()
    for texts in threads:
        put(store, *recorded(*texts, reply=reply))
    return store


def keys(store: ReplyStore) -> set[str]:
    return {found.key for found in store.records()}


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@given(THREADS, THREADS)
def test_merge_is_the_union(one: list[tuple[str, ...]], two: list[tuple[str, ...]]) -> None:
    with store_of(one) as first, store_of(two) as second:
        merged = first.merge(second)

        assert keys(first) == {named(request(*texts)).key for texts in {*one, *two}}
        assert merged.added == len({*two} - {*one})
        assert merged.known == len({*two} & {*one})
        assert merged.conflicting == 0
        assert first.orphan() is None


@settings(max_examples=20)  # each writes files and syncs them
@given(threads=THREADS, order=st.randoms(use_true_random=False))
def test_same_replies_make_the_same_bytes_in_whatever_order_they_came(
    threads: list[tuple[str, ...]], order: random.Random, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shuffled = order.sample(threads, len(threads))
    folders = [tmp_path_factory.mktemp("shards") for _ in range(2)]
    for folder, arranged in zip(folders, (threads, shuffled), strict=True):
        with store_of(arranged) as store:
            write_shards(folder, store)

    assert bytes_of(folders[0]) == bytes_of(folders[1])
    if threads:
        with read_shards(folders[0]) as read, store_of(threads) as written:
            assert list(read.records()) == list(written.records())
            assert list(read.messages()) == list(written.messages())


def test_merging_folders_in_either_order_makes_the_same_bytes(tmp_path: Path) -> None:
    one: list[tuple[str, ...]] = [("a",), ("a", "b")]
    two: list[tuple[str, ...]] = [("a",), ("c",)]
    for name, part in (("left", one), ("left", two), ("right", two), ("right", one)):
        with store_of(part) as store:
            merge_into(tmp_path / name, store)

    assert bytes_of(tmp_path / "left") == bytes_of(tmp_path / "right")
    with open_replies(tmp_path / "left") as store:
        assert store.stats().replies == 3


def test_reply_that_disagrees_is_counted_and_left_out(tmp_path: Path) -> None:
    with store_of([("a",)], "ours") as ours, store_of([("a",), ("b",)], "theirs") as theirs:
        assert ours.merge(theirs) == (1, 0, 1)
        write_shards(tmp_path, ours)

    with read_shards(tmp_path) as store:
        assert {found.text for found in store.records()} == {"ours", "theirs"}
        found = store.get(named(request("a")).key)
        assert found is not None
        assert found.text == "ours"


def test_store_and_folder_hold_the_same(tmp_path: Path) -> None:
    with store_of([("a",), ("a", "b", "c")]) as store:
        merge_into(tmp_path / "shards", store)
        with open_replies(tmp_path / "shards") as read:
            merge_into(tmp_path / "r.sqlite", read)
        with open_replies(tmp_path / "r.sqlite") as back:
            assert list(back.records()) == list(store.records())
            assert list(back.links()) == list(store.links())


def shard(folder: Path, kind: str) -> Path:
    return min(folder.glob(f"{kind}-*.jsonl"))


@pytest.mark.parametrize(
    ("kind", "old", "new", "complaint"),
    [
        ("replies", b'"stop"', b'"st', "Invalid JSON"),
        ("replies", b'"text"', b'"test"', "test: is not a known key"),
        ("replies", b'"latency_s":0.5', b'"latency_s":-1', "attempts.0.latency_s"),
        ("replies", b"\n", b"", "the last line is incomplete"),
        ("messages", b'"content":"', b'"content":"x', "is not that of the message"),
        ("threads", b'"message":"', b'"message":"0', "message"),
        ("messages", b"{", b"\xff{", "Invalid JSON"),
        ("messages", b"{", b"[" * 5000, "Invalid JSON: recursion"),
    ],
)
def test_damaged_line_is_named_with_file_and_line(
    tmp_path: Path, kind: str, old: bytes, new: bytes, complaint: str
) -> None:
    with store_of([("a",)]) as store:
        write_shards(tmp_path, store)
    path = shard(tmp_path, kind)
    path.write_bytes(path.read_bytes().replace(old, new, 1))

    with pytest.raises(FileError, match=complaint) as caught:
        read_shards(tmp_path)

    assert str(caught.value).startswith((f"{path}:1: ", f"{path}:2: "))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["messages", "threads"])
def test_reply_without_its_messages_is_named(tmp_path: Path, kind: str) -> None:
    with store_of([("a",)]) as store:
        write_shards(tmp_path, store)
    for path in tmp_path.glob(f"{kind}-*"):
        path.unlink()

    with pytest.raises(FileError, match=r"replies-.\.jsonl:1: thread: not all of its messages"):
        read_shards(tmp_path)


def test_folder_without_replies_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="holds no recorded replies"):
        open_replies(tmp_path)


def test_reply_that_stands_twice_is_named(tmp_path: Path) -> None:
    asked = named(request("a"))
    with ReplyStore.in_memory() as store:
        put(store, asked, record(asked))
        write_shards(tmp_path, store)
    path = shard(tmp_path, "replies")
    path.write_bytes(path.read_bytes() * 2)

    with pytest.raises(FileError, match=r":2: key: occurs twice"):
        read_shards(tmp_path)
