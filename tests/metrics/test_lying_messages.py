"""Typed messages that lie in shape: whatever they hold, their game has a score."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.domain.actions import BroadcastMessage, DirectMessage
from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import (
    Content,
    CostReport,
    CostRequest,
    MeetingMove,
    OfferedPlan,
    Own,
    PartialSum,
    Scores,
    Share,
    Text,
)
from calbench.metrics.game import score_game
from calbench.metrics.privacy.loss import privacy_loss, round_beliefs
from calbench.traces.events import DmSent
from calbench.traces.models import Trace
from tests.engine import scripts
from tests.factories import make_scenario
from tests.metrics.games import Script, dm, play_scripts, talk

NUM_SLOTS = 4
GAME = make_scenario(["E1...", "...E2", "....", "...."], [(0, 1, 2), (1, 2)])
TYPED: tuple[type[Any], ...] = tuple(
    kind
    for kind in get_args(Content)
    if kind not in {Text, Own}  # what is somebody's own has no score without their rule
)

numbers = st.integers(-2, NUM_SLOTS + 8) | st.sampled_from([-(2**70), 2**40 - 87, 2**64, 10**400])
vectors = st.lists(numbers, max_size=NUM_SLOTS + 2).map(tuple)
moves = st.builds(MeetingMove, meeting_id=numbers, from_slot=numbers, to_slot=numbers, cost=numbers)
plans = st.builds(
    OfferedPlan,
    plan_id=numbers,
    slot=numbers,
    moves=st.lists(moves, max_size=2).map(tuple),
    vacated=vectors,
)
VALUES: Mapping[str, st.SearchStrategy[object]] = {
    "slots": vectors,
    "costs": st.lists(numbers | st.none(), max_size=NUM_SLOTS + 2).map(tuple),
    "values": vectors | st.lists(numbers, min_size=NUM_SLOTS, max_size=NUM_SLOTS).map(tuple),
    "plan_ids": vectors,
    "scores": vectors,
    "plans": st.lists(plans, max_size=3).map(tuple),
    "moves": st.lists(moves, max_size=2).map(tuple),
    "status": st.sampled_from(["PENDING", "IMPOSSIBLE"]),
}


def contents() -> st.SearchStrategy[object]:
    """Every speech act, in any shape that its record can hold."""
    return st.one_of(
        *(
            st.builds(
                kind,
                **{
                    field.name: VALUES.get(field.name, numbers)
                    for field in fields(kind)
                    if field.name != "kind"
                },
            )
            for kind in TYPED
        )
    )


actions = st.builds(BroadcastMessage, content=contents()) | st.builds(
    DirectMessage, to=st.integers(0, 3), content=contents()
)


@pytest.mark.heavy
@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), actions), max_size=8))
def test_messages_never_keep_a_game_from_its_score(
    said: list[tuple[int, BroadcastMessage | DirectMessage]],
) -> None:
    turns: dict[int, Script] = {}
    for agent, action in said:
        mine = turns.setdefault(agent, {})
        mine[scripts.talk(len(mine))] = [action]
    trace = play_scripts(GAME, turns)
    read = Trace.model_validate_json(trace.model_dump_json())
    score = score_game(read)
    assert all(agent.vps is not None and 0 <= agent.vps <= 24 for agent in score.agents)
    for beliefs in round_beliefs(read):
        assert all(0 <= b <= 1 for vector in beliefs.beliefs.values() for b in vector)


def slots(*slot_numbers: int) -> tuple[Slot, ...]:
    return tuple(map(Slot, slot_numbers))


def with_word_of_an_outsider(trace: Trace, *values: int) -> Trace:
    """Let agent 3, whom the rules give no turn, send a partial sum after all others."""
    last = max(i for i, event in enumerate(trace.events) if isinstance(event, DmSent))
    sent = trace.events[last]
    assert isinstance(sent, DmSent)
    word = replace(sent, from_agent=AgentId(3), content=PartialSum(values=values))
    events = (*trace.events[: last + 1], word, *trace.events[last + 1 :])
    return trace.model_copy(update={"events": events})


SHARED = [dm(to, Share(values=(1,) * NUM_SLOTS)) for to in (1, 2)]
PARTS = [dm(0, Share(values=(2,) * NUM_SLOTS)), dm(0, PartialSum(values=(3,) * NUM_SLOTS))]
WHOLE = {0: talk(*SHARED), 1: talk(*PARTS), 2: talk(*PARTS)}


def test_outsider_adds_nothing_to_a_total_whatever_its_length() -> None:
    trace = play_scripts(GAME, WHOLE)
    for length in (0, 1, NUM_SLOTS, 7):
        heard = with_word_of_an_outsider(trace, *range(length))
        assert privacy_loss(heard) == privacy_loss(trace)


def test_partial_sum_of_another_length_does_not_stand_in_the_way_of_a_whole_one() -> None:
    short = dm(0, PartialSum(values=(3,)))
    first_short = {**WHOLE, 2: talk(short, *PARTS)}
    never_whole = {**WHOLE, 2: talk(PARTS[0], short)}
    assert privacy_loss(play_scripts(GAME, WHOLE)).by_agent == (0, 2, 2, 0)
    assert privacy_loss(play_scripts(GAME, first_short)).by_agent == (0, 2, 2, 0)
    assert privacy_loss(play_scripts(GAME, never_whole)).by_agent == (0, 0, 0, 0)


def test_costs_and_scores_count_as_far_as_they_name_slots() -> None:
    asked = CostRequest(slots=slots(0, 1, 2, 99))
    costs = CostReport(slots=slots(0, 99, -1, 2), costs=(None, 1, 1))
    nameless = Scores(plan_ids=(9,), scores=(10**400,))
    trace = play_scripts(GAME, {1: talk(dm(0, asked)), 0: talk(dm(1, costs), dm(1, nameless))})
    assert privacy_loss(trace).by_agent == (0.5, 0, 0, 0)
