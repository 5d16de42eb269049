"""How far a run of models is: predicted, shown, kept in a file, and gone at its end."""

import asyncio
import json
import os
import random
import signal
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from calbench.agents.base import CallSite
from calbench.domain.ids import AgentId
from calbench.domain.observations import Phase
from calbench.errors import StoppedError
from calbench.files import held
from calbench.llm.client import Totals
from calbench.llm.completion import Completion, Request
from calbench.llm.model import Endpoint
from calbench.metrics.outcomes import meeting_results
from calbench.runs import status as module
from calbench.runs.play import execute
from calbench.runs.slices import run_name
from calbench.runs.status import STATUS, Document, Followed, State, Status, shown
from calbench.traces.storage import write_trace
from tests.cli.recording import recording, spoken
from tests.report.samples import play, suite_of

ROUNDS, NOW = 5, datetime.now(UTC)


def site(game: int, number: int) -> CallSite:
    return CallSite("m", f"game-{game}", AgentId(0), number, Phase.CHEAP_TALK, 0, 0)


@pytest.mark.parametrize("seed", range(20))
def test_time_left_is_predicted_after_a_tenth_of_the_calls(seed: int) -> None:
    """Games of 45, eight at once, whose rounds take 15 to 45 calls of a second."""
    chance, now, said = random.Random(seed), 0.0, '{"thinking": "", "actions": []}'
    totals = Totals()
    status = Status(45, 0, ROUNDS, totals, str, clock=lambda: now)
    games = [[chance.randint(15, 45) for _ in range(ROUNDS)] for _ in range(45)]
    calls, waiting = sum(map(sum, games)), list(enumerate(games))
    under_way = [waiting.pop(0) for _ in range(8)]
    predicted: float | None = None
    while under_way:
        for place, (number, rounds) in list(enumerate(under_way)):
            if not rounds:
                continue
            totals.calls += 1
            rounds[0] -= 1
            status.note(Completion(text=said, finish_reason="stop"), site(number, 5 - len(rounds)))
            if not rounds[0]:
                rounds.pop(0)
            if not rounds:
                status.end(f"game-{number}")
                under_way[place] = waiting.pop(0) if waiting else (number, rounds)
        now += 1.0
        if predicted is None and totals.calls >= calls / 10:
            known = status.document("playing", NOW)
            predicted = now + (known.seconds_left or 0.0)
            assert known.calls_expected == pytest.approx(calls, rel=0.25)
        under_way = [each for each in under_way if each[1]]
    assert predicted == pytest.approx(now, rel=0.25)
    assert status.document("playing", NOW).games_finished == 45
    assert "unreadable" not in status.line()


def test_line_says_what_is_wrong() -> None:
    now = 0.0
    totals = Totals()
    status = Status(2, 0, 2, totals, lambda: "US$ 0.42 of 1.00", clock=lambda: now)
    assert status.line() == "no reply yet"
    for number, text in enumerate(("{}", '{"thinking": "", "actions": []}', None, "no")):
        totals.calls += 1
        status.note(Completion(text=text, finish_reason="stop"), site(0, number // 2))
    reflected = site(0, 1)._replace(phase=Phase.REFLECTION)
    status.note(Completion(text="no move", finish_reason="stop"), reflected)
    assert (status.read, status.unreadable) == (4, 3)
    totals.retries, now = 3, 300.0
    assert status.line() == (
        "4 of about 11 calls, 0.0/s, 8 min left, 75% unreadable, 3 retries, US$ 0.42 of 1.00"
    )


@pytest.mark.heavy
@pytest.mark.parametrize("is_stopped", [False, True])
def test_file_is_there_while_it_plays_and_afterwards_only_if_it_did_not_end_well(
    is_stopped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_S", 0.01)
    file = tmp_path / "run" / STATUS
    seen: list[dict[str, Any]] = []

    async def answering(asked: Request, _: Endpoint) -> Completion:
        while not file.exists():  # noqa: ASYNC110 - another thread writes it
            await asyncio.sleep(0.01)
        seen.append(json.loads(file.read_text()))
        if is_stopped and len(seen) == 20:
            os.kill(os.getpid(), signal.SIGINT)
        return await spoken(asked)

    spec = recording(str(tmp_path / "run"), "suite.num_scenarios=2")
    if is_stopped:
        with pytest.raises(StoppedError):
            execute(spec, answering)
        last = json.loads(file.read_text())
        assert (last["state"], last["games"], last["calls"] >= 19) == ("stopped", 2, True)
    else:
        execute(spec, answering)
        assert not file.exists()
        file.write_text("{}")  # of a run that was killed once its games were on disk
        execute(spec, answering)
        assert not file.exists()
    assert {each["state"] for each in seen} == {"playing"}
    assert not list((tmp_path / "run" / "traces").rglob(STATUS))


def test_first_reply_is_told_within_two_seconds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told_after() -> float:
        totals = Totals()
        status = Status(1, 0, ROUNDS, totals, str)
        with shown(status, tmp_path):
            began, totals.calls = time.monotonic(), 1
            status.note(Completion(text='{"thinking": "", "actions": []}'), site(0, 0))
            file, said, calls = tmp_path / STATUS, "", 0
            while not (calls and said):
                time.sleep(0.01)
                said += capsys.readouterr().err
                calls = json.loads(file.read_text())["calls"] if file.exists() else 0
            assert (calls, "games 0/1" in said) == (1, True)
            return time.monotonic() - began

    assert (
        min(told_after() for _ in range(3)) < 2
    )  # the quickest: other processes may be in the way


def test_run_goes_on_where_its_status_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_S", 0.001)
    states: list[str] = []

    written = Status.document

    def documented(status: Status, state: State, now: datetime) -> Document:
        states.append(state)
        return written(status, state, now)

    def stopped_later() -> None:
        with shown(Status(1, 0, 2, Totals(), str), tmp_path):
            while len(states) < 3 and any(each.name == "status" for each in threading.enumerate()):
                time.sleep(0.001)
            raise StoppedError("stopped")

    monkeypatch.setattr(Status, "document", documented)
    with (
        held(tmp_path / f".{STATUS}.part", os.O_RDWR | os.O_CREAT),  # by another command
        pytest.raises(StoppedError),
    ):
        stopped_later()
    assert (states[:3], states[-1]) == (["playing"] * 3, "stopped")
    assert not (tmp_path / STATUS).exists()


def test_others_follow_a_run_and_know_when_it_was_killed(tmp_path: Path) -> None:
    followed = Followed(tmp_path)
    assert followed.news(0) == {
        "run": run_name(tmp_path), "is_playing": False, "state": "It has ended", "status": None,
        "games": [],
    }  # fmt: skip
    status = Status(2, 0, ROUNDS, Totals(), str)
    written = status.document("playing", NOW).model_dump_json()
    (tmp_path / STATUS).write_text(written)
    news = followed.news(0)
    assert (news["is_playing"], news["state"]) == (True, "It plays")
    assert json.dumps(news["status"]) == json.dumps(json.loads(written))
    os.utime(tmp_path / STATUS, (0, 0))
    assert (followed.is_playing(), followed.news(0)["state"][:13]) == (False, "It was killed")
    for hostile in (
        "{",
        "[]",
        '{"state": "playing"}',
        written.replace("playing", "x"),
        " " * 20_000,
    ):
        (tmp_path / STATUS).write_text(hostile)
        assert followed.news(0)["status"] is None
    (tmp_path / STATUS).unlink()
    (tmp_path / STATUS).symlink_to("/dev/zero")
    assert not followed.is_playing()


def test_games_are_told_once_each_and_a_broken_one_never(tmp_path: Path) -> None:
    first, second = (play(scenario, "imap") for scenario in suite_of("varied", 2))
    followed, folder = Followed(tmp_path), tmp_path / "traces" / "imap"
    write_trace(folder / "b.json", second)
    (row,) = followed.news(0)["games"]
    assert row["scenario"] == second.scenario.scenario_id
    results = meeting_results(second.events)
    assert (row["scheduled"], row["meetings"]) == (
        sum(r.is_scheduled for r in results),
        len(results),
    )
    (folder / "broken.json").write_text("{}")
    write_trace(folder / "a.json", first)
    assert [each["scenario"] for each in followed.news(1)["games"]] == [first.scenario.scenario_id]
    assert followed.news(2)["games"] == []
