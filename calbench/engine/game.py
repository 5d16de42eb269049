"""One game from its first round to its trace (paper, section 3 and appendix A.4)."""

import uuid
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from calbench.domain.canary import CANARY
from calbench.domain.canonical import canonical_json
from calbench.domain.ids import AgentId, ItemId, MeetingId
from calbench.domain.observations import NO_LABELS, Briefing, Observation
from calbench.domain.randomness import derived_seed
from calbench.domain.rules import RULES_VERSION
from calbench.engine.decide import decision, reflection, voluntary
from calbench.engine.rounds import halt, resolve, round_start
from calbench.engine.state import State, initial_state
from calbench.engine.talk import Answers, Asks, Talk
from calbench.errors import Halt
from calbench.protocols.base import First
from calbench.scenarios.labels import Labels, assign_labels, read_label_bank
from calbench.scenarios.models import IncomingMeetingEntry, Scenario
from calbench.traces.events import AgentRegistered, GameEnd, GameStart
from calbench.traces.models import (
    TRACE_SCHEMA_VERSION,
    FinalState,
    GameConfig,
    Trace,
    TraceMetrics,
)

GAME_NAMESPACE = uuid.UUID("9d0e64c1-6a0f-5a3b-8f5e-2c1d4f7a9b30")
"""Namespace of game ids [C]: UUIDv5 of what defines the game."""

Game = Generator[Asks, Answers, Trace]


def game_id(scenario: Scenario, config: GameConfig) -> str:
    """Return the unique id of a game.

    It depends on the scenario (without the numbers derived from it), team, channels, limits,
    prompt version, label bank and rules version.
    """
    return _game_id(scenario.play_digest, config.digest)


@lru_cache(maxsize=1024)
def _game_id(scenario: str, config: str) -> str:
    """Return the id of a game, which is asked for several times around it."""
    content = {"scenario": scenario, "config": config, "rules_version": RULES_VERSION}
    return str(uuid.uuid5(GAME_NAMESPACE, canonical_json(content)))


class HaltedError(Exception):
    """Thrown into a game that cannot continue, by the driver that has no answer."""

    def __init__(self, observation: Observation, reason: Halt, detail: str) -> None:
        super().__init__(detail)
        self.observation = observation
        self.reason: Halt = reason
        self.detail = detail


def play(
    scenario: Scenario,
    config: GameConfig,
    *,
    system_prompts: Sequence[str | None] = (),
    speaking_first: Sequence[First | None] = (),
) -> Game:
    """Play one game: yields who is asked with what they see, and is sent their replies.

    Args:
        scenario: of the game.
        config: of the game.
        system_prompts: what each agent was told before the game, by agent id; only recorded.
        speaking_first: by agent id, who in its seat speaks before hearing anything; otherwise it
            passes in talk until it hears something, and is not asked. Absent: it is always asked.

    Returns (as the generator's value) the finished trace. A :class:`HaltedError` thrown into it
    ends the game at that point; its trace is recorded and never scored.
    """
    state = initial_state(scenario, config, shown_labels(scenario, config), speaking_first)
    _open(state, scenario, config, system_prompts)
    try:
        yield from _rounds(state, scenario, config)
    except HaltedError as halted:
        halt(state, scenario, halted.observation, halted.reason, halted.detail)
    return _close(state, scenario, config)


def briefings(scenario: Scenario, config: GameConfig) -> tuple[Briefing, ...]:
    """Return what each agent is told before the first round, by agent id (appendix A.2)."""
    agents = tuple([AgentId(agent) for agent in range(scenario.num_agents)])
    return tuple(
        [
            Briefing(
                agent_id=agent,
                agent_ids=agents,
                num_slots=scenario.num_slots,
                num_meetings=len(scenario.meetings),
                channels=frozenset(config.channels),
                max_turns_per_round=config.limits.max_turns_per_round,
                decision_retries=config.limits.decision_retries,
                message_cap=config.limits.dm_cap,
                agent_cap=config.limits.agent_cap,
                commits_together=config.limits.commit == "team",
                canary=CANARY if config.canary else None,
            )
            for agent in agents
        ]
    )


def shown_labels(scenario: Scenario, config: GameConfig) -> Sequence[Mapping[ItemId, str]]:
    """Return the labels each agent may see: its own ones if its seat uses language."""
    speakers = config.team.language_agents(scenario.num_agents)
    if config.label_bank is None or not speakers:
        return ()
    labels = _labels(_Labelled(scenario.play_digest, config.label_bank, scenario))
    return [
        labels.own_labels(agent) if agent in speakers else NO_LABELS
        for agent in map(AgentId, range(scenario.num_agents))
    ]


@dataclass(frozen=True)
class _Labelled:
    """A scenario, known by its digest, and the version of a label bank, which never changes."""

    digest: str
    bank: str
    scenario: Scenario = field(compare=False)


@lru_cache(maxsize=8)
def _labels(these: _Labelled) -> Labels:
    """Return the labels of a scenario, on which several teams play one after the other."""
    return assign_labels(these.scenario, read_label_bank(these.bank))


def _rounds(state: State, scenario: Scenario, config: GameConfig) -> Generator[Asks, Answers, None]:
    team, num_agents = config.team, scenario.num_agents
    private = team.private_agents(num_agents)
    reflecting = team.language_agents(num_agents) if config.reflection else ()
    for round_index, entry in enumerate(scenario.meetings):
        for agent in private:
            state.private_seeds[agent] = private_seed(scenario.seed, round_index, agent)
        yield from _round(state, scenario, entry, round_index, reflecting)


def private_seed(seed: int, round_index: int, agent: AgentId) -> int:
    """Return the seed of an agent's private chance in one round, from the scenario's [C]."""
    return derived_seed(seed, "private", round_index, agent)


def _round(
    state: State,
    scenario: Scenario,
    entry: IncomingMeetingEntry,
    round_index: int,
    reflecting: tuple[AgentId, ...],
) -> Generator[Asks, Answers, None]:
    meeting = scenario.meeting_by_id[MeetingId(entry.meeting_id)]
    start = round_start(scenario, entry, round_index)
    state.events.append(start)
    talk = Talk(state, meeting, start.speaker_order, round_index)
    yield from talk.run()
    yield from voluntary(state, meeting, talk.outsiders, round_index)
    yield from decision(state, meeting, round_index)
    resolve(state, meeting, round_index)
    yield from reflection(state, meeting, reflecting, round_index)
    for agent in state.agent_ids:
        if state.current[agent]:
            state.earlier[agent] += state.current[agent]
            state.current[agent] = ()


def _open(
    state: State,
    scenario: Scenario,
    config: GameConfig,
    system_prompts: Sequence[str | None],
) -> None:
    oracle = scenario.oracle
    seats = [config.team.seat_of(agent) for agent in state.agent_ids]
    is_nosy = [seat.variant is not None and seat.variant.is_nosy for seat in seats]
    state.events.append(
        GameStart(
            seed=scenario.seed,
            num_agents=scenario.num_agents,
            num_slots=scenario.num_slots,
            num_meetings=len(scenario.meetings),
            optimal_cost=None if oracle is None else oracle.optimal_cost,
            greedy_cost=None if oracle is None else oracle.greedy_cost,
            nosy_agents=tuple([agent for agent in state.agent_ids if is_nosy[agent]]),
        )
    )
    for agent in state.agent_ids:
        state.events.append(
            AgentRegistered(
                agent_id=agent,
                player=seats[agent].player,
                system_prompt=system_prompts[agent] if system_prompts else None,
                calendar=state.calendar_ids[agent],
                is_nosy=is_nosy[agent],
            )
        )


def _close(state: State, scenario: Scenario, config: GameConfig) -> Trace:
    cost, messages = sum(state.cost_by_agent), sum(state.messages_sent_by_agent)
    scheduled = sum(outcome.coordinated for outcome in state.outcomes)
    failed = len(state.outcomes) - scheduled
    state.events.append(
        GameEnd(
            rounds_scheduled=scheduled, rounds_failed=failed, total_cost=cost, messages=messages
        )
    )
    oracle = scenario.oracle
    best, greedy = (None, None) if oracle is None else (oracle.optimal_cost, oracle.greedy_cost)
    # Every part was validated or made by the engine; validating it again would take longer
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
