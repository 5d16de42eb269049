"""The leaderboard by player: every seat a player took, in whatever teams it sat."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from calbench.analysis.estimates import Estimate, estimate_means
from calbench.analysis.lost import WithLostGames
from calbench.analysis.measures import MEASURES, measure_sums
from calbench.analysis.order import GameKey
from calbench.analysis.sums import Numbers, PlayerSums
from calbench.metrics.game import AgentGame, GameScore
from calbench.metrics.privacy.measured import VpsKind, joint_kind
from calbench.metrics.seats import Player
from calbench.metrics.usage import ReplyCounts
from calbench.stats.spec import AnalysisSpec


@dataclass(frozen=True, slots=True)
class PlayerRow(WithLostGames):
    """One player in one setting, over all teams of the run.

    Attributes:
        teams: in which it sat, in the order of the run.
        games: games scored in which it sat.
        scenarios: distinct scenarios of these games.
        agent_games: seats it took in these games.
        games_lost: games recorded and left out.
        vps_kind: how its VPS was measured.
        estimates: by name of the measure; ``None`` where no agent-game counts.
        replies: how its replies were read; ``None`` for typed players.
    """

    setting: str
    player: Player
    teams: tuple[str, ...]
    games: int
    scenarios: int
    agent_games: int
    games_lost: int
    vps_kind: str | None
    estimates: Mapping[str, Estimate | None]
    replies: ReplyCounts | None


@dataclass(slots=True)
class _PlayerTally:
    """What is kept of a player in a setting."""

    sums: PlayerSums[int]
    teams: set[tuple[int, str]] = field(default_factory=set)
    games: int = 0
    games_lost: int = 0
    agent_games: int = 0
    vps_kinds: set[VpsKind | None] = field(default_factory=set)
    replies: ReplyCounts = field(default_factory=ReplyCounts)

    def add(self, key: GameKey, agents: Sequence[AgentGame], *, is_lost: bool) -> None:
        _, rank, team, _ = key
        self.teams.add((rank, team))
        if is_lost:
            self.games_lost += 1
            return
        self.games += 1
        self.agent_games += len(agents)
        self.vps_kinds.update(agent.vps_kind for agent in agents)
        self.sums.put(key, measure_sums(agents))
        for agent in agents:
            if agent.replies is not None:
                self.replies += agent.replies


class PlayerBook:
    """Takes the scores of a run, in any order, and gives its rows by player in a fixed one."""

    def __init__(self) -> None:
        """Begin with no game."""
        self._tallies: dict[str, dict[Player, _PlayerTally]] = {}
        self._numbers: dict[str, Numbers] = {}

    def add(self, key: GameKey, score: GameScore) -> None:
        """Take one game; ``key`` says where it stands among the others."""
        by_player: dict[Player, list[AgentGame]] = {}
        for agent in score.agents:
            by_player.setdefault(agent.player, []).append(agent)
        tallies = self._tallies.setdefault(score.setting, {})
        numbers = self._numbers.setdefault(score.setting, {})
        for player, agents in by_player.items():
            if player not in tallies:
                tallies[player] = _PlayerTally(PlayerSums(player, numbers))
            tallies[player].add(key, agents, is_lost=score.is_lost)

    def rows(self, spec: AnalysisSpec) -> Iterator[PlayerRow]:
        """Estimate setting by setting, all players over the same resampled scenarios.

        Players come in the order of the first team they sat in. Where each team has one
        player the estimates are those of the leaderboard.
        """
        for setting in sorted(self._tallies):
            tallies = sorted(
                self._tallies[setting].items(), key=lambda item: (min(item[1].teams), item[0].order)
            )
            scenarios = sorted(self._numbers[setting])
            columns = (
                [tally.sums.of(scenario, index) for scenario in scenarios]
                for _, tally in tallies
                for index in range(len(MEASURES))
            )
            estimates = iter(estimate_means(columns, spec, setting))
            for player, tally in tallies:
                yield PlayerRow(
                    setting=setting,
                    player=player,
                    teams=tuple(team for _, team in sorted(tally.teams)),
                    games=tally.games,
                    scenarios=len(tally.sums.scenarios),
                    agent_games=tally.agent_games,
                    games_lost=tally.games_lost,
                    vps_kind=joint_kind(tally.vps_kinds),
                    estimates={measure.name: next(estimates) for measure in MEASURES},
                    replies=tally.replies if player.uses_language else None,
                )
