"""The tables of messages and calls: by hand, against their sources, and to the byte."""

from collections.abc import Sequence
from dataclasses import replace
from math import fsum
from pathlib import Path
from typing import Any

import pytest
from calbench.analysis.columns import Column
from calbench.analysis.dictionary import header
from calbench.analysis.parquet import SpooledParquet
from calbench.analysis.talk_tables import NAMES, TalkTables, talk_rows
from calbench.analysis.usage import Price, Prices
from pyarrow import parquet

from calbench.config import compose_team
from calbench.domain.actions import BroadcastMessage
from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import CHANNELS, CostReport, Decision, Text
from calbench.domain.observations import CHEAP_TALK
from calbench.domain.replies import Usage
from calbench.engine.drivers import run
from calbench.engine.seating import seat_policies
from calbench.metrics.game import score_game
from calbench.traces.events import Event, ReplyNote, TurnEnd
from calbench.traces.models import GameConfig, Limits, Trace
from tests.factories import make_scenario
from tests.metrics.games import canonical_scenario, dm, play_scripts, talk
from tests.metrics.language_games import halted, reflecting, reflection, seat, seated, with_events

THREE = make_scenario(["....", "....", "...."], [(0, 1)])
USAGE = Usage(input_tokens=1000, cached_tokens=400, output_tokens=50)


def write(folder: Path, traces: Sequence[Trace], prices: Prices | None = None) -> None:
    with TalkTables(folder, ["imap", "dsm-private", "mediator"]) as tables:
        for trace in traces:
            tables.append(talk_rows(trace, prices=prices))
        tables.write()


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parquet.read_table(folder / f"{name}.parquet").to_pylist()
    return found


def typed_games() -> list[Trace]:
    return [
        run(scenario, config, seat_policies(config.team, scenario.num_agents))
        for preset in ("imap", "dsm-private", "sd-map", "mediator")
        for config in [preset_config(preset)]
        for scenario in [canonical_scenario(seed, f"uniform-{seed:03}") for seed in (1, 2)]
    ]


def preset_config(name: str) -> GameConfig:
    return GameConfig(team=compose_team(name), channels=CHANNELS, limits=Limits())


def test_messages_of_a_small_game_by_hand(tmp_path: Path) -> None:
    report = CostReport(slots=(Slot(0), Slot(1)), costs=(0, None))
    decision = dm(1, Decision(slot=Slot(0)))
    trace = play_scripts(THREE, {0: talk(BroadcastMessage(content=report), decision)})
    write(tmp_path, [trace])
    told = rows(tmp_path, "messages")
    assert [
        (r["sender"], r["recipients"], r["channel"], r["source"], r["updates"], r["vps"])
        for r in told
    ] == [
        (0, "1 2", "all_agent_groupchat", "costs", 4, 2.0),
        (0, "1", "dm", "decision", 1, 0.0),
    ]
    assert all(type(trace.events[r["event_index"]]).__name__.endswith("Sent") for r in told)
    assert {(r["chars"], r["patterns"], r["labels_told"]) for r in told} == {(None, None, None)}
    assert rows(tmp_path, "calls") == []


def test_what_messages_gave_away_sums_to_the_loss_of_the_game(tmp_path: Path) -> None:
    traces = typed_games()
    write(tmp_path, traces)
    told = rows(tmp_path, "messages")
    for trace in traces:
        score = score_game(trace)
        mine = [r for r in told if r["game_id"] == trace.game_id]
        assert fsum(r["vps"] for r in mine) == pytest.approx(
            fsum(agent.vps or 0 for agent in score.agents), abs=1e-4
        )
        sent = [r for r in mine if r["sender"] is not None]
        assert len(sent) == sum(agent.messages_sent for agent in score.agents)
        assert sum(r["source"] == "announcement" for r in mine if r["sender"] is None) == len(
            mine
        ) - len(sent)


def speaking() -> Trace:
    """Agent 0 proposes and tells a reason; agent 1 is typed and hears text it cannot read."""
    words = Text(text="Agent 1, could we take slot 2? I have a dentist appointment at slot 3.")
    trace = play_scripts(THREE, {0: talk(dm(1, words))})
    trace = seated(trace, seat("gpt", "model", model="vendor/gpt"), seat("plain", "protocol"))

    def notes(event: Event) -> Sequence[Event]:
        if isinstance(event, TurnEnd) and event.agent_id == 0:
            return [
                ReplyNote(
                    round=event.round,
                    phase=CHEAP_TALK,
                    agent_id=AgentId(0),
                    kind="recovered",
                    detail="a fence",
                )
            ]
        return ()

    events = tuple(
        replace(event, usage=USAGE, reply_keys=("a", "b"))
        if isinstance(event, TurnEnd) and event.agent_id == 0
        else event
        for event in trace.events
    )
    trace = with_events(trace.model_copy(update={"events": events}), notes)
    return reflecting(trace, [reflection(0, 0, {1: [1, 0, 0, 0]})])


def test_words_have_their_patterns_and_no_loss(tmp_path: Path) -> None:
    write(tmp_path, [speaking()])
    (said,) = rows(tmp_path, "messages")
    assert (said["source"], said["chars"], said["vps"], said["updates"]) == ("text", 70, None, None)
    assert said["own_slot"].split() == ["proposal", "cost_or_constraint"]
    assert (said["player"], said["kind"]) == ("gpt", "model")
    assert said["labels_told"] is None  # played without private labels


def test_calls_by_hand(tmp_path: Path) -> None:
    write(tmp_path, [speaking()], {"vendor/gpt": Price(input=10, cached=1, output=100)})
    calls = rows(tmp_path, "calls")
    assert {call["player"] for call in calls} == {"gpt"}
    first = calls[0]
    assert (first["phase"], first["attempt"], first["calls"]) == ("CHEAP_TALK", 0, 2)
    assert (first["input_tokens"], first["cached_tokens"], first["output_tokens"]) == (
        1000,
        400,
        50,
    )
    assert (first["reading"], first["is_estimated"]) == ("recovered", False)
    assert first["price_usd"] == pytest.approx((600 * 10 + 400 * 1 + 50 * 100) / 1e6)
    decision = next(call for call in calls if call["phase"] == "DECISION")
    assert (decision["attempt"], decision["reading"], decision["calls"]) == (0, "read", 0)
    assert (decision["input_tokens"], decision["price_usd"]) == (None, None)
    assert [call["attempt"] for call in calls if call["phase"] == "REFLECTION"] == [None]


def test_calls_sum_to_the_usage_of_the_game(tmp_path: Path) -> None:
    trace = speaking()
    write(tmp_path, [trace])
    calls = rows(tmp_path, "calls")
    tokens = [agent.tokens for agent in score_game(trace).agents]
    assert sum(call["input_tokens"] or 0 for call in calls) == sum(t.input_tokens for t in tokens)
    assert sum(call["calls"] for call in calls) == sum(t.calls for t in tokens)


def test_lost_games_have_calls_and_no_messages(tmp_path: Path) -> None:
    write(tmp_path, [halted(speaking())])
    assert rows(tmp_path, "messages") == []
    assert {call["is_lost"] for call in rows(tmp_path, "calls")} == {True}


def test_tables_do_not_depend_on_the_order_of_games(tmp_path: Path) -> None:
    traces = [*typed_games(), speaking()]
    write(tmp_path / "one", traces)
    write(tmp_path / "two", traces[::-1])
    for name in NAMES:
        path = f"{name}.parquet"
        assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes()
        assert parquet.read_schema(tmp_path / "one" / path).names == header(f"privacy/{path}")


def test_row_groups_are_made_of_whole_games_and_none_is_lost(tmp_path: Path) -> None:
    columns = (Column("n", "integer", "", "a number"), Column("t", "text", "", "a word"))
    with SpooledParquet(tmp_path / "x.parquet", columns, row_group_bytes=10) as table:
        for key in (3, 1, 2, 0):
            table.append((key,), f"{key},a\n,\n" if key else "")
        table.write()
    file = parquet.ParquetFile(tmp_path / "x.parquet")
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [4, 2]
    assert file.read().column("n").to_pylist() == [1, None, 2, None, 3, None]
    assert file.read().column("t").to_pylist() == ["a", None] * 3
