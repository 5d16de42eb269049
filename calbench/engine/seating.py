"""Who sits where: from a team's description to the players that act."""

from collections.abc import Sequence

from calbench.domain.ids import AgentId
from calbench.errors import ConfigError
from calbench.protocols.base import Policy
from calbench.protocols.registry import (
    DEGENERATE,
    NEEDS_MEDIATOR,
    NEEDS_PRIVATE_CHANCE,
    POLICIES,
    build_policy,
)
from calbench.traces.models import Limits, Seat, Team


def seat_of(team: Team, agent: AgentId) -> Seat:
    """Return who sits at an agent's place; seats repeat around the table."""
    return team.seats[agent % len(team.seats)]


def team_of(player: str) -> Team:
    """Return the team of one known player in every seat, with what that player needs."""
    seat = Seat(
        player=player,
        kind="degenerate" if player in DEGENERATE else "protocol",
        private_chance=player in NEEDS_PRIVATE_CHANCE,
    )
    return Team(team_id=player, seats=(seat,), mediator=player in NEEDS_MEDIATOR)


def private_agents(team: Team, agents: Sequence[AgentId]) -> tuple[AgentId, ...]:
    """Return the agents whose seats have private chance."""
    return tuple([agent for agent in agents if seat_of(team, agent).private_chance])


def seat_policies(team: Team, num_agents: int, limits: Limits | None = None) -> list[Policy]:
    """Return one policy for each agent, by agent id.

    Of the game's limits, players that take them get the difficulty weights.

    Raises:
        ConfigError: if the team names a player this package does not have, or settings
            that it does not take; or if there are fewer weights than agents.
    """
    weights = None if limits is None else limits.sd_model
    if weights is not None and len(weights) < num_agents:
        raise ConfigError(
            f"limits.sd_model: {len(weights)} weights for {num_agents} agents: give one for each"
        )
    return [_policy(team, seat_of(team, AgentId(agent)), weights) for agent in range(num_agents)]


def _policy(team: Team, seat: Seat, weights: tuple[float, ...] | None) -> Policy:
    try:
        policy = build_policy(seat.player, seat.settings, weights)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"team {team.team_id}: settings of player {seat.player} do not fit: {error}"
        ) from error
    if policy is None:
        raise ConfigError(
            f"team {team.team_id}: there is no player {seat.player}; "
            f"known are {', '.join(sorted(POLICIES))}"
        )
    return policy
