"""RESOLUTION: when a meeting counts as scheduled, and what an earlier one can spoil."""

from typing import Any

import pytest

from calbench.scenarios.models import Scenario
from calbench.traces.events import BatchApplied, ConsistencyViolation, Resolution
from tests.engine.scripts import (
    Game,
    Lines,
    book,
    books,
    decide,
    dm,
    move,
    play_scripts,
    talk,
    volunteer,
)
from tests.factories import make_scenario

ROWS = ["......"] * 4


def scenario(*meetings: tuple[int, ...], **fields: Any) -> Scenario:
    return make_scenario(ROWS, meetings, **fields)


def outcomes(game: Game) -> list[str]:
    return [event.outcome for event in game.events(Resolution)]


def broken(game: Game) -> list[tuple[int, ...]]:
    return [event.broken_meetings for event in game.events(Resolution)]


def violations(game: Game) -> list[tuple[int, int, bool]]:
    """Return (round, meeting, is earlier) of each violation."""
    return [(e.round, e.meeting_id, e.is_earlier) for e in game.events(ConsistencyViolation)]


# M1 of agents 0 and 1 is at slot 0 after round 0; in round 1 agent 0 alone moves it to 3
# to make room for M2 of agents 0 and 2.
BREAKER: Lines = {decide(): [book(1, 0)], decide(round_index=1): [move(1, 0, 3), book(2, 0)]}
KEEPER: Lines = {decide(): [book(1, 0)]}
PARTNER: Lines = {decide(round_index=1): [book(2, 0)]}


def test_meeting_fails_when_its_participants_hold_it_in_different_slots() -> None:
    lines = {0: books([(1, 4)]), 1: books([(1, 3)])}
    game = play_scripts(scenario((0, 1)), lines)
    assert outcomes(game) == ["inconsistent_slots"]
    assert violations(game) == [(0, 1, False)]
    (outcome,) = game.trace.final_state.round_outcomes
    assert (outcome.coordinated, outcome.slot_by_agent) == (False, {"0": 4, "1": 3})


def test_meeting_fails_when_an_earlier_one_is_broken_whose_success_stands() -> None:
    game = play_scripts(scenario((0, 1), (0, 2)), {0: BREAKER, 1: KEEPER, 2: PARTNER})
    assert outcomes(game) == ["scheduled", "earlier_meeting_broken"]
    assert broken(game) == [(), (1,)]
    assert violations(game) == [(1, 1, True)]
    first, second = game.trace.final_state.round_outcomes
    assert (first.coordinated, first.slot_by_agent) == (True, {"0": 0, "1": 0})
    assert (second.coordinated, second.slot_by_agent) == (False, {"0": 0, "2": 0})
    assert game.trace.metrics.rounds_scheduled == 1


@pytest.mark.parametrize(
    ("partner", "outcome"),
    [({}, "no_batch"), ({decide(round_index=1): [book(2, 5)]}, "inconsistent_slots")],
)
def test_what_else_is_wrong_is_named_before_a_broken_meeting(partner: Lines, outcome: str) -> None:
    game = play_scripts(scenario((0, 1), (0, 2)), {0: BREAKER, 1: KEEPER, 2: partner})
    assert outcomes(game)[1] == outcome
    assert broken(game)[1] == (1,)
    assert violations(game) == [(1, 1, True), (1, 2, False)]


def test_broken_meeting_spoils_every_round_until_it_is_whole_again() -> None:
    lines: dict[int, Lines] = {
        0: BREAKER,
        1: {**KEEPER, volunteer(round_index=3): [move(1, 0, 3)]},
        2: {
            **PARTNER,
            decide(round_index=2): [book(3, 1)],
            talk(round_index=3): [dm(1)],
            decide(round_index=3): [book(4, 2)],
        },
        3: {decide(round_index=2): [book(3, 1)], decide(round_index=3): [book(4, 2)]},
    }
    game = play_scripts(scenario((0, 1), (0, 2), (2, 3), (2, 3)), lines)
    assert broken(game) == [(), (1,), (1,), ()]
    assert outcomes(game) == [
        "scheduled",
        "earlier_meeting_broken",
        "earlier_meeting_broken",
        "scheduled",
    ]


def test_repaired_meeting_spoils_again_when_it_is_broken_again() -> None:
    lines: dict[int, Lines] = {
        0: {**KEEPER, decide(round_index=1): [move(1, 0, 3), book(2, 0)]},
        1: {
            **KEEPER,
            decide(round_index=1): [move(1, 0, 3), book(2, 0)],
            decide(round_index=2): [move(1, 3, 4), book(3, 3)],
        },
        2: {decide(round_index=2): [book(3, 3)]},
    }
    game = play_scripts(scenario((0, 1), (0, 1), (1, 2)), lines)
    assert outcomes(game) == ["scheduled", "scheduled", "earlier_meeting_broken"]
    assert broken(game)[2] == (1,)


def test_earlier_meeting_stays_whole_when_an_outsider_moves_its_copy_by_volunteering() -> None:
    lines: dict[int, Lines] = {
        0: {**BREAKER, talk(round_index=1): [dm(1)]},
        1: {**KEEPER, volunteer(round_index=1): [move(1, 0, 3)]},
        2: PARTNER,
    }
    game = play_scripts(scenario((0, 1), (0, 2)), lines)
    assert outcomes(game) == ["scheduled", "scheduled"]


def test_two_earlier_meetings_may_exchange_slots_in_one_round() -> None:
    both: Lines = {
        **books([(1, 0), (2, 1)]),
        decide(round_index=2): [move(1, 0, 1), move(2, 1, 0), book(3, 2)],
    }
    game = play_scripts(scenario((0, 1), (0, 1), (0, 1)), {0: both, 1: both})
    assert outcomes(game) == ["scheduled"] * 3
    assert violations(game) == []
    assert game.trace.final_state.calendars[0][:3] == (2, 1, 3)
    assert game.trace.final_state.round_outcomes[0].slot_by_agent == {"0": 0, "1": 0}
    assert game.trace.final_state.cost_by_agent == (2, 2, 0, 0)


def test_failed_meeting_spoils_nothing_and_stays_unresolved_when_its_copies_meet() -> None:
    lines: dict[int, Lines] = {
        0: {
            **books([(1, 4)]),
            decide(round_index=1): [move(1, 4, 3), book(2, 1)],
            decide(round_index=2): [move(1, 3, 5), book(3, 0)],
        },
        1: books([(1, 3), (2, 1), (3, 0)]),
    }
    game = play_scripts(scenario((0, 1), (0, 1), (0, 1)), lines)
    assert outcomes(game) == ["inconsistent_slots", "scheduled", "scheduled"]
    assert broken(game) == [(), (), ()]
    assert [o.coordinated for o in game.trace.final_state.round_outcomes] == [False, True, True]


def test_meeting_spoilt_by_an_earlier_one_never_spoils_a_later_one() -> None:
    lines: dict[int, Lines] = {
        0: {**BREAKER, decide(round_index=2): [move(2, 0, 5), move(1, 3, 0), book(3, 2)]},
        1: KEEPER,
        2: PARTNER,
        3: {decide(round_index=2): [book(3, 2)]},
    }
    game = play_scripts(scenario((0, 1), (0, 2), (0, 3)), lines)
    assert outcomes(game) == ["scheduled", "earlier_meeting_broken", "scheduled"]
    assert broken(game) == [(), (1,), ()]


def test_prior_meetings_count_from_the_start_and_all_that_are_broken_are_named() -> None:
    lines: dict[int, Lines] = {
        0: {decide(): [move(2, 2, 4), move(3, 3, 5), book(1, 2)]},
        1: {decide(): [book(1, 2)]},
    }
    game = play_scripts(scenario((0, 1), prior=[((0, 3), 2), ((0, 2), 3)]), lines)
    assert outcomes(game) == ["earlier_meeting_broken"]
    assert broken(game) == [(2, 3)]
    told = [violation.slot_by_agent for violation in game.events(ConsistencyViolation)]
    assert told == [{"0": 4, "3": 2}, {"0": 5, "2": 3}]


def test_prior_meeting_may_be_moved_by_all_its_participants_together() -> None:
    both: Lines = {decide(): [move(2, 2, 3), book(1, 2)]}
    game = play_scripts(scenario((0, 1), prior=[((0, 1), 2, 4)]), {0: both, 1: both})
    assert outcomes(game) == ["scheduled"]
    assert game.trace.final_state.cost_by_agent == (4, 4, 0, 0)


def test_agents_are_not_told_how_a_round_was_resolved() -> None:
    games = [
        play_scripts(scenario((0, 1), (0, 1)), {0: books([(1, 4)]), 1: books([(1, slot)])})
        for slot in (4, 3)
    ]
    assert [outcomes(game)[0] for game in games] == ["scheduled", "inconsistent_slots"]
    assert games[0].scripts[0].seen == games[1].scripts[0].seen


def test_meeting_copy_costs_its_owner_once_per_move() -> None:
    lines: dict[int, Lines] = {
        0: {
            decide(): [book(1, 0)],
            decide(round_index=1): [move(1, 0, 1), book(2, 0)],
            decide(round_index=2): [move(1, 1, 5), book(3, 1)],
        },
        1: {decide(): [book(1, 0)]},
    }
    game = play_scripts(scenario((0, 1), (0, 2), (0, 2), meeting_cost=3), lines)
    assert game.trace.final_state.cost_by_agent == (6, 0, 0, 0)
    assert [event.cost for event in game.events(BatchApplied)] == [0, 0, 3, 3]


def test_costs_of_a_failed_round_stay_charged() -> None:
    lines: dict[int, Lines] = {0: {decide(): [move(101, 0, 3), book(1, 0)]}}
    game = play_scripts(make_scenario(["E2...", "....", "...."], [(0, 1)]), lines)
    assert outcomes(game) == ["no_batch"]
    assert game.trace.final_state.cost_by_agent == (2, 0, 0)
    assert game.trace.metrics.realised_cost == 2
