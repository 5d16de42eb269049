"""DSM against games worked out by hand (paper, appendix D.3)."""

import json
from typing import Any

import pytest

from calbench.domain.actions import PASS, DirectMessage
from calbench.domain.calendars import HiddenMeeting
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import MeetingMove, OfferedPlan, PlanDecision, Proposals, Scores
from calbench.domain.observations import Phase
from calbench.engine.drivers import run
from calbench.protocols.base import JUSTIFICATION
from calbench.protocols.dsm import Dsm
from calbench.scenarios.models import Scenario
from calbench.traces.events import BatchApplied, DmSent, Resolution, TurnEnd
from calbench.traces.models import Trace
from tests.engine.scripts import book, game_config, move
from tests.factories import make_scenario
from tests.protocols.observations import message, observation

PRIVATE: dict[str, Any] = {
    "lmax": 2,
    "beta": 0.25,
    "theta": 10.0,
    "w": 0.25,
    "depth": 1,
    "targets": 2,
    "batches": "single",
}


def play(scenario: Scenario, *, max_turns: int = 15, retries: int = 3, **settings: Any) -> Trace:
    config = game_config("dsm", ("dm",), max_turns=max_turns, retries=retries)
    return run(scenario, config, [Dsm(**settings) for _ in range(scenario.num_agents)])


def sent(trace: Trace) -> list[tuple[int, int, int, object]]:
    """Return (sweep, sender, recipient, gist) of every message.

    The gist of an offer is its (id, slot) pairs, of scores its numbers, of an announcement
    (id, slot).
    """
    gists: list[tuple[int, int, int, object]] = []
    for event in trace.events:
        if isinstance(event, DmSent):
            content = event.content
            gist: object = content
            if isinstance(content, Proposals):
                gist = [(plan.plan_id, plan.slot) for plan in content.plans]
            elif isinstance(content, Scores):
                gist = dict(zip(content.plan_ids, content.scores, strict=True))
            elif isinstance(content, PlanDecision):
                gist = (content.plan_id, content.slot)
            gists.append((event.turn, event.from_agent, event.to_agents[0], gist))
    return gists


def batches(trace: Trace) -> dict[tuple[str, int], tuple[object, ...]]:
    return {
        (event.phase, event.agent_id): event.actions
        for event in trace.events
        if isinstance(event, BatchApplied)
    }


def outcomes(trace: Trace) -> list[str]:
    return [event.outcome for event in trace.events if isinstance(event, Resolution)]


def points(trace: Trace) -> list[dict[str, Any]]:
    texts = [e.thinking for e in trace.events if isinstance(e, TurnEnd) and e.thinking]
    return [json.loads(text)["points"] for text in texts]


# Shown costs are 100, 10, 1. Agent 0 offers 1 and 4 (free), 2 (10 left), 0 (1 left).
ROWS = ["E3.E1B.", ".E2E1.B", "E2E1BE2."]


def test_private_offers_its_lowest_free_slot_and_announces_it_whatever_the_scores() -> None:
    trace = play(make_scenario(ROWS, [(0, 1, 2)]), **PRIVATE)
    assert sent(trace) == [
        (0, 0, 1, [(0, 1)]),
        (0, 0, 2, [(0, 1)]),
        (0, 1, 0, {0: 1}),
        (0, 2, 0, {0: 10}),
        (1, 0, 1, (0, 1)),
        (1, 0, 2, (0, 1)),
    ]
    blocked = play(make_scenario([".E1.", "B..", "..."], [(0, 1, 2)]), **PRIVATE)
    assert [gist for *_, gist in sent(blocked)][2:] == [{0: 0}, {0: 11}, (0, 0), (0, 0)]
    # Agent 1 cannot take slot 0: it takes its own lowest placeable slot instead.
    assert batches(blocked)["DECISION", 1] == (book(1, 1),)
    assert outcomes(blocked) == ["inconsistent_slots"]


def test_welfare_offers_everything_and_takes_the_best_sum() -> None:
    # Ids in own order: 0 slot 1, 1 slot 4, 2 slot 2, 3 slot 0.
    # Agent 1: 1, 0, 10, 11; agent 2: 10, 11, 0, 1. Feasible for both: 1 (11 + 1 + 10 = 22)
    # and 0 (1 + 11 + 1 = 13), so slot 1 wins.
    trace = play(make_scenario(ROWS, [(2, 0, 1)]))
    offer = [(0, 1), (1, 4), (2, 2), (3, 0)]
    assert sent(trace) == [
        (0, 0, 1, offer),
        (0, 0, 2, offer),
        (0, 1, 0, {0: 1, 1: 0, 2: 10, 3: 11}),
        (1, 2, 0, {0: 10, 1: 11, 2: 0, 3: 1}),
        (1, 0, 1, (0, 1)),
        (1, 0, 2, (0, 1)),
    ]
    assert batches(trace) == {
        ("DECISION", 0): (book(1, 1),),
        ("DECISION", 1): (move(106, 1, 0, JUSTIFICATION), book(1, 1)),
        ("DECISION", 2): (move(112, 1, 4, JUSTIFICATION), book(1, 1)),
    }
    assert outcomes(trace) == ["scheduled"]


# Offers of one plan each: agent 0 would take 0, then 2, then the errand at 1; agent 1 only that.
NARROW = make_scenario([".E1.", "B.B", "..."], [(0, 1, 2)])


def test_further_batches_follow_until_a_plan_is_feasible_for_all_unless_there_is_one() -> None:
    trace = play(NARROW, lmax=1)
    offers_and_scores = [gist for _, sender, to, gist in sent(trace) if 1 in {sender, to}]
    assert offers_and_scores == [[(0, 0)], {0: 0}, [(1, 2)], {1: 0}, [(2, 1)], {2: 11}, (2, 1)]
    assert outcomes(trace) == ["scheduled"]
    single = play(NARROW, lmax=1, batches="single")
    assert [gist for _, _, to, gist in sent(single) if to == 1] == [[(0, 0)], (0, 0)]


def test_first_of_the_order_is_announced_when_the_pool_is_exhausted() -> None:
    # Nothing suits agent 1. Slot 2 falls short by 11 only, slots 0 and 1 by 21 and 12.
    trace = play(make_scenario([".E1.", "BBB", "E2.."], [(0, 1, 2)]), lmax=1)
    gists = [gist for _, _, to, gist in sent(trace) if to == 1]
    assert gists == [[(0, 0)], [(1, 2)], [(2, 1)], (1, 2)]
    assert outcomes(trace) == ["no_batch"]


def test_further_batch_is_sized_by_the_plans_left() -> None:
    # q = 1/2. A third plan adds 0.25 - theta while all are free slots, 0.231 - theta to
    # 11, 10, 10 and 0.239 - theta to three errands: three at first, then two at a time.
    rows = ["..E1E1E1E1..", "BBBBB.BB"]
    trace = play(make_scenario(rows, [(0, 1)]), lmax=3, w=0.0, theta=0.24)
    assert [gist for _, _, to, gist in sent(trace) if to == 1] == [
        [(0, 0), (1, 1), (2, 6)],
        [(3, 7), (4, 2)],
        [(5, 3), (6, 4)],
        [(7, 5)],
        (7, 5),
    ]


# Agent 0 holds M2 (with agent 2) at slot 0 and M3 (with agent 3) at slot 1; slot 3 is free.
# Agent 1 can meet at slot 0 only. Agent 2 cannot move M2 to slot 3, but to slot 1.
CHAIN_ROWS = ["..B.", ".BBB", "...B", "E1.B."]
CHAIN = make_scenario(CHAIN_ROWS, [(0, 1)], prior=[((0, 2), 0), ((0, 3), 1)])


def test_chain_of_two_moves_hides_each_from_the_other_outsider() -> None:
    trace = play(CHAIN)
    # Own order: slot 3; slot 0 by M2 to 3; slot 1 by M3 to 3; slot 0 by M2 to 1 and M3 to 3;
    # slot 1 by M3 to 0 and M2 to 3. Plan 3 falls short by 44 - (9 + 11 + 10 + 10) = 4.
    offer = [(0, 3), (1, 0), (2, 1), (3, 0), (4, 1)]
    assert sent(trace) == [
        (0, 0, 1, offer),
        (0, 0, 2, offer),
        (0, 0, 3, offer),
        (0, 1, 0, {0: 0, 1: 11, 2: 0, 3: 11, 4: 0}),
        (0, 2, 0, {0: 11, 1: 0, 2: 11, 3: 10, 4: 0}),
        (0, 3, 0, {0: 11, 1: 11, 2: 10, 3: 10, 4: 10}),
        (1, 0, 1, (3, 0)),
        (1, 0, 2, (3, 0)),
        (1, 0, 3, (3, 0)),
    ]
    first = MeetingMove(meeting_id=MeetingId(2), from_slot=Slot(0), to_slot=Slot(1), cost=1)
    second = MeetingMove(meeting_id=MeetingId(3), from_slot=Slot(1), to_slot=Slot(3), cost=1)
    told = [e.content for e in trace.events if isinstance(e, DmSent)]
    assert [content.plans[3] for content in told if isinstance(content, Proposals)] == [
        OfferedPlan(plan_id=3, slot=Slot(0), moves=(), vacated=(Slot(0), Slot(1))),
        OfferedPlan(plan_id=3, slot=Slot(0), moves=(first,), vacated=(Slot(1),)),
        OfferedPlan(plan_id=3, slot=Slot(0), moves=(second,), vacated=(Slot(0),)),
    ]
    assert [content.moves for content in told if isinstance(content, PlanDecision)] == [
        (),
        (first,),
        (second,),
    ]


def test_chain_is_performed_and_its_points_stand_in_the_thoughts_of_the_announcing_turn() -> None:
    trace = play(CHAIN)
    to_one, to_three = move(2, 0, 1, JUSTIFICATION), move(3, 1, 3, JUSTIFICATION)
    assert batches(trace) == {
        ("VOLUNTARY", 2): (to_one,),
        ("VOLUNTARY", 3): (to_three,),
        ("DECISION", 0): (to_one, to_three, book(1, 0)),
        ("DECISION", 1): (book(1, 0),),
    }
    assert outcomes(trace) == ["scheduled"]
    assert trace.final_state.cost_by_agent == (2, 0, 1, 1)
    # Agent 1: 11 at the chosen plan earns nothing. Agent 2: 10 and three feasible offers of
    # five, 1 + 2. Agent 3: 10 and five of five, 1 + 4. Collected: 0 + 1 + 3.
    (account,) = points(trace)
    assert account == {
        "responders": {
            "1": {"availability": 2, "flexibility": 1299078, "scoring_cost": 0, "reward": 0},
            "2": {"availability": 3, "flexibility": 25690112, "scoring_cost": 1, "reward": 3},
            "3": {"availability": 5, "flexibility": 1632586752, "scoring_cost": 3, "reward": 5},
        },
        "collected": 4,
        "paid": 8,
        "budget": 96,
    }


def test_single_offer_of_private_returns_what_it_collects() -> None:
    rows = [".....", "E1E1...", "E1E1...", "....."]
    trace = play(make_scenario(rows, [(0, 1, 2), (1, 3), (0, 1, 2)]), **PRIVATE)
    told = [(account["collected"], account["paid"]) for account in points(trace)]
    assert told == [(2, 2), (0, 0), (2, 2)]
    assert {account["budget"] for account in points(trace)} == {100}


def test_earlier_meeting_breaks_when_a_participant_holds_it_off_the_agreed_slot() -> None:
    # As the chain above, with agent 1 in M3 and agent 4 tied to slot 0. Agent 1 hears that M3
    # moves to slot 3, but a participant moves only the meeting at the agreed slot.
    rows = ["..B.", "..B.", "...B", "....", ".BBB"]
    trace = play(make_scenario(rows, [(0, 1, 4)], prior=[((0, 2), 0), ((0, 1), 1)]))
    assert batches(trace)["DECISION", 1] == (book(1, 0),)
    (resolution,) = [e for e in trace.events if isinstance(e, Resolution)]
    assert resolution.outcome == "earlier_meeting_broken"
    assert resolution.broken_meetings == (3,)


def test_responder_answers_each_offer_of_the_initiator_once() -> None:
    first = Proposals(plans=(OfferedPlan(plan_id=0, slot=Slot(1), moves=(), vacated=()),))
    second = Proposals(plans=(OfferedPlan(plan_id=1, slot=Slot(2), moves=(), vacated=()),))
    talk = [message(0, first, 1), message(2, first, 1)]
    scores = Scores(plan_ids=(0,), scores=(10,))
    assert Dsm().act(observation(1, ".E1B", messages=talk)).actions == (
        DirectMessage(to=AgentId(0), content=scores),
    )
    talk.append(message(1, scores, 0))
    assert Dsm().act(observation(1, ".E1B", messages=talk)) == PASS
    talk.append(message(0, second, 1))
    assert Dsm().act(observation(1, ".E1B", messages=talk)).actions == (
        DirectMessage(to=AgentId(0), content=Scores(plan_ids=(1,), scores=(0,))),
    )


def test_dsm_stays_silent_when_direct_messages_are_closed_or_nothing_can_be_offered() -> None:
    assert Dsm().act(observation(0, "...", channels=["all_agent_groupchat"])) == PASS
    assert Dsm().act(observation(0, "E1BE1")) == PASS
    for phase in Phase:
        hidden = HiddenMeeting(MeetingId(1), 1)
        assert Dsm().act(observation(4, "...", meeting=hidden, phase=phase)) == PASS


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"lmin": 0}, "lmin: "),
        ({"lmin": 13}, "lmin 13 is greater than lmax 12"),
        ({"theta": -1.0}, "theta: "),
        ({"theta": float("nan")}, "theta: "),
        ({"lmax": True}, "lmax: "),
        ({"batches": "many"}, "batches: "),
        ({"gamma": 1}, "gamma: is not a known key"),
    ],
)
def test_dsm_names_the_setting_that_does_not_fit(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{problem}"):
        Dsm(**settings)
