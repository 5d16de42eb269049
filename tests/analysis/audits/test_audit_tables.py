import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from calbench.analysis.audits.failures import occurrences
from calbench.analysis.audits.tables import NAMES, AuditTables
from calbench.analysis.dictionary import header
from calbench.api import play_game
from calbench.domain.messages import Text
from calbench.scenarios.labels import assign_labels, read_label_bank
from calbench.scenarios.models import Scenario
from calbench.traces.models import Trace
from tests.factories import make_scenario
from tests.metrics.games import (
    book,
    canonical_scenario,
    decide,
    dm,
    move,
    play_scripts,
    talk,
    with_outcome,
)
from tests.metrics.language_games import seat, seated


def write(folder: Path, traces: Sequence[Trace], teams: Sequence[str] = ()) -> None:
    tables = AuditTables(folder, teams)
    for trace in traces:
        tables.add(trace)
    tables.write()


def rows(folder: Path, name: str, **wanted: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    return [row for row in found if all(row[key] == value for key, value in wanted.items())]


def text(to: int, words: str) -> object:
    return dm(to, Text(text=words))


def telling_game() -> tuple[Trace, str]:
    """Return a game in which labels are told to those who know them and to others."""
    scenario = make_scenario(["EB..", "....", "...."], [(0, 1), (1, 2)])
    labels = assign_labels(scenario, read_label_bank("v1"))
    errand = labels.text_by_item[labels.items_by_agent[0][1]]  # type: ignore[index]
    meeting = labels.text_by_item[1]  # type: ignore[index]
    scripts = {
        0: talk(
            dm(1, Text(text=f"Slots 0 and 2 are free for me. I have {errand} at slot 0.")),
            dm(1, Text(text=f"For {meeting}, how about slot 3?")),
        ),
        1: talk(dm(2, Text(text=f"Then we do {meeting}, Agent 0 is free.")), round_index=1),
    }
    played = seated(play_scripts(scenario, scripts), seat("a"), seat("b"), seat("b"))
    return played.model_copy(update={"config": played.config.updated(label_bank="v1")}), errand


@pytest.mark.parametrize("name", NAMES)
def test_columns_are_the_described_ones(tmp_path: Path, name: str) -> None:
    write(tmp_path, [])
    assert (tmp_path / f"{name}.csv").read_text() == ",".join(header(f"{name}.csv")) + "\n"


def test_leaks_of_a_small_game_by_hand(tmp_path: Path) -> None:
    write(tmp_path, [telling_game()[0]])
    found = [
        (row["player"], row["messages"], row["leaking_messages"], row["labels_told"])
        for row in rows(tmp_path, "audit_leaks", tier="all")
    ]
    assert found == [("", "3", "2", "2"), ("a", "2", "1", "1"), ("b", "1", "1", "1")]


def test_other_tables_of_a_small_game_by_hand(tmp_path: Path) -> None:
    write(tmp_path, [telling_game()[0]])
    own = {
        (row["player"], row["label"]): (row["count"], row["messages"])
        for row in rows(tmp_path, "audit_own_slot")
    }
    assert own["a", "proposal"] == own["a", "availability"] == ("1", "2")
    assert own["b", "availability"] == ("0", "1")
    gossip = rows(tmp_path, "audit_patterns", pattern="availability_gossip")
    assert [(row["player"], row["count"]) for row in gossip] == [("", "1"), ("a", "0"), ("b", "1")]
    (free,) = rows(tmp_path, "audit_honesty", player="a", claim="free")
    assert (free["claims"], free["true_claims"], free["rate"]) == ("2", "1", "0.5000")


def failing_game() -> Trace:
    """Return a game in which agent 0 moves meeting 1 away, twice, and nobody agrees again."""
    scenario = make_scenario(
        ["E3....", ".....", "....."],
        [(0, 1), (0, 2), (1, 2)],
    )
    scripts = {
        0: decide(move(101, 0, 4), book(1, 1)) | decide(move(1, 1, 2), book(2, 0), round_index=1),
        1: decide(book(1, 1)) | decide(book(3, 3), round_index=2),
        2: decide(book(2, 0), round_index=1) | decide(book(3, 4), round_index=2),
    }
    return seated(play_scripts(scenario, scripts), seat("a"), seat("b"), seat("c"))


def test_failures_of_a_small_game_by_hand() -> None:
    counts = Counter(occurrences(failing_game()))
    assert {(name, agents): n for (name, agents), n in counts.items()} == {
        ("unilateral_displacement", (0,)): 1,
        ("unilateral_displacement", ()): 1,
        ("ambiguous_consensus", (1, 2)): 1,
        ("cascading_failure", ()): 1,
    }


def test_a_missing_slot_and_a_costly_move_are_seen() -> None:
    scenario = make_scenario(["E3E1..", "...."], [(0, 1)])
    trace = play_scripts(scenario, {0: decide(move(101, 0, 2), move(102, 1, 3), book(1, 0))})
    assert list(occurrences(trace)) == [
        ("qualitative_flattening", (0,)),
        ("output_truncation", (1,)),
    ]


def test_lost_games_and_games_without_language_add_nothing(tmp_path: Path) -> None:
    lost = with_outcome(telling_game()[0], "provider_fault")
    write(tmp_path, [lost, play_game(canonical_scenario(3), "imap")])
    for name in NAMES:
        assert rows(tmp_path, name) == []


def test_order_of_games_does_not_matter_and_none_is_taken_twice(tmp_path: Path) -> None:
    one, _ = telling_game()
    other = play_game(canonical_scenario(3), "candid", channels=("dm",))
    write(tmp_path / "a", [one, other])
    write(tmp_path / "b", [other, one])
    for name in NAMES:
        assert (tmp_path / "a" / f"{name}.csv").read_bytes() == (
            tmp_path / "b" / f"{name}.csv"
        ).read_bytes()
    with pytest.raises(ValueError, match="two games"):
        write(tmp_path, [one, one])


def test_speakers_leak_in_the_order_of_their_manners(tmp_path: Path) -> None:
    scenarios: list[Scenario] = [canonical_scenario(n, f"uniform-{n:03d}") for n in range(2)]
    teams = ("oversharer", "candid", "guarded", "silent")
    write(tmp_path, [play_game(scenario, team) for scenario in scenarios for team in teams], teams)
    told = {
        row["team"]: int(row["leaking_messages"])
        for row in rows(tmp_path, "audit_leaks", tier="all", player="")
    }
    assert "silent" not in told
    assert told["oversharer"] > told["candid"] >= told["guarded"] >= 0
    assert told["candid"] == told["guarded"] == 0
