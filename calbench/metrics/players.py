"""The players of a game, as tables name them."""

from typing import NamedTuple

from calbench.domain.ids import AgentId
from calbench.traces.models import Kind, Seat, Team


class Player(NamedTuple):
    """What sits in a seat. The same name with different settings is a different player.

    Attributes:
        name: in the team.
        kind: typed by protocol, a model, a scripted stand-in, or the user's own code.
        uses_language: whether it speaks in words and is asked to reflect.
        model: identifier of the model behind it, also of one that the user's code says it asks;
            absent for everything else.
        settings_digest: SHA-256 of the settings that define it.
        is_probing: whether its prompt tells it to find out private information (appendix B).
    """

    name: str
    kind: Kind
    uses_language: bool
    model: str | None
    settings_digest: str
    is_probing: bool = False

    @property
    def order(self) -> tuple[str, str, str]:
        """The sort key of players."""
        return self.name, self.kind, self.settings_digest


def players_of(team: Team, num_agents: int) -> tuple[Player, ...]:
    """Return the player of each agent, by agent id."""
    player_by_seat: dict[int, Player] = {}
    players = []
    for agent in range(num_agents):
        seat = team.seat_of(AgentId(agent))
        if id(seat) not in player_by_seat:
            player_by_seat[id(seat)] = _player(seat)
        players.append(player_by_seat[id(seat)])
    return tuple(players)


def _player(seat: Seat) -> Player:
    model = seat.settings.get("model") if seat.kind in ("model", "custom") else None
    return Player(
        name=seat.player,
        kind=seat.kind,
        uses_language=seat.uses_language,
        model=model if isinstance(model, str) else None,
        settings_digest=seat.settings_digest,
        is_probing=seat.variant is not None and seat.variant.is_nosy,
    )
