"""Tables of what is passed on, of a small game by hand."""

import pytest

from calbench.facts.messages import MESSAGES
from calbench.facts.storage import Facts
from calbench.scenarios.labels import TIERS
from tests.analysis.audits.test_audit_tables import audited, cells, rows
from tests.facts.measured import rows_of
from tests.metrics.gossip import ERRAND, gossip_labels, gossiping_game, name_of

TIER = gossip_labels().label_of(ERRAND).tier


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    return audited(tmp_path_factory.mktemp("gossip"), [gossiping_game()])


def test_by_speaker_and_by_owner(facts: Facts) -> None:
    shown = (
        "player",
        *("messages", "leaking_messages", "passing_messages", "disclosing_messages"),
        *("labels_told", "labels_passed_on", "labels_passed_by_others", "labels_out"),
        *("learnt_first_hand", "learnt_second_hand"),
    )
    of_all = [
        ("", *"3123", *"1211", *"13"),
        ("a", *"1101", *"1011", *"13"),
        ("b", *"1011", *"0100", *"00"),
        ("c", *"1011", *"0100", *"00"),
    ]
    nothing = [(player, messages, *"000", *"0000", *"00") for player, messages, *_ in of_all]
    for tier in ("all", *TIERS):
        found = cells(rows(facts, "audit_leaks", tier=tier), *shown)
        assert found == (of_all if tier in ("all", TIER) else nothing)


def test_messages_tell_apart_what_is_told_and_what_is_passed_on(facts: Facts) -> None:
    shown = ("sender", "labels_told", TIER, "words", "labels_passed_on", "labels_disclosed")
    name = name_of(ERRAND)
    found = rows(facts, "leaking_messages")
    assert cells(found, *shown, "passed_on_words") == [
        ("0", "1", "1", name, "0", "1", ""),
        ("1", "0", "0", "", "1", "1", name),
        ("2", "0", "0", "", "1", "1", name),
    ]
    columns = ("labels_told", "labels_passed_on")
    assert rows_of(MESSAGES, gossiping_game(), *columns) == [(1, 0), (0, 1), (0, 1)]
    (game,) = rows(facts, "audit_games")
    assert cells([game], *columns, "learnt_second_hand") == [("1", "2", "3")]


def test_every_leak_names_its_path(facts: Facts) -> None:
    found = rows(facts, "second_hand_leaks")
    first, second, third = (row["event_index"] for row in rows(facts, "leaking_messages"))
    shown = ("event_index", "sender", "player", "learners", "steps", "path", "path_events")
    assert cells(found, *shown) == [
        (second, "1", "b", "2", "2", "0 1", f"{first} {second}"),
        (third, "2", "c", "3 4", "3", "0 1 2", f"{first} {second} {third}"),
    ]
    for row in found:
        alike = ("item", "label", "tier", "owners", "owner_players", "first_learners", "words")
        name = name_of(ERRAND)
        assert cells([row], *alike) == [(str(ERRAND), name, TIER, "0", "a", "1", name)]
    assert cells(found, "recipients", "round") == [("2", "1"), ("0 1 3 4", "1")]
