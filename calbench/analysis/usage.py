"""What language players took of their models: tokens, calls and money (paper, appendix C)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from calbench.analysis.order import GameKey
from calbench.metrics.game import GameScore
from calbench.metrics.seats import Player
from calbench.metrics.usage import NO_TOKENS, Tokens

TOKENS_PER_UNIT = 1_000_000
"""Providers name prices for a million tokens."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a model's tokens cost, in US$ per million.

    Attributes:
        input: of tokens sent that no cache held.
        cached: of tokens sent that the provider's cache held.
        output: of tokens received.
    """

    input: float
    cached: float
    output: float

    def of(self, tokens: Tokens) -> float:
        """Return the price of a model's calls, in US$."""
        fresh = max(0, tokens.input_tokens - tokens.cached_tokens)
        return (
            self.input * fresh
            + self.cached * tokens.cached_tokens
            + self.output * tokens.output_tokens
        ) / TOKENS_PER_UNIT


Prices = Mapping[str, Price | None]
"""Prices by model as LiteLLM spells it, or by player; ``None`` or no entry is unknown."""


class UsageRow(NamedTuple):
    """What one player took in one team and setting.

    Attributes:
        games: games scored in which it sat.
        agent_games: seats it took in these games.
        tokens: of its calls in these games.
        price_usd: of these tokens; ``None`` if the price is not known.
        games_lost: games recorded and left out.
        price_usd_lost: of its calls in lost games, which were paid nonetheless.
    """

    setting: str
    team: str
    player: Player
    games: int
    agent_games: int
    tokens: Tokens
    price_usd: float | None
    games_lost: int
    price_usd_lost: float | None

    @property
    def price_usd_per_game(self) -> float | None:
        """Price of a game scored."""
        return None if self.price_usd is None or not self.games else self.price_usd / self.games


@dataclass(slots=True)
class _UsageTally:
    games: int = 0
    agent_games: int = 0
    tokens: Tokens = NO_TOKENS
    games_lost: int = 0
    tokens_lost: Tokens = NO_TOKENS


class UsageBook:
    """Takes the scores of a run, in any order, and gives its usage in a fixed one."""

    def __init__(self) -> None:
        """Begin with no game."""
        self._tallies: dict[tuple[str, int, str, Player], _UsageTally] = {}

    def add(self, key: GameKey, score: GameScore) -> None:
        """Take one game; ``key`` says where it stands among the others."""
        for player in {agent.player for agent in score.agents if agent.player.uses_language}:
            agents = [agent for agent in score.agents if agent.player == player]
            tokens = sum((agent.tokens for agent in agents), NO_TOKENS)
            tally = self._tallies.setdefault((*key[:3], player), _UsageTally())
            if score.is_lost:
                tally.games_lost += 1
                tally.tokens_lost += tokens
            else:
                tally.games += 1
                tally.agent_games += len(agents)
                tally.tokens += tokens

    def rows(self, prices: Prices) -> Iterator[UsageRow]:
        """Yield the players that made a call, by setting and order of the teams."""
        for key in sorted(self._tallies, key=lambda key: (key[:3], key[3].order)):
            setting, _, team, player = key
            tally = self._tallies[key]
            if not tally.tokens.calls + tally.tokens_lost.calls:
                continue
            price = price_of(player, prices)
            yield UsageRow(
                setting=setting,
                team=team,
                player=player,
                games=tally.games,
                agent_games=tally.agent_games,
                tokens=tally.tokens,
                price_usd=None if price is None else price.of(tally.tokens),
                games_lost=tally.games_lost,
                price_usd_lost=None if price is None else price.of(tally.tokens_lost),
            )


def price_of(player: Player, prices: Prices) -> Price | None:
    """Return the price of a player's model; a price of the player itself prevails."""
    own = prices.get(player.name)
    return own if own is not None or player.model is None else prices.get(player.model)
