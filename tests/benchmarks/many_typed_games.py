"""How time, memory and disk of a run grow with its typed games.

``python -m tests.benchmarks.many_typed_games GAMES...`` plays runs of the reference protocols with
all tables, each by the command in processes of its own, and says what they took: on Linux, since
memory is that of the largest process as the kernel shares it out among those that have a page.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

TEAMS = ("imap", "sd-map", "dsm-private", "dsm-welfare")

SAMPLED_S = 0.25
"""How often the processes are looked at."""


class Taken(NamedTuple):
    """What a run took: wall and processor seconds, and bytes of its largest process and tables."""

    games: int
    wall_s: float
    cpu_s: float
    memory: int
    tables: int


def processes(pid: int) -> Iterator[int]:
    """Yield a process, and all that it or its processes started."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            yield from processes(int(child))


def memory_of(pid: int) -> int:
    """Return the bytes of a process, its share of those of several; 0 when it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next((1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
    except OSError:
        return 0


def largest(pid: int) -> int:
    """Return the bytes of the largest of some processes."""
    try:
        return max(map(memory_of, processes(pid)))
    except OSError:  # one has ended meanwhile
        return 0


def run(games: int, folder: Path, *overrides: str) -> Taken:
    """Play so many games by the command, each scenario by every team."""
    count = games // len(TEAMS)
    command = [
        *(sys.executable, "-m", "calbench", "suite=uniform", f"out={folder}"),
        "suite.recipe=sampled",  # the paper's has 45 scenarios
        *(f"suite.num_scenarios={count}", f"suite.num_candidates={count}"),
        *(f"teams=[{','.join(TEAMS)}]", "traces.format=shards", *overrides),
    ]
    start, memory, before = time.perf_counter(), 0, resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            memory = max(memory, largest(process.pid))
            time.sleep(SAMPLED_S)
    assert process.returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Taken(
        count * len(TEAMS),
        time.perf_counter() - start,
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        memory,
        sum(path.stat().st_size for path in (folder / "tables").rglob("*") if path.is_file()),
    )


def main(sizes: list[int]) -> None:
    """Say what runs of several sizes took, and what a further game takes from one to the next."""
    found: list[Taken] = []
    for games in sizes:
        with tempfile.TemporaryDirectory() as folder:
            found.append(run(games, Path(folder) / "run"))
        taken = found[-1]
        print(
            f"{taken.games} games: {taken.wall_s:.0f} s, {taken.cpu_s:.0f} s of processor time, "
            f"largest process {taken.memory / 1e6:.0f} MB, tables {taken.tables / 1e6:.1f} MB",
            flush=True,
        )
    for few, many in pairwise(found):
        further = many.games - few.games
        print(
            f"from {few.games} to {many.games}, for each further game: "
            f"{1000 * (many.cpu_s - few.cpu_s) / further:.1f} ms of processor time, "
            f"{(many.memory - few.memory) / further / 1e3:.1f} kB of memory, "
            f"{(many.tables - few.tables) / further / 1e3:.1f} kB of tables"
        )


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [2_000, 10_000, 30_000])
