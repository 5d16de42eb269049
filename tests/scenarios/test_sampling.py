"""The invariants of every step of generation (paper, appendix A.1)."""

from collections import Counter

import pytest
from hypothesis import given

from calbench.domain.canonical import digest
from calbench.errors import GenerationError
from calbench.oracle.certificate import check_schedule
from calbench.scenarios.certificates import witness_schedule
from calbench.scenarios.models import ErrandEntry, MeetingEntry, Scenario
from calbench.scenarios.parameters import ScenarioParameters
from calbench.scenarios.sampling import sample_scenario
from tests.strategies import scenarios


def sampled(seed: int = 7, **fields: object) -> Scenario:
    drawn = ScenarioParameters.model_validate({"density": 0.75, "blocked": 4} | fields)
    return sample_scenario(drawn, seed=seed, scenario_id="test-000", setting="test")


def errands(scenario: Scenario, agent: int) -> dict[int, ErrandEntry]:
    calendar = scenario.calendars[agent]
    return {slot: item for slot, item in enumerate(calendar) if isinstance(item, ErrandEntry)}


def prior_slots(scenario: Scenario, agent: int) -> set[int]:
    calendar = scenario.calendars[agent]
    return {slot for slot, item in enumerate(calendar) if isinstance(item, MeetingEntry)}


def witness_slots(scenario: Scenario, agent: int) -> list[int]:
    assert scenario.witness is not None
    return [
        scenario.witness[str(meeting.meeting_id)]
        for meeting in scenario.meetings
        if agent in meeting.participants
    ]


def recorded(scenario: Scenario) -> ScenarioParameters:
    assert scenario.params is not None
    return ScenarioParameters.model_validate(scenario.params)


@given(scenarios())
def test_sampling_gives_the_scenario_again_from_what_it_records(scenario: Scenario) -> None:
    again = sample_scenario(
        recorded(scenario),
        seed=scenario.seed,
        scenario_id=scenario.scenario_id,
        setting=scenario.setting,
    )
    assert again == scenario


def test_sampling_gives_the_golden_bytes() -> None:
    plain = sampled(pref_level=3)
    rich = sampled(
        pref_level=3, num_prior_meetings=3, meeting_cost_level=2, blocked=(1, 2, 3, 4, 5)
    )
    assert digest(plain.model_dump(mode="json")) == GOLDEN_PLAIN
    assert digest(rich.model_dump(mode="json")) == GOLDEN_RICH


def test_sampling_keeps_other_draws_when_one_step_changes() -> None:
    uniform, varied = sampled(pref_level=1), sampled(pref_level=3)
    assert uniform.witness == varied.witness
    assert uniform.meetings == varied.meetings
    assert [errands(uniform, a).keys() for a in range(5)] == [
        errands(varied, a).keys() for a in range(5)
    ]


@given(scenarios())
def test_meetings_and_errands_are_numbered_and_meetings_spoken_and_cost_as_asked(
    scenario: Scenario,
) -> None:
    ids = [m.meeting_id for m in scenario.all_meetings]
    assert ids == list(range(1, len(ids) + 1))
    for meeting in scenario.meetings:
        first, *others = meeting.speaker_order
        assert others == sorted(set(meeting.participants) - {first})
    costs = {meeting.cost for meeting in scenario.all_meetings}
    assert costs <= set(range(1, recorded(scenario).meeting_cost_level + 1))
    numbers = [
        item.errand_id
        for agent in range(scenario.num_agents)
        for item in errands(scenario, agent).values()
    ]
    assert numbers == list(range(101, 101 + len(numbers)))


def test_errand_ids_start_after_the_last_meeting_where_there_are_many() -> None:
    many = sampled(
        num_agents=60, num_slots=16, num_meetings=99, num_prior_meetings=3, density=0.1, blocked=0
    )
    least = min(item.errand_id for agent in range(60) for item in errands(many, agent).values())
    assert least == 103


@given(scenarios())
def test_witness_is_feasible_and_off_prior_meetings(scenario: Scenario) -> None:
    witness = witness_schedule(scenario)
    assert witness is not None
    assert check_schedule(scenario.problem, witness) == ()
    for agent in range(scenario.num_agents):
        slots = witness_slots(scenario, agent)
        assert len(set(slots)) == len(slots)
        assert not prior_slots(scenario, agent) & set(slots)


@given(scenarios())
def test_errands_are_laid_as_asked(scenario: Scenario) -> None:
    params = recorded(scenario)
    for agent, calendar in enumerate(scenario.calendars):
        items, witness = errands(scenario, agent), set(witness_slots(scenario, agent))
        placed, count = set(items), len(items)
        room = scenario.num_slots - len(witness) - len(prior_slots(scenario, agent))
        assert count == min(round(scenario.num_slots * params.density_by_agent[agent]), room)
        free = {slot for slot, item in enumerate(calendar) if item is None}
        assert len(free) >= len(witness)
        assert len(free - witness) >= min(len(witness), count), "for what makes way"
        if params.force_witness_errand:
            assert len(placed & witness) == min(count, len(witness))
        blocked = {slot for slot, item in items.items() if item.blocked}
        assert not blocked & witness
        assert len(blocked) == min(params.blocked_by_agent[agent], len(placed - witness))
        balanced = sorted(1 + index % params.pref_level for index in range(count))
        assert sorted(item.cost for item in items.values()) == balanced
        for item in items.values():
            assert item.shown_cost == params.shown_costs[item.cost - 1]


def test_errand_costs_start_at_the_floor() -> None:
    scenario = sampled(pref_level=3, errand_cost_floor=2)
    costs = Counter(item.cost for item in errands(scenario, 0).values())
    assert costs == {2: 6, 3: 6}


def test_given_participants_are_kept() -> None:
    lists = ((3, 1), (0, 1, 2), (4, 0))
    scenario = sampled(num_meetings=3, participant_lists=lists)
    assert [m.participants for m in scenario.meetings] == [(1, 3), (0, 1, 2), (0, 4)]


def test_sampling_names_the_agent_with_more_meetings_than_slots() -> None:
    with pytest.raises(GenerationError, match=r"agent 0 takes part in 5 meetings.* has 4 slots"):
        sampled(num_agents=3, num_slots=4)


def test_sampling_gives_up_after_a_bounded_number_of_attempts() -> None:
    fano = ((0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 3, 5), (1, 4, 6), (2, 3, 6), (2, 4, 5))
    with pytest.raises(GenerationError, match="no slots found for 7 meetings") as caught:
        sampled(num_agents=7, num_slots=3, num_meetings=7, participant_lists=fano, density=0.0)
    assert "\n" not in str(caught.value)


def test_sampling_retries_after_a_dead_end() -> None:
    tight = sampled(
        num_agents=4,
        num_slots=3,
        num_meetings=6,
        density=0.0,
        blocked=0,
        participant_lists=((0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2)),
    )
    assert tight.witness is not None
    assert sorted(tight.witness.values()) == [0, 0, 1, 1, 2, 2]


GOLDEN_PLAIN = "955a8b539dbe4b95ad49c485268d8d70e807ac9d6c52f8624356dc6fc0837650"
GOLDEN_RICH = "9e123f13b1600bb835f635129bdf0d6ec2e79c84eea19ce02d6c66b0b87b2b4a"
