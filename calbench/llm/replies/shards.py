"""Recorded replies as text: sorted JSON Lines that merge by union, for git and for archives.

A folder holds ``messages-<x>.jsonl``, ``threads-<x>.jsonl`` and ``replies-<x>.jsonl`` for each
first digit x of a digest that occurs, and ``index.json`` with the number of lines of each. The
same replies make the same bytes. Every line carries a digest of its content.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from calbench.console import progress
from calbench.domain.canonical import canonical_json, first_difference
from calbench.domain.canonical import digest as content_digest
from calbench.endings import pruned
from calbench.errors import CalbenchError, FileError, OutputError
from calbench.files import check_keys, first_problem, printable, read_bytes, write_atomically
from calbench.folders import claimed
from calbench.llm.replies.database import is_store_file, remove_store
from calbench.llm.replies.record import Digest, Link, Record, link_digest, message_digest
from calbench.llm.replies.store import ReplyStore

PREFIX = 1
"""Digits of a digest that name its shard: 16 files of a kind keep small cohorts small [C]."""


class _MessageLine(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    digest: Digest
    role: Annotated[str, Field(pattern=r"^(system|user|assistant|schema)$")]
    content: str


class _ThreadLine(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    digest: Digest
    parent: Digest | None
    message: Digest


class _ReplyLine(Record):
    digest: Digest


_COUNTS = TypeAdapter(dict[str, Annotated[int, Field(ge=1, strict=True)]])

INDEX = "index.json"
"""Says how many lines each shard has: lines at the end, and whole shards, may be lost."""


def open_replies(path: Path, *, must_be_whole: bool = True) -> ReplyStore:
    """Open recorded replies for reading: a database file, or a folder of shards.

    Args:
        path: of the file or folder.
        must_be_whole: refuse a folder whose loss could not be found, as its writer was interrupted.

    Raises:
        FileError: if there is neither, or naming the file and line that is damaged.
    """
    if path.is_dir():
        return read_shards(path, must_be_whole=must_be_whole)
    return ReplyStore.open(path, must_exist=True)


def is_recorded_without(path: Path, mark: str) -> bool:
    """Whether there are recorded replies, and a mark is in no system prompt of theirs.

    What cannot be read counts as none: who needs the replies says why.
    """
    if not path.exists():
        return False
    try:
        with open_replies(path, must_be_whole=False) as store:
            has_mark = [
                mark in content for _, role, content in store.messages() if role == "system"
            ]
    except CalbenchError:
        return False
    return bool(has_mark) and not any(has_mark)


class Merged(NamedTuple):
    """What a merge did: replies added, those already there, and those that disagree."""

    added: int
    known: int
    conflicting: int


def merge(store: ReplyStore, other: ReplyStore) -> Merged:
    """Add to a store what another one holds; what it has already is never replaced.

    What was spent is not merged: it belongs to the run that spent it.

    Raises:
        FileError: if one of the stores is damaged, or a reply is not to its request.
    """
    added = known = conflicting = 0
    store.check()
    other.check()
    with store.writing():
        for message in other.messages():
            store.add_message(*message)
        for link in other.links():
            store.add_link(link)
        for game in other.begun():
            store.begin(game)
        with progress("replies", other.count()) as tick:
            for record in other.records():
                if (problem := other.check_key(record)) is not None:
                    raise FileError(f"{other}: reply {record.key}: the key {problem}")
                if store.add(record):
                    added += 1
                elif store.get(record.key) == record:
                    known += 1
                else:
                    conflicting += 1
                tick()
    return Merged(added, known, conflicting)


def merge_into(target: Path, source: ReplyStore) -> Merged:
    """Add replies to a store's file or to a folder of shards; one is made if there is none.

    Existing shards are kept and extended.
    """
    if is_store_file(target):
        return _merge_into_file(target, source)
    with pruned(target), claimed(target):
        known = bool(_shards(target))
        with read_shards(target, must_be_whole=False) if known else ReplyStore.in_memory() as store:
            merged = merge(store, source)
            write_shards(target, store)
    return merged


def _merge_into_file(target: Path, source: ReplyStore) -> Merged:
    is_new = not target.exists()
    try:
        with ReplyStore.open(target) as store:
            return merge(store, source)
    except BaseException:
        if is_new:
            remove_store(target)
        raise


def write_shards(folder: Path, store: ReplyStore) -> None:
    """Write a store as shards.

    Replies are written last, and then the index: an interrupted writer leaves no reply without
    its messages, and no index.
    """
    rows_by_kind: dict[str, Iterator[tuple[str, Any]]] = {
        "messages": (
            (digest, {"digest": digest, "role": role, "content": content})
            for digest, role, content in store.messages()
        ),
        "threads": ((link.digest, link._asdict()) for link in store.links()),
        "replies": ((record.key, _with_digest(record)) for record in store.records()),
    }
    try:
        (folder / INDEX).unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder / INDEX}: cannot be replaced ({error.strerror or error})"
        ) from error
    counts: dict[str, int] = {}
    with progress("written", len(rows_by_kind)) as tick:
        for kind, rows in rows_by_kind.items():
            by_shard: dict[str, list[str]] = {}
            for digest, row in rows:
                by_shard.setdefault(digest[:PREFIX], []).append(f"{canonical_json(row)}\n")
            for prefix, lines in sorted(by_shard.items()):
                name = f"{kind}-{prefix}.jsonl"
                write_atomically(folder / name, "".join(lines).encode())
                counts[name] = len(lines)
            tick(kind)
    if counts:
        index = json.dumps(counts, indent=1, sort_keys=True)
        write_atomically(folder / INDEX, f"{index}\n".encode())


def _with_digest(record: Record) -> dict[str, Any]:
    fields = record.model_dump(mode="json", exclude_none=True)
    return {**fields, "digest": content_digest(fields)}


def _shards(folder: Path) -> list[Path]:
    """Return the shards of a folder, replies last."""
    if not folder.is_dir():
        return []
    kinds = ("messages", "threads", "replies")
    return [path for kind in kinds for path in sorted(folder.glob(f"{kind}-*.jsonl"))]


def read_shards(folder: Path, *, must_be_whole: bool = True) -> ReplyStore:
    """Read a folder of shards into memory; the arguments are those of :func:`open_replies`.

    Raises:
        FileError: if it holds none, or naming the file and line that is damaged.
    """
    paths = _shards(folder)
    if not paths:
        raise FileError(f"{folder}: holds no recorded replies (replies-*.jsonl)")
    expected = _read_index(folder)
    store = ReplyStore.in_memory()
    add = {"messages": _add_message, "threads": _add_link, "replies": _add_record}
    counts: dict[str, int] = {}
    with store.writing(), progress("read", len(paths)) as tick:
        for path in paths:
            counts[path.name] = _read(path, store, add[path.name.split("-", 1)[0]])
            tick()
    if expected is not None:
        _compare(folder, expected, counts)
    elif must_be_whole:
        raise FileError(
            f"{folder}: was not written to its end: damage might not be found; write it anew with: "
            f"calbench replies merge NEW_FOLDER {folder}"
        )
    return store


def _read_index(folder: Path) -> dict[str, int] | None:
    path = folder / INDEX
    if not path.exists():
        return None
    data = read_bytes(path, is_found=True)
    try:
        counts = _COUNTS.validate_json(data)
    except ValidationError as error:
        raise FileError(f"{path}: {first_problem(error)}") from error
    check_keys(str(path), data)
    return counts


def _compare(folder: Path, expected: Mapping[str, int], counts: Mapping[str, int]) -> None:
    """Refuse shards that have more or fewer lines than the index says."""
    for name in sorted({*expected, *counts}):
        then, now = expected.get(name, 0), counts.get(name, 0)
        if then != now:
            raise FileError(
                f"{folder / printable(name)}: has {now} lines, but {then} according to {INDEX}; "
                f"put back what is missing, or remove {INDEX} and merge the rest into a new folder"
            )


def _read(path: Path, store: ReplyStore, add: Callable[[ReplyStore, bytes], Any]) -> int:
    """Add the lines of a shard, which are as we write them; return how many there are."""
    lines = read_bytes(path, is_found=True).split(b"\n")
    if lines.pop() != b"":
        raise FileError(f"{path}:{len(lines) + 1}: the last line is incomplete")
    for number, line in enumerate(lines, 1):
        try:
            if line != (written := canonical_json(add(store, line)).encode()):
                differs = first_difference(line, written)
                raise FileError(f"{path}:{number}: not as calbench writes it: {differs}")
        except ValidationError as error:
            raise FileError(f"{path}:{number}: {first_problem(error)}") from error
        except ValueError as error:
            raise FileError(f"{path}:{number}: {printable(str(error))}") from error
    return len(lines)


def _add_message(store: ReplyStore, line: bytes) -> dict[str, Any]:
    found = _MessageLine.model_validate_json(line)
    if found.digest != message_digest(found.role, found.content):
        raise ValueError("digest: is not that of the message; the line was changed")
    store.add_message(found.digest, found.role, found.content)
    return dict(found)


def _add_link(store: ReplyStore, line: bytes) -> dict[str, Any]:
    found = _ThreadLine.model_validate_json(line)
    if found.digest != link_digest(found.parent, found.message):
        raise ValueError("digest: is not that of the thread; the line was changed")
    store.add_link(Link(found.digest, found.parent, found.message))
    return dict(found)


def _add_record(store: ReplyStore, line: bytes) -> dict[str, Any]:
    found = _ReplyLine.model_validate_json(line)
    fields = dict(found)
    digest = fields.pop("digest")
    record = Record.model_construct(**fields)
    written = _with_digest(record)
    if digest != written["digest"]:
        raise ValueError("digest: is not that of the reply; the line was changed")
    try:
        problem = store.check_key(record)
    except FileError as error:
        raise ValueError(
            "thread: not all of its messages are there; a shard is missing or incomplete"
        ) from error
    if problem is not None:
        raise ValueError(f"key: {problem}")
    if not store.add(record):
        raise ValueError("key: occurs twice")
    return written
