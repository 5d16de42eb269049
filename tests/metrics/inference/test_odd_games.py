"""Games of strangers and by other limits: nothing false is certain, nothing breaks the reader."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import fsum, isfinite
from typing import TypeVar

import numpy as np
import pytest

from calbench import play_game
from calbench.domain.actions import Turn
from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import (
    Announcement,
    Content,
    CostReport,
    Decision,
    Fail,
    Message,
    OfferedPlan,
    PartialSum,
    PlanDecision,
    Proposals,
    Propose,
    ProposeReply,
    Scores,
    Share,
    Text,
)
from calbench.domain.observations import Observation
from calbench.metrics.privacy.inference import game
from calbench.metrics.privacy.inference.bits import told_by
from calbench.metrics.privacy.inference.game import learnt
from calbench.protocols.clues import Best, Told, View, Weights
from calbench.protocols.imap import Imap
from calbench.protocols.registry import POLICIES
from calbench.scenarios.parameters import ScenarioParameters
from calbench.scenarios.sampling import sample_scenario
from calbench.traces.events import BatchApplied, DmSent, Event, Resolution, RoundStart
from calbench.traces.models import Limits, Trace
from tests.factories import make_scenario
from tests.metrics.games import canonical_scenario
from tests.metrics.inference.test_games import has_room

FAR, BELOW = Slot(2**40), Slot(-1)
ODD = (
    *(
        Propose(FAR),
        Propose(BELOW),
        ProposeReply(FAR, "PENDING"),
        ProposeReply(BELOW, "IMPOSSIBLE"),
    ),
    *(Decision(FAR), Decision(BELOW), Announcement(slot=FAR), Fail()),
    *(CostReport((FAR, BELOW), (1, None)), CostReport((Slot(0),), (2**70,)), CostReport((), ())),
    *(Share(values=(1,)), PartialSum(values=()), PartialSum(values=(1, 2))),
    Proposals((OfferedPlan(0, FAR, (), ()), OfferedPlan(0, BELOW, (), ()))),
    Proposals(tuple([OfferedPlan(number, Slot(0), (), ()) for number in range(40)])),
    *(
        Scores((0, 99), (11, -5)),
        PlanDecision(0, FAR, ()),
        Text(text="Slot 99 is easy. None of them."),
    ),
)


E = TypeVar("E", bound=Event)

PARAMS = {"density": 0.75, "blocked": 1, "force_witness_errand": True}


def with_each(trace: Trace, kind: type[E], change: Callable[[E], E]) -> Trace:
    """Return a game with all events of a kind changed."""
    events = [change(each) if isinstance(each, kind) else each for each in trace.events]
    return trace.model_copy(update={"events": tuple(events)})


def changed(trace: Trace, contents: Iterable[Content]) -> Trace:
    """Return a game in which messages say something else, each of them in turn."""
    odd = list(contents)
    events: list[Event] = []
    for place, event in enumerate(trace.events):
        if isinstance(event, DmSent):
            events.append(replace(event, content=odd[place % len(odd)]))
        else:
            events.append(event)
    return trace.model_copy(update={"events": tuple(events)})


@pytest.mark.parametrize("team", ["imap", "sd-map", "dsm-welfare", "secure-sum", "candid"])
@pytest.mark.parametrize("shift", range(3))
def test_whatever_is_said_is_read(team: str, shift: int) -> None:
    trace = changed(play_game(canonical_scenario(shift), team), ODD[shift:] + ODD[:shift])
    for pair in learnt(trace).pairs:
        assert isfinite(pair.bits)
        assert isfinite(pair.bits_costs)


def test_who_is_not_in_the_game_hears_nothing() -> None:
    trace, strangers = play_game(canonical_scenario(0), "imap"), (AgentId(99), AgentId(-1))
    found = learnt(with_each(trace, DmSent, lambda each: replace(each, to_agents=strangers)))
    assert [pair.bits for pair in found.pairs] == [0.0] * 20


def test_who_takes_part_and_is_not_in_the_game_is_passed_over() -> None:
    trace = play_game(canonical_scenario(0), "tell-all")

    def joined(event: RoundStart) -> RoundStart:
        return replace(event, participants=(*event.participants, AgentId(99)))

    found = learnt(with_each(trace, RoundStart, joined))
    assert found.pairs
    assert all(isfinite(pair.bits) for pair in found.pairs)


def test_calendars_may_become_longer() -> None:
    trace = play_game(canonical_scenario(0), "secure-sum")

    def longer(event: BatchApplied) -> BatchApplied:
        return replace(event, calendar=(*event.calendar, None))

    found = learnt(with_each(trace, BatchApplied, longer))
    assert found.pairs == learnt(trace).pairs


def test_meetings_that_nobody_drew_by_turns_say_nothing_of_each_other() -> None:
    """By turns, agent 4 would be in the second meeting, as whom the first left out."""
    lists = ((0, 1, 2), (0, 1, 3), (2, 3, 4))
    parameters = ScenarioParameters(**PARAMS, num_meetings=3, participant_lists=lists)
    scenario = sample_scenario(parameters, seed=1, scenario_id="given-000", setting="given")
    found = learnt(play_game(scenario, "secure-sum"))
    room = np.array(has_room(scenario, 4))
    assert found.chances[AgentId(4), AgentId(2)][room].min() > 0.2


@pytest.mark.parametrize(
    ("seats", "limits", "is_linked"),
    [
        (["imap"] * 5, {}, True),
        (["imap"] * 5, {"max_turns_per_round": 2}, False),
        (["imap"] * 5, {"agent_cap": 3}, False),
        (["dsm-private"] * 5, {}, False),
        (["candid", "guarded", "gossip", "candid", "guarded"], {}, True),
        (["imap", "guarded", "candid", "imap", "secure-sum"], {}, False),
        (["dsm-welfare", "imap", "dsm-welfare", "imap", "dsm-welfare"], {}, False),
    ],
)
def test_who_may_book_apart_is_not_read_as_together(
    seats: list[str], limits: dict[str, int], is_linked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What partners say counts where all book by the same rules, with as much talk as they need."""
    traces = [
        play_game(scenario, seats, limits=Limits(**limits))
        for scenario in map(canonical_scenario, range(3))
    ]
    found = [learnt(trace).pairs for trace in traces]
    monkeypatch.setattr(game._Game, "_link", lambda _: None)
    assert (found != [learnt(trace).pairs for trace in traces]) is is_linked


@pytest.mark.parametrize(
    "shape",
    [
        {"num_agents": 3, "num_slots": 8, "num_meetings": 4, "participants_per_meeting": 2},
        {"num_agents": 5, "num_slots": 16, "num_meetings": 5, "meeting_cost_level": 3},
    ],
    ids=["two meet and one overhears", "meetings cost more than errands"],
)
def test_no_offer_makes_anything_false_certain(shape: dict[str, int]) -> None:
    parameters = ScenarioParameters(**{**PARAMS, **shape, "density": 0.7, "blocked": 2})
    bits = 0.0
    for seed in range(12):
        scenario = sample_scenario(parameters, seed=seed, scenario_id="odd-000", setting="odd")
        found = learnt(play_game(scenario, "dsm-welfare"))
        bits += fsum(pair.bits for pair in found.pairs)
        for (target, _), chances in found.chances.items():
            truth = np.array(has_room(scenario, target))
            assert not ((chances < 0.003) & truth).any()
            assert not ((chances > 0.997) & ~truth).any()
    assert bits > 200


@pytest.mark.parametrize(
    ("team", "limits"),
    [
        ("sd-map", {"max_turns_per_round": 2}),
        ("sd-map", {"max_turns_per_round": 4}),
        ("secure-sum", {"agent_cap": 3}),
        ("dsm-private", {"agent_cap": 3}),
        ("imap", {"dm_cap": 5}),
    ],
)
def test_nothing_false_is_certain_where_messages_are_lost(
    team: str, limits: dict[str, int]
) -> None:
    own = Limits(**limits)
    for scenario in map(canonical_scenario, range(9)):
        for (target, _), chances in learnt(play_game(scenario, team, limits=own)).chances.items():
            truth = np.array(has_room(scenario, target))
            is_certain = (chances < 1e-9) | (chances > 1 - 1e-9)
            assert ((chances > 0.5) == truth)[is_certain].all()


def test_who_plays_otherwise_is_not_read_by_inherited_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Liar(Imap):
        def act(self, observation):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            return super().act(observation)

    trace = play_game(canonical_scenario(0), "imap")
    monkeypatch.setitem(POLICIES, "imap", Liar)
    assert learnt(trace).pairs == ()


@pytest.mark.parametrize("scale", [1.0, 1e308, 1e-308])
def test_rules_of_strangers_may_fill_one_clue_again_and_weigh_by_any_scale(
    monkeypatch: pytest.MonkeyPatch, scale: float
) -> None:
    noted: dict[Slot, Weights] = {}

    class Stranger(Imap):
        def act(self, observation: Observation) -> Turn:
            return super().act(observation)

        def tells(self, message: Message, view: View) -> Iterator[Told | Best]:
            noted.clear()
            for clue in super().tells(message, view):
                if isinstance(clue, Told):
                    for slot, weights in clue.slots.items():
                        noted[slot] = tuple([scale * weight for weight in weights])
                    yield Told(clue.agent, noted)
                else:
                    yield clue

    trace = play_game(canonical_scenario(1), "imap")
    expected = told_by(learnt(trace).pairs)
    monkeypatch.setitem(POLICIES, "imap", Stranger)
    found = told_by(learnt(trace).pairs)
    assert found == expected
    assert max(each["bits"] for each in found.values()) > 10


def test_errands_that_cost_nothing_are_as_free_slots() -> None:
    rows = ["E0.BE1.E0", "E0E0B..E1", ".E1E0BE0."]
    first, second = (
        learnt(play_game(make_scenario(each, [(0, 1, 2)]).updated(params=PARAMS), "tell-all"))
        for each in (rows, [row.replace("E0", ".") for row in rows])
    )
    assert len(first.pairs) == 6
    assert [pair.bits for pair in first.pairs] == [pair.bits for pair in second.pairs]
    assert min(pair.bits for pair in first.pairs) > 0


def test_meeting_of_nobody_is_booked_by_nobody() -> None:
    trace = play_game(canonical_scenario(0), "imap")
    events = tuple(
        replace(event, participants=()) if isinstance(event, RoundStart) else event
        for event in trace.events
    )
    pairs = learnt(trace.model_copy(update={"events": events})).pairs
    assert all(isfinite(pair.bits) for pair in pairs)


def test_who_says_it_twice_tells_nothing_new() -> None:
    trace = play_game(canonical_scenario(1), "mediator")
    once = learnt(trace)
    events = [event for each in trace.events for event in [each] * (1 + 9 * _announces(each))]
    assert learnt(trace.model_copy(update={"events": tuple(events)})).pairs == once.pairs


def _announces(event: object) -> bool:
    return isinstance(getattr(event, "content", None), Announcement)


def test_meetings_of_many_tell_at_least_their_slot() -> None:
    scenario = canonical_scenario(0)
    every = tuple([AgentId(agent) for agent in range(5)])
    whole = (replace(scenario.meetings[0], participants=every, speaker_order=every),)
    big = scenario.updated(meetings=whole, witness=None, oracle=None, difficulty=None)
    for pair in learnt(play_game(big, "mediator")).pairs:
        assert pair.certain_slots == 1
        assert pair.bits == pytest.approx(pair.outcome_bits, abs=0.1)


def shifted(event: Event) -> list[Event]:
    if isinstance(event, RoundStart | Resolution):
        return [replace(event, round=event.round + 1)]
    return [event]


def twice(event: Event) -> list[Event]:
    return [event] * (2 if isinstance(event, Resolution) else 1)


def unbegun(event: Event) -> list[Event]:
    return [] if isinstance(event, RoundStart) and event.round == 2 else [event]


@pytest.mark.parametrize("change", [shifted, twice, unbegun])
@pytest.mark.parametrize("team", ["imap", "sd-map", "dsm-welfare"])
def test_rounds_that_are_not_the_scenarios_are_read(
    team: str, change: Callable[[Event], list[Event]]
) -> None:
    trace = play_game(canonical_scenario(3), team)
    events = tuple([each for event in trace.events for each in change(event)])
    found = learnt(trace.model_copy(update={"events": events}))
    assert found.pairs
    assert all(isfinite(pair.bits) for pair in found.pairs)


@pytest.mark.parametrize("team", ["imap", "mediator", "secure-sum", "candid"])
@pytest.mark.parametrize(("agents", "size", "levels"), [(10, 8, 3), (7, 6, 4), (5, 3, 8)])
def test_many_sums_of_costs_are_told_apart_by_their_order(
    team: str, agents: int, size: int, levels: int
) -> None:
    parameters = ScenarioParameters(
        num_agents=agents,
        num_meetings=4,
        participants_per_meeting=size,
        pref_level=levels,
        shown_costs=tuple([5**cost for cost in range(levels)]),
        density=0.75,
        blocked=1,
    )
    scenario = sample_scenario(parameters, seed=3, scenario_id="many-000", setting="many")
    found = learnt(play_game(scenario, team))
    assert sum(pair.bits for pair in found.pairs) > 0
