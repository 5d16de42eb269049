"""What DSM's speech acts tell (paper, appendix F.2, Table 10), worked out by hand."""

from collections.abc import Sequence

import pytest

from calbench.config.composition import compose_team
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import MeetingMove, OfferedPlan, PlanDecision, Proposals, Scores
from calbench.engine.drivers import run
from calbench.engine.seating import seat_policies
from calbench.metrics.privacy.loss import privacy_loss, round_beliefs
from calbench.scenarios.models import Scenario
from calbench.traces.events import DmSent
from calbench.traces.models import GameConfig, Limits, Trace
from tests.benchmarks.test_engine_benchmarks import sampled
from tests.factories import make_scenario
from tests.metrics.changes import changes_of
from tests.metrics.games import dm, play_scripts, talk

THREE = make_scenario(["....", "....", "...."], [(0, 1), (1, 2)])


def offer(*slots: int, first_id: int = 0) -> Proposals:
    return Proposals(
        plans=tuple(
            OfferedPlan(plan_id=plan_id, slot=Slot(slot), moves=(), vacated=())
            for plan_id, slot in enumerate(slots, first_id)
        )
    )


def scores(*levels: int, first_id: int = 0) -> Scores:
    return Scores(plan_ids=tuple(range(first_id, first_id + len(levels))), scores=tuple(levels))


def beliefs(trace: Trace, target: int, observer: int) -> Sequence[float] | None:
    return next(iter(round_beliefs(trace))).beliefs.get((AgentId(target), AgentId(observer)))


def test_proposals_tell_that_each_distinct_slot_is_feasible() -> None:
    trace = play_scripts(THREE, {0: talk(dm(1, offer(2, 0, 2)), dm(2, offer(3)))})
    assert beliefs(trace, 0, 1) == [1, 0.5, 1, 0.5]
    assert beliefs(trace, 0, 2) == [0.5, 0.5, 0.5, 1]
    assert [change.slot for change in changes_of(next(iter(round_beliefs(trace))))] == [2, 0, 3]
    assert privacy_loss(trace).by_agent == (1.5, 0, 0)


def test_scores_tell_the_level_of_the_slot_of_each_plan() -> None:
    trace = play_scripts(
        THREE,
        {
            0: talk(dm(1, offer(2, 0, 1)), dm(2, offer(2, 0, 1))),
            1: talk(dm(0, scores(11, 0, 1))),
            2: talk(dm(0, scores(10, 5, 0))),
        },
    )
    assert beliefs(trace, 1, 0) == pytest.approx([0, 1 / 11, 1, 0.5])
    assert beliefs(trace, 2, 0) == pytest.approx([5 / 11, 0, 10 / 11, 0.5])


def test_last_plan_of_a_slot_stands_in_the_order_of_the_offer() -> None:
    offered = Proposals(
        plans=tuple(
            OfferedPlan(plan_id=plan_id, slot=Slot(slot), moves=(), vacated=())
            for plan_id, slot in ((5, 1), (3, 1), (4, 2))
        )
    )
    answer = Scores(plan_ids=(3, 4, 5), scores=(4, 11, 9))
    trace = play_scripts(THREE, {0: talk(dm(1, offered)), 1: talk(dm(0, answer))})
    assert beliefs(trace, 1, 0) == pytest.approx([0.5, 4 / 11, 1, 0.5])


def test_scores_of_a_further_batch_find_its_slots() -> None:
    trace = play_scripts(
        THREE,
        {
            0: talk(dm(1, offer(2)), dm(1, offer(0, first_id=1))),
            1: talk(dm(0, scores(0)), dm(0, scores(11, first_id=1))),
        },
    )
    assert beliefs(trace, 1, 0) == [1, 0.5, 0, 0.5]


def test_scores_tell_no_more_than_the_offer_they_answer() -> None:
    told = {0: talk(dm(2, offer(1))), 1: talk(dm(0, scores(11))), 2: talk(dm(1, scores(11)))}
    trace = play_scripts(THREE, told)
    assert beliefs(trace, 1, 0) is None, "without an offer"
    assert beliefs(trace, 2, 1) is None
    told = {0: talk(dm(1, offer(1, 2, 9))), 1: talk(dm(0, scores(99, -3, 11, 11)))}
    assert beliefs(play_scripts(THREE, told), 1, 0) == [0.5, 1, 0, 0.5]
    # Automatic scores of outsiders count.
    trace = play_scripts(THREE, {0: talk(dm(2, offer(1, 2))), 2: talk(dm(0, scores(11, 11)))})
    loss = privacy_loss(trace)
    assert list(loss.by_agent) == [1, 0, 1]
    assert list(loss.participant_pairs_by_agent) == [0, 0, 0]


def test_decision_tells_that_its_slot_is_feasible_also_to_outsiders() -> None:
    move = MeetingMove(meeting_id=MeetingId(2), from_slot=Slot(1), to_slot=Slot(2), cost=1)
    decision = PlanDecision(plan_id=0, slot=Slot(1), moves=(move,))
    trace = play_scripts(THREE, {0: talk(dm(1, decision), dm(2, decision))})
    assert beliefs(trace, 0, 1) == beliefs(trace, 0, 2) == [0.5, 1, 0.5, 0.5]
    assert privacy_loss(trace).by_agent == (1, 0, 0)


def played(scenario: Scenario, name: str) -> Trace:
    team = compose_team(name)
    config = GameConfig(team=team, channels=("dm",), limits=Limits())
    return run(scenario, config, seat_policies(team, scenario.num_agents))


def test_private_game_loses_ten_slots_less_an_eleventh_for_each_errand() -> None:
    # A round: one slot told to two, 2 * 0.5, and two scores of 0 or 11, 2 * 0.5; a score of
    # 10, or of 1, moves a belief by 9/22 only.
    for scenario in sampled((5, 3, 5, 16), 8):
        trace = played(scenario, "dsm-private")
        errands = sum(
            event.content.scores[0] not in {0, 11}
            for event in trace.events
            if isinstance(event, DmSent) and isinstance(event.content, Scores)
        )
        assert trace.metrics.messages == 30
        assert sum(privacy_loss(trace).by_agent) == pytest.approx(10 - errands / 11)
