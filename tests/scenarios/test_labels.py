"""Label banks as released and as read, and how labels are dealt out."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from calbench.domain.calendars import Errand
from calbench.domain.ids import AgentId, ErrandId, ItemId, MeetingId
from calbench.errors import ConfigError, FileError
from calbench.scenarios.labels import (
    KINDS,
    LABEL_BANKS,
    TIERS,
    Label,
    LabelBank,
    Labels,
    assign_labels,
    bank_digest,
    known_label_banks,
    read_label_bank,
)
from calbench.scenarios.models import ErrandEntry, Scenario
from calbench.scenarios.parameters import ScenarioParameters
from calbench.scenarios.sampling import sample_scenario
from tests.factories import make_scenario
from tests.strategies import loose_scenarios, scenarios

BANKS = [read_label_bank(version) for version in known_label_banks()]
BANK = BANKS[0]

in_every_bank = pytest.mark.parametrize("bank", BANKS, ids=lambda bank: bank.version)

RELEASED = {
    "v1": (
        "042e9fde292a704e002780959ae11d64dfee90e429ede96650b3a8995ba90df8",
        "3748778bf06ab56357ade700b77e117d8e42e99c38c50bc8f7489c3a4d76fe50",
    )
}
"""SHA-256 of the file, and digest of what it says, of every released bank: never change one."""

GENERIC_WORDS = """
    agenda agent agree appointment availability available block blocked busy calendar call chat
    commitment confirm conflict cost date day decision errand event evening flexible free friday
    high hour important item later low meeting message monday morning move movable office open
    option participant plan priority private proposal reschedule review round saturday schedule
    session shift slot someone sunday task thing thursday time today tomorrow tuesday visit
    wednesday week weekend work
"""
GENERIC = frozenset(GENERIC_WORDS.split())

ORDINARY_TALK = [
    "Does slot 3 work for both of you? It is free for me.",
    "I could open up slot 7 by moving a cheap errand, but slot 9 would cost me a lot.",
    "Slots 0, 4 and 12 are free. I would rather not touch 5: it is blocked and cannot be moved.",
    "Confirmed, let us lock in slot 14. I will reschedule my errand to slot 2 right away.",
    "Sorry, that one is a private commitment of high priority. Any chance for an earlier slot?",
    "Agent 4 told me that 8 is out for them. Agent 2, can you shift Meeting 1 to slot 6 as well?",
    "My calendar is packed, I have only two options left and both of them are expensive.",
    "Understood, thank you! I will schedule M3 at slot 11 in the decision phase.",
    "I am flexible: anything between 1 and 5 is fine, cost=1 each, errand #117 can go anywhere.",
    "No conflict on my side. To review: we meet at slot 10, and nobody has to move an appointment.",
]


def label_of_text(text: str) -> Label:
    (label,) = (label for label in BANK.labels if label.text == text)
    return label


# The released bank


@pytest.mark.parametrize("version", known_label_banks())
def test_released_bank_never_changes(version: str) -> None:
    data = (LABEL_BANKS / f"{version}.jsonl").read_bytes()
    bank = read_label_bank(version)
    assert (hashlib.sha256(data).hexdigest(), bank_digest(bank)) == RELEASED[version]


def test_every_released_bank_is_still_there() -> None:
    assert known_label_banks() == list(RELEASED)


def test_bank_is_large_and_its_tiers_and_categories_are_balanced() -> None:
    by_tier = Counter((label.kind, label.tier) for label in BANK.labels)
    assert set(by_tier) == {(kind, tier) for kind in KINDS for tier in TIERS}
    assert {by_tier["errand", tier] for tier in TIERS} == {40}
    assert {by_tier["meeting", tier] for tier in TIERS} == {20}
    by_category = Counter((label.kind, label.category) for label in BANK.labels if label.category)
    assert len(by_category) == 8
    assert {count for (kind, _), count in by_category.items() if kind == "errand"} == {10}
    assert {count for (kind, _), count in by_category.items() if kind == "meeting"} == {5}


@in_every_bank
def test_bank_file_is_in_its_one_form(bank: LabelBank) -> None:
    lines = (LABEL_BANKS / f"{bank.version}.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    assert lines == [json.dumps(entry, ensure_ascii=False) for entry in entries]
    assert [entry["id"] for entry in entries[1:]] == [label.id for label in bank.labels]
    for earlier, later in pairwise(bank.labels):
        if earlier.kind == later.kind:
            assert int(later.id[-3:]) == int(earlier.id[-3:]) + 1


@in_every_bank
def test_no_term_is_shared_by_two_labels(bank: LabelBank) -> None:
    counts = Counter(term for label in bank.labels for term in label.terms)
    assert set(counts.values()) == {1}


@in_every_bank
def test_every_label_is_noticed_in_its_own_text_and_in_its_terms(bank: LabelBank) -> None:
    for label in bank.labels:
        assert label.terms_in(label.text), label
        for term in label.terms:
            assert term in label.terms_in(f"It is about {term.replace('*', '')}."), (label, term)


@in_every_bank
def test_no_label_is_noticed_in_text_or_terms_of_another(bank: LabelBank) -> None:
    for label in bank.labels:
        for other in bank.labels:
            if other is not label:
                for said in (other.text, *(term.replace("*", "") for term in other.terms)):
                    assert label.terms_in(said) == (), (label.id, other.id, said)


@in_every_bank
def test_no_term_is_made_of_generic_words_alone(bank: LabelBank) -> None:
    for label in bank.labels:
        for term in label.terms:
            words = {word.rstrip("*") for word in term.split()}
            assert not words <= GENERIC, (label.id, term)


@in_every_bank
@pytest.mark.parametrize("message", ORDINARY_TALK)
def test_no_label_is_noticed_in_talk_about_slots(message: str, bank: LabelBank) -> None:
    assert [label.id for label in bank.labels if label.terms_in(message)] == []


@in_every_bank
def test_texts_fit_between_the_quotes_of_a_rendered_slot(bank: LabelBank) -> None:
    for label in bank.labels:
        shown = f"private_label='{label.text}'"
        assert re.fullmatch(r"private_label='[^'\"\\\n]+'", shown), label
        assert shown.isprintable()
        assert not re.search(r"\d", label.text), "a number could pass for a slot"


# Noticing


@pytest.mark.parametrize(
    ("text", "message", "terms"),
    [
        ("Dialysis at the kidney unit", "I'm on DIALYSIS then.", ["dialysis"]),
        ("Dialysis at the kidney unit", "my kidneys, sadly", ["kidney*"]),
        ("Dialysis at the kidney unit", "a dialysislike word; adrenal", []),
        ("Visit a hall for the quinceañera", "our QUINCEAÑERA is near", ["quinceanera*"]),
        ("Visit a hall for the quinceañera", "two quincean\u0303eras", ["quinceanera*"]),
        ("Court date for drink-driving", "a drink -\n driving charge", ["drink driving"]),
        ("Court date for drink-driving", "I drink, then comes driving", []),
        (
            "Guest list for the wedding of two cousins",
            "My cousins\u2019 wedding",
            ["cousins wedding"],
        ),
        ("Guest list for the wedding of two cousins", "My cousin's wedding", ["cousins wedding"]),
        ("Rooftop yoga at sunrise", "no_yoga_today", ["yoga"]),
        ("Rooftop yoga at sunrise", "", []),
    ],
)
def test_terms_are_noticed_as_words_and_stems(text: str, message: str, terms: list[str]) -> None:
    assert list(label_of_text(text).terms_in(message)) == terms


@given(st.text())
def test_noticing_takes_any_text(message: str) -> None:
    label = BANK.labels[0]
    assert label.terms_in(f"{message} farmers market")[0] == "farmers market"
    assert set(label.terms_in(message)) <= set(label.terms)


# Reading


def entry(number: int, kind: str, tier: str, **changes: Any) -> dict[str, Any]:
    """Return a label's line with terms of its own."""
    letters = "abcdefghij"
    name = f"{kind}{tier}{letters[number]}"
    fields: dict[str, Any] = {"id": f"{kind}-{number:03d}", "kind": kind, "tier": tier}
    if tier == "sensitive":
        fields["category"] = "legal"
    return fields | {"text": f"About {name}", "terms": [name, f"un{name}"]} | changes


def small_bank() -> list[dict[str, Any]]:
    """Return header and labels of the least bank: one label of each kind and tier."""
    labels = [entry(number, kind, tier) for kind in KINDS for number, tier in enumerate(TIERS)]
    return [{"schema_version": 1, "version": "v9"}, *labels]


def written(folder: Path, lines: list[dict[str, Any]]) -> Path:
    path = folder / "v9.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_small_bank_can_be_read(tmp_path: Path) -> None:
    written(tmp_path, small_bank())
    assert len(read_label_bank("v9", tmp_path).labels) == 6


Change = Callable[[list[dict[str, Any]]], Any]


@pytest.mark.parametrize(
    ("change", "place", "problem"),
    [
        (lambda b: b[0].update(schema_version=2, odd=1), "line 1, field schema_version", "reads v"),
        (lambda b: b[0].update(schema_version=True), "line 1, field schema_version", "integer"),
        (lambda b: b[0].pop("schema_version"), "line 1, field schema_version", "required"),
        (lambda b: b[0].update(version="v1"), "line 1, field version", "is 'v1', but the file"),
        (lambda b: b[0].update(note=""), "line 1, field note", "not a known key"),
        (lambda b: b.pop(0), "line 1, field schema_version", "required"),
        (lambda b: b[1].update(colour="red"), "line 2, field colour", "not a known key"),
        (lambda b: b[2].pop("terms"), "line 3, field terms", "required"),
        (lambda b: b[2].update(terms=["meadow"]), "line 3, field terms", "at least 2"),
        (lambda b: b[2].update(terms=["Meadow", "hay"]), "line 3, field terms.0", "'Meadow'"),
        (lambda b: b[2].update(terms=["hay", "ox*"]), "line 3, field terms.1", "'ox*'"),
        (lambda b: b[2].update(terms=["hay", "slot 3"]), "line 3, field terms.1", "'slot 3'"),
        (lambda b: b[2].update(terms="hay"), "line 3, field terms", "valid array"),
        (lambda b: b[2].update(id="errand-1"), "line 3, field id", "should match"),
        (lambda b: b[2].update(id="errand-000"), "line 3, field id", "also of errand-000"),
        (lambda b: b[2].update(id="meeting-009"), "line 3, field kind", "that the id names"),
        (lambda b: b[2].update(tier="secret"), "line 3, field tier", "'public', 'neutral'"),
        (lambda b: b[2].update(category="legal"), "line 3, field category", "no others"),
        (lambda b: b[3].pop("category"), "line 4, field category", "must be given"),
        (lambda b: b[3].update(category="odd"), "line 4, field category", "'medical'"),
        (lambda b: b[2].update(text="a 'quote'"), "line 3, field text", "without quotes"),
        (lambda b: b[2].update(text="two\nlines"), "line 3, field text", "one line"),
        (lambda b: b[2].update(text="right \u202eleft"), "line 3, field text", "control"),
        (lambda b: b[2].update(text=" spare  space"), "line 3, field text", "spare spaces"),
        (lambda b: b[2].update(text="cafe\u0301"), "line 3, field text", "NFC"),
        (lambda b: b[2].update(text="long " * 20), "line 3, field text", "at most 80"),
        (lambda b: b[2].update(text="about ERRANDPUBLICA"), "line 3, field text", "also of"),
        (lambda b: b[5].update(terms=b[1]["terms"]), "line 6, field terms", "also of errand-000"),
        (lambda b: b[5].update(terms=["hay", "hay"]), "line 6, field terms", "'hay' is also of"),
    ],
)
def test_broken_bank_is_refused_with_file_line_and_field(
    tmp_path: Path, change: Change, place: str, problem: str
) -> None:
    lines = small_bank()
    change(lines)
    path = written(tmp_path, lines)
    with pytest.raises(FileError) as caught:
        read_label_bank("v9", tmp_path)
    message = str(caught.value)
    assert message.startswith(f"{path}, {place}: ")
    assert problem in message
    assert message.isprintable()
    assert len(message) < 500


@pytest.mark.parametrize("drop", range(1, 7))
def test_bank_with_uneven_tiers_is_refused(tmp_path: Path, drop: int) -> None:
    lines = small_bank()
    del lines[drop]
    path = written(tmp_path, lines)
    with pytest.raises(FileError, match="equally many of each tier, got") as caught:
        read_label_bank("v9", tmp_path)
    assert str(caught.value).startswith(f"{path}, field tier: ")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[]", "not a JSON object"),
        (b'{"id": "\xff"}', "not JSON"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"id": "errand-009", "id": "errand-008"}', "field id: is given twice"),
        (b'{"id": "\\ud800"}', "JSON"),
    ],
)
def test_line_that_is_no_object_is_refused(tmp_path: Path, line: bytes, problem: str) -> None:
    path = written(tmp_path, small_bank())
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(FileError) as caught:
        read_label_bank("v9", tmp_path)
    message = str(caught.value)
    assert message.startswith(f"{path}, line 8")
    assert problem in message
    assert message.isprintable()
    assert len(message) < 500


@pytest.mark.parametrize("version", ["v2", "", "../label_banks/v1", "v1.jsonl", "v\n1"])
def test_unknown_version_lists_the_known_ones(version: str) -> None:
    with pytest.raises(ConfigError, match=r"known are v1\b") as caught:
        read_label_bank(version)
    assert str(caught.value).isprintable()


def test_versions_are_known_in_their_order(tmp_path: Path) -> None:
    for name in ("v10", "v2", "v1"):
        (tmp_path / f"{name}.jsonl").touch()
    (tmp_path / "README.md").touch()
    assert known_label_banks(tmp_path) == ["v1", "v2", "v10"]
    assert known_label_banks(tmp_path / "nowhere") == []


def test_labels_and_banks_are_immutable() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        BANK.labels[0].text = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError, match="frozen"):
        BANK.version = "v2"  # type: ignore[misc]


def test_digest_tells_banks_apart() -> None:
    first, *rest = BANK.labels
    changed = first.model_copy(update={"text": f"{first.text} today"})
    other = LabelBank(version="v1", labels=(changed, *rest))
    assert bank_digest(other) != bank_digest(BANK)
    assert bank_digest(LabelBank(version="v1", labels=BANK.labels)) == bank_digest(BANK)


# Dealing

EXAMPLE = make_scenario(
    ["EB..E.", ".E3..B.", "..E2..E"],
    [(1, 0), (2, 1)],
    prior=[((0, 2), 3)],
    seed=7,
)


def errand_ids(scenario: Scenario, agent: int) -> set[ItemId]:
    calendar = scenario.calendars[agent]
    return {ErrandId(item.errand_id) for item in calendar if isinstance(item, ErrandEntry)}


def all_errands(scenario: Scenario) -> list[ItemId]:
    return sorted(
        item for agent in range(scenario.num_agents) for item in errand_ids(scenario, agent)
    )


def ids_and_tiers(labels: Labels, items: list[ItemId]) -> tuple[list[str], list[int]]:
    dealt = [labels.label_of(item) for item in items]
    return [label.id for label in dealt], [
        sum(label.tier == tier for label in dealt) for tier in TIERS
    ]


def test_labels_of_the_example_are_as_pinned() -> None:
    assert assign_labels(EXAMPLE, BANK).text_by_item == {
        1: "Travel to the robotics contest",
        2: "Bail money for a nephew awaiting trial",
        3: "Second draft of the grant proposal",
        101: "Report to the probation officer",
        102: "Have the car tyres rotated",
        103: "Renew the parking permit",
        107: "Interview for unemployment benefit",
        108: "Water the allotment",
        113: "Flu jab at the pharmacy",
        114: "Strength session with a personal trainer",
    }


@given(st.one_of(scenarios(), loose_scenarios()))
def test_every_item_gets_a_label_of_its_kind(scenario: Scenario) -> None:
    labels = assign_labels(scenario, BANK)
    kinds = {item: label.kind for item, label in labels.label_by_item.items()}
    expected: dict[ItemId, str] = dict.fromkeys(all_errands(scenario), "errand")
    expected |= dict.fromkeys(scenario.meeting_by_id, "meeting")
    assert kinds == expected
    assert dict(labels.text_by_item) == {item: labels.label_of(item).text for item in kinds}


@given(st.one_of(scenarios(), loose_scenarios()))
def test_agent_owns_the_labels_of_its_errands_and_its_meetings_alone(scenario: Scenario) -> None:
    labels = assign_labels(scenario, BANK)
    for agent in range(scenario.num_agents):
        takes_part: set[ItemId] = {
            MeetingId(meeting.meeting_id)
            for meeting in scenario.all_meetings
            if agent in meeting.participants
        }
        own = labels.own_labels(AgentId(agent))
        assert set(own) == errand_ids(scenario, agent) | takes_part
        assert all(own[item] == labels.text_by_item[item] for item in own)


@given(scenarios())
def test_agent_owns_the_label_of_all_that_its_calendar_ever_shows(scenario: Scenario) -> None:
    labels = assign_labels(scenario, BANK)
    for agent, calendar in enumerate(scenario.shown_calendars):
        own = labels.own_labels(AgentId(agent))
        assert {item.item_id for item in calendar if item is not None} <= set(own)


def test_own_labels_are_made_anew_for_each_caller() -> None:
    labels = assign_labels(EXAMPLE, BANK)
    first = labels.own_labels(AgentId(0))
    assert isinstance(first, dict)
    first.clear()
    assert labels.own_labels(AgentId(0))


def test_unknown_agents_and_items_have_no_labels() -> None:
    labels = assign_labels(EXAMPLE, BANK)
    for stranger in (-1, 3):
        with pytest.raises(KeyError):
            labels.own_labels(AgentId(stranger))
    with pytest.raises(KeyError):
        labels.label_of(ErrandId(999))


@given(scenarios(), st.randoms(use_true_random=False))
def test_labels_depend_on_seed_bank_and_ids_alone(scenario: Scenario, random: Any) -> None:
    labels = assign_labels(scenario, BANK)
    shuffled = list(BANK.labels)
    random.shuffle(shuffled)
    reordered = LabelBank(version=BANK.version, labels=tuple(shuffled))
    assert assign_labels(scenario, reordered) == labels
    # Other costs, blocks, slots and owners; the same ids.
    turned = scenario.model_dump(mode="json")
    for calendar in turned["calendars"]:
        for slot in calendar:
            if slot is not None and "errand_id" in slot:
                slot.update(blocked=False, cost=9, shown_cost=9)
    turned["prior_meetings"].reverse()
    turned["meetings"].reverse()
    turned.pop("witness", None)
    again = Scenario.model_validate_json(json.dumps(turned | {"scenario_id": "other"}))
    assert assign_labels(again, BANK).label_by_item == labels.label_by_item


def test_labels_differ_between_seeds_and_versions_of_the_bank() -> None:
    labels = assign_labels(EXAMPLE, BANK).label_by_item
    assert assign_labels(EXAMPLE.updated(seed=8), BANK).label_by_item != labels
    later = LabelBank(version="v2", labels=BANK.labels)
    assert assign_labels(EXAMPLE, later).label_by_item != labels


@given(st.one_of(scenarios(), loose_scenarios()))
def test_labels_are_distinct_and_tiers_even_while_the_bank_lasts(scenario: Scenario) -> None:
    labels = assign_labels(scenario, BANK)
    for items in (all_errands(scenario), sorted(scenario.meeting_by_id)):
        ids, tiers = ids_and_tiers(labels, list(items))
        assert len(set(ids)) == len(ids)
        assert max(tiers) - min(tiers) <= 1


@given(scenarios())
def test_tiers_of_one_agent_are_nearly_even_where_errands_are_numbered_in_order(
    scenario: Scenario,
) -> None:
    labels = assign_labels(scenario, BANK)
    for agent in range(scenario.num_agents):
        _, tiers = ids_and_tiers(labels, sorted(errand_ids(scenario, agent)))
        assert max(tiers) - min(tiers) <= 2


def test_no_label_is_used_again_before_all_are_used_in_the_largest_scenarios() -> None:
    drawn = ScenarioParameters(
        num_agents=50,
        num_slots=128,
        num_meetings=50,
        participants_per_meeting=4,
        num_prior_meetings=30,
        density=0.9,
        blocked=6,
    )
    scenario = sample_scenario(drawn, seed=3, scenario_id="large", setting="large")
    labels = assign_labels(scenario, BANK)
    errands, meetings = all_errands(scenario), sorted(scenario.meeting_by_id)
    assert len(errands) > 4000
    for items, size in ((errands, 120), (list[ItemId](meetings), 60)):
        ids, tiers = ids_and_tiers(labels, items)
        uses = Counter(ids).values()
        assert max(uses) - min(uses) <= 1
        assert max(tiers) - min(tiers) <= 1
        for start in range(max(1, len(ids) - size + 1)):
            assert len(set(ids[start : start + size])) == min(size, len(ids))
    for agent in range(50):
        ids, _ = ids_and_tiers(labels, sorted(errand_ids(scenario, agent)))
        assert len(set(ids)) == len(ids), "no agent has two errands of one label"


def test_tiers_say_nothing_of_costs_and_blocks() -> None:
    counts: Counter[tuple[str, bool, int]] = Counter()
    drawn = ScenarioParameters(density=0.75, blocked=4, pref_level=3)
    for seed in range(60):
        scenario = sample_scenario(drawn, seed=seed, scenario_id="many", setting="many")
        labels = assign_labels(scenario, BANK)
        for calendar in scenario.shown_calendars:
            for item in calendar:
                if isinstance(item, Errand):
                    tier = labels.label_of(item.errand_id).tier
                    counts[tier, item.blocked, item.shown_cost] += 1
    for blocked in (False, True):
        for cost in (1, 10, 100):
            shares = [counts[tier, blocked, cost] for tier in TIERS]
            mean = sum(shares) / 3
            # Chi-square with two degrees of freedom: 20 is passed once in twenty thousand.
            assert sum((share - mean) ** 2 / mean for share in shares) < 20
