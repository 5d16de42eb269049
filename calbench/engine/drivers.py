"""Drivers of a game: policies, agents that may wait, and answers from outside.

:mod:`replay` drives a trace.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any, TypeVar

from calbench.agents.answers import checked_reply
from calbench.agents.base import Agent, place_of
from calbench.domain.actions import PASS, Turn
from calbench.domain.ids import AgentId
from calbench.domain.replies import PASSED, Reply
from calbench.engine.game import Game, HaltedError, briefings, play
from calbench.engine.talk import Answers, Asks
from calbench.errors import AgentError, StoppedError, UnavailableError
from calbench.files import no_collection, printable, shorten
from calbench.protocols.base import Policy, first_of
from calbench.scenarios.models import Scenario
from calbench.traces.models import GameConfig, Trace

T = TypeVar("T")
OutsideAnswers = Mapping[AgentId, Turn | Reply]
OutsideGame = Generator[Asks, OutsideAnswers, Trace]


def driven(game: Game, answered: Callable[[Asks], Answers | HaltedError]) -> Trace:
    """Play a game to its end.

    Args:
        game: that has not begun.
        answered: returns the replies of all who are asked, or what halts the game.
    """
    try:
        asks = next(game)
        while True:
            answers = answered(asks)
            asks = game.throw(answers) if isinstance(answers, HaltedError) else game.send(answers)
    except StopIteration as end:
        trace: Trace = end.value
        return trace


@contextmanager
def _within(scenario: Scenario, config: GameConfig) -> Iterator[None]:
    """Name the game in errors of the user's own code."""
    try:
        yield
    except AgentError as error:
        place = f"team {config.team.team_id}, scenario {scenario.scenario_id}"
        raise error.within(place) from error.__cause__


def run(scenario: Scenario, config: GameConfig, policies: Sequence[Policy]) -> Trace:
    """Play a game of pure policies, without an event loop.

    Args:
        scenario: of the game.
        config: of the game.
        policies: one for each agent, by agent id.

    Raises:
        AgentError: a policy from elsewhere raised, or returned something that is no turn.
    """
    acts = [policy.act for policy in policies]

    def answered(asks: Asks) -> Answers:
        answers = {}
        for agent, observation in asks.items():
            turn = acts[agent](observation)
            answers[agent] = PASSED if turn is PASS else Reply(turn)
        return answers

    with no_collection(), _within(scenario, config):
        first = [first_of(policy) for policy in policies]
        return driven(play(scenario, config, speaking_first=first), answered)


def run_at_once(scenario: Scenario, config: GameConfig, agents: Sequence[Agent]) -> Trace:
    """Play a game of agents none of which ever waits, such as scripted speakers.

    It is the game that :func:`run_async` plays, without an event loop: making one for every game,
    and a task for every turn, takes a fifth of the time of such games.
    """
    game = play(scenario, config, system_prompts=_introduced(scenario, config, agents))
    return driven(game, lambda asks: at_once(agents, asks))


def at_once(agents: Sequence[Agent], asks: Asks) -> Answers:
    """Return the replies of agents that never wait."""
    return {agent: _at_once(agents[agent].act(asks[agent])) for agent in asks}


def _at_once(answer: Coroutine[Any, Any, Reply]) -> Reply:
    try:
        answer.send(None)
    except StopIteration as end:
        reply: Reply = end.value
        return reply
    answer.close()
    raise RuntimeError("an agent waits that should answer at once; play it with run_async")


async def run_async(
    scenario: Scenario,
    config: GameConfig,
    agents: Sequence[Agent],
    is_stopping: Callable[[], bool] = lambda: False,
) -> Trace:
    """Play a game of agents that may wait; those asked together answer concurrently.

    An unavailable agent (:class:`UnavailableError`) ends the game, which is recorded. Any other
    exception is raised, and nothing of the game is kept.

    Args:
        scenario: of the game.
        config: of the game.
        agents: who plays, by agent id.
        is_stopping: asked before every turn; once it is true, nobody is asked any more.

    Raises:
        AgentError: the user's own code raised, or returned something that is not an answer.
        StoppedError: the game is stopped.
    """
    with _within(scenario, config):
        game = play(scenario, config, system_prompts=_introduced(scenario, config, agents))
        try:
            asks = next(game)
            while True:
                if is_stopping():
                    raise StoppedError("stopped")
                said = await _answers(agents, asks)
                asks = game.throw(said) if isinstance(said, HaltedError) else game.send(said)
        except StopIteration as end:
            trace: Trace = end.value
            return trace


def _introduced(
    scenario: Scenario,
    config: GameConfig,
    agents: Sequence[Agent] | Mapping[AgentId, Agent],
    given: Sequence[str | None] = (),
) -> list[str | None]:
    """Introduce agents; return their system prompts, and those given of all others."""
    prompts = list(given or [None] * scenario.num_agents)
    told = briefings(scenario, config)
    for agent in map(AgentId, agents if isinstance(agents, Mapping) else range(len(agents))):
        prompts[agent] = agents[agent].introduce(told[agent])
    return prompts


async def _answers(
    agents: Sequence[Agent] | Mapping[AgentId, Agent], asks: Asks
) -> dict[AgentId, Reply] | HaltedError:
    """Wait for all agents asked; of several unavailable ones, the lowest id halts the game.

    No agent is cancelled if another one fails: its reply may already be paid for.
    """
    asked = list(asks)
    if len(asked) == 1:
        agent = asked[0]
        try:
            return {agent: await agents[agent].act(asks[agent])}
        except UnavailableError as error:
            return HaltedError(asks[agent], error.reason, error.detail)
    outcomes = await asyncio.gather(
        *(agents[agent].act(asks[agent]) for agent in asked), return_exceptions=True
    )
    answers: dict[AgentId, Reply] = {}
    halted: HaltedError | None = None
    for agent, outcome in zip(asked, outcomes, strict=True):
        if isinstance(outcome, UnavailableError):
            halted = halted or HaltedError(asks[agent], outcome.reason, outcome.detail)
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            answers[agent] = outcome
    return halted or answers


def play_outside(
    scenario: Scenario,
    config: GameConfig,
    agents: Mapping[AgentId, Agent] | None = None,
    *,
    system_prompts: Sequence[str | None] = (),
) -> OutsideGame:
    """Play one game as :func:`calbench.engine.game.play` does, with answers from any source.

    An :class:`UnavailableError` thrown into it ends the game at that point, recorded and
    unscored, as if the first agent asked were unavailable.

    Args:
        scenario: of the game.
        config: of the game.
        agents: who answers for themselves, by agent id, after the others of the same ask.
        system_prompts: of the others, by agent id; only recorded.

    Raises:
        AgentError: there is not exactly one answer for each agent asked, or an answer is
            neither a turn nor a reply, or is a turn that a trace cannot hold; the game is over.
    """
    inside = agents or {}
    with _within(scenario, config), _waiting() as wait:
        prompts = _introduced(scenario, config, inside, system_prompts)
        game = play(scenario, config, system_prompts=prompts)
        try:
            asks = next(game)
            while True:
                outside = {agent: asks[agent] for agent in asks if agent not in inside}
                try:
                    answers = _checked(outside, (yield dict(outside))) if outside else {}
                except UnavailableError as error:
                    first = outside[min(outside)]
                    asks = game.throw(HaltedError(first, error.reason, error.detail))
                    continue
                asked = {agent: asks[agent] for agent in asks if agent in inside}
                said = wait(_answers(inside, asked)) if asked else {}
                if isinstance(said, HaltedError):
                    asks = game.throw(said)
                else:
                    asks = game.send({agent: {**answers, **said}[agent] for agent in asks})
        except StopIteration as end:
            trace: Trace = end.value
            return trace


@contextmanager
def threads(count: int, stopping: Event) -> Iterator[ThreadPoolExecutor]:
    """Provide threads that play games, and stop these where the caller is stopped, by Ctrl-C too.

    Only the main thread hears of it, and would wait for whole games.
    """
    with ThreadPoolExecutor(count) as beside:
        try:
            yield beside
        except BaseException:
            stopping.set()
            raise


@contextmanager
def _waiting() -> Iterator[Callable[[Coroutine[Any, Any, T]], T]]:
    """Provide what waits for a coroutine, all on one event loop in a thread beside this one.

    A client may be bound to the loop that it was used on first, and the caller's thread may have
    a loop that runs.
    """
    runner = asyncio.Runner()
    with ThreadPoolExecutor(max_workers=1) as thread:
        _THREADS.add(thread)
        try:
            yield lambda waits: thread.submit(runner.run, waits).result()
        finally:
            try:
                thread.submit(runner.close).result()
            except RuntimeError:  # the interpreter ends: threads take nothing any more
                runner.close()
            _THREADS.discard(thread)


_THREADS = set[ThreadPoolExecutor]()
"""Those of games under way: one that was collected with its game would be waited for in vain."""


def _checked(asks: Asks, answers: object) -> dict[AgentId, Reply]:
    wanted = "send {agent: Turn} for every agent asked"
    if not isinstance(answers, Mapping):
        place = place_of(next(iter(asks.values())))
        raise AgentError(place, f"the game was sent {type(answers).__name__}; {wanted}")
    for agent in answers:
        if agent not in asks:
            asked = ", ".join(map(str, asks))
            shown = printable(shorten(repr(agent)))
            place = place_of(next(iter(asks.values())))
            raise AgentError(place, f"the answer is for {shown}, asked were {asked}; {wanted}")
    replies: dict[AgentId, Reply] = {}
    for agent, observation in asks.items():
        if agent not in answers:
            raise AgentError(place_of(observation), f"there is no answer; {wanted}")
        replies[agent] = checked_reply(answers[agent], observation, "the game was sent", "send")
    return replies
