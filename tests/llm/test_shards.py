"""Recorded replies as sorted text: union, same bytes, damage named."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.domain.canonical import canonical_json, digest
from calbench.errors import FileError, OutputError
from calbench.files import write_atomically
from calbench.llm.replies import shards
from calbench.llm.replies.record import named
from calbench.llm.replies.shards import merge, merge_into, open_replies, read_shards, write_shards
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
        merged = merge(first, second)

        assert keys(first) == {named(request(*texts)).key for texts in {*one, *two}}
        assert merged.added == len({*two} - {*one})
        assert merged.known == len({*two} & {*one})
        assert merged.conflicting == 0
        assert all(first.check_key(each) is None for each in first.records())


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
        assert merge(ours, theirs) == (1, 0, 1)
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
        ("replies", b'"fine"', b'"fane"', "digest: is not that of the reply"),
        ("replies", b'"input_tokens":10', b'"input_tokens":11', "digest: is not that of the reply"),
        ("replies", b'"latency_s":0.5', b'"latency_s":0.4', "digest: is not that of the reply"),
        ("replies", b'"latency_s":0.5', b'"latency_s":1e999', "finite number"),
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


@pytest.mark.parametrize(
    "change",
    [
        {"model": "openai/other"},
        {"sampling": {"max_tokens": 100, "temperature": 1.0}},
        {"replicate": 3},
        {"key": "0" * 64},
    ],
)
def test_false_key_is_named_with_file_and_line_even_with_the_digest_of_it(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    with store_of([("a",)]) as store:
        write_shards(tmp_path, store)
    path = shard(tmp_path, "replies")
    fields = {**json.loads(path.read_text()), **change}
    fields["digest"] = digest({key: fields[key] for key in fields if key != "digest"})
    path.write_text(f"{canonical_json(fields)}\n")

    for must_be_whole in (True, False):
        with pytest.raises(FileError, match="key: is not that of its request") as caught:
            open_replies(tmp_path, must_be_whole=must_be_whole)
        assert str(caught.value).startswith(f"{path}:1: ")


def test_lines_that_are_lost_are_found(tmp_path: Path) -> None:
    with store_of([(text,) for text in "abcdefghijkl"]) as store:
        write_shards(tmp_path, store)
    path = max(tmp_path.glob("replies-*.jsonl"), key=lambda each: each.stat().st_size)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    assert len(lines) > 1
    for kept in (lines[:-1], lines[1:], []):
        path.write_bytes(b"".join(kept))
        with pytest.raises(
            FileError, match=f"{path.name}: has {len(kept)} lines, but {len(lines)}"
        ):
            open_replies(tmp_path, must_be_whole=False)
    path.write_bytes(whole)
    index = tmp_path / "index.json"
    index.write_text(index.read_text().replace(": ", ": 1", 1))
    with pytest.raises(FileError, match=r"lines, but 1"):
        open_replies(tmp_path)
    index.write_text('{"../x": -1}')
    with pytest.raises(FileError, match=r"index\.json: "):
        open_replies(tmp_path)


def failing_at(kind: str) -> Callable[[Path, bytes], None]:
    def write(path: Path, data: bytes) -> None:
        if path.name.startswith(kind):
            raise OutputError("no space")
        write_atomically(path, data)

    return write


def test_interrupted_writer_leaves_no_index_and_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store_of([("a",)]) as one, store_of([("b",), ("c",)]) as two:
        merge_into(tmp_path, one)
        with monkeypatch.context() as patched:
            patched.setattr(shards, "write_atomically", failing_at("threads"))
            with pytest.raises(OutputError, match="no space"):
                merge_into(tmp_path, two)
        with pytest.raises(FileError, match="was not written to its end"):
            open_replies(tmp_path)
        merge_into(tmp_path, two)
    with open_replies(tmp_path) as store:
        assert store.stats().replies == 3


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
