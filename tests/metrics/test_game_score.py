from dataclasses import replace

import pytest
from pydantic import ValidationError

from calbench.domain.messages import Text
from calbench.metrics.game import GameScore, score_game
from calbench.metrics.measure import MeasureSpec
from calbench.oracle.cache import OracleCache
from calbench.scenarios.parameters import ScenarioParameters
from calbench.scenarios.sampling import sample_scenario
from calbench.traces.events import Outcome
from calbench.traces.models import Trace
from tests.factories import make_scenario
from tests.metrics.games import (
    book,
    canonical_scenario,
    decide,
    dm,
    move,
    play_random,
    play_scripts,
    play_team,
    talk,
    with_outcome,
)
from tests.metrics.language_games import halted


def failing_game() -> Trace:
    """Agent 0 pays for a meeting that fails, agent 1 books another slot, agent 2 has none."""
    scenario = make_scenario(["E2...", "....", "...."], [(0, 1)])
    return play_scripts(
        scenario,
        {
            0: talk(dm(1, Text(text="slot 0"))) | decide(move(101, 0, 3), book(1, 0)),
            1: decide(book(1, 2)),
        },
    )


def test_agents_without_success_keep_their_cost_and_have_no_oracle_cost() -> None:
    first, second, outsider = score_game(failing_game()).agents
    assert (first.assigned, first.scheduled, first.messages_sent) == (1, 0, 1)
    assert (first.cost, first.oracle_cost, first.excess_cost) == (2, 0, 2)
    assert first.adjusted_excess_cost == 4  # E 2, U/M 1, Cmax 2, Cmin 0, M 1
    assert second.adjusted_excess_cost == 0
    assert (first.cost_range, second.cost_range) == (2, 0)
    assert (outsider.assigned, outsider.adjusted_excess_cost) == (0, None)
    assert [agent.burden_gap for agent in (first, second, outsider)] == pytest.approx(
        [4 / 3, 2 / 3, 2 / 3]
    )
    # What a typed agent says in free text leaves its loss unknown.
    assert (first.vps_kind, first.vps, first.excess_vps, first.vps_participants) == (None,) * 4
    for agent in (second, outsider):
        assert (agent.vps_kind, agent.vps, agent.excess_vps) == ("protocol", 0.0, 0.0)


def test_adjusted_excess_is_absent_without_a_complete_schedule() -> None:
    scenario = make_scenario(["B.", ".B"], [(0, 1)])
    score = score_game(play_team(scenario, "first-free"))
    assert [agent.adjusted_excess_cost for agent in score.agents] == [None, None]
    assert score.meetings[0].outcome == "inconsistent_slots"


def test_score_reads_neither_stored_metrics_nor_final_state() -> None:
    trace = play_team(canonical_scenario(5), "imap")
    altered = trace.model_copy(
        update={
            "metrics": trace.metrics.model_copy(update={"realised_cost": 999, "messages": 999}),
            "final_state": trace.final_state.model_copy(
                update={"cost_by_agent": (999,) * 5, "round_outcomes": ()}
            ),
        }
    )
    assert score_game(altered) == score_game(trace)


def test_score_of_an_imap_game_is_whole() -> None:
    score = score_game(play_team(canonical_scenario(7), "imap"))
    assert score.num_scheduled == score.num_meetings == 5
    assert [agent.messages_sent for agent in score.agents] != [0] * 5
    assert sum(agent.messages_sent for agent in score.agents) == 30
    assert sum(agent.excess_vps or 0 for agent in score.agents) / 5 == 12.4
    assert sum(share.vps for share in score.vps_shares) == 85
    assert {(share.source, share.channel) for share in score.vps_shares} == {
        ("costs", "dm"),
        ("decision", "dm"),
    }
    assert score.cost - score.oracle_cost == score.excess_cost >= 0


def fairness_ends(score: GameScore) -> tuple[float, float]:
    """Return the ends of the range of fairness, which holds the canonical one."""
    assert score.fairness_least is not None
    assert score.fairness_greatest is not None
    assert score.fairness_least <= score.fairness <= score.fairness_greatest
    return score.fairness_least, score.fairness_greatest


def test_sampled_sensitivity_is_marked() -> None:
    trace = next(
        trace
        for seed in range(50)
        if (trace := play_team(canonical_scenario(seed), "imap"))
        and len(set(fairness_ends(score_game(trace)))) == 2
    )
    score = score_game(trace, measure=MeasureSpec(fairness_sample_limit=1))
    assert score.is_fairness_sampled
    assert score.fairness_vectors in {1, 2}  # that of the canonical schedule may be another
    fairness_ends(score)


@pytest.fixture(scope="module")
def crowded() -> Trace:
    """A game of fifteen meetings, all of them costly to somebody."""
    parameters = ScenarioParameters(
        num_agents=5,
        num_slots=24,
        num_meetings=15,
        participants_per_meeting=3,
        density=0.6,
        blocked=1,
    )
    scenario = sample_scenario(parameters, seed=1, scenario_id="crowded", setting="crowded")
    trace = play_team(scenario, "imap")
    assert score_game(trace).num_scheduled == 15
    return trace


def test_sensitivity_beyond_fourteen_meetings_is_sampled_if_asked_for(crowded: Trace) -> None:
    whole = score_game(crowded)
    names = ("fairness_least", "fairness_greatest", "is_fairness_sampled", "fairness_vectors")
    left_out = dict.fromkeys(names, None)
    assert {name: getattr(whole, name) for name in names} == left_out
    assert whole.fairness >= 0
    measure = MeasureSpec(fairness_sensitivity="sampled", fairness_sample_limit=20)
    score = score_game(crowded, measure=measure)
    fairness_ends(score)
    assert score.is_fairness_sampled
    assert score.fairness_vectors in {20, 21}
    assert replace(score, **left_out) == whole


@pytest.mark.parametrize("outcome", ["provider_fault", "budget_stop"])
def test_games_nobody_is_to_blame_for_are_excluded(outcome: Outcome) -> None:
    trace = play_team(canonical_scenario(1), "imap")
    assert not score_game(trace).is_excluded
    assert score_game(with_outcome(trace, outcome)).is_excluded
    late = score_game(halted(trace))  # after its last resolution
    assert (late.num_scheduled, late.is_excluded) == (5, True)


def test_a_cache_does_not_change_the_score() -> None:
    cache = OracleCache()
    trace = play_random(canonical_scenario(2), 11)
    assert score_game(trace, oracle=cache) == score_game(trace, oracle=cache) == score_game(trace)


@pytest.mark.parametrize("settings_", [{"prior": 0.5}, {"belief_prior": 1.5}, {"vps_floor": -1.0}])
def test_measure_refuses_what_it_does_not_know(settings_: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        MeasureSpec.model_validate(settings_)
