"""Two commands into one folder at once: each that says it is done has done it whole."""

import os
import random
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from calbench.cli.main import answer
from tests.campaigns.places import Commands, Ended, Started, commands
from tests.campaigns.test_kills import contents
from tests.cli.runs import SMALL
from tests.conftest import Figures
from tests.effort import attacks

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes as POSIX has them"),
]

SETS: Sequence[Sequence[str]] = (
    ("rescore {a} out={out}", "rescore {b} out={out}", "rescore {a} out={out} facts=scores"),
    ("traces pack {a} out={out}", "traces unpack {b} out={out}", "traces pack {b} out={out}"),
    ("compare {a} {a} a=imap b=candid out={out}", "compare {b} {b} a=imap b=silent out={out}"),
    ("judge {a} out={out}", "judge {b} out={out}"),
    ("{small} teams=[imap,candid] out={out}", "{small} teams=[imap,silent] out={out}"),
    ("{small} teams=[imap] out={out}", "rescore {b} out={out}/tables"),
    ("replies export {replies} {out}", "replies export {replies} {out}"),
    ("audit {messages} {out}.jsonl", "audit {others} {out}.jsonl"),
    ("matchmake {a} out={out}/teams/next.yaml", "matchmake {a} teams=2 out={out}/teams/next.yaml"),
)
"""Commands that write to one place."""

KILLED = 2
"""One pair in so many has its first command killed at a change of files, if it makes as many: a
third of them do."""


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide two runs, recorded replies, and two files of messages."""
    folder = tmp_path_factory.mktemp("samples")
    for name, teams in (("a", "[imap,candid]"), ("b", "[imap,silent]")):
        assert answer(["-q", *SMALL, f"teams={teams}", f"out={folder / name}"]) == 0
    shutil.copytree(Path("data/cohorts/smollm2/v1/replies").resolve(), folder / "replies")
    for name, count in (("messages", 300), ("others", 200)):
        line = '{"text": "%s is free", "labels": []}\n'
        (folder / f"{name}.jsonl").write_text("".join(line % n for n in range(count)))
    return folder


def _words(template: str, samples: Path, out: Path) -> list[str]:
    places = {name: samples / name for name in ("a", "b", "replies")}
    files = {name: samples / f"{name}.jsonl" for name in ("messages", "others")}
    return template.format(**places, **files, small=" ".join(SMALL), out=out).split()


def _state(place: Path) -> dict[str, bytes]:
    """Return what commands left, but for temporary names of one that was killed."""
    return {
        name: data
        for name, data in contents(place).items()
        if not any(part.startswith(".") for part in Path(name).parts)
    }


class Pairs:
    """Runs commands side by side in places of their own, and knows what each leaves alone."""

    def __init__(self, run: Commands, samples: Path, folder: Path) -> None:
        self._run, self._samples, self._folder = run, samples, folder
        self._alone: dict[tuple[str, ...], dict[str, bytes]] = {}

    def ended(self, place: Path, templates: Sequence[str], at: int = 0) -> list[Ended]:
        """Start commands at once, the first of which is killed at a change; return their ends."""
        place.mkdir(exist_ok=True)
        started = [
            Started(
                _words(each, self._samples, place / "out"),
                said=f"{place}.{number}",
                folder=str(place),
                at=0 if number else at,
                below=str(place),
            )
            for number, each in enumerate(templates)
        ]
        return self._run(*started)

    def after(self, *templates: str) -> dict[str, bytes]:
        """Return what commands leave one after the other."""
        if templates not in self._alone:
            place = self._folder / f"alone-{len(self._alone)}"
            for each in templates:
                self.ended(place, [each])
            self._alone[templates] = _state(place)
        return self._alone[templates]

    def problems(self, place: Path, pair: Sequence[str], ends: Sequence[Ended]) -> Iterator[str]:
        """Yield what is wrong with what a pair left."""
        for each in ends:
            if each.status not in (0, 2, -9) or "Traceback" in each.said:
                yield f"ends badly: {each.said[-300:]}"
        done = [each for each, end in zip(pair, ends, strict=True) if end.status == 0]
        expected = [self.after(*done), self.after(*reversed(done))]
        if ends[0].status == -9:  # the same command goes on, from what the killed one left
            expected = [self.after(*done), self.after(pair[0], *done)]
            self.ended(place, done)
        if done and (left := _state(place)) not in expected:
            mixed = sorted(key for key in left if left[key] != expected[0].get(key))
            yield f"is mixed: {mixed[:5]}"


@pytest.mark.slow
def test_what_is_said_to_be_done_is_whole(samples: Path, tmp_path: Path, figures: Figures) -> None:
    failures: list[str] = []
    outcomes = Counter[str]()
    with commands(tmp_path / "nothing") as run:
        pairs = Pairs(run, samples, tmp_path)
        for number in range(attacks(300)):
            chance = random.Random(f"pairs-{number}")
            pair = chance.sample(chance.choice(SETS), 2)
            at = chance.randint(1, 10) if number % KILLED == 0 else 0
            place = tmp_path / str(number)
            ends = pairs.ended(place, pair, at)
            statuses = [each.status for each in ends]
            failures += [
                f"{number} {pair} {statuses}: {problem}"
                for problem in pairs.problems(place, pair, ends)
            ]
            outcomes[f"{statuses.count(0)} done{', one killed' * (-9 in statuses)}"] += 1
            shutil.rmtree(place)
    outcomes["failures"] = len(failures)
    figures("pairs of commands", outcomes)
    assert not failures, "\n".join(failures)
