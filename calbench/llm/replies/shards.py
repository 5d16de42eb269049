"""Recorded replies as text: sorted JSON Lines that merge by union, for git and for archives.

A folder holds ``messages-<x>.jsonl``, ``threads-<x>.jsonl`` and ``replies-<x>.jsonl`` for each
first digit x of a digest that occurs. The same replies make the same bytes.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from calbench.console import progress
from calbench.domain.canonical import canonical_json
from calbench.errors import FileError
from calbench.files import first_problem, printable, read_bytes, write_atomically
from calbench.llm.replies.database import is_store_file
from calbench.llm.replies.record import Record
from calbench.llm.replies.request import Digest, Link, link_digest, message_digest
from calbench.llm.replies.store import Merged, ReplyStore

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


def open_replies(path: Path) -> ReplyStore:
    """Open recorded replies for reading: a database file, or a folder of shards.

    Raises:
        FileError: if there is neither, or naming the file and line that is damaged.
    """
    if path.is_dir():
        return read_shards(path)
    return ReplyStore.open(path, must_exist=True)


def merge_into(target: Path, source: ReplyStore) -> Merged:
    """Add replies to a store's file or to a folder of shards; one is made if there is none.

    Existing shards are kept and extended.
    """
    if is_store_file(target):
        with ReplyStore.open(target) as store:
            return store.merge(source)
    with read_shards(target) if _shards(target) else ReplyStore.in_memory() as store:
        merged = store.merge(source)
        write_shards(target, store)
    return merged


def write_shards(folder: Path, store: ReplyStore) -> None:
    """Write a store as shards.

    Replies are written last: an interrupted writer leaves no reply without its messages.
    """
    rows_by_kind: dict[str, Iterator[tuple[str, Any]]] = {
        "messages": (
            (digest, {"digest": digest, "role": role, "content": content})
            for digest, role, content in store.messages()
        ),
        "threads": ((link.digest, link._asdict()) for link in store.links()),
        "replies": (
            (record.key, record.model_dump(mode="json", exclude_none=True))
            for record in store.records()
        ),
    }
    with progress("written", len(rows_by_kind)) as tick:
        for kind, rows in rows_by_kind.items():
            by_shard: dict[str, list[str]] = {}
            for digest, row in rows:
                by_shard.setdefault(digest[:PREFIX], []).append(f"{canonical_json(row)}\n")
            for prefix, lines in sorted(by_shard.items()):
                write_atomically(folder / f"{kind}-{prefix}.jsonl", "".join(lines).encode())
            tick(kind)


def _shards(folder: Path) -> list[Path]:
    """Return the shards of a folder, replies last."""
    if not folder.is_dir():
        return []
    kinds = ("messages", "threads", "replies")
    return [path for kind in kinds for path in sorted(folder.glob(f"{kind}-*.jsonl"))]


def read_shards(folder: Path) -> ReplyStore:
    """Read a folder of shards into memory.

    Raises:
        FileError: if it holds none, or naming the file and line that is damaged.
    """
    paths = _shards(folder)
    if not paths:
        raise FileError(f"{folder}: holds no recorded replies (replies-*.jsonl)")
    store = ReplyStore.in_memory()
    add = {"messages": _add_message, "threads": _add_link, "replies": _add_record}
    with store.writing(), progress("read", len(paths)) as tick:
        for path in paths:
            _read(path, store, add[path.name.split("-", 1)[0]])
            tick()
    orphan = store.orphan()
    if orphan is not None:
        raise FileError(
            f"{folder}: reply {orphan} has no messages; a shard is missing or incomplete"
        )
    return store


def _read(path: Path, store: ReplyStore, add: Callable[[ReplyStore, bytes], None]) -> None:
    lines = read_bytes(path).split(b"\n")
    if lines.pop() != b"":
        raise FileError(f"{path}:{len(lines) + 1}: the last line is incomplete")
    for number, line in enumerate(lines, 1):
        try:
            add(store, line)
        except ValidationError as error:
            raise FileError(f"{path}:{number}: {first_problem(error)}") from error
        except ValueError as error:
            raise FileError(f"{path}:{number}: {printable(str(error))}") from error


def _add_message(store: ReplyStore, line: bytes) -> None:
    found = _MessageLine.model_validate_json(line)
    if found.digest != message_digest(found.role, found.content):
        raise ValueError("digest: is not that of the message; the line was changed")
    store.add_message(found.digest, found.role, found.content)


def _add_link(store: ReplyStore, line: bytes) -> None:
    found = _ThreadLine.model_validate_json(line)
    if found.digest != link_digest(found.parent, found.message):
        raise ValueError("digest: is not that of the thread; the line was changed")
    store.add_link(Link(found.digest, found.parent, found.message))


def _add_record(store: ReplyStore, line: bytes) -> None:
    if not store.add(Record.model_validate_json(line)):
        raise ValueError("key: occurs twice")
