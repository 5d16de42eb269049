"""Messages and events as frames, against what stands in the files of the games."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from calbench import play_game
from calbench.errors import FileError
from calbench.runs.results import read_run
from calbench.traces.events import DmSent
from calbench.traces.storage import write_trace
from calbench.types import Player
from tests.factories import make_scenario

SCENARIO = make_scenario(["E..B", ".E.E", "..EE"], [(0, 1, 2), (1, 2)])


def speaker(messages: list[dict[str, str]]) -> str:
    actions = (
        [{"type": "dm", "to": 1, "content": 'Is "slot 1" good,\nfor you?'}]
        if len(messages) == 2
        else []
    )
    return json.dumps({"thinking": "", "actions": actions})


def folder(path: Path, **teams: Sequence[Player] | str) -> Path:
    for name, team in teams.items():
        write_trace(path / name / "game.json", play_game(SCENARIO, team))
    return path


def recorded(path: Path) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads(path.read_bytes())["events"]
    return events


SENT = {"dm_sent", "participant_groupchat_sent", "all_agent_groupchat_sent", "sealed_sent"}


def test_every_event_is_a_row_with_all_that_it_holds(tmp_path: Path) -> None:
    events = recorded(folder(tmp_path, imap="imap") / "imap" / "game.json")
    found = read_run(tmp_path).events()
    assert [json.loads(each) for each in found["data"]] == events
    assert found["event_index"].tolist() == list(range(len(events)))
    assert found["type"].tolist() == [event["type"] for event in events]
    assert [None if pd.isna(each) else each for each in found["round"]] == [
        event.get("round") for event in events
    ]
    agents = [event.get("agent_id", event.get("from_agent")) for event in events]
    assert [None if pd.isna(each) else each for each in found["agent_id"]] == agents
    assert set(found["scenario_id"]) == {"test-000"}
    assert set(found["team"]) == {"imap"}
    assert str(found["round"].dtype) == str(found["agent_id"].dtype) == "Int64"


def test_every_message_is_a_row_with_its_words(tmp_path: Path) -> None:
    path = folder(tmp_path, mixed=[speaker, "imap", "imap"]) / "mixed" / "game.json"
    sent = [(n, e) for n, e in enumerate(recorded(path)) if e["type"] in SENT]
    found = read_run(tmp_path).messages()
    assert found["event_index"].tolist() == [index for index, _ in sent]
    assert found["sender"].tolist() == [event["from_agent"] for _, event in sent]
    assert found["turn"].tolist() == [event["turn"] for _, event in sent]
    assert found["round"].tolist() == [event["round"] for _, event in sent]
    spoken = found[found["source"] == "text"]
    assert spoken[["sender", "recipients", "channel", "text"]].to_numpy().tolist() == [
        [0, "1", "dm", 'Is "slot 1" good,\nfor you?']
    ]
    typed = found[found["source"] != "text"]
    assert [json.loads(each) for each in typed["text"]] == [
        event["content"] for _, event in sent if event["content"]["kind"] != "text"
    ]
    assert len(typed) > 0


def test_announcement_of_a_mediator_has_no_sender_and_a_group_all_recipients(
    tmp_path: Path,
) -> None:
    folder(tmp_path, mediator="mediator")
    found = read_run(tmp_path).messages()
    told = found[found["source"] == "announcement"]
    assert len(told) == 2
    assert told["sender"].isna().all()
    assert told["recipients"].tolist() == ["0 1 2", "1 2"]
    sealed = found[found["source"] == "costs"]
    assert set(found["channel"]) == {"sealed"}
    assert sealed["recipients"].isna().all()
    assert sealed["sender"].tolist() == [0, 1, 2, 1, 2]


def test_games_stand_in_the_order_of_their_files_and_silence_is_a_frame(tmp_path: Path) -> None:
    folder(tmp_path / "both", silent="silent", imap="imap")
    run = read_run(tmp_path / "both")
    assert list(dict.fromkeys(run.events()["team"])) == ["imap", "silent"]
    assert set(run.messages()["team"]) == {"imap"}
    quiet = read_run(folder(tmp_path / "quiet", silent="silent")).messages()
    assert len(quiet) == 0
    assert list(quiet.columns) == list(run.messages().columns)
    assert [str(each) for each in quiet.dtypes] == [str(e) for e in run.messages().dtypes]


def test_attrs_say_what_each_column_is(tmp_path: Path) -> None:
    run = read_run(folder(tmp_path, imap="imap"))
    for frame in (run.messages(), run.events()):
        assert list(frame.attrs["meaning"]) == list(frame.columns)
        assert all(frame.attrs["meaning"].values())
    assert run.messages().attrs["about"] == "Every message, with its text."


def test_broken_game_is_told_in_one_line(tmp_path: Path) -> None:
    folder(tmp_path, imap="imap")
    (tmp_path / "imap" / "next.json").write_text('{"schema_version": "odd"}')
    for read in (read_run(tmp_path).messages, read_run(tmp_path).events):
        with pytest.raises(FileError, match=r"next\.json") as found:
            read()
        assert str(found.value).isprintable()


@pytest.mark.parametrize(("number", "fits"), [(2**63 - 1, True), (2**63, False)])
def test_number_of_more_than_64_bits_is_refused(tmp_path: Path, number: int, fits: bool) -> None:
    trace = play_game(SCENARIO, "imap")
    place, sent = next(
        (at, event) for at, event in enumerate(trace.events) if isinstance(event, DmSent)
    )
    first = replace(sent, turn=number)
    events = (*trace.events[:place], first, *trace.events[place + 1 :])
    write_trace(tmp_path / "imap/game.json", trace.model_copy(update={"events": events}))
    if fits:
        assert read_run(tmp_path).messages()["turn"][0] == number
        return
    with pytest.raises(FileError, match=r"game\.json: holds a number of more than 64 bits"):
        read_run(tmp_path).messages()
