"""Who sits where, read off a team's description: seats repeat around the table."""

from collections.abc import Sequence

from calbench.domain.ids import AgentId
from calbench.traces.models import Seat, Team


def seat_of(team: Team, agent: AgentId) -> Seat:
    """Return who sits at an agent's place."""
    return team.seats[agent % len(team.seats)]


def private_agents(team: Team, agents: Sequence[AgentId]) -> tuple[AgentId, ...]:
    """Return the agents whose seats have private chance."""
    return tuple([agent for agent in agents if seat_of(team, agent).private_chance])


def language_agents(team: Team, num_agents: int) -> tuple[AgentId, ...]:
    """Return the agents that use language: they see labels, and may be asked to reflect."""
    if not team.uses_language:
        return ()
    agents = [AgentId(agent) for agent in range(num_agents)]
    return tuple([agent for agent in agents if seat_of(team, agent).uses_language])
