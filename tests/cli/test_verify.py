"""The verifier believes nothing that a trace says of itself."""

import json
import re
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calbench import play_game
from calbench.cli.main import answer
from calbench.engine.game import game_id
from calbench.errors import CalbenchError, ReplayError
from calbench.runs.verification import verify_file
from calbench.scenarios.difficulty import completed
from calbench.traces.storage import read_trace, write_trace
from tests.cli.conftest import Command
from tests.cli.runs import edited, places
from tests.effort import examples
from tests.factories import as_written, make_scenario
from tests.runs.model_games import IMAP, STUB, played

Trace = dict[str, Any]
Edit = Callable[[Trace], object]


def first(trace: Trace, kind: str) -> int:
    """Return the index of the first event of a kind that holds an action, if it can."""
    return next(
        index
        for index, event in enumerate(trace["events"])
        if event["type"] == kind and event.get("actions", True)
    )


def event(trace: Trace, kind: str) -> Trace:
    found: Trace = trace["events"][first(trace, kind)]
    return found


def swap(trace: Trace, kind: str) -> None:
    events, index = trace["events"], first(trace, kind)
    events[index], events[index + 1] = events[index + 1], events[index]


EDITED_EVENTS: dict[str, tuple[str, Edit, str]] = {
    "cost": (
        "batch_applied",
        lambda t: event(t, "batch_applied").update(cost=99),
        "cost: recorded 99, replayed",
    ),
    "recipient": (
        "dm_sent",
        lambda t: event(t, "dm_sent").update(to_agents=[9]),
        "to_agents: recorded (9,), replayed",
    ),
    "hostile thinking": (
        "turn_end",
        lambda t: event(t, "turn_end").update(thinking="\x1b[2J\n"),
        r"thinking: recorded '\x1b[2J\n', replayed None",
    ),
    "order": ("agent_registered", lambda t: swap(t, "agent_registered"), "agent_id: recorded 1"),
    "event left out": (
        "turn_start",
        lambda t: t["events"].pop(first(t, "turn_start")),
        "recorded turn_end, replayed turn_start",
    ),
    "last event left out": ("game_end", lambda t: t["events"].pop(), "the trace has"),
}

EDITED_NUMBERS: dict[str, tuple[Edit, str]] = {
    "cost of an agent": (
        lambda t: t["final_state"]["cost_by_agent"].__setitem__(0, 77),
        "final_state.cost_by_agent: recorded",
    ),
    "realised cost": (
        lambda t: t["metrics"].update(realised_cost=12345),
        "metrics.realised_cost: recorded 12345, computed",
    ),
    "game id": (
        lambda t: t.update(game_id="00000000-0000-5000-8000-000000000000"),
        "game_id: recorded 00000000",
    ),
    "limit": (lambda t: t["config"]["limits"].update(max_turns_per_round=3), "game_id: recorded"),
    "oracle cost": (
        lambda t: t["scenario"]["oracle"]["best"].update(cost=99),
        "scenario.oracle.best",
    ),
    "greedy cost": (
        lambda t: t["scenario"]["oracle"].update(greedy_cost=99),
        "scenario.oracle.greedy_cost: ",
    ),
    "feasible count": (
        lambda t: t["scenario"]["difficulty"].update(feasible_count=1),
        "difficulty.feasible_fraction: ",
    ),
    "rules version": (lambda t: t.update(rules_version=99), "rules version 99; this package plays"),
    "schema version": (lambda t: t.update(schema_version=2), "schema_version is 2"),
    "hostile key": (lambda t: t.update({"\x1b[2J\n": 1}), r"\x1b[2J\n: is not a known key"),
}


@pytest.fixture(scope="session")
def honest(finished: Path) -> bytes:
    return (finished / "traces" / "imap" / "taste-varied-000.json").read_bytes()


def refusal(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line with which a trace is refused."""
    assert answer(["verify", str(path)]) == 1
    said = capsys.readouterr()
    (line,) = (line for line in said.err.splitlines() if not line.startswith("verified "))
    assert line.startswith(f"error: {path}")
    assert line.isprintable()
    assert said.out == "0 of 1 traces hold\n"
    return line


def test_run_is_verified_when_nobody_touched_it(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(["verify", str(finished)]) == 0
    assert capsys.readouterr().out == "12 of 12 traces hold\n"


@pytest.mark.parametrize(("kind", "edit", "difference"), EDITED_EVENTS.values(), ids=EDITED_EVENTS)
def test_edited_event_is_named_with_its_difference(
    honest: bytes,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    kind: str,
    edit: Edit,
    difference: str,
) -> None:
    trace = json.loads(honest)
    index = first(trace, kind)
    edit(trace)
    path = tmp_path / "edited.json"
    path.write_bytes(as_written(trace))
    line = refusal(path, capsys)
    assert f": event {index}" in line
    assert difference in line


@pytest.mark.parametrize(("edit", "difference"), EDITED_NUMBERS.values(), ids=EDITED_NUMBERS)
def test_edited_number_is_named_with_its_difference(
    honest: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str], edit: Edit, difference: str
) -> None:
    trace = json.loads(honest)
    edit(trace)
    path = tmp_path / "edited.json"
    path.write_bytes(as_written(trace))
    assert difference in refusal(path, capsys)


def disguised(honest: bytes, path: Path, change: Callable[[Trace], object]) -> Trace:
    """Change what a game is and give it the id that then belongs to it."""
    trace: Trace = json.loads(honest)
    change(trace)
    path.write_bytes(as_written(trace))
    read = read_trace(path)
    trace["game_id"] = game_id(read.scenario, read.config)
    path.write_bytes(as_written(trace))
    return trace


def test_player_known_by_id_is_played_again_when_a_trace_claims_its_game(
    honest: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def claim(trace: Trace) -> None:
        """Call what IMAP did the doing of the silent players."""
        trace["config"]["team"]["seats"][0].update(player="silent", kind="degenerate")
        for number, entry in enumerate(trace["events"]):
            if entry["type"] == "agent_registered":
                trace["events"][number]["player"] = "silent"

    path = tmp_path / "claimed.json"
    trace = disguised(honest, path, claim)
    assert f"event {first(trace, 'turn_end')} (turn_end): actions: " in refusal(path, capsys)


def test_nothing_that_a_trace_names_is_imported(
    honest: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    path = tmp_path / "foreign.json"
    disguised(honest, path, lambda t: t["config"]["team"]["seats"][0].update(player="evil"))
    assert "event 1 (agent_registered): player: " in refusal(path, capsys)
    assert not (tmp_path / "ran").exists()


def test_game_of_an_unknown_player_is_replayed_from_its_turns(
    honest: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def rename(trace: Trace) -> None:
        trace["config"]["team"]["seats"][0]["player"] = "somebody"
        for entry in trace["events"]:
            if entry["type"] == "agent_registered":
                entry["player"] = "somebody"

    path = tmp_path / "somebody.json"
    trace = disguised(honest, path, rename)
    assert answer(["verify", str(path)]) == 0
    event(trace, "batch_applied")["cost"] = 99
    path.write_bytes(as_written(trace))
    capsys.readouterr()
    assert f"event {first(trace, 'batch_applied')} (batch_applied): cost: " in refusal(path, capsys)


def test_folder_of_other_files_says_that_they_were_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    half = tmp_path / "half.json"
    half.write_text('{"half": ')
    line = f"error: {tmp_path}: holds no trace (*.json, *.jsonl.zst): "
    assert answer(["verify", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"{line}{half} is no trace and was not read\n"
    (tmp_path / "other.json").write_text("{}")
    assert answer(["verify", str(tmp_path)]) == 2
    line += f"2 JSON files are no traces and were not read, such as {half}\n"
    assert capsys.readouterr().err == line


@pytest.mark.parametrize(
    ("name", "content", "problem", "status"),
    [
        ("missing.json", None, "cannot be read", 2),
        ("empty", "", "holds no trace", 2),
        ("object.json", "{}", "schema_version is missing", 1),
        ("text.json", "hello", "not a complete JSON document", 1),
    ],
)
def test_path_is_refused_when_it_is_no_trace(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: str | None,
    problem: str,
    status: int,
) -> None:
    path = tmp_path / name
    if content:
        path.write_text(content)
    elif content is not None:
        path.mkdir()
    assert answer(["verify", str(path)]) == status
    (line,) = (
        line for line in capsys.readouterr().err.splitlines() if not line.startswith("verified ")
    )
    assert line.startswith(f"error: {path}: ")
    assert problem in line


def test_other_json_files_of_a_folder_are_told_and_not_read(
    honest: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in (("package.json", b'{"name": "x"}'), ("web/list.json", b"[]")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    (tmp_path / "game.json").write_bytes(honest)
    assert answer(["verify", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("1 of 1 traces hold")
    assert "2 JSON files are no traces and were not read, such as " in shown.err
    (tmp_path / "traces" / "imap").mkdir(parents=True)
    (tmp_path / "traces" / "imap" / "damaged.json").write_bytes(b"x" + honest)
    assert answer(["verify", str(tmp_path)]) == 1
    assert "damaged.json: not a" in capsys.readouterr().err


def test_every_trace_is_looked_at_when_one_is_broken(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for source in (finished / "traces" / "imap").iterdir():
        (tmp_path / source.name).write_bytes(source.read_bytes())
    (tmp_path / "taste-varied-000.json").write_text('{"schema_version": 1}')
    (tmp_path / "taste-varied-002.json").write_text('{"schema_version": 1}')
    assert answer(["verify", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert said.out == "1 of 3 traces hold\n"
    assert len(re.findall(r"^error: ", said.err, re.MULTILINE)) == 2


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two games of which models sit in one, and the replies to that one."""
    folder = tmp_path_factory.mktemp("recorded")
    write_trace(folder / "traces" / "a.json", played([STUB], folder / "replies.sqlite"))
    write_trace(folder / "traces" / "b.json", played([IMAP], None, mode="live"))
    return folder


def test_last_line_says_whether_replies_were_checked(recorded: Path, command: Command) -> None:
    alone = command("verify", "-q", str(recorded))
    store = str(recorded / "replies.sqlite")
    compared = command("verify", "-q", str(recorded), "--replies", store)
    assert re.fullmatch(r"2 of 2 traces hold; \d+ replies not checked\n", alone.out)
    assert compared.out == alone.out.replace(" not checked", " checked")
    assert (alone.status, compared.status) == (0, 0)


def test_programs_are_told_everything(recorded: Path, tmp_path: Path, command: Command) -> None:
    trace = json.loads((recorded / "traces" / "a.json").read_bytes())
    event(trace, "turn_end").update(usage=None)
    (tmp_path / "forged.json").write_bytes(as_written(trace))
    (tmp_path / "none.json").write_text('{"schema_version": 1}')
    paths = (str(recorded), str(tmp_path))
    ended = command("verify", "--json", "--replies", str(recorded / "replies.sqlite"), *paths)
    assert ended.status == 1
    said = json.loads(ended.out)
    assert (said["traces"], said["held"], said["replies_not_checked"]) == (4, 2, 0)
    assert said["replies_checked"] == sum(file["replies_checked"] for file in said["files"]) > 0
    forged, none = said["failures"]
    assert (forged["level"], none["level"]) == ("replies", "file")
    assert forged["path"] == str(tmp_path / "forged.json")
    assert re.match(r"event \d+ \(turn_end\): usage: recorded None", forged["problem"])
    assert "2 of 4 traces hold; " in ended.err


values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 300) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=4,
)


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_trace_is_refused_in_one_line_whatever_is_edited(
    honest: bytes, tmp_path: Path, data: st.DataObject
) -> None:
    trace = json.loads(honest)
    place = data.draw(st.sampled_from(places(trace)))
    before = reduce(lambda holder, key: holder[key], place, trace)
    value = data.draw(values.filter(lambda value: value != before))
    path = tmp_path / "edited.json"
    path.write_bytes(edited(honest, (place, value)))
    if place == ("scenario", "difficulty", "tertile"):
        return  # it belongs to the suite, not to the game
    with pytest.raises(CalbenchError) as refused:
        verify_file(path)
    assert str(refused.value).isprintable()


def test_scripted_speakers_from_elsewhere_are_replayed_from_what_they_said(tmp_path: Path) -> None:
    (scenario,) = completed((make_scenario(["E..B", ".E.E", "..EE"], [(0, 1, 2), (1, 2)]),))
    trace = play_game(scenario, "candid")
    (seat,) = trace.config.team.seats
    seats = (seat.model_copy(update={"settings": {"style": "of another package"}}),)
    team = trace.config.team.model_copy(update={"seats": seats})
    config = trace.config.updated(team=team)
    theirs = trace.model_copy(update={"config": config, "game_id": game_id(scenario, config)})
    write_trace(tmp_path / "trace.json", theirs)
    assert answer(["verify", str(tmp_path / "trace.json")]) == 0


def test_trace_of_an_unknown_label_bank_is_refused_with_its_file(tmp_path: Path) -> None:
    (scenario,) = completed((make_scenario(["E..B", ".E.E"], [(0, 1)]),))
    trace = play_game(scenario, "candid")
    config = trace.config.updated(label_bank="../v1")
    forged = trace.model_copy(update={"config": config, "game_id": game_id(scenario, config)})
    path = tmp_path / "trace.json"
    write_trace(path, forged)
    with pytest.raises(ReplayError, match=r"trace\.json: label_bank: there is no label bank"):
        verify_file(path)
