"""How a submission is forged: whatever is changed, its lists and derived keys are made to fit."""

import json
import shutil
from collections.abc import Callable, Container, Mapping
from pathlib import Path
from typing import Any

from calbench.engine.game import game_id
from calbench.llm.replies.record import Record
from calbench.llm.replies.shards import read_shards, write_shards
from calbench.llm.replies.store import ReplyStore
from calbench.submissions.check import derived
from calbench.submissions.examine import examine, parts_of
from calbench.submissions.folder import (
    PLACES,
    REPLIES_FOLDER,
    SUBMISSION,
    Submission,
    digest_of,
    document_bytes,
    files_of,
)
from calbench.traces.catalog import Catalog, trace_paths
from calbench.traces.models import Trace
from calbench.traces.storage import TraceReader, trace_bytes
from calbench.traces.store import write_packed_games
from calbench.tree import DATA

COHORT = DATA / "cohorts" / "delegates" / "private" / "replies"

SAID = {"contact": "@ada", "date": "2026-11-28"}


def read(folder: Path) -> Submission:
    return Submission.model_validate_json((folder / SUBMISSION).read_bytes())


def write(folder: Path, submission: Submission) -> None:
    (folder / SUBMISSION).write_bytes(document_bytes(submission))


def said(folder: Path, **changes: Any) -> None:
    """Let a submission say something else."""
    write(folder, read(folder).model_copy(update=changes))


def listed(folder: Path) -> None:
    """List the files that are there, with their digests."""
    files = {n: digest_of(p) for n, p in files_of(folder).items() if PLACES.fullmatch(n)}
    said(folder, files=files)


def derive(folder: Path) -> None:
    """List the files, and let the submission say what follows from them, as far as it does."""
    replies = folder / REPLIES_FOLDER
    paths = list(trace_paths(folder / "traces"))
    found = examine(paths, replies if replies.is_dir() else None)
    said(folder, **derived(found, parts_of(found), () if found.problems else paths))
    listed(folder)


def unpacked(folder: Path) -> dict[str, bytes]:
    """Return the bytes of the games, by name."""
    catalog = Catalog()
    return {
        f"{path.parent.name}/{path.name}": catalog.read(path)
        for path in trace_paths(folder / "traces")
    }


def packed(folder: Path, games: Mapping[str, bytes]) -> None:
    """Put games into the place of those that are there."""
    shutil.rmtree(folder / "traces")
    loose = folder.parent / f"{folder.name}-loose"
    for name, data in games.items():
        path = loose / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    write_packed_games(list(trace_paths(loose)), folder / "traces", lambda: None)
    shutil.rmtree(loose)


def traces(folder: Path) -> dict[str, Trace]:
    reader = TraceReader()
    return {
        f"{path.parent.name}/{path.name}": reader.read(path)
        for path in trace_paths(folder / "traces")
    }


def replayed(folder: Path, change: Callable[[Trace], Trace | None]) -> None:
    """Change every game, or leave it out, and make all else fit."""
    changed = [new for old in traces(folder).values() if (new := change(old)) is not None]
    packed(folder, {_name(each): trace_bytes(each) for each in changed})
    derive(folder)


def _name(trace: Trace) -> str:
    number = trace.config.replicate
    end = f".r{number}" if number else ""
    return f"{trace.config.team.team_id}/{trace.scenario.scenario_id}{end}.json"


def edited(trace: Trace, change: Callable[[Any], None]) -> Trace:
    """Return a game with its document changed, and with the id that then belongs to it."""
    document = json.loads(trace_bytes(trace))
    change(document)
    new = Trace.model_validate_json(json.dumps(document))
    return new.model_copy(update={"game_id": game_id(new.scenario, new.config)})


def recorded(
    folder: Path, change: Callable[[Record], Record], only: Container[str] | None = None
) -> dict[str, str]:
    """Change every reply, or some, and name it anew by its request; return new keys by the old."""
    replies = folder / REPLIES_FOLDER
    keys: dict[str, str] = {}
    with read_shards(replies) as old, ReplyStore.in_memory() as new:
        with new.writing():
            for record in old.records():
                if only is not None and record.key not in only:
                    continue
                other = change(record)
                asked = old.request(other)
                keys[record.key] = asked.key
                new.add_parts(asked)
                new.add(other.model_copy(update={"key": asked.key}))
        shutil.rmtree(replies)
        write_shards(replies, new)
    return keys
