"""Commands killed at any moment: the same command goes on, to the same bytes, and pays once."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from calbench.agents.scripted.speaker import ScriptedSpeaker
from calbench.agents.scripted.talk import STYLES
from calbench.cli.main import answer
from calbench.llm.completion import ChatMessage
from tests.cli.runs import REPO, SMALL, environment, without_progress
from tests.conftest import Figures
from tests.effort import GUARD_S, attacks
from tests.llm.stub_server import Answer, Asked, StubServer, chat, served

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals as POSIX has them"),
]

SIGNALS = ("SIGKILL", "SIGTERM", "SIGINT")

CALLS = 4
"""Calls under way at the same time."""

STORE = ("replies.sqlite", "replies.sqlite-wal", "replies.sqlite-shm", "replies.sqlite.lock")


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files, and folders with a slash, but for a run's lock and replies."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir():
            found[f"{name}/"] = b""
        elif path.name not in {".lock", *STORE}:
            found[name] = path.read_bytes()
    return found


@dataclass
class Place:
    """Where commands run: a folder for them, and one for what is temporary."""

    root: Path
    temporary: Path = field(init=False)

    def __post_init__(self) -> None:
        self.temporary = self.root / "tmp"
        self.temporary.mkdir(parents=True)

    def start(self, at: int, name: str, arguments: Sequence[str]) -> "subprocess.Popen[str]":
        counted = self.root / "counted"
        order = [str(counted), str(at), name, str(self.root), *arguments]
        return subprocess.Popen(
            [sys.executable, "-m", "tests.campaigns.killing", *order],
            cwd=REPO,
            env=environment(TMPDIR=str(self.temporary)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def count(self, arguments: Sequence[str]) -> int:
        """Run a command to its end; return how often it changes files."""
        process = self.start(0, "SIGTERM", arguments)
        _, errors = process.communicate(timeout=GUARD_S)
        assert process.returncode == 0, errors
        return int((self.root / "counted").read_text())


SAID = ("Stopped", "Stopping: ", "Budget: ", "job ", "games ", "warning: model stand-in: ")
"""How lines begin that a command which was sent a signal may have said."""


def check_end(status: int, name: str, errors: str) -> str:
    """Check how a command ended that was sent a signal; return that in a word."""
    if status == 0:
        return f"{name} came too late"
    if name == "SIGKILL":
        assert status == -signal.SIGKILL, errors
        return name
    assert status == 128 + getattr(signal, name), errors
    lines = without_progress(errors)
    assert [line.startswith("Stopped") for line in lines] == [*[False] * (len(lines) - 1), True]
    assert all(line.startswith(SAID) for line in lines), errors
    return name


def again(arguments: Sequence[str], place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(place.temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert answer(["-q", *arguments]) == 0


def assert_survives_kills(
    what: str,
    kills: int,
    command: Callable[[Path], Sequence[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Counter[str]:
    """Kill a command at seeded changes of files; repeat it each time, and compare."""
    whole = Place(tmp_path / "whole")
    changes = whole.count(command(whole.root / "out"))
    expected = contents(whole.root / "out")
    outcomes = Counter[str]()
    for number in range(kills):
        chance = random.Random(f"{what}-{number}")
        # A short campaign, which kills each command once, has all signals between the commands.
        name = SIGNALS[(len(what) + number) % len(SIGNALS)]
        at = chance.randint(1, changes)
        place = Place(tmp_path / f"kill-{number}")
        process = place.start(at, name, command(place.root / "out"))
        _, errors = process.communicate(timeout=GUARD_S)
        outcomes[check_end(process.returncode, name, errors)] += 1
        if name != "SIGKILL":
            assert not list(place.root.rglob("*.part")), (name, at)
            assert not list(place.temporary.iterdir()), (name, at)
        again(command(place.root / "out"), place, monkeypatch)
        assert contents(place.root / "out") == expected, (name, at)
        assert not list(place.temporary.iterdir()), (name, at)
        left = {path.name for path in place.root.iterdir()}
        assert left <= {"out", "tmp"}, (name, at)
    return outcomes


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("played") / "run"
    assert answer(["-q", *SMALL, "teams=[imap,candid]", f"out={out}"]) == 0
    return out


def test_tables_and_sweeps_end_as_if_they_never_were_killed(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figures: Figures
) -> None:
    commands: dict[str, tuple[int, Callable[[Path], Sequence[str]]]] = {
        "run": (attacks(4), lambda out: [*SMALL, "teams=[imap,silent]", f"out={out}"]),
        "sweep": (
            attacks(3),
            lambda out: ["-m", *SMALL, "teams=[imap]", "suite.seed=0,1", f"out={out}"],
        ),
        "rescore": (attacks(4), lambda out: ["rescore", str(played), f"out={out}", SMALL[-1]]),
    }
    outcomes = Counter[str]()
    for name, (kills, command) in commands.items():
        outcomes += assert_survives_kills(name, kills, command, tmp_path / name, monkeypatch)
    figures("kills of runs, sweeps and rescoring", outcomes)


def test_games_of_speakers_that_err_end_as_if_they_never_were_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figures: Figures
) -> None:
    """What a speaker draws depends on no former run."""

    def command(out: Path) -> Sequence[str]:
        five = "suite.scenario.num_agents=5"
        return [*SMALL, five, "teams=[careless,gossip,trusting-nosy]", f"out={out}"]

    outcomes = assert_survives_kills("talk", attacks(2), command, tmp_path, monkeypatch)
    figures("kills of runs with speakers that err", outcomes)


def test_site_is_the_old_one_or_the_new_one(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figures: Figures
) -> None:
    def command(out: Path) -> Sequence[str]:
        return ["view", str(played), "serve=false", "jobs=1", f"out={out}"]

    outcomes = assert_survives_kills("site", attacks(3), command, tmp_path, monkeypatch)
    figures("kills of site builds", outcomes)


class Model(StubServer):
    """Answers as a scripted speaker; at one of its requests it strikes."""

    at = 0
    strike: Callable[[], object] = staticmethod(lambda: None)

    def answer_to(self, asked: Asked) -> Answer:
        if len(self.asked) + 1 == self.at:
            self.strike()
        messages = [ChatMessage(each["role"], each["content"]) for each in asked.body["messages"]]
        return Answer(chat(ScriptedSpeaker(STYLES["candid"], 0).reply(messages)))

    @property
    def counts(self) -> Counter[str]:
        """How often each request was made."""
        return Counter(json.dumps(body, sort_keys=True) for body in self.asked)


def recording(address: str, out: Path) -> list[str]:
    return [
        *SMALL,
        "teams=[my-model]",
        "model.name=openai/stand-in",
        f"model.api_base={address}",
        f"model.concurrency={CALLS}",
        "limits.max_turns_per_round=4",
        "preflight=false",
        f"out={out}",
    ]


def test_what_was_answered_is_never_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figures: Figures
) -> None:
    whole = Place(tmp_path / "whole")
    server = Model()
    with served(server):
        again(recording(server.url, whole.root / "out"), whole, monkeypatch)
    needed = set(server.counts)
    assert len(server.asked) == len(needed)
    expected, outcomes = contents(whole.root / "out"), Counter[str]()
    for number in range(attacks(8)):
        chance = random.Random(f"recording-{number}")
        name = SIGNALS[number % len(SIGNALS)]
        place = Place(tmp_path / f"kill-{number}")
        server = Model()
        with served(server):
            arguments = recording(server.url, place.root / "out")
            server.at = chance.randint(1, len(needed))
            process = place.start(-1, name, arguments)
            server.strike = partial(process.send_signal, getattr(signal, name))
            _, errors = process.communicate(timeout=GUARD_S)
            outcomes[check_end(process.returncode, name, errors)] += 1
            again(arguments, place, monkeypatch)
        twice = {key: count for key, count in server.counts.items() if count > 1}
        assert set(server.counts) == needed
        assert max(twice.values(), default=2) == 2
        assert len(twice) <= (CALLS if name == "SIGKILL" else 0), (name, server.at)
        assert contents(place.root / "out") == expected, (name, server.at)
    figures("kills of recording runs", outcomes)


def test_run_in_several_processes_ends_as_if_it_never_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figures: Figures
) -> None:
    def command(out: Path) -> list[str]:
        many = [*SMALL, "suite.num_scenarios=30", "suite.num_candidates=30"]
        return [*many, "teams=[imap,silent]", "jobs=2", f"out={out}"]

    whole = Place(tmp_path / "whole")
    again(command(whole.root / "out"), whole, monkeypatch)
    expected, outcomes = contents(whole.root / "out"), Counter[str]()
    for number in range(attacks(3)):
        chance = random.Random(f"processes-{number}")
        name, games = SIGNALS[number % len(SIGNALS)], chance.randint(1, 50)
        place = Place(tmp_path / f"kill-{number}")
        out = place.root / "out"
        process = place.start(-1, name, command(out))
        while process.poll() is None and len(list(out.glob("traces/*/*.json"))) < games:
            time.sleep(0.002)
        if process.poll() is None:
            os.killpg(process.pid, getattr(signal, name))
        _, errors = process.communicate(timeout=GUARD_S)
        outcomes[check_end(process.returncode, name, errors)] += 1
        again(command(out), place, monkeypatch)
        assert contents(out) == expected, (name, games)
    figures("kills of runs in several processes", outcomes)


def test_replies_are_exported_and_merged_as_if_nothing_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figures: Figures
) -> None:
    place = Place(tmp_path / "recorded")
    server = Model()
    with served(server):
        again(recording(server.url, place.root / "out"), place, monkeypatch)
    store = place.root / "out" / "replies.sqlite"

    def command(out: Path) -> Sequence[str]:
        return ["replies", "export", str(store), str(out)]

    outcomes = assert_survives_kills("export", attacks(5), command, tmp_path, monkeypatch)
    figures("kills of exports", outcomes)
