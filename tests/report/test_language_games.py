"""Page data of language agents' games: small, searchable, and no word of it runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from calbench.report.experiment import Experiment
from calbench.report.games.index import bucket_of, words_of
from calbench.report.role import Role
from calbench.traces.events import GameHalted
from calbench.traces.storage import read_trace
from tests.report.language_samples import HOSTILE_WORDS
from tests.report.language_site import data, page, rows_of
from tests.report.test_search import messages_of
from tests.report.unpacking import file_value, longest_trace, unpacked, unpacked_game

pytestmark = pytest.mark.heavy  # its site takes seconds to write

GAME_BYTES = 60_000
"""Most bytes of a language game, with its prompts: on average over a file, and of each trace."""


def test_games_of_equal_settings_keep_apart(docs: Path) -> None:
    index = data(docs, "index")["experiments"]

    assert [entry["name"] for entry in index] == ["uniform", "language", "smollm2"]
    folder = docs / "pagedata" / "games"
    assert (folder / "uniform" / "uniform-000.js").is_file()
    assert (folder / "language" / "uniform-000.js").is_file()
    assert not (folder / "language-everyone").exists()
    assert [kind for _, kind in index[1]["teams"]] == ["scripted agents"] * 4
    assert [kind for _, kind in index[2]["teams"]] == ["language models"]


def test_only_so_many_scenarios_of_a_setting_are_shown_and_that_is_said(
    speakers: list[Experiment],
) -> None:
    few, enough, more = (replace(speakers[0], role=Role(games=games)) for games in (2, 3, 99))

    assert [s.scenario_id for s in few.shown] == [
        "uniform-000", "uniform-001", "varied-000", "varied-001",
    ]  # fmt: skip
    assert more.shown == speakers[0].scenarios
    assert few.shown_note.startswith("4 of 6 scenarios are shown here")
    assert enough.shown_note == more.shown_note == ""


def test_page_data_of_a_language_game_is_small(docs: Path) -> None:
    files = sorted((docs / "pagedata" / "games" / "language").glob("*.js"))
    games = [file_value(path) for path in files]

    assert [len(held["teams"]) for held in games] == [4] * 6
    assert max(len(held["games"]) for held in games) < 4 * GAME_BYTES
    assert max(map(longest_trace, games)) < GAME_BYTES


def test_trace_in_page_data_is_the_file_itself(docs: Path, speakers: list[Experiment]) -> None:
    path = speakers[0].traces / "guarded" / "uniform-000.json"

    _, file = unpacked_game(docs / "pagedata", "language", "guarded", "uniform-000")

    assert file == path.read_bytes()


def test_hostile_words_of_a_model_are_data_and_never_markup(docs: Path) -> None:
    folder = docs / "pagedata"
    scripts = [path.read_text() for path in (folder / "games" / "smollm2").glob("*.js")]

    assert len(scripts) == 3
    assert not any("<" in script for script in scripts)
    said = data(docs, "games/smollm2/my-model/smollm2-000")["events"]
    texts = "\n".join(e["content"]["text"] for e in said if e["type"] == "dm_sent")
    assert any(words in texts for words in HOSTILE_WORDS)
    for name in ("language", "smollm2"):
        assert "window.hacked" not in page(docs, name)


def test_halted_games_are_marked(docs: Path, cohort: Experiment) -> None:
    halted = read_trace(cohort.traces / "my-model" / "smollm2-002.json")
    (entry,) = [e for e in data(docs, "index")["experiments"] if e["name"] == "smollm2"]

    assert unpacked(entry["games"]["halted"], 3) == [None, None, True]
    assert any(isinstance(event, GameHalted) for event in halted.events)
    events = data(docs, "games/smollm2/my-model/smollm2-002")["events"]
    (event,) = [event for event in events if event["type"] == "game_halted"]
    assert event["detail"] == "<script>window.hacked = 1</script>"


def test_notes_reflections_and_tokens_reach_the_browser(docs: Path) -> None:
    events = data(docs, "games/smollm2/my-model/smollm2-000")["events"]

    kinds = {event["kind"] for event in events if event["type"] == "reply_note"}
    assert {"not_json", "recovered"} <= kinds
    reflections = [event for event in events if event["type"] == "reflection"]
    assert {len(each["delta_by_target"]) for each in reflections} == {4}
    assert reflections[0]["usage"]["input_tokens"] == 100
    turn = next(event for event in events if event["type"] == "turn_end")
    assert turn["usage"]["cached_tokens"] == 40


def test_index_says_what_the_audits_found(docs: Path) -> None:
    index = data(docs, "index")
    entry = index["experiments"][-2]
    audits = {
        (row["team"], row["scenario_id"]): row
        for row in rows_of(docs, "language", "audit_games.csv")
    }
    teams = [team for team, _ in entry["teams"]]
    places = [(team, scenario) for scenario in entry["scenarios"]["id"] for team in teams]
    games = {name: unpacked(each, len(places)) for name, each in entry["games"].items()}

    assert entry["name"] == "language"
    assert audits.keys() == set(places)
    for number, place in enumerate(places):
        row = audits[place]
        assert games["told"][number] == int(row["labels_told"])
        assert games["passed"][number] == int(row["labels_passed_on"])
        told = [tier for tier in index["tiers"] if row[f"told_{tier}"] != "0"]
        highest = games["tier"][number]
        assert told[-1:] == ([index["tiers"][highest - 1]] if highest else [])
        shown = {
            n for bit, n in enumerate(index["patterns"]) if games["patterns"][number] >> bit & 1
        }
        assert shown == {name for name in index["patterns"] if row[name] != "0"}
    assert len(set(games["told"])) > 1


def test_excluded_and_typed_games_have_no_audit(docs: Path) -> None:
    typed, _, excluded = data(docs, "index")["experiments"]

    assert typed["games"]["told"] == {"all": None}
    assert unpacked(excluded["games"]["told"], 3)[2] is None
    assert [row["scenario_id"] for row in rows_of(docs, "smollm2", "audit_games.csv")] == [
        "smollm2-000",
        "smollm2-001",
    ]
    assert rows_of(docs, "uniform", "audit_games.csv") == []


def test_words_lead_to_messages_by_number(docs: Path) -> None:
    index = data(docs, "index")
    said = []
    for entry in index["experiments"]:
        texts = unpacked(
            entry["games"]["texts"], len(entry["scenarios"]["id"]) * len(entry["teams"])
        )
        places = [(s, team) for s in entry["scenarios"]["id"] for team, _ in entry["teams"]]
        for (scenario, team), count in zip(places, texts, strict=True):
            events = data(docs, f"games/{entry['name']}/{team}/{scenario}")["events"]
            of_game = [e["content"]["text"] for e in events if "text" in e.get("content", {})]
            assert len(of_game) == count
            said += of_game

    assert len(said) > 100
    for word in ("easy", "window", "divorce", "slots"):
        found = set()
        if bucket_of(word) in index["buckets"]:
            file = data(docs, f"search/{bucket_of(word)}")
            postings = dict(zip(file["words"], file["messages"], strict=True))
            found = set(messages_of(postings.get(word, "")))
        assert found == {number for number, text in enumerate(said) if word in words_of(text)}
