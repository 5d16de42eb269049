import pytest

from calbench.domain.ids import AgentId
from calbench.engine.seating import seat_of, seat_policies
from calbench.errors import ConfigError
from calbench.protocols.degenerate import Silent
from calbench.protocols.imap import Imap
from calbench.traces.models import Seat, Team


def team(*players: str, **settings: int) -> Team:
    seats = [Seat(player=player, kind="protocol", settings=settings) for player in players]
    return Team(team_id="test", seats=tuple(seats))


def test_one_seat_is_taken_by_every_agent() -> None:
    assert [type(policy) for policy in seat_policies(team("imap"), 3)] == [Imap] * 3


def test_seats_repeat_around_the_table_when_there_are_more_agents() -> None:
    policies = seat_policies(team("imap", "silent"), 5)
    assert [type(policy) for policy in policies] == [Imap, Silent, Imap, Silent, Imap]
    assert seat_of(team("imap", "silent"), AgentId(3)).player == "silent"


def test_seating_names_team_player_and_the_known_ones_when_a_player_is_unknown() -> None:
    with pytest.raises(ConfigError, match=r"team test: there is no player imapp; known are .*imap"):
        seat_policies(team("imapp"), 3)


def test_seating_names_the_player_when_its_settings_do_not_fit() -> None:
    with pytest.raises(ConfigError, match=r"team test: settings of player imap do not fit: Imap"):
        seat_policies(team("imap", colour=3), 3)
