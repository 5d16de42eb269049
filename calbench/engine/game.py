"""One game from its first round to its trace (paper, section 3 and appendix A.4)."""

import uuid
from collections.abc import Generator

from calbench.domain.canonical import canonical_json
from calbench.domain.ids import AgentId, MeetingId
from calbench.domain.randomness import derived_seed
from calbench.domain.rules import RULES_VERSION
from calbench.engine.decide import decision, voluntary
from calbench.engine.resolve import resolve
from calbench.engine.seating import private_agents, seat_of
from calbench.engine.state import State, initial_state
from calbench.engine.talk import Answers, Asks, Talk
from calbench.scenarios.models import IncomingMeetingEntry, Scenario
from calbench.traces.events import AgentRegistered, GameEnd, GameStart, RoundStart
from calbench.traces.models import (
    TRACE_SCHEMA_VERSION,
    FinalState,
    GameConfig,
    Trace,
    TraceMetrics,
)

GAME_NAMESPACE = uuid.UUID("9d0e64c1-6a0f-5a3b-8f5e-2c1d4f7a9b30")
"""Namespace of game ids [C]: a UUIDv5 of whatever defines the game."""

Game = Generator[Asks, Answers, Trace]


def game_id(scenario: Scenario, config: GameConfig) -> str:
    """Return the id that names this game and no other.

    It covers the scenario (without the numbers derived from it), team, channels, limits,
    prompt version, label bank and rules version.
    """
    content = {
        "scenario": scenario.play_digest,
        "config": config.digest,
        "rules_version": RULES_VERSION,
    }
    return str(uuid.uuid5(GAME_NAMESPACE, canonical_json(content)))


def play(scenario: Scenario, config: GameConfig) -> Game:
    """Play one game: yields who is asked with what they see, is sent their replies.

    Returns (as the generator's value) the finished trace.
    """
    state = initial_state(scenario, config)
    _open(state, scenario, config)
    private = private_agents(config.team, state.agent_ids)
    for round_index, entry in enumerate(scenario.meetings):
        for agent in private:
            state.private_seeds[agent] = private_seed(scenario.seed, round_index, agent)
        yield from _round(state, scenario, entry, round_index)
    return _close(state, scenario, config)


def private_seed(seed: int, round_index: int, agent: AgentId) -> int:
    """Return the seed of an agent's private chance in one round, from the scenario's [C]."""
    return derived_seed(seed, "private", round_index, agent)


def _round(
    state: State, scenario: Scenario, entry: IncomingMeetingEntry, round_index: int
) -> Generator[Asks, Answers, None]:
    meeting = scenario.meeting_by_id[MeetingId(entry.meeting_id)]
    order = tuple([AgentId(agent) for agent in entry.speaker_order])
    state.events.append(
        RoundStart(
            round=round_index,
            meeting_id=meeting.meeting_id,
            participants=meeting.participants,
            speaker_order=order,
        )
    )
    talk = Talk(state, meeting, order, round_index)
    yield from talk.run()
    yield from voluntary(state, meeting, talk.outsiders, round_index)
    yield from decision(state, meeting, round_index)
    resolve(state, meeting, round_index)
    for agent in state.agent_ids:
        if state.current[agent]:
            state.earlier[agent] += state.current[agent]
            state.current[agent] = ()


def _open(state: State, scenario: Scenario, config: GameConfig) -> None:
    oracle = scenario.oracle
    state.events.append(
        GameStart(
            seed=scenario.seed,
            num_agents=scenario.num_agents,
            num_slots=scenario.num_slots,
            num_meetings=len(scenario.meetings),
            optimal_cost=None if oracle is None or oracle.best is None else oracle.best.cost,
            greedy_cost=None if oracle is None else oracle.greedy_cost,
            nosy_agents=(),
        )
    )
    for agent in state.agent_ids:
        state.events.append(
            AgentRegistered(
                agent_id=agent,
                player=seat_of(config.team, agent).player,
                system_prompt=None,
                calendar=state.calendar_ids[agent],
                is_nosy=False,
            )
        )


def _close(state: State, scenario: Scenario, config: GameConfig) -> Trace:
    scheduled = sum(outcome.coordinated for outcome in state.outcomes)
    cost = sum(state.cost_by_agent)
    messages = sum(state.messages_sent_by_agent)
    state.events.append(
        GameEnd(
            rounds_scheduled=scheduled,
            rounds_failed=len(state.outcomes) - scheduled,
            total_cost=cost,
            messages=messages,
        )
    )
    oracle = scenario.oracle
    best = None if oracle is None or oracle.best is None else oracle.best.cost
    greedy = None if oracle is None else oracle.greedy_cost
    # Every part was validated or made by the engine: checking it again would cost more
    # than playing the game.
    return Trace.model_construct(
        schema_version=TRACE_SCHEMA_VERSION,
        rules_version=RULES_VERSION,
        game_id=game_id(scenario, config),
        scenario=scenario,
        config=config,
        events=tuple(state.events),
        final_state=FinalState.model_construct(
            calendars=tuple(state.calendar_ids),
            cost_by_agent=tuple(state.cost_by_agent),
            messages_sent_by_agent=tuple(state.messages_sent_by_agent),
            round_outcomes=tuple(state.outcomes),
        ),
        metrics=TraceMetrics.model_construct(
            realised_cost=cost,
            cost_vs_optimal=_ratio(cost, best),
            cost_vs_greedy=_ratio(cost, greedy),
            rounds_scheduled=scheduled,
            messages=messages,
        ),
        started_at=None,
        ended_at=None,
    )


def _ratio(cost: int, reference: int | None) -> float | None:
    """Return a ratio to six digits; absent where the reference is unknown or zero."""
    return round(cost / reference, 6) if reference else None
