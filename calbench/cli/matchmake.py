"""``calbench matchmake``: from the games so far to the teams to play next."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from calbench.agents.scripted import STYLES
from calbench.analysis.matchmaking import Proposal, propose
from calbench.analysis.rating_pools import ALL, GAME_COLUMNS, POOLS, Scenario, pool_seats
from calbench.analysis.rating_scopes import Scope, rated_scope, settings_of
from calbench.cli.status import Status, program_name
from calbench.cli.words import Words, names
from calbench.config.roster import Entry, Roster
from calbench.console import progress, say, verdict, warn
from calbench.domain.canonical import digest
from calbench.domain.ids import AgentId
from calbench.errors import CalbenchError, ConfigError, FileError, OutputError
from calbench.facts.fact import MeasuredGame, measured
from calbench.facts.frames import cast
from calbench.facts.games import AGENTS
from calbench.files import printable, read_bytes, write_atomically
from calbench.metrics.measure import DEFAULT_MEASURE
from calbench.metrics.players import Player, players_of
from calbench.oracle.cache import OracleCache
from calbench.traces.catalog import trace_paths
from calbench.traces.models import Seat, Team
from calbench.traces.storage import read_trace

MOST_TEAMS = 100
"""Most teams that are proposed at once [C]."""

PROPOSED = "# Proposed from the games so far"
"""How a proposed team file begins."""


@dataclass(frozen=True, slots=True)
class Record:
    """The games so far, and their players.

    Attributes:
        agents: one row per seat, with the columns of its game.
        seat_by_player: the last seat of each player.
    """

    agents: pd.DataFrame
    seat_by_player: dict[Player, Seat]


def main(words: Words) -> int:
    """Print the proposed teams as a team file, or write it."""
    out = words.options.get("out")
    if out is not None and not (out.endswith(".yaml") and Path(out).parent.name == "teams"):
        raise ConfigError("out: a team file is DIR/teams/NAME.yaml")
    if out is not None and not _is_proposed(Path(out)):
        raise OutputError(f"{out}: is there already, and was not proposed; name another file")
    roster = Roster(_config_dir(words.options))
    record = _read([path for folder in words.paths for path in trace_paths(folder)])
    count = words.number("teams", 1, least=1, most=MOST_TEAMS)
    text = _proposed(record, words.options, roster, count)
    if out is None:
        print(text, end="", flush=True)
    else:
        write_atomically(Path(out), text.encode())
        chosen = ["--config-dir", str(Path(out).parent.parent), f"teams={Path(out).stem}"]
        say(f"play it with: {program_name()} {shlex.join(chosen)}")
    games = record.agents.groupby(list(GAME_COLUMNS)).ngroups
    where = "" if out is None else f": {out}"
    verdict(
        f"{count} teams proposed from {games} games{where}", is_good=True, is_beside=out is None
    )
    return Status.DONE


def _is_proposed(path: Path) -> bool:
    """Whether a team file is one of ours, or there is none."""
    return not path.exists() or (path.is_file() and read_bytes(path).startswith(PROPOSED.encode()))


def _config_dir(options: Mapping[str, str]) -> Path | None:
    """Return the folder of the user's own configuration: named itself, or that of ``out``."""
    named, out = options.get("config_dir"), options.get("out")
    own = Path(out).parent.parent if out else None
    if not named:
        return own if own is not None and own.is_dir() else None
    if not Path(named).is_dir():
        raise ConfigError(f"config_dir: {printable(named)}: there is no such folder")
    if own is not None and own.resolve() != Path(named).resolve():
        raise ConfigError(f"out: write it into the folder of config_dir, {printable(named)}")
    return Path(named)


def _read(paths: Sequence[Path]) -> Record:
    """Measure the games; those of one scenario share the solutions of its oracle."""
    agents: dict[tuple[str, ...], pd.DataFrame] = {}
    seat_by_player: dict[Player, Seat] = {}
    caches: dict[str, OracleCache] = {}
    with progress("games", len(paths)) as tick:
        for path in paths:
            trace = read_trace(path)
            cache = caches.setdefault(trace.scenario.play_digest, OracleCache())
            game = measured(trace, DEFAULT_MEASURE, cache)
            score = game.score
            named = (score.setting, score.scenario_id, score.team_id, score.game_id)
            if named in agents:
                raise FileError(f"{path}: two games are called {named}; name each game once")
            agents[named] = _agents(game).assign(**dict(zip(GAME_COLUMNS, named, strict=True)))
            for agent, player in enumerate(game.players):
                seat_by_player[player] = trace.config.team.seat_of(AgentId(agent))
            tick()
    return Record(pd.concat(agents.values(), ignore_index=True), seat_by_player)


def _agents(game: MeasuredGame) -> pd.DataFrame:
    """Return a game's facts of agents, and whether they count."""
    own = cast(pd.DataFrame(AGENTS.of(game)), AGENTS.columns)
    return own.assign(is_excluded=not game.is_scored)


def _proposed(record: Record, options: Mapping[str, str], roster: Roster, count: int) -> str:
    """Return the text of the team file; print the warnings of the ratings."""
    seats_by_pool = {pool: pool_seats(record.agents, pool) for pool in POOLS}
    played = next((pool for pool, seats in seats_by_pool.items() if len(seats)), next(iter(POOLS)))
    pool = _choice("pool", options.get("pool") or played, list(POOLS))
    seats = seats_by_pool[pool]
    settings = settings_of(seats) or [ALL]
    setting = _choice("setting", options.get("setting", settings[-1]), settings)
    games = record.agents.groupby(list(GAME_COLUMNS), sort=False).size()
    sizes = sorted(games.unique().tolist())
    if len(sizes) > 1:
        raise CalbenchError(f"matchmaking: games of {sizes} agents; name one size")
    entrants = names(options.get("entrants", ""))
    new = [_entrant(pool, name, record.seat_by_player, roster) for name in entrants]
    scope = rated_scope(seats, pool, setting, entrants=new)
    for warning in scope.warnings():
        warn(warning)
    scenarios = sorted({Scenario(*named[:2]) for named in games.index})
    proposals = propose(
        scope,
        [scenario for scenario in scenarios if setting in (ALL, scenario.setting)],
        num_seats=sizes[0],
        num_teams=count,
    )
    return team_file(scope, proposals, record.seat_by_player, roster)


def _entrant(pool: str, name: str, seat_by_player: dict[Player, Seat], roster: Roster) -> Player:
    """Return a player that need not have played yet, and note its seat."""
    if pool == "scripted":
        _choice("entrants", name, sorted(STYLES))
        entry = Entry(name, {"scripted": name})
    else:
        entry = Entry("entrant", {}, name)
    try:
        seat = roster.seat_of(entry)
    except ConfigError as error:
        raise ConfigError(f"entrants: {error}") from error
    seats = Team(team_id="entrant", seats=(seat,))
    (player,) = players_of(seats, 1)
    seat_by_player.setdefault(player, seats.seats[0])
    return player


def _choice(key: str, value: str, known: Sequence[str]) -> str:
    if value not in known:
        raise ConfigError(f"{key}: {value!r:.40} is not one of {', '.join(known)}")
    return value


def team_file(
    scope: Scope,
    proposals: Sequence[Proposal],
    seat_by_player: Mapping[Player, Seat],
    roster: Roster,
) -> str:
    """Return proposals as a file of ``conf/teams``.

    Who played is looked up in the roster: what the file says of a player is a configuration's.

    Raises:
        ConfigError: a player cannot be named in a configuration.
    """
    includes: dict[str, str] = {}
    teams: dict[str, Any] = {}
    for proposal in proposals:
        entries = [roster.entry(seat_by_player[player]) for player in proposal.players]
        key = f"match-{digest([entry._asdict() for entry in entries])[:8]}"
        teams[key] = {"rotation": True, "players": {}, "seats": [each.seat for each in entries]}
        for entry in entries:
            if entry.model is None:
                teams[key]["players"][entry.player] = entry.keys
            else:
                includes[f"/model@{key}.players.{entry.player}"] = entry.model
    header = [
        f"{PROPOSED}: pool {scope.pool}, setting {scope.setting}.",
        "# Everybody moves on by one seat from scenario to scenario.",
        *(
            f"# {key}: {one.name} and {other.name} meet for the first time."
            for key, proposal in zip(teams, proposals, strict=True)
            for one, other in proposal.first_meetings
        ),
    ]
    defaults = [*({place: name} for place, name in includes.items()), "_self_"]
    body = yaml.safe_dump({"defaults": defaults, **teams}, sort_keys=False)
    return "\n".join(header) + "\n" + body
