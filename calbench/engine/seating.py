"""Who sits where: from a team's description to the players that act."""

from calbench.domain.ids import AgentId
from calbench.errors import ConfigError
from calbench.protocols.base import Policy
from calbench.protocols.registry import POLICIES, build_policy
from calbench.traces.models import Seat, Team


def seat_of(team: Team, agent: AgentId) -> Seat:
    """Return who sits at an agent's place; seats repeat around the table."""
    return team.seats[agent % len(team.seats)]


def seat_policies(team: Team, num_agents: int) -> list[Policy]:
    """Return one policy for each agent, by agent id.

    Raises:
        ConfigError: if the team names a player this package does not have, or settings
            that it does not take.
    """
    return [_policy(team, seat_of(team, AgentId(agent))) for agent in range(num_agents)]


def _policy(team: Team, seat: Seat) -> Policy:
    try:
        policy = build_policy(seat.player, seat.settings)
    except TypeError as error:
        raise ConfigError(
            f"team {team.team_id}: settings of player {seat.player} do not fit: {error}"
        ) from error
    if policy is None:
        raise ConfigError(
            f"team {team.team_id}: there is no player {seat.player}; "
            f"known are {', '.join(sorted(POLICIES))}"
        )
    return policy
