"""Regret: parts that sum to the excess, and the moment at which the optimum became unreachable."""

import itertools
from dataclasses import dataclass
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.domain.ids import AgentId
from calbench.domain.messages import Text
from calbench.domain.observations import Phase
from calbench.metrics.costs import oracle_schedule, realised_costs
from calbench.metrics.game import GameScore, score_game
from calbench.metrics.optimum import OptimumLoss, optimum_reach
from calbench.metrics.outcomes import meeting_results
from calbench.metrics.regret import MeetingRegret, explain_regret
from calbench.oracle.cache import OracleCache
from calbench.scenarios.models import ErrandEntry, Scenario
from calbench.traces.events import BatchApplied, Resolution
from calbench.traces.models import Trace
from tests.effort import examples
from tests.engine.scripts import volunteer
from tests.factories import make_scenario
from tests.metrics.games import (
    Script,
    book,
    decide,
    dm,
    move,
    play_random,
    play_scripts,
    play_team,
    talk,
)
from tests.properties.games import DrawnGame, games


def regret_of(score: GameScore, meeting_id: int, agent_id: int) -> MeetingRegret:
    return next(r for r in score.regret if (r.meeting_id, r.agent_id) == (meeting_id, agent_id))


def parts(entry: MeetingRegret) -> tuple[int, int, int]:
    return entry.slot_choice, entry.avoidable_moves, entry.failed_rounds


def events_of(trace: Trace, agent: int) -> list[int]:
    return [
        index
        for index, event in enumerate(trace.events)
        if isinstance(event, BatchApplied) and event.agent_id == agent
    ]


TWO = ["E2..E3", ".E1.."]
"""Errand 101 of cost 2 at 0 and 102 of cost 3 at 3; agent 1 has 103 of cost 1 at 1."""


def test_a_dear_slot_is_slot_choice_and_who_takes_it_first_makes_the_optimum_unreachable() -> None:
    trace = play_scripts(
        make_scenario(TWO, [(0, 1)]),
        {0: decide(move(101, 0, 1), book(1, 0)), 1: decide(book(1, 0))},
    )
    score = score_game(trace)
    entry = regret_of(score, 1, 0)
    assert (entry.played_slot, entry.oracle_slot) == (0, 2)
    assert parts(entry) == (2, 0, 0)
    assert parts(regret_of(score, 1, 1)) == (0, 0, 0)
    (index,) = events_of(trace, 0)
    assert score.optimum.loss == OptimumLoss(index, 0, Phase.DECISION, AgentId(0), 2)
    assert score.optimum.optimum == 0


def test_what_was_not_in_the_way_is_an_avoidable_move() -> None:
    trace = play_scripts(
        make_scenario(TWO, [(0, 1)]),
        {0: decide(book(1, 2)), 1: decide(move(105, 1, 0), book(1, 2))},
    )
    score = score_game(trace)
    assert parts(regret_of(score, 1, 1)) == (0, 1, 0)
    (index,) = events_of(trace, 1)
    assert score.optimum.loss == OptimumLoss(index, 0, Phase.DECISION, AgentId(1), 1)


def test_charges_of_a_round_that_failed_stand_apart() -> None:
    trace = play_scripts(
        make_scenario(TWO, [(0, 1)]),
        {0: decide(move(101, 0, 1), book(1, 0)), 1: decide(book(1, 2))},
    )
    score = score_game(trace)
    entry = regret_of(score, 1, 0)
    assert (entry.played_slot, entry.oracle_slot) == (None, None)
    assert parts(entry) == (0, 0, 2)
    loss = score.optimum.loss
    assert loss is not None
    assert (loss.agent_id, loss.least_cost_after) == (0, 2)


def test_two_slots_for_one_meeting_leave_no_completion_and_silence_loses_it_at_the_end() -> None:
    scenario = make_scenario(["...", "..."], [(0, 1)])
    trace = play_scripts(scenario, {0: decide(book(1, 0)), 1: decide(book(1, 2))})
    (index,) = events_of(trace, 1)
    assert score_game(trace).optimum.loss == OptimumLoss(index, 0, Phase.DECISION, AgentId(1), None)
    trace = play_scripts(scenario, {0: decide(book(1, 0))})
    index = next(i for i, e in enumerate(trace.events) if isinstance(e, Resolution))
    assert score_game(trace).optimum.loss == OptimumLoss(index, 0, None, None, None)


def test_an_item_moved_twice_is_in_the_way_only_once() -> None:
    """Errand 101 makes way at 0 and lands at 2, where the second meeting then goes."""
    first, second = (move(101, 0, 2), book(1, 0)), (move(101, 2, 3), book(2, 2))
    trace = play_scripts(
        make_scenario(["E1...."], [(0,), (0,)]),
        {0: decide(*first) | decide(*second, round_index=1)},
    )
    score = score_game(trace)
    assert score.num_scheduled == 2
    assert parts(regret_of(score, 1, 0)) == (1, 0, 0)
    assert parts(regret_of(score, 2, 0)) == (0, 1, 0)


def test_a_prior_meeting_that_gives_way_has_the_charge_in_its_own_row() -> None:
    scenario = make_scenario(["...", "...", "..."], [(0, 1)], prior=[((0, 2), 0)])
    outsider: Script = {volunteer(): [move(2, 0, 1)]}
    trace = play_scripts(
        scenario,
        {
            0: talk(dm(2, Text(text="Slot 0?"))) | decide(move(2, 0, 1), book(1, 0)),
            1: decide(book(1, 0)),
            2: outsider,
        },
    )
    score = score_game(trace)
    entry = regret_of(score, 2, 0)
    assert parts(entry) == (1, 0, 0)
    assert (entry.played_slot, entry.oracle_slot) == (1, 0)
    assert parts(regret_of(score, 1, 0)) == (0, 0, 0)


def test_what_the_oracle_pays_for_a_prior_meeting_is_taken_off_its_row() -> None:
    """Only slot 0 is open to agent 1, so the prior meeting of agent 0 has to give way."""
    scenario = make_scenario(["...", ".BB"], [(0, 1)], prior=[((0,), 0)])
    trace = play_scripts(scenario, {0: decide(move(2, 0, 1), book(1, 0)), 1: decide(book(1, 0))})
    score = score_game(trace)
    assert score.oracle_cost == 1
    assert parts(regret_of(score, 2, 0)) == (0, 0, 0)
    assert score.optimum.loss is None


@pytest.mark.parametrize(
    ("scenario", "optimum"),
    [
        (make_scenario(["B.", ".B"], [(0, 1)]), None),
        (make_scenario(["." * 16], [(0,)] * 15), 0),  # more meetings than exact methods take
    ],
)
def test_some_optima_are_not_searched(scenario: Scenario, optimum: int | None) -> None:
    found = score_game(play_team(scenario, "first-free")).optimum
    assert (found.optimum, found.is_searched) == (optimum, False)


@given(games())
def test_parts_sum_to_the_excess_of_every_agent(drawn: DrawnGame) -> None:
    trace = drawn.play()
    results = meeting_results(trace.events)
    scheduled = [result.meeting_id for result in results if result.is_scheduled]
    schedule = oracle_schedule(trace.scenario, scheduled, OracleCache())
    entries = explain_regret(trace.scenario, trace.events, results, schedule)
    paid = realised_costs(trace.events, trace.scenario.num_agents)
    for agent, best in enumerate(schedule.cost_by_agent):
        mine = [entry for entry in entries if entry.agent_id == agent]
        assert sum(entry.excess_cost for entry in mine) == paid[agent] - best
        assert sum(entry.failed_rounds for entry in mine) == sum(
            event.cost
            for event in trace.events
            if isinstance(event, BatchApplied)
            and event.agent_id == agent
            and not results[event.round].is_scheduled
        )
    assert all(entry.avoidable_moves >= 0 and entry.failed_rounds >= 0 for entry in entries)


@given(games())
def test_the_optimum_is_kept_exactly_by_games_that_end_at_it(drawn: DrawnGame) -> None:
    trace = drawn.play()
    reach = optimum_reach(trace.scenario, trace.events, OracleCache())
    if reach.is_searched:
        cost = sum(realised_costs(trace.events, trace.scenario.num_agents))
        is_complete = all(result.is_scheduled for result in meeting_results(trace.events))
        assert (reach.loss is None) == (is_complete and cost == reach.optimum)


@dataclass(frozen=True)
class Board:
    """The calendars after some events, as bare ids, and what was paid for them."""

    scenario: Scenario
    calendars: list[list[int | None]]
    paid: int
    decided: set[int]

    @classmethod
    def after(cls, trace: Trace, index: int) -> "Board":
        shown = trace.scenario.shown_calendars
        calendars = [[None if i is None else int(i.item_id) for i in c] for c in shown]
        paid, decided = 0, set[int]()
        for event in trace.events[: index + 1]:
            if isinstance(event, BatchApplied):
                paid += event.cost
                calendars[event.agent_id] = list(event.calendar)
            elif isinstance(event, Resolution) and event.coordinated:
                decided.add(event.meeting_id)
        return cls(trace.scenario, calendars, paid, decided)

    def least(self) -> int | None:
        """Try every final slot of every meeting; no priors."""
        meetings = [(int(m.meeting_id), m.participants) for m in self.scenario.meetings]
        totals = []
        for slots in itertools.product(range(self.scenario.num_slots), repeat=len(meetings)):
            seats = [
                (meeting, agent, slot)
                for (meeting, agents), slot in zip(meetings, slots, strict=True)
                for agent in agents
            ]
            if len({(agent, slot) for _, agent, slot in seats}) == len(seats):
                totals.append([self.charge(*seat) for seat in seats])
        possible = [sum(c for c in t if c is not None) for t in totals if None not in t]
        return self.paid + min(possible) if possible else None

    def charge(self, meeting: int, agent: int, slot: int) -> int | None:
        """A meeting under decision stays where its copies are; one decided may move."""
        calendar, costs = self.calendars[agent], cast("dict[int, int]", self.scenario.cost_by_item)
        here = calendar[slot]
        if here == meeting:
            return 0
        entries = [e for c in self.scenario.calendars for e in c if isinstance(e, ErrandEntry)]
        if any(e.errand_id == here and e.blocked for e in entries):
            return None
        if meeting in calendar and meeting not in self.decided:
            return None
        is_errand = here is not None and any(e.errand_id == here for e in entries)
        under = costs[here] if is_errand and here is not None else 0
        return under + (costs[meeting] if meeting in calendar else 0)


def least_by_hand(trace: Trace, index: int) -> int | None:
    """Return the least cost of the game after an event; a failed meeting never returns."""
    ended = [e for e in trace.events[: index + 1] if isinstance(e, Resolution)]
    return Board.after(trace, index).least() if all(e.coordinated for e in ended) else None


SMALL = [
    (["E1.E2.", ".E1.E3", "..E1B"], [(0, 1), (1, 2), (0, 2)]),
    (["E2E1..", ".E1.E1", "E1..E2"], [(0, 1, 2), (0, 1)]),
    (["B.E1E2.", ".E1E1..", "..BE3."], [(0, 1), (0, 2)]),
]


@settings(max_examples=examples(60))
@given(st.sampled_from(SMALL), st.integers(0, 10_000), st.booleans())
def test_the_loss_is_that_of_a_search_by_hand_after_every_batch(
    drawn: tuple[list[str], list[tuple[int, ...]]], seed: int, is_random: bool
) -> None:
    scenario = make_scenario(*drawn)
    trace = play_random(scenario, seed) if is_random else play_team(scenario, "imap")
    reach = optimum_reach(scenario, trace.events, OracleCache())
    expected = None
    for index, event in enumerate(trace.events):
        if isinstance(event, BatchApplied | Resolution):
            least = least_by_hand(trace, index)
            if least != reach.optimum:
                expected = (index, least)
                break
    found = None if reach.loss is None else (reach.loss.event_index, reach.loss.least_cost_after)
    assert found == expected
