"""How often DSM leaves an earlier meeting broken, and why (paper, appendix D.3).

Agents are not told how a round ended and see only their own part of a plan, so an announced
move may not be performed by all who would have to. Every break is counted under one reason:

- ``infeasible``: no plan suited everyone, and the one announced moves the meeting nevertheless.
- ``unheard``: talk ended before an agent read the announcement.
- ``elsewhere``: a participant's copy is not at the agreed slot; it moves no such meeting.
- ``taken``: the announced target was said to be vacated, but not on the calendar of this agent.
- ``unplaceable``: a participant could not take the agreed slot and so moved nothing.
"""

from collections import Counter
from collections.abc import Collection, Iterator

import pytest

from calbench.config.composition import compose, compose_team
from calbench.domain.ids import AgentId, MeetingId
from calbench.domain.messages import PlanDecision, Scores
from calbench.domain.randomness import stream
from calbench.engine.drivers import run
from calbench.engine.seating import seat_policies
from calbench.scenarios.models import Scenario
from calbench.scenarios.suites import build_suite
from calbench.traces.events import BatchApplied, DecideStart, DmSent, Event, Resolution, TurnStart
from calbench.traces.models import GameConfig, Limits, Trace
from tests.factories import make_scenario

WELFARE = compose_team("dsm-welfare")


def played(scenario: Scenario, cap: int = 15) -> Trace:
    limits = Limits(max_turns_per_round=cap)
    config = GameConfig(team=WELFARE, channels=("dm",), limits=limits)
    return run(scenario, config, seat_policies(WELFARE, scenario.num_agents))


def breaks(trace: Trace) -> Iterator[str]:
    """Yield the reason of every meeting that a round broke."""
    participants = {m.meeting_id: m.participants for m in trace.scenario.meetings}
    participants |= {m.meeting_id: m.participants for m in trace.scenario.prior_meetings}
    was_broken: set[MeetingId] = set()
    for events in rounds(trace):
        (resolution,) = [event for event in events if isinstance(event, Resolution)]
        now = set(resolution.broken_meetings)
        for broken in sorted(now - was_broken):
            here = participants[resolution.meeting_id]
            yield reason(events, broken, participants[broken], here)
        was_broken = now


def rounds(trace: Trace) -> Iterator[list[Event]]:
    events: list[Event] = []
    for event in trace.events:
        events.append(event)
        if isinstance(event, Resolution):
            yield events
            events = []


def reason(
    events: list[Event], broken: MeetingId, members: tuple[int, ...], here: tuple[int, ...]
) -> str:
    """Return why the first agent that should have moved its copy did not."""
    initiator = AgentId(min(here))
    moved = {
        event.agent_id
        for event in events
        if isinstance(event, BatchApplied)
        and any(
            action.type == "reschedule" and action.item_id == broken for action in event.actions
        )
    }
    assert initiator in moved
    told: dict[AgentId, tuple[int, PlanDecision]] = {
        event.to_agents[0]: (index, event.content)
        for index, event in enumerate(events)
        if isinstance(event, DmSent) and isinstance(event.content, PlanDecision)
    }
    asked = {e.agent_id: e for e in events if isinstance(e, DecideStart) and e.attempt == 0}
    agent = AgentId(min(set(members) - moved))
    index, decision = told[agent]
    if 0 in scores_of(decision.plan_id, told, events):
        return "infeasible"
    if not any(isinstance(e, TurnStart) and e.agent_id == agent for e in events[index:]):
        return "unheard"
    calendar = asked[agent].calendar
    if agent in here and calendar[decision.slot] != broken:
        return "elsewhere"
    target = next(move.to_slot for move in decision.moves if move.meeting_id == broken)
    if calendar[target] is not None:
        return "taken"
    assert agent in here
    return "unplaceable"


def scores_of(plan_id: int, told: Collection[AgentId], events: list[Event]) -> list[int]:
    """Return how those who decided over a plan scored it."""
    return [
        score
        for event in events
        if isinstance(event, DmSent) and isinstance(event.content, Scores)
        if event.from_agent in told
        for number, score in zip(event.content.plan_ids, event.content.scores, strict=True)
        if number == plan_id
    ]


def crowded_scenario(seed: int) -> Scenario:
    """Return a scenario with few common slots: random calendars with up to five prior meetings.

    No hidden schedule guarantees a solution, so most meetings fail.
    """
    chance = stream(seed, "crowded")
    agents, slots = 4 + chance.below(3), 6 + chance.below(5)
    rows = [[chance.choice("BBBEE...") for _ in range(slots)] for _ in range(agents)]
    prior: list[tuple[list[int], int]] = []
    for _ in range(2 + chance.below(4)):
        members = sorted(chance.shuffled(range(agents))[: 2 + chance.below(2)])
        taken = {slot for others, slot in prior if set(others) & set(members)}
        slot = chance.choice([slot for slot in range(slots) if slot not in taken])
        for agent in members:
            rows[agent][slot] = "."
        prior.append((members, slot))
    meetings = [
        chance.shuffled(range(agents))[: 2 + chance.below(3)] for _ in range(4 + chance.below(4))
    ]
    return make_scenario(
        ["".join(row) for row in rows], meetings, prior=prior, scenario_id=f"c{seed}", seed=seed
    )


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["uniform", "varied"])
def test_welfare_breaks_no_earlier_meeting_of_the_canonical_suites(setting: str) -> None:
    counts: Counter[str] = Counter()
    for seed in range(5):
        for scenario in build_suite(compose([f"suite={setting}", f"suite.seed={seed}"]).suite):
            counts.update(breaks(played(scenario)))
    assert not counts


@pytest.mark.slow
@pytest.mark.parametrize("caps", [(15,), (1, 2, 3, 4, 5, 6, 8)], ids=["cap15", "low-caps"])
def test_every_break_of_a_crowded_game_has_a_known_reason(caps: tuple[int, ...]) -> None:
    """Counts are reported; that no break lacks a reason is asserted."""
    rounds_played = 0
    counts: Counter[str] = Counter()
    for seed in range(3000):
        scenario = crowded_scenario(seed)
        counts.update(breaks(played(scenario, caps[seed % len(caps)])))
        rounds_played += len(scenario.meetings)
    print(f"\nsweeps {caps}: {rounds_played} rounds, broken: {dict(counts.most_common())}")
    assert {"infeasible", "elsewhere", "taken"} <= set(counts)
    assert ("unheard" in counts) == (caps != (15,))
