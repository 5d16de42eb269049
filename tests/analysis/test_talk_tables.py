"""The tables of messages and calls: by hand, against their sources, and to the byte."""

from itertools import chain
from math import fsum
from pathlib import Path

import pytest
from pyarrow import parquet

from calbench.analysis.registry import Settings
from calbench.facts import spool
from calbench.metrics.game import score_game
from calbench.traces.models import Trace
from tests.facts.measured import facts_of, parquet_rows, play_preset, written
from tests.facts.played import paid_game, told_game
from tests.llm.asking import price
from tests.metrics.games import canonical_scenario

MESSAGES, CALLS = "privacy/messages.parquet", "privacy/calls.parquet"
PRICES = {"vendor/gpt": price(10, 1, 100)}


def rows(
    folder: Path, path: str, *traces: Trace, settings: Settings | None = None
) -> list[dict[str, object]]:
    facts = facts_of(folder / "facts", traces, ["imap", "dsm-private", "mediator"])
    return parquet_rows(written(facts, path, folder, settings))


def typed_games() -> list[Trace]:
    return [
        play_preset(preset, canonical_scenario(seed, f"uniform-{seed:03}"))
        for preset in ("imap", "dsm-private", "sd-map", "mediator")
        for seed in (1, 2)
    ]


def test_messages_of_a_small_game_by_hand(tmp_path: Path) -> None:
    first, second = rows(tmp_path, MESSAGES, told_game())
    assert first == {
        "setting": "test",
        "scenario_id": "test-000",
        "team": "test",
        "game_id": told_game().game_id,
        "event_index": 7,
        "round": 0,
        "turn": 0,
        "sender": 0,
        "player": "test",
        "kind": "protocol",
        "recipients": "1 2",
        "channel": "all_agent_groupchat",
        "source": "costs",
        "chars": None,
        "updates": 4,
        "vps": 2.0,
        "patterns": None,
        "own_slot": None,
        "labels_told": None,
        "leak_tier": None,
        "labels_passed_on": None,
        "bits": None,
        "metrics_version": first["metrics_version"],
    }
    assert (second["event_index"], second["recipients"], second["vps"]) == (8, "1", 0.0)
    assert rows(tmp_path / "none", CALLS, told_game()) == []


def test_what_messages_gave_away_sums_to_the_loss_of_the_game(tmp_path: Path) -> None:
    traces = typed_games()
    told = rows(tmp_path, MESSAGES, *traces)
    for trace in traces:
        score = score_game(trace)
        mine = [row for row in told if row["game_id"] == trace.game_id]
        assert fsum(float(str(row["vps"])) for row in mine) == pytest.approx(
            fsum(agent.vps or 0 for agent in score.agents), abs=1e-4
        )
        sent = [row for row in mine if row["sender"] is not None]
        assert len(sent) == sum(agent.messages_sent for agent in score.agents)
        announced = [row for row in mine if row["source"] == "announcement"]
        assert len(announced) == len(mine) - len(sent)


def test_words_have_what_audits_find_in_them_and_no_loss(tmp_path: Path) -> None:
    (said,) = rows(tmp_path, MESSAGES, paid_game())
    assert (said["source"], said["chars"], said["vps"], said["updates"]) == ("text", 70, None, None)
    assert said["own_slot"] == "proposal"
    assert (said["player"], said["kind"]) == ("gpt", "model")
    assert said["labels_told"] is None  # played without private labels


def test_what_is_found_in_words_stays_with_its_message(tmp_path: Path) -> None:
    found = rows(tmp_path, MESSAGES, *typed_games(), paid_game(), told_game())
    assert [row["source"] for row in found if row["own_slot"]] == ["text"]
    assert [row["team"] for row in found if row["own_slot"]] == ["words"]


def test_calls_have_the_price_of_their_tokens(tmp_path: Path) -> None:
    calls = rows(tmp_path, CALLS, paid_game(), settings=Settings(prices=PRICES))
    usd = (600 * 10 + 400 * 1 + 50 * 100) / 1e6
    assert usd == 0.0114
    assert [call["price_usd"] for call in calls] == [usd, usd, None, None]
    first = calls[0]
    assert (first["phase"], first["attempt"], first["calls"]) == ("CHEAP_TALK", 0, 2)
    assert [first[name] for name in ("reading", "is_estimated", "is_excluded")] == [
        "recovered", False, False
    ]  # fmt: skip


def test_unknown_prices_are_absent(tmp_path: Path) -> None:
    calls = rows(tmp_path, CALLS, paid_game(), settings=Settings(prices={"gpt": price(1, 0, 0)}))
    assert {call["price_usd"] for call in calls} == {None}


def test_row_groups_are_made_of_whole_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "ROW_GROUP_ROWS", 40)
    traces = typed_games()
    facts = facts_of(tmp_path / "facts", [*traces, paid_game()], ["imap"])
    file = parquet.ParquetFile(written(facts, MESSAGES, tmp_path))
    groups = [
        file.read_row_group(i).column("game_id").to_pylist() for i in range(file.num_row_groups)
    ]
    assert len(groups) > 2
    assert all(len(group) >= 40 for group in groups[:-1])
    games = [list(dict.fromkeys(group)) for group in groups]
    assert sum(map(len, games)) == len(set(chain.from_iterable(games))) == 9
    assert sum(map(len, groups)) == len(parquet_rows(tmp_path / MESSAGES))
