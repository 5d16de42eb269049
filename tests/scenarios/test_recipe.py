"""The paper's tasks against facts of its release that were noted down one by one."""

import math
from functools import cache

import pytest
from pydantic import ValidationError

from calbench.oracle.solve import Optimal, solve_best
from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import ScenarioShape, SuiteSpec
from calbench.scenarios.suites import build_suite, sample_candidate

UNIFORM = (
    "320045 320006 320099 320021 320062 320083 320036 320088 320098 320017 320025 320089 320092 "
    "320056 320028 321002 321001 321059 321020 321098 321091 321093 321021 321063 321097 321052 "
    "321069 321073 321051 321033 322082 322034 322043 322020 322072 322088 322057 322089 322080 "
    "322028 322084 322045 322003 322008 322023"
)
VARIED = (
    "420081 420054 420048 420066 420062 420050 420085 420020 420031 420028 420055 420001 420008 "
    "420049 420094 421068 421002 421079 421004 421076 421085 421035 421030 421043 421056 421031 "
    "421021 421072 421000 421069 422051 422034 422010 422022 422060 422058 422061 422096 422033 "
    "422084 422062 422011 422077 422071 422032"
)
"""Seeds of the published tasks, in their order [R]."""

TASKS = """
320045 13080 15,14,10,4,11 4 .8,.8,.6,.6,1 4,2,6,4,2 012,324,134,203,401 1,2,3,5,14
320006 12310 4,10,14,3,1 2 1,.6,.8,.6,.8 4,2,6,2,4 204,123,413,304,012 7,11,12
321001 10830 7,2,10,13,4 3 1,.6,1,.8,.6 6,2,4,6,2 124,301,023,204,413 6,7,8
321059 10229 0,5,12,2,11 2 .8,.8,.6,1,.6 2,2,4,6,4 402,314,203,123,014 1,3,6,7,15
322082 13678 9,13,2,12,7 3 .6,.6,.8,.8,1 4,6,2,2,4 412,034,312,104,203 0,1,2,4,11,14,15
322034 9174 7,0,15,6,9 3 .8,.6,.6,1,.8 6,4,2,2,4 013,412,304,234,102 0,5,8,14
420081 19749 4,14,15,2,6 3 .6,.6,1,.8,.8 2,4,6,2,4 301,214,402,134,023 0,1,7,9,10,12,13
420054 16546 14,6,5,13,12 5 1,.8,.8,.6,.6 2,4,6,2,4 413,302,024,214,103 2,4,10
420048 10325 11,4,6,1,2 5 .6,.8,.8,1,.6 6,2,4,4,2 123,304,412,013,204 5,6,10,12,13,14
421043 4865 7,15,2,8,12 8 .8,.6,1,1,.6 2,6,4,2,6 314,023,102,403,214 1,5,9,10,11
421056 4848 9,10,8,13,0 7 .6,.8,1,.6,.8 4,2,2,6,4 302,413,104,023,214 1,2,4,5,6,11,15
421031 3225 7,5,3,6,1 5 1,.8,.6,1,.6 2,4,6,2,6 024,413,301,124,203 0,5,10
"""
"""Seed, feasible count, witness, least cost, densities, blocked counts, speakers, and what is free
of agent 0's slots, of twelve published tasks [R]."""

COSTS = "2:10 3:10 4:1 5:1B 6:100 8:100B 11:1 14:10 15:100"
"""Slot, shown cost and B for blocked of agent 0's errands in task 420081 [R]."""


def half(levels: int, seed: int = 0) -> SuiteSpec:
    return SuiteSpec(
        setting="varied" if levels > 1 else "uniform",
        recipe="paper",
        seed=seed,
        num_candidates=300,
        density_choices=(0.6, 0.8, 1.0),
        blocked_choices=(2, 4, 6),
        scenario=ScenarioShape(pref_level=levels),
    )


@cache
def suite(levels: int) -> tuple[Scenario, ...]:
    return build_suite(half(levels))


def of_seed(seed: int) -> Scenario:
    levels = 1 if seed < 400_000 else 3
    return next(scenario for scenario in suite(levels) if scenario.seed == seed)


def fraction(scenario: Scenario) -> float:
    assert scenario.difficulty is not None
    assert scenario.difficulty.feasible_fraction is not None
    return scenario.difficulty.feasible_fraction


@pytest.mark.parametrize(("levels", "seeds"), [(1, UNIFORM), (3, VARIED)])
def test_the_published_tasks_are_chosen_in_their_order(levels: int, seeds: str) -> None:
    assert [scenario.seed for scenario in suite(levels)] == [int(seed) for seed in seeds.split()]


@pytest.mark.parametrize(
    ("levels", "least", "greatest"), [(1, 0.001597, 0.026095), (3, 0.002469, 0.037677)]
)
def test_fractions_lie_where_the_published_ones_lie(
    levels: int, least: float, greatest: float
) -> None:
    fractions = [fraction(scenario) for scenario in suite(levels)]
    assert (min(fractions), max(fractions)) == pytest.approx((least, greatest), abs=5e-7)


@pytest.mark.parametrize("task", TASKS.strip().splitlines(), ids=lambda task: task.split()[0])
def test_a_task_is_the_published_one(task: str) -> None:
    seed, count, witness, optimum, densities, blocked, speakers, free = task.split()
    scenario = of_seed(int(seed))
    assert scenario.difficulty is not None
    assert scenario.difficulty.feasible_count == int(count)
    assert fraction(scenario) == int(count) / math.perm(16, 5)
    assert scenario.witness == dict(zip("12345", map(int, witness.split(",")), strict=True))
    best = solve_best(scenario.problem)
    assert isinstance(best, Optimal)
    assert best.schedule.cost == int(optimum)
    assert scenario.params is not None
    assert scenario.params["density"] == [float(each) for each in densities.split(",")]
    held = [sum(e is not None and e.blocked for e in own) for own in scenario.calendars]  # type: ignore[union-attr]
    assert held == scenario.params["blocked"] == [int(each) for each in blocked.split(",")]
    orders = ["".join(map(str, meeting.speaker_order)) for meeting in scenario.meetings]
    assert orders == speakers.split(",")
    own = scenario.calendars[0]
    assert [slot for slot in range(16) if own[slot] is None] == [int(s) for s in free.split(",")]


def test_costs_are_laid_on_errands_as_published() -> None:
    own = enumerate(of_seed(420081).calendars[0])
    shown = [f"{slot}:{e.shown_cost}{'B' * e.blocked}" for slot, e in own if e is not None]  # type: ignore[union-attr]
    assert " ".join(shown) == COSTS


def test_everybody_has_three_meetings_and_opens_one() -> None:
    for scenario in (*suite(1), *suite(3)):
        seats = [agent for meeting in scenario.meetings for agent in meeting.participants]
        assert sorted(seats) == sorted(3 * [0, 1, 2, 3, 4])
        assert sorted(meeting.speaker_order[0] for meeting in scenario.meetings) == [0, 1, 2, 3, 4]


def test_another_seed_moves_all_seeds_by_a_million_and_draws_other_tasks() -> None:
    fresh = sample_candidate(half(3, seed=2), 217)
    assert fresh.seed == 2_420_000 + 2_017
    assert fresh.calendars != sample_candidate(half(3), 217).calendars


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("num_scenarios", 9),
        ("tertiles", False),
        ("blocked_choices", (0,)),
        ("scenario", ScenarioShape(num_agents=6)),
        ("scenario", ScenarioShape(pref_level=2)),
    ],
)
def test_parameters_that_the_recipe_does_not_have_are_refused(key: str, value: object) -> None:
    fields = half(1).model_dump() | {key: value}
    with pytest.raises(ValidationError, match=rf"recipe is paper, whose {key} is .*sampled"):
        SuiteSpec(**fields)
