"""A game whose answers come from outside and are checked before the rules see them."""

from collections.abc import Generator, Mapping, Sequence

from calbench.agents.own import checked_reply
from calbench.domain.actions import Turn
from calbench.domain.ids import AgentId
from calbench.domain.observations import Observation
from calbench.domain.replies import Reply
from calbench.engine.game import HaltedError, play
from calbench.engine.talk import Asks
from calbench.errors import AgentError, UnavailableError
from calbench.files import printable, shorten
from calbench.scenarios.models import Scenario
from calbench.traces.models import GameConfig, Trace

OutsideAnswers = Mapping[AgentId, Turn | Reply]
OutsideGame = Generator[Asks, OutsideAnswers, Trace]


def play_outside(
    scenario: Scenario, config: GameConfig, *, system_prompts: Sequence[str | None] = ()
) -> OutsideGame:
    """Play one game as :func:`calbench.engine.game.play` does, with answers from any source.

    An :class:`UnavailableError` thrown into it ends the game at that point, recorded and
    unscored, as if the first agent asked were unavailable.

    Raises:
        AgentError: there is not exactly one answer for each agent asked, or an answer is
            neither a turn nor a reply, or is a turn that a trace cannot hold; the game is over.
    """
    game = play(scenario, config, system_prompts=system_prompts)
    try:
        asks = next(game)
        while True:
            try:
                answers = yield dict(asks)
            except UnavailableError as error:
                first = asks[min(asks)]
                asks = game.throw(HaltedError(first, error.reason, error.detail))
            else:
                asks = game.send(_checked(asks, answers))
    except AgentError as error:
        place = f"team {config.team.team_id}, scenario {scenario.scenario_id}"
        raise error.within(place) from None
    except StopIteration as end:
        trace: Trace = end.value
        return trace


def _checked(asks: Asks, answers: object) -> dict[AgentId, Reply]:
    wanted = "send {agent: Turn} for every agent asked"
    if not isinstance(answers, Mapping):
        place = _place(next(iter(asks.values())))
        raise AgentError(place, f"the game was sent {type(answers).__name__}; {wanted}")
    for agent in answers:
        if agent not in asks:
            asked = ", ".join(map(str, asks))
            shown = printable(shorten(repr(agent)))
            place = _place(next(iter(asks.values())))
            raise AgentError(place, f"the answer is for {shown}, asked were {asked}; {wanted}")
    replies: dict[AgentId, Reply] = {}
    for agent, observation in asks.items():
        place = _place(observation)
        if agent not in answers:
            raise AgentError(place, f"there is no answer; {wanted}")
        replies[agent] = checked_reply(answers[agent], place, "the game was sent", "send")
    return replies


def _place(asked: Observation) -> str:
    return f"agent {asked.agent_id}, round {asked.round_index}, {asked.phase}"
