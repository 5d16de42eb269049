"""Suites: which candidates are chosen, how they are named, and what they carry."""

import hashlib
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.config.composition import compose
from calbench.errors import GenerationError
from calbench.oracle.solve import Optimal, solve_best
from calbench.pool import Pool
from calbench.scenarios.certificates import false_statements
from calbench.scenarios.difficulty import (
    completed,
    obstacles,
    tertile_choice,
    with_difficulty,
    with_oracle,
)
from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import ScenarioShape, SuiteSpec
from calbench.scenarios.sampling import sample_scenario
from calbench.scenarios.storage import read_suite, write_suite
from calbench.scenarios.suites import build_suite, build_suites, sample_candidate
from tests.analysis.small_run import Elsewhere
from tests.effort import examples
from tests.factories import make_scenario
from tests.metrics.games import canonical_scenario

MANY = SuiteSpec(
    setting="many",
    num_scenarios=1,
    tertiles=False,
    density=0.75,
    blocked=4,
    scenario=ScenarioShape(
        num_agents=8, num_slots=40, num_meetings=16, num_prior_meetings=4, pref_level=3
    ),
)
"""More meetings than are counted or searched."""


def spec_of(name: str) -> SuiteSpec:
    return compose([f"suite={name}"]).suite


def fraction_of(scenario: Scenario) -> float:
    assert scenario.difficulty is not None
    assert scenario.difficulty.feasible_fraction is not None
    return scenario.difficulty.feasible_fraction


@pytest.fixture(scope="module", params=["uniform", "varied"])
def former(request: pytest.FixtureRequest) -> tuple[SuiteSpec, tuple[Scenario, ...]]:
    """A former canonical suite under the name that it had."""
    spec = spec_of(f"former-{request.param}").model_copy(update={"setting": request.param})
    return spec, build_suite(spec)


def test_tertile_choice_takes_the_stated_ranks_of_150_candidates() -> None:
    fractions = [1 - index / 150 for index in range(150)]
    ranks = [0, 4, 7, 10, 14, 18, 21, 24, 28, 32, 35, 38, 42, 46, 49]
    chosen = tertile_choice(fractions, 45)
    assert [number for number, _ in chosen] == [50 * third + r for third in range(3) for r in ranks]
    assert [tertile for _, tertile in chosen] == ["easy"] * 15 + ["medium"] * 15 + ["hard"] * 15
    assert [number for number, _ in tertile_choice([0.5] * 9, 9)] == list(range(9)), "ties"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.data())
def test_tertile_choice_takes_distinct_candidates_from_easy_to_hard(
    fractions: list[float], data: st.DataObject
) -> None:
    num_chosen = data.draw(st.integers(1, len(fractions)))
    chosen = [number for number, _ in tertile_choice(fractions, num_chosen)]
    values = [fractions[number] for number in chosen]
    assert len(set(chosen)) == len(chosen) == num_chosen
    assert values == sorted(values, reverse=True)
    if num_chosen >= 6:
        assert (values[0], values[-1]) == (max(fractions), min(fractions))


def test_former_suite_has_what_it_says(
    former: tuple[SuiteSpec, tuple[Scenario, ...]],
) -> None:
    spec, suite = former
    assert [s.scenario_id for s in suite] == [f"{spec.setting}-{n:03d}" for n in range(45)]
    tertiles = [s.difficulty.tertile for s in suite if s.difficulty is not None]
    assert tertiles == ["easy"] * 15 + ["medium"] * 15 + ["hard"] * 15
    fractions = [fraction_of(s) for s in suite]
    assert fractions == sorted(fractions, reverse=True)
    assert len({s.seed for s in suite}) == 45
    assert all(s.seed < 2**53 for s in suite)
    # The hardest and the easiest candidate are in it; density and blocked differ by agent.
    every = [fraction_of(with_difficulty(sample_candidate(spec, n))) for n in range(150)]
    assert (fractions[0], fractions[-1]) == (max(every), min(every))
    params = [s.params for s in suite if s.params is not None]
    assert {density for p in params for density in p["density"]} == {0.60, 0.75, 0.90}
    assert {blocked for p in params for blocked in p["blocked"]} == {2, 4, 6}
    assert len({tuple(p["density"]) for p in params}) > 30
    for scenario in suite:
        oracle = scenario.oracle
        assert oracle is not None
        assert oracle.infeasible is None
        assert oracle.best is not None
        assert oracle.worst is not None
        assert oracle.witness_cost is not None
        assert oracle.best.cost <= oracle.witness_cost <= oracle.worst.cost
        if spec.setting == "uniform":
            assert oracle.witness_cost == 15


def test_former_suite_gives_the_golden_bytes(
    former: tuple[SuiteSpec, tuple[Scenario, ...]], tmp_path: Path
) -> None:
    spec, suite = former
    path = tmp_path / "suite.jsonl"
    write_suite(path, suite)
    assert read_suite(path) == suite
    assert hashlib.sha256(path.read_bytes()).hexdigest() == GOLDEN[spec.setting]


def test_suite_scenarios_are_reproduced_by_their_seed_and_parameters() -> None:
    spec = spec_of("taste")
    for scenario in build_suite(spec):
        assert scenario.params is not None
        p = scenario.params
        again = sample_scenario(
            spec.parameters(tuple(p["density"]), tuple(p["blocked"])),
            seed=scenario.seed,
            scenario_id=scenario.scenario_id,
            setting=scenario.setting,
        )
        assert again.play_digest == scenario.play_digest


def test_suite_reports_progress() -> None:
    spec, steps = spec_of("former-uniform"), Counter[str]()
    done, drawn = (partial(steps.update, [name]) for name in ("done", "drawn"))
    few = spec.model_copy(update={"num_candidates": 50})
    build_suites([("named", few)], done=done, drawn=drawn)
    assert steps == {"done": 45, "drawn": 50}


def test_suites_are_the_same_wherever_they_are_built(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    write_suite(file, [make_scenario([".E2.", "E3.."], [(1, 0)])])
    few = {"num_scenarios": 7, "num_candidates": 30}
    suites = [
        ("one", spec_of("former-varied").model_copy(update=few)),
        ("mine", SuiteSpec(setting="mine", path=str(file))),
        ("taken", spec_of("taste").model_copy(update={"tertiles": False})),
        ("other", spec_of("former-varied").model_copy(update=few)),
    ]
    expected: list[float] = []

    def provide(seconds: float) -> AbstractContextManager[Pool]:
        expected.append(seconds)
        return nullcontext(Pool(Elsewhere(), 3))

    built = build_suites(suites, provide)
    assert built == build_suites(suites)
    assert [len(suite) for suite in built] == [7, 1, 3, 7]
    assert [s.seed for s in built[0]] == [s.seed for s in built[3]]
    assert len(expected) == 1
    assert expected[0] > 0


@pytest.mark.heavy
def test_suite_with_uncounted_meetings_has_no_tertiles() -> None:
    spec = SuiteSpec(
        setting="many",
        num_scenarios=2,
        tertiles=False,
        density=0.5,
        blocked=2,
        scenario=ScenarioShape(num_agents=15, num_slots=16, num_meetings=15),
    )
    for scenario in build_suite(spec):
        assert scenario.difficulty is not None
        assert scenario.difficulty.feasible_fraction is None
        assert scenario.difficulty.tertile is None
        assert scenario.difficulty.reason
        assert scenario.difficulty.estimate is not None
        assert 0 < scenario.difficulty.estimate.low <= scenario.difficulty.estimate.high < 1
        assert scenario.oracle is not None
        assert scenario.oracle.best is not None
    with pytest.raises(GenerationError, match="set tertiles to false"):
        build_suite(spec.model_copy(update={"tertiles": True}))


@pytest.mark.heavy
def test_suite_without_estimates_differs_in_nothing_else() -> None:
    (estimated,) = build_suite(MANY)
    (bare,) = build_suite(MANY.model_copy(update={"estimates": False}))
    assert bare.difficulty is not None
    assert "estimate" not in bare.model_dump()["difficulty"]
    assert bare.play_digest == estimated.play_digest
    assert completed([bare]) == (bare,)
    assert completed([bare.updated(difficulty=None)]) == (estimated,)


def test_suite_of_bounded_effort_states_bounds_that_hold(tmp_path: Path) -> None:
    (proven,) = build_suite(MANY)
    (stopped,) = build_suite(MANY.model_copy(update={"oracle_effort": 0.01}))
    assert proven.oracle is not None
    assert stopped.oracle is not None
    assert proven.oracle.is_proven
    assert proven.oracle.optimal_cost is not None
    assert not stopped.oracle.is_proven
    assert stopped.oracle.effort == 0.01
    for name, sign in (("best", 1), ("worst", -1)):
        known, found = getattr(proven.oracle, name), getattr(stopped.oracle, name)
        bound = found.cost if found.bound is None else found.bound
        assert sign * bound <= sign * known.cost <= sign * found.cost
        assert found.gap == abs(found.cost - bound)
    assert list(false_statements(stopped)) == []
    path = tmp_path / "stopped.jsonl"
    write_suite(path, [stopped])
    assert read_suite(path) == (stopped,)


def test_effort_that_finds_nothing_is_one_line() -> None:
    with pytest.raises(GenerationError, match="oracle_effort=1e-09 ended before any"):
        build_suite(MANY.model_copy(update={"oracle_effort": 1e-9}))


def test_suite_from_a_file_is_read_and_completed(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    write_suite(path, [make_scenario([".E2.", "E3.."], [(1, 0)])])
    (scenario,) = build_suite(SuiteSpec(setting="mine", path=str(path)))
    assert scenario.scenario_id == "test-000"
    assert scenario.difficulty is not None
    assert scenario.difficulty.feasible_fraction == 1.0
    assert scenario.oracle is not None
    assert scenario.oracle.best is not None
    assert scenario.oracle.best.slots == {"1": 2}


def test_completed_keeps_what_a_scenario_brings() -> None:
    done = with_oracle(make_scenario([".E2.", "E3.."], [(1, 0)]))
    assert completed([done]) == (done,)
    assert completed([done.updated(difficulty=None)]) == (done,)
    assert completed([done.updated(oracle=None)]) == (done,)


def test_completed_says_why_a_scenario_has_no_oracle() -> None:
    (scenario,) = completed([make_scenario(["B1.", ".B1"], [(0, 1)], witness={"1": 0})])
    assert scenario.oracle is not None
    assert scenario.oracle.best is None
    assert scenario.oracle.worst is None
    assert scenario.oracle.infeasible
    assert scenario.oracle.greedy_cost is None
    assert scenario.oracle.witness_cost is None
    assert fraction_of(scenario) == 0.0


GOLDEN = {
    "uniform": "6fcc1faf9d0ee8554bff2c9c662b0433e3b799902c8900049b3322a0c5e33ff0",
    "varied": "4b2abe70cfa7f13f3238b3171e58be4ae782b44fb417ecfd61009ceb2644ee0d",
}
"""Digests of the canonical suite files; a change of these is a new suite."""


def test_obstacles_by_hand() -> None:
    # The first two meetings share agent 1 and want slot 1; the third has slots 1 and 2 for nothing.
    scenario = make_scenario(["E..", "E.E", "E.."], [(0, 1), (1, 2), (2,)])
    found = obstacles(scenario.problem)
    assert (found.cheapest_cost, found.clashes) == (0, 1 + 1 / 2)
    nowhere = make_scenario(["B.", ".B"], [(0, 1)])
    assert obstacles(nowhere.problem) == (None, None, None)


@given(st.integers(0, 10**6))
@settings(max_examples=examples(20))
def test_no_schedule_is_cheaper_than_every_meeting_by_itself(seed: int) -> None:
    problem = canonical_scenario(seed).problem
    found, best = obstacles(problem), solve_best(problem)
    assert isinstance(best, Optimal)
    assert found.cheapest_cost is not None
    assert found.greedy_cost is None or found.greedy_cost >= best.schedule.cost
    assert found.cheapest_cost <= best.schedule.cost
    assert found.clashes is not None
    if not found.clashes and not problem.prior_meetings:
        assert found.cheapest_cost == best.schedule.cost
