"""The seats of a game by player."""

from collections.abc import Mapping

from calbench.domain.ids import AgentId
from calbench.metrics.game import AgentGame, GameScore
from calbench.metrics.seats import Player


def seats_by_player(score: GameScore) -> Mapping[Player, dict[AgentId, AgentGame]]:
    """Return each player's agent-games by agent id, in the order of the seats."""
    seats: dict[Player, dict[AgentId, AgentGame]] = {}
    for agent in score.agents:
        seats.setdefault(agent.player, {})[agent.agent_id] = agent
    return seats
