import pytest

from calbench.api.games import game_config as config_of
from calbench.config.composition import compose
from calbench.domain.ids import AgentId
from calbench.engine.drivers import run
from calbench.engine.seating import check_seats, seat_policies, team_of
from calbench.errors import ConfigError
from calbench.protocols.degenerate import Silent
from calbench.protocols.imap import Imap
from calbench.traces.models import Limits, Seat, Team
from tests.engine.scripts import game_config
from tests.factories import make_scenario


def team(*players: str, **settings: int) -> Team:
    seats = [Seat(player=player, kind="protocol", settings=settings) for player in players]
    return Team(team_id="test", seats=tuple(seats))


def test_seats_repeat_around_the_table_when_there_are_more_agents() -> None:
    policies = seat_policies(team("imap", "silent"), 5)
    assert [type(policy) for policy in policies] == [Imap, Silent, Imap, Silent, Imap]
    assert team("imap", "silent").seat_of(AgentId(3)).player == "silent"


@pytest.mark.parametrize(
    ("seated", "limits", "said"),
    [
        (team("imapp"), Limits(), r"team test: there is no player imapp; known are .*imap"),
        (team("imap", colour=3), Limits(), r"team test: settings of player imap do not fit: Imap"),
        (team("sd-map", weights=3), Limits(), r"team test: settings of player sd-map do not fit"),
        (team("sd-map"), Limits(sd_model=(1, 2)), r"limits\.sd_model: 2 weights for 3 agents"),
    ],
)
def test_what_cannot_sit_is_named(seated: Team, limits: Limits, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        seat_policies(seated, 3, limits)


def test_players_that_go_by_weights_get_those_of_the_limits() -> None:
    # Agents 0 and 1 have only slot 0, where the prior meeting of agents 1 and 2 is.
    scenario = make_scenario([".B", "..", ".."], [(0, 1)], prior=[((1, 2), 0)])
    for weights, slot in (((2.0, 1.0, 1.0), 1), ((1.0, 1.0, 2.0), 0), (None, 0)):
        limits = Limits(sd_model=weights)
        config = game_config("sd-map", ("dm",)).model_copy(update={"limits": limits})
        trace = run(scenario, config, seat_policies(config.team, 3, limits))
        assert trace.final_state.calendars[2].index(2) == slot
    assert [type(policy) for policy in seat_policies(team("imap"), 3, limits)] == [Imap] * 3


@pytest.mark.parametrize("player", ["imap", "mediator", "secure-sum"])
def test_team_of_a_player_has_what_its_file_gives_it(player: str) -> None:
    assert compose([f"teams=[{player}]"]).teams == (team_of(player),)


def test_private_chance_belongs_to_seats() -> None:
    seats = (team_of("secure-sum").seats[0], team_of("imap").seats[0])
    mixed = Team(team_id="mixed", seats=seats)
    assert mixed.private_agents(5) == (0, 2, 4)


def test_own_code_without_act_is_named_before_the_first_game() -> None:
    settings = {"agent": "calbench.errors:CalbenchError", "arguments": {}}
    own = Team(team_id="t", seats=(Seat(player="p", kind="custom", settings=settings),))
    scenario = make_scenario(["E.", "E."], [(0, 1)])
    line = r"^team t: agent calbench\.errors:CalbenchError: CalbenchError has no method act\("
    with pytest.raises(ConfigError, match=line):
        check_seats(scenario, config_of(own))
