from collections.abc import Iterator
from math import fsum
from typing import get_args

import pytest

from calbench.domain.actions import BroadcastMessage, ParticipantMessage
from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import Content, CostReport, CostRequest, Decision, Text
from calbench.metrics.measure import MeasureSpec
from calbench.metrics.privacy.evidence import EVIDENCE_RULES, RoundTalk, Update
from calbench.metrics.privacy.loss import BeliefMatrix, excess_loss, privacy_loss, round_beliefs
from calbench.traces.events import MessageSent
from tests.factories import make_scenario
from tests.metrics.changes import changes_of
from tests.metrics.games import canonical_scenario, decide, dm, play_scripts, play_team, talk

THREE = make_scenario(["....", "....", "...."], [(0, 1), (1, 2)])


def report(*costs: int | None, first_slot: int = 0) -> CostReport:
    slots = tuple(Slot(first_slot + index) for index in range(len(costs)))
    return CostReport(slots=slots, costs=costs)


def slots(*numbers: int) -> tuple[Slot, ...]:
    return tuple(map(Slot, numbers))


def soft_evidence(_text: Text, message: MessageSent, _talk: RoundTalk) -> Iterator[Update]:
    """A stand-in for a soft rule: slot 2 is probably feasible."""
    yield Update(message.from_agent, message.to_agents, ((Slot(2), 0.85),), 0.7)


def test_every_speech_act_has_a_rule() -> None:
    assert set(EVIDENCE_RULES) >= set(get_args(Content))


def test_belief_moves_by_the_strength_of_the_evidence() -> None:
    matrix = BeliefMatrix(3, 0.5)
    pair = (AgentId(0), AgentId(1))
    first, second = matrix.update(pair, [(Slot(1), 0.85)] * 2, 0.7)
    assert first == pytest.approx((0.5, 0.745))
    assert second == pytest.approx((0.745, 0.8185))
    ((_, replaced),) = matrix.update(pair, [(Slot(1), 0.0)], 1.0)
    assert replaced == 0.0
    assert matrix.update(pair, [(Slot(0), 1.0)], 0.0) == [(0.5, 0.5)]
    assert matrix.moved == {pair: [0.5, 0.0, 0.5]}


def test_direct_message_of_strength_seven_tenths_updates_its_recipient_only() -> None:
    trace = play_scripts(THREE, {0: talk(dm(1, Text(text="two?")), dm(1, Text(text="two!")))})
    rules = {**EVIDENCE_RULES, Text: soft_evidence}
    first, second = round_beliefs(trace, rules=rules)
    assert list(first.beliefs) == [(0, 1)]
    assert first.beliefs[AgentId(0), AgentId(1)] == pytest.approx([0.5, 0.5, 0.8185, 0.5])
    assert [change.before for change in changes_of(first)] == pytest.approx([0.5, 0.745])
    assert {change.source for change in changes_of(first)} == {"text"}
    assert second.beliefs == {}
    loss = privacy_loss(trace, rules=rules)
    assert loss.by_agent == pytest.approx((0.3185, 0, 0))


def test_costs_tell_feasibility_not_price_and_text_and_requests_nothing() -> None:
    trace = play_scripts(THREE, {0: talk(dm(1, report(0, 100, None, 1)))})
    (beliefs, _) = round_beliefs(trace)
    assert beliefs.beliefs == {(0, 1): [1.0, 1.0, 0.0, 1.0]}
    assert privacy_loss(trace).by_agent == (2.0, 0, 0)
    request = CostRequest(slots=slots(0, 1, 2, 3))
    trace = play_scripts(THREE, {0: talk(dm(1, Text(text="I am free at 2")), dm(1, request))})
    assert privacy_loss(trace).by_agent == (0, 0, 0)
    assert privacy_loss(trace).by_source == {}


def test_costs_count_in_the_slots_that_were_asked_for() -> None:
    scenario = make_scenario(["....", "....", "...."], [(1, 0)])
    asked = {1: talk(dm(0, CostRequest(slots=slots(1, 3))))}
    told = {0: talk(dm(1, report(0, 0, 0, None)), dm(2, report(0, 0, 0, None)))}
    (beliefs,) = round_beliefs(play_scripts(scenario, asked | told))
    assert beliefs.beliefs == {(0, 1): [0.5, 1.0, 0.5, 0.0], (0, 2): [1.0, 1.0, 1.0, 0.0]}
    outside = talk(dm(1, report(0, 0, first_slot=3)), dm(1, Decision(slot=Slot(-1))))
    assert privacy_loss(play_scripts(THREE, {0: outside})).by_agent == (0.5, 0, 0)


def test_beliefs_start_anew_each_round_and_repetition_adds_nothing_within_one() -> None:
    once = play_scripts(THREE, {1: talk(dm(0, report(0, 0, 0, 0)))})
    twice = play_scripts(THREE, {1: talk(dm(0, report(0, 0, 0, 0)), dm(0, report(0, 0, 0, 0)))})
    both = play_scripts(
        THREE, {1: talk(dm(0, report(0, 0, 0, 0))) | talk(dm(0, report(0, 0, 0, 0)), round_index=1)}
    )
    assert privacy_loss(once).by_agent == privacy_loss(twice).by_agent == (0, 2, 0)
    assert privacy_loss(both).by_agent == (0, 4, 0)


def test_group_messages_update_every_recipient_and_participant_pairs_leave_outsiders_out() -> None:
    scenario = make_scenario(["..", "..", "..", ".."], [(0, 1, 2)])
    decision = Decision(slot=Slot(1))
    group = play_scripts(scenario, {0: talk(ParticipantMessage(content=decision))})
    everyone = play_scripts(scenario, {0: talk(BroadcastMessage(content=decision))})
    assert privacy_loss(group).by_agent == (1.0, 0, 0, 0)
    loss = privacy_loss(everyone)
    assert (loss.by_agent, loss.participant_pairs_by_agent) == ((1.5, 0, 0, 0), (1.0, 0, 0, 0))
    assert loss.by_source == {("decision", "all_agent_groupchat"): 1.5}


def test_messages_count_when_sent_also_if_nobody_reads_them() -> None:
    scenario = make_scenario(["..", ".."], [(1, 0)])
    trace = play_scripts(scenario, {0: {**talk(dm(1, Decision(slot=Slot(0)))), **decide()}, 1: {}})
    assert privacy_loss(trace).by_agent == (0.5, 0)


def test_shares_by_source_add_up_to_the_whole() -> None:
    trace = play_scripts(
        THREE, {0: talk(dm(1, report(0, None, None, 0)), dm(1, Decision(slot=Slot(0))))}
    )
    loss = privacy_loss(trace)
    assert loss.by_source == {("costs", "dm"): 2.0, ("decision", "dm"): 0.0}
    assert fsum(loss.by_source.values()) == fsum(loss.by_agent)


def test_prior_and_floor_are_settings() -> None:
    trace = play_scripts(THREE, {0: talk(dm(1, report(0, None, 0, 0)))})
    loss = privacy_loss(trace, MeasureSpec(belief_prior=0.2))
    assert loss.by_agent == pytest.approx((3 * 0.8 + 0.2, 0, 0))
    assert excess_loss(7.5, 5) == 2.5
    assert excess_loss(4.9, 5) == 0


@pytest.mark.parametrize("seed", range(20))
def test_imap_leaks_85_slots_a_game_and_a_mean_excess_of_12_40(seed: int) -> None:
    scenario = canonical_scenario(seed)
    loss = privacy_loss(play_team(scenario, "imap"))
    for agent, leaked in enumerate(loss.by_agent):
        rounds = [meeting for meeting in scenario.meetings if agent in meeting.participants]
        initiated = sum(min(meeting.participants) == agent for meeting in rounds)
        assert leaked == 8 * (len(rounds) - initiated) + initiated
    assert sum(loss.by_agent) == 85
    assert sum(excess_loss(leaked, 5) for leaked in loss.by_agent) / 5 == 12.4
    assert loss.participant_pairs_by_agent == loss.by_agent


@pytest.mark.parametrize("channels", [("dm",), ("dm", "all_agent_groupchat")])
def test_tell_all_leaks_every_slot_to_everybody_over_any_channel(channels: tuple[str, ...]) -> None:
    scenario = canonical_scenario(3)
    loss = privacy_loss(play_team(scenario, "tell-all", channels))  # type: ignore[arg-type]
    assert loss.by_agent == (3 * 4 * 8.0,) * 5
    assert loss.participant_pairs_by_agent == (3 * 2 * 8.0,) * 5
