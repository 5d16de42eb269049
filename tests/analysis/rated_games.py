"""Scores of games as ratings read them, made by hand."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from calbench.domain.ids import AgentId
from calbench.domain.randomness import Stream, stream
from calbench.metrics.game import AgentGame, GameScore
from calbench.metrics.optimum import OptimumReach
from calbench.metrics.seats import Player
from calbench.metrics.usage import Tokens
from calbench.traces.models import Kind


class Took(NamedTuple):
    """What a seat did in a game; of three meetings."""

    player: str
    scheduled: int = 3
    excess: int = 0
    vps: float | None = 0.0
    kind: Kind = "model"
    assigned: int = 3


def player(name: str, kind: Kind = "model") -> Player:
    return Player(name, kind, uses_language=True, model=None, settings_digest="0" * 64)


def rated_score(
    scenario: str,
    *seats: Took,
    team: str = "mixed",
    setting: str = "uniform",
    is_lost: bool = False,
) -> GameScore:
    """Return a game; shown excess is ten times that of the accounting."""
    return GameScore(
        game_id=f"{setting}-{scenario}-{team}",
        scenario_id=scenario,
        setting=setting,
        team_id=team,
        num_meetings=3,
        tertile=None,
        feasible_fraction=None,
        agents=tuple(_agent(number, took) for number, took in enumerate(seats)),
        meetings=(),
        is_lost=is_lost,
        fairness=0.0,
        fairness_least=0.0,
        fairness_greatest=0.0,
        is_fairness_sampled=False,
        vps_shares=(),
        message_bytes=0,
        rounds=(),
        regret=(),
        optimum=OptimumReach(None, is_searched=False, loss=None),
    )


def _agent(number: int, took: Took) -> AgentGame:
    return AgentGame(
        agent_id=AgentId(number),
        player=player(took.player, took.kind),
        assigned=took.assigned,
        scheduled=took.scheduled,
        cost=took.excess,
        oracle_cost=0,
        excess_cost=took.excess,
        shown_excess_cost=10 * took.excess,
        adjusted_excess_cost=None,
        burden_gap=0.0,
        messages_sent=0,
        vps_kind=None if took.vps is None else "reflection",
        vps=took.vps,
        excess_vps=took.vps,
        vps_participants=took.vps,
        excess_vps_participants=took.vps,
        tokens=Tokens(),
        replies=None,
    )


def chance_seat(name: str, chance: Stream, luck: float = 0.0) -> Took:
    """Return a seat of a player whose outcomes are chance, shifted to the better by ``luck``."""
    return Took(
        name,
        scheduled=3 if chance.below(100) < 60 + 40 * luck else 2,
        excess=chance.below(4) - round(2 * luck),
        vps=chance.below(20) * (1 - luck),
    )


def chance_games(luck_by_player: Mapping[str, float], num_games: int, seed: int) -> list[GameScore]:
    """Return games of five seats, everybody's order drawn anew."""
    names: Sequence[str] = list(luck_by_player)
    games = []
    for number in range(num_games):
        chance = stream(seed, "game", number)
        at_table = chance.sample(names, min(5, len(names)))
        seats = chance.shuffled([at_table[place % len(at_table)] for place in range(5)])
        games.append(
            rated_score(
                f"s-{number:04d}",
                *(chance_seat(name, chance, luck_by_player[name]) for name in seats),
            )
        )
    return games
