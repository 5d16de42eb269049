"""Small runs for tests, and the command as a process."""

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from calbench.config.spec import RunSpec, parse_spec
from calbench.llm.replies.shards import open_replies
from calbench.scenarios.models import Scenario
from calbench.scenarios.storage import write_suite
from tests.effort import GUARD_S
from tests.factories import as_written

REPO = Path(__file__).resolve().parents[2]

SMALL = (
    "suite.num_scenarios=3",
    "suite.num_candidates=6",
    "suite.blocked=0",
    "suite.blocked_choices=null",
    "suite.scenario.num_agents=3",
    "suite.scenario.num_slots=6",
    "suite.scenario.num_meetings=2",
    "suite.scenario.participants_per_meeting=2",
    "analysis.permutations=99",
)
"""Overrides that make a run of twelve games a matter of a moment."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def error_lines(self) -> list[str]:
        """What it said on standard error, progress apart."""
        return without_progress(self.err)


ASIDE = re.compile(r"[a-z ]+ \d+/\d+( |$)|Not shown, since they may quote ")
"""How far a task is; and the count of what libraries wrote meanwhile. In a process of many tests
that is also what the collector of garbage says of an earlier one, whenever it comes by."""


def without_progress(said: str) -> list[str]:
    """Return the lines that say what a command has to say."""
    return [line for line in said.splitlines() if not ASIDE.match(line)]


def environment(**changes: str) -> dict[str, str]:
    """Return the environment of a user's shell: ours, but Python as it comes."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return plain | changes


def python(*arguments: str | Path, cwd: Path = REPO, env: Mapping[str, str] | None = None) -> Ended:
    """Run this Python from the repository's folder, to its end."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env=environment() if env is None else env,
        capture_output=True,
        text=True,
        timeout=GUARD_S,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def calbench(*arguments: str) -> Ended:
    """Run the command to its end."""
    return python("-m", "calbench", *arguments)


def verify(*arguments: str | Path) -> Ended:
    """Run the verifier to its end."""
    return python("-m", "calbench", "verify", *arguments)


def started(*arguments: str) -> subprocess.Popen[str]:
    """Start the command in a process group of its own, as a terminal does."""
    return subprocess.Popen(
        [sys.executable, "-m", "calbench", *arguments],
        cwd=REPO,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table as text."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def files(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, except the run's lock."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path != folder / ".lock"
    }


def read_params(path: Path) -> RunSpec:
    """Return the run that written parameters are of, on a machine without wishes."""
    machine: dict[str, object] = {"fresh": False, "jobs": None, "executor": {}}
    return parse_spec(machine | yaml.safe_load(path.read_text()), str(path))


def repeated(scenarios: Sequence[Scenario], times: int) -> list[Scenario]:
    """Return the scenarios over and over, each time under new ids."""
    return [
        scenario.updated(scenario_id=f"{scenario.scenario_id}-{number}")
        for number in range(times)
        for scenario in scenarios
    ]


def write_repeated(path: Path, scenarios: Sequence[Scenario], times: int) -> Path:
    """Write a suite file that takes a while to play, and no time to make."""
    write_suite(path, repeated(scenarios, times))
    return path


def edited(trace: bytes, *changes: tuple[Sequence[str | int], object]) -> bytes:
    """Return a JSON document with the values at some places replaced."""
    document = json.loads(trace)
    for (*parents, last), value in changes:
        place = document
        for key in parents:
            place = place[key]
        place[last] = value
    return as_written(document)


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return where in a JSON document every value stands."""
    items: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    below = [place for key, item in items for place in places(item, (*path, key))]
    return [path, *below] if path else below


def keys_in(store: Path) -> set[str]:
    """Return the keys of the recorded replies of a store, which need not be there."""
    if not store.exists():
        return set()
    with open_replies(store) as replies:
        return {record.key for record in replies.records()}
