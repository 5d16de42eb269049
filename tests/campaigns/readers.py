"""Every reader of a file that may come from somebody else, with a small good file for each."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from calbench.analysis.datapackage import read_settings
from calbench.cli.audit import audited
from calbench.cli.stores import pack
from calbench.config.composition import compose
from calbench.config.groups import PRICES
from calbench.facts.frames import read_parquet
from calbench.llm.prices import read_prices
from calbench.llm.replies.shards import read_shards, write_shards
from calbench.llm.replies.store import ReplyStore
from calbench.metrics.speech.sample import read_sample
from calbench.release.archives import unpack
from calbench.release.manifest import read_games, read_manifest
from calbench.report.tables import published_columns, read_table
from calbench.runs.play import execute
from calbench.runs.recorded import consistent, head_of
from calbench.runs.recorded import read_games as games_below
from calbench.runs.results import read_run
from calbench.scenarios.labels import LABEL_BANKS, read_label_bank
from calbench.scenarios.storage import read_suite, write_suite
from calbench.scenarios.suites import build_suite
from calbench.traces.catalog import trace_paths
from calbench.traces.storage import TraceReader, read_trace
from calbench.tree import CONF, DATA
from tests.campaigns.mutations import BINARY, PACKED, TEXT, YAML, Mutation
from tests.cli.runs import SMALL
from tests.llm.asking import put, recorded

RUN = ("suite.tertiles=false", "suite.num_scenarios=2", "teams=[imap,candid]")
"""Overrides of a run with typed messages and with talk."""

KEYS = r"^(configuration|teams|suite|model)\b"


@dataclass(frozen=True)
class Reader:
    """A reader of files.

    Attributes:
        file: a good file, below the folder of samples; a pattern means the first one.
        kinds: of damage.
        read: reads the damaged file; of a folder, what holds it.
        whole: the folder of samples that is copied; the file alone unless given.
        place: what a problem may name instead of the file, as a pattern: a key of a
            configuration that several files make.
    """

    file: str
    kinds: Mapping[str, Mutation]
    read: Callable[[Path], object]
    whole: str = ""
    place: str = ""


def _lines(path: Path) -> list[bytes]:
    return list(audited(path))


def _below(path: Path, name: str) -> Path:
    """Return the folder of a name that holds a file."""
    return next(folder for folder in path.parents if folder.name == name)


def _known(path: Path) -> object:
    """Read a trace with one known scenario, then as one of a run."""
    return TraceReader(None).read(path), head_of(path, path.read_bytes())


def _store(path: Path) -> object:
    with ReplyStore.open(path, must_exist=True) as store:
        store.check()
        return store.stats(), list(store.records()), list(store.messages())


def _shards(path: Path) -> object:
    with read_shards(path.parent) as store:
        return store.stats(), list(store.records())


INCOMPLETE = r"shards/\S+: thread: .* a shard is missing or incomplete$"
"""How a folder of shards names one that is not there: the line that would need it."""


def _table(name: str) -> Callable[[Path], object]:
    return lambda path: read_run(_below(path, "run")).table(name)


def _unpacked(path: Path) -> object:
    folder = path.with_name("unpacked")
    try:
        unpack(path, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return None


def _composed(*overrides: str) -> Callable[[Path], object]:
    return lambda path: compose(overrides, _below(path, "conf"))


def _events(path: Path) -> object:
    results = read_run(_below(path, "run"))
    return results.messages(), results.events()


def _games(path: Path) -> object:
    reader = TraceReader()
    return [reader.read(each) for each in trace_paths(path.parent)]


READERS: Mapping[str, Reader] = {
    "trace": Reader("run/traces/imap/taste-varied-000.json", TEXT, read_trace),
    "trace of talk": Reader("run/traces/candid/taste-varied-000.json", TEXT, _known),
    "games of a run": Reader(
        "run/traces/candid/taste-varied-001.json",
        TEXT,
        lambda path: consistent(games_below([_below(path, "run")])),
        whole="run",
    ),
    "events of a run": Reader("run/traces/imap/taste-varied-001.json", TEXT, _events, whole="run"),
    "shard of games": Reader("games/00000.jsonl.zst", BINARY, _games, whole="games"),
    "suite": Reader("suite.jsonl", TEXT, read_suite),
    "packed suite": Reader("packed.jsonl.gz", PACKED, read_suite),
    "label bank": Reader("banks/v1.jsonl", TEXT, lambda path: read_label_bank("v1", path.parent)),
    "messages": Reader("messages.jsonl", TEXT, _lines),
    "labelled sample": Reader("sample.jsonl", TEXT, read_sample),
    "replies": Reader("replies.sqlite", BINARY, _store),
    "shard of messages": Reader("shards/messages-*.jsonl", TEXT, _shards, "shards", INCOMPLETE),
    "shard of threads": Reader("shards/threads-*.jsonl", TEXT, _shards, "shards", INCOMPLETE),
    "shard of replies": Reader("shards/replies-*.jsonl", TEXT, _shards, "shards", INCOMPLETE),
    "prices": Reader("prices.yaml", YAML, read_prices),
    "team file": Reader("conf/teams/mine.yaml", YAML, _composed("teams=[mine]"), "conf", KEYS),
    "suite of a configuration": Reader(
        "conf/suite/mine.yaml", YAML, _composed("suite=mine", "teams=[imap]"), "conf", KEYS
    ),
    "model of a configuration": Reader(
        "conf/model/mine.yaml", YAML, _composed("model=mine", "teams=[my-model]"), "conf", KEYS
    ),
    "table": Reader("run/tables/leaderboard.csv", TEXT, _table("leaderboard"), whole="run"),
    "table of games": Reader("run/tables/games.csv", TEXT, _table("games"), whole="run"),
    "Parquet table": Reader(
        "run/tables/privacy/messages.parquet", BINARY, _table("privacy/messages"), whole="run"
    ),
    "Parquet": Reader("run/tables/privacy/calls.parquet", BINARY, read_parquet),
    "table of a page": Reader("run/tables/standings.csv", TEXT, read_table),
    "table in the terminal": Reader("run/tables/draws.csv", TEXT, read_table),
    "description of tables": Reader(
        "run/tables/datapackage.json", TEXT, lambda path: read_settings(path.parent)
    ),
    "columns of others": Reader(
        "published/columns.yaml", YAML, lambda path: published_columns(path.parent)
    ),
    "manifest": Reader("release/manifest.json", TEXT, lambda path: read_manifest(path.parent)),
    "published games": Reader(
        "release/traces.json.gz", PACKED, lambda path: read_games(path.parent)
    ),
    "packed board": Reader("release/board.tar.xz", BINARY, _unpacked),
}
"""Readers by name."""


def make_samples(folder: Path) -> None:
    """Write a good file for every reader."""
    spec = compose([*SMALL, *RUN, f"out={folder / 'run'}"])
    execute(spec)
    pack(folder / "run", folder / "games")
    write_suite(folder / "suite.jsonl", build_suite(spec.suite))
    _copied(DATA / "audit_sample" / "messages.jsonl", folder / "sample.jsonl", 30)
    _copied(DATA / "audit_sample" / "messages.jsonl", folder / "messages.jsonl", 30)
    for source, name in (
        (DATA / "release" / "suites" / "smollm2.jsonl.gz", "packed.jsonl.gz"),
        (LABEL_BANKS / "v1.jsonl", "banks/v1.jsonl"),
        (PRICES, "prices.yaml"),
        (CONF / "teams" / "imap.yaml", "conf/teams/mine.yaml"),
        (CONF / "suite" / "varied.yaml", "conf/suite/mine.yaml"),
        (CONF / "model" / "gpt-5.4-mini.yaml", "conf/model/mine.yaml"),
        (DATA / "published" / "columns.yaml", "published/columns.yaml"),
        *((DATA / "release" / name, f"release/{name}") for name in _RELEASED),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / name)
    _write_replies(folder)


_RELEASED = ("manifest.json", "traces.json.gz", "board.tar.xz")


def _copied(source: Path, target: Path, most: int) -> None:
    with source.open("rb") as lines:
        target.write_bytes(b"".join(islice(lines, most)))


def _write_replies(folder: Path) -> None:
    """Write recorded replies as a store and as shards."""
    with ReplyStore.open(folder / "replies.sqlite") as store:
        for number in range(8):
            put(store, *recorded(f"message {number}", "and another"))
        write_shards(folder / "shards", store)
