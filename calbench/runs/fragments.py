"""Games that were begun and are not at their end, from their recorded replies alone.

A reply store says which games were begun. Each is played again with its replies, until one is not
there. A store is anyone's file: what it names is played only if this package has it itself, and
nothing is imported for it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from calbench.agents.base import Agent
from calbench.agents.completer import CallSite, Completer
from calbench.agents.prompts.variants import variants
from calbench.console import progress
from calbench.domain.ids import AgentId
from calbench.domain.observations import Briefing, Observation
from calbench.domain.replies import Reply
from calbench.engine.batch import begun_game
from calbench.engine.fragment import Fragment, play_fragment
from calbench.engine.game import game_id
from calbench.engine.seating import seat_agents
from calbench.errors import CalbenchError, FileError, ReplayMissError
from calbench.files import first_problem, printable
from calbench.llm.client import Source, open_completer
from calbench.llm.completion import Completion, Request
from calbench.llm.replies.games import BegunGame
from calbench.llm.replies.shards import open_replies
from calbench.protocols.registry import is_outside
from calbench.runs.verification import is_known
from calbench.scenarios.models import Scenario
from calbench.traces.catalog import TRACES_FOLDER, Catalog
from calbench.traces.models import GameConfig, Seat, Trace
from calbench.traces.outlines import trace_name

STORE = "replies.sqlite"
"""The reply store in the folder of a run."""


@dataclass(frozen=True)
class HalfPlayed:
    """A game so far.

    Attributes:
        trace: its events; it has no end, and is never written.
        waiting: what the agents were shown whose replies are not there.
        replies: keys of the replies of models that it was played with.
        unasked: agents that only the user's own code can play.
    """

    trace: Trace
    waiting: tuple[Observation, ...]
    replies: frozenset[str]
    unasked: tuple[AgentId, ...] = ()


@dataclass
class Fragments:
    """What a store says of games without a trace.

    Attributes:
        games: the half-played ones.
        whole: how many others have all their replies; the run that began them writes their traces.
        problems: a line for each that cannot be played again.
        is_silent: whether the store has replies, and says of no game that it was begun.
    """

    games: list[HalfPlayed] = field(default_factory=list)
    whole: int = 0
    problems: list[str] = field(default_factory=list)
    is_silent: bool = False

    @property
    def replies(self) -> int:
        """How many replies the half-played games have; games may share one."""
        return len(frozenset[str]().union(*(game.replies for game in self.games)))


class _Run(NamedTuple):
    """The folder of a run, and what finds its traces."""

    path: Path
    catalog: Catalog


def store_of(path: Path) -> Path:
    """Return the reply store that a path names: its file, or the one in the folder of a run.

    Raises:
        FileError: there is none.
    """
    store = path / STORE if path.is_dir() else path
    if not store.is_file():
        holds = "holds no" if path.is_dir() else "there is no"
        raise FileError(f"{path}: {holds} reply store; name a run that has {STORE}, or its file")
    return store


def read_fragments(path: Path) -> Fragments:
    """Play the begun games of a run or of a reply store again, as far as their replies go.

    Games of a run that have a trace are left out.

    Raises:
        FileError: there is no store, or it is damaged.
    """
    store = store_of(path)
    with open_replies(store) as replies:
        begun = list(replies.begun())
        found = Fragments(is_silent=not begun and replies.count() > 0)
    if begun:
        run = _Run(path, Catalog()) if path.is_dir() else None
        asyncio.run(_play_all(begun, store, run, found))
    return found


async def _play_all(
    begun: Sequence[BegunGame], store: Path, run: _Run | None, found: Fragments
) -> None:
    source = Source(mode="replay", store=store)
    with progress("looked at", len(begun)) as tick:
        async with open_completer({}, source) as completer:
            for each in begun:
                await _add(found, each, completer, store, run)
                tick()


async def _add(
    found: Fragments, begun: BegunGame, completer: Completer, store: Path, run: _Run | None
) -> None:
    try:
        game = await _played(begun, completer, run)
    except Exception as error:  # noqa: BLE001 - a player may break on a stranger's settings
        found.problems.append(f"{store}: game {printable(begun.id):.80}: {_what(error)}")
        return
    if game is not None and game.waiting:
        found.games.append(game)
    elif game is not None:
        found.whole += 1


def _what(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return first_problem(error)
    return str(error) if isinstance(error, CalbenchError) else f"breaks ({type(error).__name__})"


async def _played(begun: BegunGame, completer: Completer, run: _Run | None) -> HalfPlayed | None:
    """Play a game as far as its replies go; ``None`` if its run has a trace of it."""
    scenario = Scenario.model_validate_json(begun.scenario)
    config = GameConfig.model_validate_json(begun.config)
    if begun != begun_game(scenario, config):
        raise FileError("was begun under other rules than those of this package, or was changed")
    if run is not None and _has_trace(run, scenario, config):
        return None
    noting = _Noting(completer)
    agents = map(AgentId, range(scenario.num_agents))
    own: dict[AgentId, Agent] = {
        agent: Unasked() for agent in agents if not _is_playable(config.team.seat_of(agent))
    }
    seated = seat_agents(scenario, config, noting, own)
    fragment: Fragment = await play_fragment(scenario, config, seated)
    return HalfPlayed(fragment.trace, fragment.waiting, frozenset(noting.keys), tuple(own))


def _has_trace(run: _Run, scenario: Scenario, config: GameConfig) -> bool:
    name = trace_name(config.team.team_id, scenario.scenario_id, config.replicate)
    path = run.path / TRACES_FOLDER / name
    if not run.catalog.has(path):
        return False
    try:
        return run.catalog.outline(path).game_id == game_id(scenario, config)
    except FileError:
        return False


def _is_playable(seat: Seat) -> bool:
    """Whether nothing has to be imported for a seat that a stranger's file describes."""
    if seat.variant is not None and seat.variant.name not in variants():
        return False
    return seat.kind == "model" or (is_known(seat) and not is_outside(seat.settings))


@dataclass
class _Noting:
    """Notes the keys of the replies that a source of text has."""

    completer: Completer
    keys: set[str] = field(default_factory=set)

    async def complete(self, request: Request, site: CallSite) -> Completion:
        """Return the reply, if it is there."""
        completion = await self.completer.complete(request, site)
        self.keys.add(completion.key or "")
        return completion


class Unasked:
    """Takes the place of an agent that only the user's own code can play."""

    def introduce(self, _briefing: Briefing) -> None:
        """Take the seat."""

    async def act(self, _observation: Observation) -> Reply:
        """Refuse: the game ends here."""
        raise ReplayMissError("only the user's own code can answer")
