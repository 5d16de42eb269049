"""``limits.commit=team``: batches of a decision are applied together or not at all."""

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.config.composition import compose_team
from calbench.domain.actions import Action
from calbench.domain.calendars import item_ids
from calbench.domain.ids import AgentId
from calbench.domain.observations import Phase
from calbench.engine.batch import played
from calbench.engine.drivers import run_async
from calbench.engine.replay import replay
from calbench.scenarios.models import Scenario
from calbench.traces.events import (
    BatchApplied,
    BatchRejected,
    BatchWithheld,
    InvalidToolCall,
    RoundStart,
)
from calbench.traces.models import GameConfig, Limits, Trace
from calbench.traces.storage import trace_bytes
from tests.effort import examples
from tests.engine.scripts import (
    Game,
    Lines,
    book,
    decide,
    dm,
    game_config,
    move,
    play_scripts,
    talk,
    volunteer,
)
from tests.engine.speakers import Speaker
from tests.factories import make_scenario
from tests.strategies import scenarios

FEW = settings(max_examples=examples(40))

# Agent a holds an errand at slot 0 (cost 3), 101 + 5 a, and a blocked one at slot 4, 102 + 5 a.
ROWS = ["E3...B1"] * 5
SCENARIO = make_scenario(ROWS, [(2, 0, 1)])


def together(retries: int = 1) -> GameConfig:
    config = game_config(retries=retries)
    return config.updated(limits=config.limits.model_copy(update={"commit": "team"}))


def played_scripts(lines: dict[int, Lines], retries: int = 1) -> Game:
    return play_scripts(SCENARIO, lines, together(retries))


def outcome(game: Game) -> str:
    (found,) = game.trace.final_state.round_outcomes
    resolution = next(e for e in game.trace.events if e.type == "resolution")
    assert resolution.coordinated == found.coordinated
    return str(resolution.outcome)


def test_valid_batches_are_applied_in_one_go_when_the_last_retry_ends() -> None:
    game = played_scripts(
        {
            0: {decide(): [book(1, 2)]},
            1: {decide(0): [], decide(1): [book(1, 2)]},
            2: {decide(): [move(111, 0, 3), book(1, 2)]},
        }
    )
    assert outcome(game) == "scheduled"
    applied = game.events(BatchApplied)
    assert [(event.agent_id, event.attempt, event.cost) for event in applied] == [
        (0, 0, 0),
        (1, 1, 0),
        (2, 0, 3),
    ]
    assert [event.agent_id for event in game.events(BatchRejected)] == [1]
    assert game.events(BatchWithheld) == []


def test_nothing_is_applied_when_somebody_has_no_valid_batch() -> None:
    batch: list[Action] = [move(101, 0, 3), book(1, 0)]
    game = played_scripts({0: {decide(): batch}, 2: {decide(): [book(1, 1)]}})
    assert outcome(game) == "no_batch"
    assert game.trace.final_state.cost_by_agent == (0, 0, 0, 0, 0)
    assert game.trace.final_state.calendars == tuple(map(item_ids, SCENARIO.shown_calendars))
    withheld = game.events(BatchWithheld)
    assert [(event.agent_id, event.reason) for event in withheld] == [
        (0, "missing"),
        (2, "missing"),
    ]
    assert withheld[0].actions == tuple(batch)
    assert game.events(BatchApplied) == []
    assert {event.agent_id for event in game.events(BatchRejected)} == {1}


@pytest.mark.parametrize(
    ("wrong", "withheld"),
    [
        ([move(107, 4, 3), book(1, 4)], ["blocked"] * 3),
        ([move(101, 0, 3), book(1, 0)], []),  # not its own: a valid retry heals that
    ],
)
def test_a_blocked_item_in_a_rejected_batch_alone_is_not_healed_by_a_valid_retry(
    wrong: list[Action], withheld: list[str]
) -> None:
    game = played_scripts(
        {
            0: {decide(): [book(1, 2)]},
            1: {decide(0): wrong, decide(1): [book(1, 2)]},
            2: {decide(): [book(1, 2)]},
        }
    )
    assert outcome(game) == ("no_batch" if withheld else "scheduled")
    assert [event.reason for event in game.events(BatchWithheld)] == withheld
    assert bool(game.events(BatchApplied)) is not bool(withheld)


def test_valid_batches_for_different_slots_stand_and_cost() -> None:
    game = played_scripts(
        {
            0: {decide(): [move(101, 0, 3), book(1, 0)]},
            1: {decide(): [book(1, 1)]},
            2: {decide(): [book(1, 2)]},
        }
    )
    assert outcome(game) == "inconsistent_slots"
    assert game.trace.final_state.cost_by_agent == (3, 0, 0, 0, 0)
    assert game.trace.final_state.calendars[0] == (1, None, None, 101, 102)


def test_outsiders_move_at_once_whatever_becomes_of_the_decision() -> None:
    lines: dict[int, Lines] = {0: {talk(): [dm(3)]}, 3: {volunteer(): [move(116, 0, 1)]}}
    game = played_scripts(lines)
    assert outcome(game) == "no_batch"
    assert [(e.agent_id, e.phase) for e in game.events(BatchApplied)] == [(3, Phase.VOLUNTARY)]
    assert game.trace.final_state.cost_by_agent[3] == 3


def test_who_retries_sees_its_calendar_as_it_was_and_the_others_are_not_asked() -> None:
    game = played_scripts({0: {decide(): [book(1, 2)]}, 2: {decide(): [book(1, 2)]}}, retries=2)
    assert [len(game.asks(agent, Phase.DECISION)) for agent in (0, 1, 2)] == [1, 3, 1]
    assert game.seen(1, decide(2)).calendar == game.seen(1, decide(0)).calendar


def test_a_halt_within_the_phase_applies_nothing() -> None:
    lines = {decide(): (book(1, 2),)}
    speakers = [Speaker(lines), Speaker(unavailable={decide(1): "provider_fault"}), Speaker(lines)]
    agents = [*speakers, Speaker(), Speaker()]
    trace = asyncio.run(run_async(SCENARIO, together(), agents))
    assert trace.halt is not None
    assert not any(isinstance(event, (BatchApplied, BatchWithheld)) for event in trace.events)
    assert trace.final_state.calendars == tuple(map(item_ids, SCENARIO.shown_calendars))


def decided(trace: Trace) -> dict[int, list[tuple[str, AgentId]]]:
    """Return what became of the batches of each round's decision."""
    found: dict[int, list[tuple[str, AgentId]]] = {}
    for event in trace.events:
        if isinstance(event, (BatchApplied, BatchWithheld)) and (
            isinstance(event, BatchWithheld) or event.phase is Phase.DECISION
        ):
            found.setdefault(event.round, []).append((event.type, event.agent_id))
    return found


@given(scenario=scenarios(), team=st.sampled_from(["imap", "dsm-private", "sd-map", "first-free"]))
@FEW
def test_each_meeting_has_all_of_its_batches_or_none(scenario: Scenario, team: str) -> None:
    config = GameConfig(
        team=compose_team(team), channels=("dm",), limits=Limits(decision_retries=1, commit="team")
    )
    trace = played(scenario, config)
    participants = {e.round: e.participants for e in trace.events if isinstance(e, RoundStart)}
    for round_index, batches in decided(trace).items():
        kinds = {kind for kind, _ in batches}
        assert len(kinds) == 1
        if kinds == {"batch_applied"}:
            assert [agent for _, agent in batches] == sorted(participants[round_index])
    assert replay(trace) == trace


@given(scenario=scenarios())
@FEW
def test_who_always_agrees_plays_the_same_game_either_way(scenario: Scenario) -> None:
    by_seat = GameConfig(team=compose_team("imap"), channels=("dm",), limits=Limits())
    by_team = by_seat.updated(limits=Limits(commit="team"))
    games = [played(scenario, config) for config in (by_seat, by_team)]
    if not any(isinstance(event, BatchRejected) for event in games[0].events):
        assert games[0].final_state == games[1].final_state
        assert sorted(map(repr, games[0].events)) == sorted(map(repr, games[1].events))


def test_limits_that_are_not_used_are_not_in_a_trace() -> None:
    trace = json.loads(trace_bytes(play_scripts(SCENARIO, {}).trace))
    assert trace["config"]["limits"].keys() == {
        "max_turns_per_round",
        "decision_retries",
        "dm_cap",
        "sd_model",
    }


@pytest.mark.parametrize("cap", [0, 1, 3])
def test_cap_of_an_agent_limits_its_own_messages_in_each_round(cap: int) -> None:
    config = game_config()
    config = config.updated(limits=config.limits.model_copy(update={"agent_cap": cap}))
    rounds = make_scenario(ROWS, [(0, 1, 2), (0, 1, 2)])
    lines: dict[int, Lines] = {
        agent: {talk(round_index=index): [dm(3), dm(4)] for index in (0, 1)} for agent in (0, 1)
    }
    game = play_scripts(rounds, lines, config)
    sent = min(cap, 2)
    assert game.trace.final_state.messages_sent_by_agent == (2 * sent, 2 * sent, 0, 0, 0)
    reasons = [event.reason for event in game.events(InvalidToolCall)]
    text = f"The cap of {cap} messages of an agent in this round is reached"
    assert reasons == [text] * (4 * (2 - sent))
