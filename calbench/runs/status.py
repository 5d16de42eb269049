"""How far a run of models is: one line about it, and a file in its folder, for others to follow.

The file is the only one of a run that has a clock. It is there while the run plays, and afterwards
only if the run did not end well.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from calbench.agents.base import CallSite
from calbench.agents.envelope import parse_envelope
from calbench.console import is_terminal, say
from calbench.domain.observations import Phase
from calbench.domain.replies import Unreadable
from calbench.errors import FileError, OutputError, StoppedError
from calbench.files import printable, read_bytes, write_atomically
from calbench.llm.client import ModelClient, Totals
from calbench.llm.completion import Completion, Request
from calbench.llm.replies.ledger import BegunGame
from calbench.metrics.outcomes import is_excluded, meeting_results
from calbench.runs.faults import example
from calbench.runs.slices import run_name
from calbench.traces.catalog import TRACES_FOLDER, Catalog
from calbench.traces.models import Trace
from calbench.traces.storage import TraceReader

STATUS = "status.json"
"""Name of the file."""

LOOK_S, LINE_S = 1.0, 60.0
"""Seconds between two versions of the file, and between two lines where no terminal is [C]."""

SILENT_S = 30.0
"""Of a run whose file is older nobody writes it any more: it was killed [C]."""

MOST_BYTES = 10_000
"""Of the file [C]; it has some 500."""


State = Literal["playing", "stopped", "failed"]


class Document(BaseModel):
    """What the file holds; times in seconds, shares from 0 to 1, and absent what is not known."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: State
    games: int
    games_finished: int
    calls: int
    calls_expected: int | None
    calls_per_second: float | None
    calls_failed: int
    retries: int
    unreadable_share: float | None
    spent: str
    seconds_left: int | None
    time: str
    expected_end: str | None


@dataclass(eq=False)
class Status:
    """What is known of a run of models while it plays.

    Attributes:
        games: in all; ``kept`` counts those that were on disk before, ``ended`` those since.
        rounds: of a game.
        totals: what models were asked.
        money: what was spent, in words.
        clock: in seconds.
        round_by_game: the round that each game under way is in.
        read: replies that should hold a move.
        unreadable: those of ``read`` in which none could be read.
    """

    games: int
    kept: int
    rounds: float
    totals: Totals
    money: Callable[[], str]
    clock: Callable[[], float] = time.monotonic
    round_by_game: dict[str, int] = field(default_factory=dict)
    ended: int = 0
    read: int = 0
    unreadable: int = 0
    _began: float | None = None

    def note(self, reply: Completion, site: CallSite) -> None:
        """Take one reply."""
        if self._began is None:
            self._began = self.clock()
        self.round_by_game[site.game_id] = site.round_index
        if site.phase == Phase.REFLECTION:  # has no move, and a form of its own
            return
        self.read += 1
        found = parse_envelope(reply)
        if isinstance(found, Unreadable):
            self.unreadable += 1
            self.totals.unreadable = self.totals.unreadable or example(reply.text, found)

    def end(self, game_id: str) -> None:
        """Take the end of a game."""
        self.round_by_game.pop(game_id, None)
        self.ended += 1

    def document(self, state: State, now: datetime) -> Document:
        """Return it as the file has it; ``now`` is the time.

        Calls that were recorded before count, and a round under way counts half. What is expected
        is so if the rest is as what was played.
        """
        calls = self.totals.calls + self.totals.replayed
        rounds = list(self.round_by_game.values())  # at once: games begin while it is looked
        played = self.ended + sum((each + 0.5) / self.rounds for each in rounds)
        share = min(1.0, played / max(1, self.games - self.kept))
        took = 0.0 if self._began is None else self.clock() - self._began
        left = None if self._began is None or not share else took * (1 - share) / share
        end = None if left is None else now + timedelta(seconds=left)
        return Document(
            state=state,
            games=self.games,
            games_finished=self.kept + self.ended,
            calls=calls,
            calls_expected=round(calls / share) if calls and share else None,
            calls_per_second=round(calls / took, 3) if took > 0 else None,
            calls_failed=self.totals.failed,
            retries=self.totals.retries,
            unreadable_share=self.unreadable / self.read if self.read else None,
            spent=self.money(),
            seconds_left=None if left is None else round(left),
            time=now.isoformat(timespec="seconds"),
            expected_end=None if end is None else end.isoformat(timespec="seconds"),
        )

    def line(self) -> str:
        """Return it in words, without the games."""
        if self._began is None:
            return "no reply yet"
        known = self.document("playing", datetime.now(UTC))
        parts = [f"{known.calls} of about {known.calls_expected} calls"]
        if known.calls_per_second is not None:
            parts.append(f"{known.calls_per_second:.1f}/s")
        if known.seconds_left is not None:
            parts.append(f"{_duration(known.seconds_left)} left")
        if known.unreadable_share:
            parts.append(f"{100 * known.unreadable_share:.0f}% unreadable")
        parts += [f"{known.retries} retries"] * bool(known.retries)
        return ", ".join([*parts, *filter(None, [known.spent])])


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"


@contextmanager
def shown(status: Status | None, folder: Path | None) -> Iterator[None]:
    """Keep the file, and show lines where no terminal is, while a run plays.

    Args:
        status: of the run; absent: nothing is shown, and what a killed one left is removed.
        folder: of the run; absent: there is no file.
    """
    path = None if folder is None else folder / STATUS
    if status is None:
        yield
        _remove(path)
        return

    def write(state: State) -> None:
        if path is None:
            return
        document = status.document(state, datetime.now(UTC))
        with suppress(OutputError):  # a full disk is the run's to tell
            write_atomically(path, f"{document.model_dump_json()}\n".encode(), is_synced=False)

    ended = threading.Event()

    def look() -> None:
        line_at, has_lines = 0.0, not is_terminal(sys.stderr)
        while not ended.wait(LOOK_S):
            write("playing")
            has_calls = status.totals.calls + status.totals.replayed
            if has_lines and has_calls and time.monotonic() >= line_at:
                line_at = time.monotonic() + LINE_S
                say(f"games {status.kept + status.ended}/{status.games} {status.line()}")

    looking = threading.Thread(target=look, name="status", daemon=True)
    looking.start()
    state: State | None = "failed"
    try:
        yield
        state = None
    except StoppedError:
        state = "stopped"
        raise
    finally:
        ended.set()
        looking.join()
        if state:
            write(state)
        else:
            _remove(path)


def _remove(path: Path | None) -> None:
    if path is not None:
        with suppress(OSError):
            path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Watched:
    """A model client whose replies a status notes."""

    client: ModelClient
    status: Status

    async def complete(self, request: Request, site: CallSite) -> Completion:
        """Ask the model, and note its reply."""
        completion = await self.client.complete(request, site)
        self.status.note(completion, site)
        return completion

    def begin(self, game: BegunGame) -> None:
        """Note a game that begins."""
        self.client.begin(game)


ENDS = {
    "playing": "It was killed: the same command resumes it",
    "stopped": "It was stopped: the same command resumes it",
    "failed": "It failed, as its terminal says: the same command resumes it",
}
"""What a run that does not play any more says, by its last state."""


class Followed:
    """A run of models as others see it while it plays.

    Args:
        run: its folder.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        self._reader = threading.Lock()
        self._game_by_path: dict[Path, dict[str, Any]] = {}

    def _document(self) -> Document | None:
        with suppress(FileError, ValidationError):  # another program's, or half a disk
            data = read_bytes(self._run / STATUS, MOST_BYTES, is_found=True)
            return Document.model_validate_json(data)
        return None

    def is_playing(self) -> bool:
        """Whether its process says so, and lives."""
        document = self._document()
        if document is None or document.state != "playing":
            return False
        with suppress(OSError):
            return time.time() - (self._run / STATUS).stat().st_mtime < SILENT_S
        return False

    def games(self) -> list[dict[str, Any]]:
        """Return the games that ended, in the order in which they were first seen.

        A game that cannot be read has no row: ``calbench verify`` says why.
        """
        with self._reader:
            catalog = Catalog()
            with suppress(FileError):  # none yet
                for path in catalog.paths(self._run / TRACES_FOLDER):
                    if path not in self._game_by_path:
                        with suppress(FileError):
                            trace = TraceReader(catalog=catalog).read(path)
                            self._game_by_path[path] = _row(trace)
            return list(self._game_by_path.values())

    def news(self, known: int) -> dict[str, Any]:
        """Return how far it is, with the games behind the ``known`` first ones."""
        document, is_playing = self._document(), self.is_playing()
        state = "It has ended" if document is None else ENDS[document.state]
        return {
            "run": printable(run_name(self._run)),
            "is_playing": is_playing,
            "state": "It plays" if is_playing else state,
            "status": document and document.model_dump(),
            "games": self.games()[known:],
        }


def _row(trace: Trace) -> dict[str, Any]:
    results = meeting_results(trace.events)
    return {
        "team": trace.config.team.team_id,
        "scenario": trace.scenario.scenario_id,
        "replicate": trace.config.replicate,
        "scheduled": sum(result.is_scheduled for result in results),
        "meetings": len(trace.scenario.meetings),
        "messages": sum(result.messages for result in results),
        "is_excluded": is_excluded(trace.events),
    }
