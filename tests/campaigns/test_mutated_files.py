"""Damaged files, given to every reader: one line that names the file, or a valid result."""

import random
import re
import resource
import shutil
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from calbench.errors import CalbenchError
from tests.campaigns.mutations import BINARY, PACKED, TEXT, YAML, Mutation, damage
from tests.campaigns.readers import READERS, Reader, make_samples
from tests.cli.runs import python
from tests.conftest import Figures
from tests.effort import attacks

ROOM = 3 * 2**30
"""Bytes of memory that reading a small file may take, what is in use aside."""

PATIENCE_S = 120
"""A guard against reading without an end; no file takes a second."""

BOUNDED = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, ({2 * ROOM}, resource.RLIM_INFINITY))
from calbench.cli.main import main
main()
"""
"""The command in a process of its own, with a bound on its memory."""


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    make_samples(folder)
    return folder


def _copy(samples: Path, reader: Reader, folder: Path) -> Path:
    """Copy the good file, with all that is read with it; return the copy."""
    found = min(samples.glob(reader.file))
    whole = samples / reader.whole if reader.whole else found.parent
    if reader.whole:
        shutil.copytree(whole, folder / reader.whole)
    else:
        (folder / found.relative_to(samples)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found, folder / found.relative_to(samples))
    return folder / found.relative_to(samples)


def _names(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def _names_it(reader: Reader, path: Path, line: str) -> bool:
    """Tell whether a line names the file, its folder, its table or its key."""
    if reader.place and re.search(reader.place, line):
        return True
    return path.name in line or f"/{path.parent.name}:" in line or f"{path.stem}'" in line


def _give_up(*_: object) -> None:
    raise AssertionError("it reads without an end")


@contextmanager
def bounded() -> Iterator[None]:
    """Bound memory and time."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ROOM, before[1]))
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(PATIENCE_S)
    try:
        yield
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.heavy
@pytest.mark.parametrize("name", READERS)
def test_good_file_is_read(name: str, samples: Path, tmp_path: Path) -> None:
    reader = READERS[name]
    path = _copy(samples, reader, tmp_path)
    there = _names(tmp_path)
    reader.read(path)
    assert _names(tmp_path) == there


@pytest.mark.heavy
@pytest.mark.parametrize(
    "name",
    [
        *("trace", "trace of talk", "suite", "label bank", "messages", "labelled sample"),
        *("shard of messages", "shard of threads", "shard of replies"),
        *("manifest", "description of tables"),
    ],
)
def test_key_that_is_there_twice_is_refused(name: str, samples: Path, tmp_path: Path) -> None:
    path = _copy(samples, READERS[name], tmp_path)
    data = path.read_bytes()
    places = list(re.finditer(rb'"\w+": ?(?:\d+|"[^"\\]*"),', data))
    for found in (places[0], places[len(places) // 2], places[-1]):
        path.write_bytes(data[: found.end()] + found.group() + data[found.end() :])
        with pytest.raises(CalbenchError) as refusal:
            READERS[name].read(path)
        assert _names_it(READERS[name], path, str(refusal.value))


@pytest.mark.heavy
def test_damaged_file_is_read_or_named_in_one_line(
    samples: Path, tmp_path: Path, figures: Figures
) -> None:
    outcomes: Counter[str] = Counter()
    for attack in range(attacks(500)):
        chance = random.Random(f"mutated-files-{attack}")
        name = [*READERS][attack % len(READERS)]
        folder = tmp_path / str(attack)
        path = _copy(samples, READERS[name], folder)
        what = f"attack {attack}: {name}, {damage(chance, path, READERS[name].kinds)}"
        there = _names(folder)
        try:
            with bounded():
                READERS[name].read(path)
            outcomes["read"] += 1
        except CalbenchError as error:
            line = str(error)
            assert line.isprintable(), what
            assert len(line) < 1000, what
            assert _names_it(READERS[name], path, line), f"{what}: {line}"
            outcomes["named in one line"] += 1
        assert _names(folder) == there, what
        shutil.rmtree(folder)
    figures("mutated files", outcomes)


_TRACE = "run/traces/candid/taste-varied-000.json"

_MINE = "--config-dir={samples}/conf"


@dataclass(frozen=True)
class Attacked:
    """A command and a file that it reads.

    Attributes:
        words: of the command; ``{samples}`` is the folder of samples, ``{out}`` a new place.
        file: which is damaged, below the samples; a pattern means the first one.
        kinds: of damage.
    """

    words: str
    file: str
    kinds: Mapping[str, Mutation]


COMMANDS: tuple[Attacked, ...] = (
    Attacked("audit {samples}/messages.jsonl", "messages.jsonl", TEXT),
    Attacked("verify {samples}/run", _TRACE, TEXT),
    Attacked("suite.path={samples}/suite.jsonl teams=[imap] out={out}", "suite.jsonl", TEXT),
    Attacked("replies stats {samples}/replies.sqlite", "replies.sqlite", BINARY),
    Attacked("rescore {samples}/run/traces out={out}", _TRACE, TEXT),
    Attacked("suite.path={samples}/packed.jsonl.gz out={out}", "packed.jsonl.gz", PACKED),
    Attacked("replies export {samples}/shards {out}", "shards/replies-*.jsonl", TEXT),
    Attacked("compare {samples}/run a=imap {samples}/run b=candid", _TRACE, TEXT),
    Attacked("replies merge {out}/x.sqlite {samples}/shards", "shards/threads-*.jsonl", TEXT),
    Attacked(f"estimate {_MINE} teams=[mine]", "conf/teams/mine.yaml", YAML),
    Attacked("judge {samples}/run out={out}", _TRACE, TEXT),
    Attacked(f"estimate {_MINE} suite=mine", "conf/suite/mine.yaml", YAML),
    Attacked("matchmake {samples}/run", _TRACE, TEXT),
    Attacked("scan {samples}/run out={out}", _TRACE, TEXT),
    Attacked(f"estimate {_MINE} model=mine teams=[my-model]", "conf/model/mine.yaml", YAML),
    Attacked("view {samples}/run serve=false jobs=1 out={out}", _TRACE, TEXT),
    Attacked("replies stats {samples}/shards", "shards/messages-*.jsonl", TEXT),
)
"""Commands, one after the other."""


@pytest.mark.heavy
def test_command_says_in_one_line_what_is_wrong_with_a_damaged_file(
    samples: Path, tmp_path: Path, figures: Figures
) -> None:
    outcomes: Counter[str] = Counter()
    for attack in range(attacks(50)):
        chance = random.Random(f"mutated-commands-{attack}")
        attacked = COMMANDS[attack % len(COMMANDS)]
        folder = tmp_path / str(attack)
        shutil.copytree(samples, folder / "samples")
        path = min((folder / "samples").glob(attacked.file))
        what = f"attack {attack}: {attacked.words}, {damage(chance, path, attacked.kinds)}"
        words = attacked.words.format(samples=folder / "samples", out=folder / "out")
        ended = python("-c", BOUNDED, *words.split())
        errors = [line for line in ended.error_lines if line.startswith("error: ")]
        assert ended.status in {0, 1, 2, 3}, f"{what}: {ended}"
        assert "Traceback" not in ended.err, f"{what}: {ended.err}"
        assert len(errors) == (ended.status in {1, 2}), f"{what}: {ended}"
        assert all(line.isprintable() for line in errors), what
        if ended.status == 2:
            assert not [path for path in folder.rglob("*") if path.name.endswith(".part")], what
        outcomes[f"status {ended.status}"] += 1
        shutil.rmtree(folder)
    figures("commands on mutated files", outcomes)
