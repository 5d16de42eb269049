"""Scores of games as ratings read them, made by hand, and their facts."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from calbench.analysis.rating_pools import pool_seats
from calbench.analysis.rating_scopes import Scope, rated_scope
from calbench.domain.randomness import Stream, stream
from calbench.facts.fact import MeasuredGame
from calbench.facts.games import AGENTS, GAMES
from calbench.facts.storage import Facts
from calbench.metrics.costs import adjusted_excess
from calbench.metrics.game import AgentGame, GameScore
from calbench.metrics.players import Player
from calbench.metrics.privacy.loss import VpsKind
from calbench.stats.spec import RatingSpec
from calbench.traces.models import Kind
from tests.facts.measured import facts_of_games
from tests.facts.scored import agent, game, score


class Took(NamedTuple):
    """What a seat did in a game of three meetings; of its V, without a floor, some is chance."""

    player: str
    scheduled: int = 3
    excess: int = 0
    vps: float | None = 0.0
    kind: Kind = "model"
    assigned: int = 3
    vps_kind: VpsKind = "reflection"
    chance: float = 0.0


COST_RANGE = 6
"""Of every seat: what its worst complete schedule costs it above the best."""


def player(name: str, kind: Kind = "model") -> Player:
    return Player(name, kind, uses_language=True, model=None, settings_digest="0" * 64)


def rated_score(scenario: str, *seats: Took, team: str = "mixed", **changes: Any) -> GameScore:
    """Return a game; shown excess is ten times that of the accounting."""
    return score(*map(_agent, seats), scenario=scenario, team=team, num_meetings=3, **changes)


def _agent(took: Took) -> AgentGame:
    adjusted = adjusted_excess(
        took.excess,
        unscheduled=took.assigned - took.scheduled,
        assigned=took.assigned,
        best=0,
        worst=COST_RANGE,
    )
    return agent(
        player(took.player, took.kind),
        assigned=took.assigned,
        scheduled=took.scheduled,
        cost=took.excess,
        excess_cost=took.excess,
        shown_excess_cost=10 * took.excess,
        adjusted_excess_cost=adjusted,
        vps_kind=None if took.vps is None else took.vps_kind,
        **dict.fromkeys(("vps", "excess_vps"), took.vps),
        **dict.fromkeys(("vps_participants", "excess_vps_participants"), took.vps),
        cost_range=COST_RANGE,
        vps_by_chance=None if took.vps_kind == "protocol" else took.chance,
    )


def facts_of(folder: Path, games: Iterable[GameScore]) -> Facts:
    """Write the facts of games and their agents, in the order in which games come."""
    listed = list(map(game, games))
    teams = sorted({each.score.team_id for each in listed})
    return facts_of_games(folder, listed, teams, (GAMES, AGENTS))


def agents_of(games: Iterable[GameScore | MeasuredGame]) -> pd.DataFrame:
    """Return the seats of games, made by hand or played, with the columns of their games."""
    whole = (each if isinstance(each, MeasuredGame) else game(each) for each in games)
    return pd.concat(
        [
            pd.DataFrame(AGENTS.of(each)).assign(
                setting=each.score.setting,
                scenario_id=each.score.scenario_id,
                team=each.score.team_id,
                game_id=each.score.game_id,
                is_excluded=each.score.is_excluded,
            )
            for each in whole
        ],
        ignore_index=True,
    )


def scope_of(
    games: Iterable[GameScore | MeasuredGame],
    spec: RatingSpec,
    setting: str = "uniform",
    pool: str = "models",
    entrants: Sequence[Player] = (),
) -> Scope:
    """Rate games in one scope."""
    return rated_scope(pool_seats(agents_of(games), pool), pool, setting, spec, entrants)


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
