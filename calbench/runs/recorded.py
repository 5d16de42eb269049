"""Games on disk, found below folders; of each only the head of its trace is read."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from calbench.console import progress
from calbench.domain.canonical import canonical_json, digest
from calbench.errors import FileError
from calbench.files import no_collection
from calbench.pool import Pool, cut, mapped
from calbench.scenarios.bounds import MOST_AGENTS
from calbench.traces.catalog import Catalog, trace_paths
from calbench.traces.outlines import before_events
from calbench.traces.storage import parsed_trace


@dataclass(frozen=True, slots=True)
class TraceHead:
    """What a trace is about, read without its events.

    Attributes:
        scenario_digest: SHA-256 of the scenario, without oracle and difficulty, which are
            derived.
        lineup: the team as JSON without its id. All rotations of a team have the same.
        rules: the rest of the game's configuration as JSON, without the replicate.
        replicate: which of the team's games on the scenario, from 0.
    """

    setting: str
    team_id: str
    scenario_id: str
    scenario_digest: str
    lineup: str
    rules: str
    replicate: int = 0

    def shared(self) -> Self:
        """Return the same with interned texts, because many games repeat them."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        texts: dict[str, Any] = {
            name: sys.intern(value) for name, value in values.items() if isinstance(value, str)
        }
        return replace(self, **texts)


def head_of(path: Path, data: bytes) -> TraceHead:
    """Return what the bytes of a trace are about.

    Args:
        path: of the trace, for messages.
        data: the whole document.

    Raises:
        FileError: naming the file and the field that does not fit; the events are not checked.
    """
    document, _ = before_events(path, data)
    try:
        scenario, config = document["scenario"], document["config"]
        rules = {key: config[key] for key in config if key not in ("team", "replicate")}
        head = TraceHead(
            setting=str(scenario["setting"]),
            team_id=str(config["team"]["team_id"]),
            scenario_id=str(scenario["scenario_id"]),
            scenario_digest=scenario_digest(scenario),
            lineup=lineup_of(config["team"]),
            rules=canonical_json(rules),
            replicate=int(config.get("replicate", 0)),
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        parsed_trace(path, data)  # says what is wrong
        raise
    return head


def scenario_digest(scenario: Mapping[str, Any]) -> str:
    """Return the digest of what defines a scenario's document: all but what is derived from it."""
    return digest({key: scenario[key] for key in scenario if key not in ("oracle", "difficulty")})


def lineup_of(team: Mapping[str, Any]) -> str:
    """Return a team as JSON without its id; if it rotates, in the first of its rotations."""
    seats = team["seats"]
    texts = [canonical_json(seat) for seat in seats]
    is_moved = team.get("rotation") and len(texts) <= MOST_AGENTS  # more never all sit
    turns = range(len(texts)) if is_moved else range(1)
    first = min(turns, key=lambda turn: texts[turn:] + texts[:turn])
    rest = {key: value for key, value in team.items() if key != "team_id"}
    return canonical_json(rest | {"seats": [*seats[first:], *seats[:first]]})


TEAM_ORDER = (
    *("imap", "sd-map", "dsm-welfare", "dsm-private", "dsm-welfare-single", "mediator"),
    *("secure-sum", "tell-all", "first-free", "silent", "candid", "guarded", "oversharer"),
    *("mixed-scripted", "careless", "gossip", "withholding", "wrangler", "mixed-erring"),
)
"""Default order of teams in tables: as in our experiments, then others by name [C]."""

HEAD_SECONDS, BYTE_SECONDS = 0.0005, 1e-7
"""About how long it takes to read a head, and to measure a game for each byte of its trace [C]."""


def team_rank(teams: Sequence[str] = TEAM_ORDER) -> Callable[[str], tuple[int, str]]:
    """Return a sort key for team ids: the given ones first, others by name."""
    rank = {team: place for place, team in enumerate(teams)}
    return lambda team: (rank.get(team, len(rank)), team)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedGame(TraceHead):
    """A trace on disk, of which only the head was read: ten thousand of them are in memory.

    Attributes:
        file: path of the trace, as text, which takes a third of the memory.
        seconds: about how long it takes to measure.
    """

    file: str
    seconds: float

    @property
    def path(self) -> Path:
        """Its trace."""
        return Path(self.file)


def read_games(paths: Iterable[Path], pool: Pool | None = None) -> list[RecordedGame]:
    """Return the games below some paths, whatever they say of each other: see ``consistent``.

    Args:
        paths: trace files, folders of them, or folders of runs.
        pool: where to read; ``None`` reads here.

    Raises:
        FileError: a file is no trace.
    """
    files = [file for path in paths for file in trace_paths(path)]
    games: list[RecordedGame] = []
    catalog = Catalog()
    tasks = ((task, catalog.of(task)) for task in cut(files, lambda _: HEAD_SECONDS))
    with progress("read", len(files)) as tick:
        for chunk in mapped(_read_heads, tasks, pool):
            for read in chunk:
                games.append(read.shared())
                tick()
    return games


def consistent(games: Iterable[RecordedGame]) -> list[RecordedGame]:
    """Return games none of which contradict another.

    Raises:
        FileError: one is there twice, or a scenario of one name is another one.
    """
    known: dict[tuple[str, str, str, int], RecordedGame] = {}
    first_by_scenario: dict[tuple[str, str], RecordedGame] = {}
    for game in games:
        key = (game.setting, game.team_id, game.scenario_id, game.replicate)
        if (earlier := known.setdefault(key, game)) is not game:
            raise FileError(
                f"{game.file}: {game.team_id} on {game.scenario_id} of {game.setting} is "
                f"in {earlier.file} already; name one of the two, or score them apart"
            )
        first = first_by_scenario.setdefault((game.setting, game.scenario_id), game)
        if first.scenario_digest != game.scenario_digest:
            raise FileError(
                f"{game.file}: {game.scenario_id} of {game.setting} is another scenario "
                f"than in {first.file}; score them apart"
            )
    return list(known.values())


def _read_heads(task: tuple[Sequence[Path], Catalog]) -> list[RecordedGame]:
    files, catalog = task
    with no_collection():
        read = ((file, catalog.read(file)) for file in files)
        return [
            RecordedGame(
                *astuple(head_of(file, data)), file=str(file), seconds=BYTE_SECONDS * len(data)
            )
            for file, data in read
        ]
