"""Games in which language agents sit: played by scripts, with what such agents leave behind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from calbench.domain.ids import AgentId
from calbench.domain.observations import REFLECTION
from calbench.domain.replies import Problem
from calbench.domain.usage import Usage
from calbench.traces.events import (
    ChancesStated,
    DecideEnd,
    Event,
    GameHalted,
    Reflection,
    ReplyNote,
    Resolution,
    TurnEnd,
)
from calbench.traces.models import GameConfig, Kind, Seat, Team, Trace
from tests.factories import make_scenario
from tests.metrics.games import book, decide, move, play_scripts

Answer = Mapping[int, Sequence[int]]
"""What an agent answers to a reflection: a number for each slot, by target."""

UNREADABLE: Answer = {}


def seat(player: str, kind: Kind = "scripted", **settings: object) -> Seat:
    return Seat(player=player, kind=kind, settings=settings)


def seated(trace: Trace, *seats: Seat, team: str = "words") -> Trace:
    """Return the game as if these had sat there."""
    old = trace.config
    config = GameConfig(
        team=Team(team_id=team, seats=seats), channels=old.channels, limits=old.limits
    )
    return trace.model_copy(update={"config": config})


def reflection(
    round_index: int,
    agent: int,
    answer: Answer,
    expected: Mapping[int, Sequence[float]] | None = None,
    usage: Usage | None = None,
) -> Reflection:
    return Reflection(
        round=round_index,
        agent_id=AgentId(agent),
        prompt=None,
        delta_by_target={str(target): tuple(numbers) for target, numbers in answer.items()},
        expected_by_target=None
        if expected is None
        else {str(target): tuple(numbers) for target, numbers in expected.items()},
        usage=usage,
        reply_keys=(),
    )


def chances(round_index: int, agent: int, answer: Answer) -> ChancesStated:
    stated = {str(target): tuple(numbers) for target, numbers in answer.items()}
    return ChancesStated(round=round_index, agent_id=AgentId(agent), occupied_by_target=stated)


def with_events(trace: Trace, add: Callable[[Event], Sequence[Event]]) -> Trace:
    """Return the game with events added behind others."""
    events: list[Event] = []
    for event in trace.events:
        events += [event, *add(event)]
    return trace.model_copy(update={"events": tuple(events)})


def reflecting(trace: Trace, reflections: Sequence[Reflection | ChancesStated]) -> Trace:
    """Return the game with what was answered after each resolution."""

    def answers(event: Event) -> Sequence[Event]:
        if not isinstance(event, Resolution):
            return ()
        return [each for each in reflections if each.round == event.round]

    return with_events(trace, answers)


def halted(trace: Trace) -> Trace:
    """Return the game as if nobody could be asked to reflect after its last round."""
    last = max(i for i, event in enumerate(trace.events) if isinstance(event, Resolution))
    halt = GameHalted(
        round=len(trace.scenario.meetings) - 1,
        phase=REFLECTION,
        agent_id=AgentId(0),
        reason="budget_stop",
        detail="the budget is spent",
    )
    events = (*trace.events[: last + 1], halt, *trace.events[last + 1 :])
    return trace.model_copy(update={"events": events})


def paid(trace: Trace, usage: Usage, keys: Sequence[str] = ("key",)) -> Trace:
    """Return the game with this usage behind every turn and decision."""
    events = tuple(
        replace(event, usage=usage, reply_keys=tuple(keys))
        if isinstance(event, TurnEnd | DecideEnd)
        else event
        for event in trace.events
    )
    return trace.model_copy(update={"events": events})


def noted(trace: Trace, agent: int, problems: Sequence[Problem | str]) -> Trace:
    """Return the game with notes on an agent's first turns, one each."""
    left = list(problems)

    def notes(event: Event) -> Sequence[Event]:
        if not isinstance(event, TurnEnd) or event.agent_id != agent or not left:
            return ()
        return [
            ReplyNote(
                round=event.round,
                phase=REFLECTION,
                agent_id=event.agent_id,
                kind=left.pop(0),  # type: ignore[arg-type]
                detail="",
            )
        ]

    return with_events(trace, notes)


TALKERS = (seat("talker"),)


def small_game() -> Trace:
    """Return a game of 3 agents, 4 slots and 2 meetings whose calendars are easy to follow.

    ======  ==========  ===========  ===========
    agent   at first    after round  after round
    ======  ==========  ===========  ===========
    0       ``E.B.``    0: ``EMB.``  1: ``EMB.``
    1       ``....``    0: ``.M..``  1: ``MM..``
    2       ``.E..``    0: ``.E..``  1: ``M..E``
    ======  ==========  ===========  ===========
    """
    scenario = make_scenario(["E.B.", "....", ".E.."], [(0, 1), (1, 2)])
    scripts = {
        0: decide(book(1, 1)),
        1: decide(book(1, 1)) | decide(book(2, 0), round_index=1),
        2: decide(move(109, 1, 3), book(2, 0), round_index=1),
    }
    return seated(play_scripts(scenario, scripts), *TALKERS)


NOTHING = (0, 0, 0, 0)

SMALL_REFLECTIONS = (
    reflection(0, 0, {1: (0, 0, 3, 0), 2: (0, 2, 0, 0)}),
    reflection(0, 1, {0: (3, -1, 2, -2), 2: NOTHING}),
    reflection(0, 2, {0: (0, 1, 0, 3), 1: NOTHING}),
    reflection(1, 0, {1: (0, -3, 0, 0), 2: NOTHING}),
    reflection(1, 1, {0: NOTHING, 2: (3, 1, 0, 0)}),
    reflection(1, 2, {0: NOTHING, 1: (2, 0, 0, -3)}),
)
"""Toward the truth: 8 steps about agent 0 (7 by a partner), 5 about 1 (5), 5 about 2 (3)."""


def small_reflected_game() -> Trace:
    return reflecting(small_game(), SMALL_REFLECTIONS)
