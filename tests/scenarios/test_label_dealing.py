"""How labels are dealt out to errands and meetings."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.domain.calendars import Errand
from calbench.domain.ids import AgentId, ErrandId, ItemId, MeetingId
from calbench.scenarios.labels import TIERS, LabelBank, Labels, assign_labels
from calbench.scenarios.models import ErrandEntry, Scenario
from calbench.scenarios.parameters import ScenarioParameters
from calbench.scenarios.sampling import sample_scenario
from tests.factories import make_scenario
from tests.scenarios.label_banks import BANK, texts_of
from tests.strategies import loose_scenarios, scenarios

EXAMPLE = make_scenario(
    ["EB..E.", ".E3..B.", "..E2..E"], [(1, 0), (2, 1)], prior=[((0, 2), 3)], seed=7
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
    assert texts_of(assign_labels(EXAMPLE, BANK)) == {
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
    assert texts_of(labels) == {item: labels.label_of(item).text for item in kinds}


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
        shown = scenario.shown_calendars[agent]
        assert {item.item_id for item in shown if item is not None} <= set(own)
        assert all(own[item] == texts_of(labels)[item] for item in own)


def test_own_labels_are_made_anew_for_each_caller_and_strangers_have_none() -> None:
    labels = assign_labels(EXAMPLE, BANK)
    first = labels.own_labels(AgentId(0))
    assert isinstance(first, dict)
    first.clear()
    assert labels.own_labels(AgentId(0))
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


@pytest.mark.heavy
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
