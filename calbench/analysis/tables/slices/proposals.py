"""Teams to play next, and what they and more scenarios would tell about players' ranks."""

from collections.abc import Iterator
from functools import lru_cache

import pandas as pd

from calbench.analysis.matchmaking import Proposal, never_met_after, propose
from calbench.analysis.ratings.pools import ALL, GAME_COLUMNS, Scenario
from calbench.analysis.ratings.scopes import Scope
from calbench.analysis.settings import Settings
from calbench.analysis.tables.ratings import DIGEST_DIGITS, SCOPE, scopes_of
from calbench.analysis.tables.registry import table
from calbench.facts.columns import PLAYER_KIND
from calbench.facts.storage import Facts
from calbench.metrics.players import Player

PROPOSALS = 2
"""Proposed teams of every pool [C]."""

TIMES = 2
"""How many times as many scenarios rank intervals are expected for [C]."""

TWICE = f"with {TIMES} times as many scenarios like those there are"


@table(
    "ratings_further.csv",
    f"""
    pool setting player
    rank (count): as in ratings.csv
    rank_low (count): best rank of the interval over scenarios
    rank_high (count): worst rank of the interval over scenarios
    rank_low_further (count): best rank of the interval to expect {TWICE}
    rank_high_further (count): worst rank of the interval to expect {TWICE}
    never_met (count, players): with whom it never shared a game
    never_met_after (count, players): the same after the first proposed team has played
    kind (text; C): {PLAYER_KIND.meaning}
    settings_digest
    """,
    key="pool setting player kind settings_digest",
    of=SCOPE,
)
def ratings_further(facts: Facts, settings: Settings) -> Iterator[pd.DataFrame]:
    """What more scenarios, and the first proposed team, would tell about players' ranks."""
    for scope, proposals in _proposed(facts, settings):
        numbers = scope.standings["number"].to_numpy()
        after = never_met_after(scope, proposals[:1])
        ranks = scope.further_ranks(TIMES).loc[numbers]
        players = [scope.players[number] for number in numbers]
        yield scope.standings.assign(
            pool=scope.pool,
            setting=scope.setting,
            player=[player.name for player in players],
            rank_low_further=ranks["low"].to_numpy(),
            rank_high_further=ranks["high"].to_numpy(),
            never_met=[len(scope.meetings.never_met(number)) for number in numbers],
            never_met_after=[after[number] for number in numbers],
            kind=[player.kind for player in players],
            settings_digest=[player.settings_digest[:DIGEST_DIGITS] for player in players],
        )


@table(
    "ratings_proposals.csv",
    f"""
    pool setting
    proposal (count): proposed team, from 1; each assumes that those before have played
    agent_id player
    first_meetings (list; C): players of the team whom it never met
    kind (text; C): {PLAYER_KIND.meaning}
    settings_digest
    """,
    key="pool setting proposal agent_id",
    of=SCOPE,
)
def ratings_proposals(facts: Facts, settings: Settings) -> Iterator[pd.DataFrame]:
    """Teams to play next, as ``calbench matchmake`` proposes them, by first seat."""
    for scope, proposals in _proposed(facts, settings):
        for place, proposal in enumerate(proposals, start=1):
            yield _team(scope, proposal).assign(proposal=place)


def _team(scope: Scope, proposal: Proposal) -> pd.DataFrame:
    met: dict[Player, list[str]] = {player: [] for player in proposal.players}
    for one, other in proposal.first_meetings:
        met[one].append(other.name)
        met[other].append(one.name)
    return pd.DataFrame(
        {
            "pool": scope.pool,
            "setting": scope.setting,
            "agent_id": range(len(proposal.players)),
            "player": [player.name for player in proposal.players],
            "first_meetings": [" ".join(sorted(met[player])) for player in proposal.players],
            "kind": [player.kind for player in proposal.players],
            "settings_digest": [p.settings_digest[:DIGEST_DIGITS] for p in proposal.players],
        }
    )


@lru_cache(maxsize=1)
def _proposed(facts: Facts, settings: Settings) -> tuple[tuple[Scope, list[Proposal]], ...]:
    """Return every scope in which players met, with the teams to play next.

    Its games must be of one size, since a team is proposed for one.
    """
    found = []
    games = facts.of_all_games("agents", GAME_COLUMNS).groupby(list(GAME_COLUMNS)).size()
    for scope in scopes_of(facts, settings):
        own = games[[scope.setting in (ALL, name[0]) for name in games.index]]
        sizes = set(own.tolist())
        if len(scope.rated.events) and len(sizes) == 1:
            scenarios = sorted({Scenario(*name[:2]) for name in own.index})
            teams = propose(scope, scenarios, num_seats=sizes.pop(), num_teams=PROPOSALS)
            found.append((scope, teams))
    return tuple(found)
