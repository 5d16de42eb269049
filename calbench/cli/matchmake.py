"""``calbench matchmake``: from the games so far to the teams to play next.

A trace says what sat in a seat. Nothing of it is copied: a seat is looked up among the players that
``conf/`` and a folder of the user's own make, and the entry found there names it.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

import pandas as pd
import yaml
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from calbench.agents.prompts.folder import variants
from calbench.agents.scripted import STYLES
from calbench.analysis.matchmaking import Proposal, propose
from calbench.analysis.rating_pools import ALL, GAME_COLUMNS, POOLS, Scenario, pool_seats
from calbench.analysis.rating_scopes import Scope, rated_scope, settings_of
from calbench.cli.words import Status, Words, names, program_name
from calbench.config.composition import check_not_ours, compose_choice, composed
from calbench.config.groups import known_names
from calbench.config.spec import tuples
from calbench.config.teams import Keys, played_teams
from calbench.console import progress, say, verdict, warn
from calbench.domain.canonical import digest
from calbench.domain.ids import AgentId
from calbench.errors import CalbenchError, ConfigError, FileError, OutputError
from calbench.facts import frames
from calbench.facts.fact import measured
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


_ADVICE = {
    "model": "save its settings as conf/model/NAME.yaml",
    "custom": "name its code in DIR/teams/NAME.yaml, and say config_dir=DIR",
}
"""What to do about a player that no configuration makes, by its kind."""


class Entry(NamedTuple):
    """How a team file names a player.

    Attributes:
        player: its name among the players of the team.
        keys: what it is, unless it is a model ...
        model: ... of this file of ``conf/model``.
        variant: of its prompt.
    """

    player: str
    keys: dict[str, Any]
    model: str | None = None
    variant: dict[str, Any] | None = None

    @property
    def seat(self) -> str | dict[str, Any]:
        """Its seat."""
        if self.variant is None:
            return self.player
        return {"player": self.player, "variant": self.variant}


@dataclass(frozen=True)
class Roster:
    """The players that configurations make.

    Attributes:
        config_dir: a folder of the user's own beside ``conf/``, as of ``--config-dir``.
    """

    config_dir: Path | None = None
    _models: dict[str, Keys] = field(default_factory=dict, init=False, repr=False, compare=False)

    def entry(self, seat: Seat) -> Entry:
        """Return how a team file names who took a seat.

        Raises:
            ConfigError: no configuration makes this player.
        """
        played = digest(seat.model_dump(mode="json"))
        for entry, keys in self._candidates(seat):
            try:
                made = self._composed(entry, keys)
            except ConfigError:
                continue
            if digest(made.model_dump(mode="json")) == played:
                return entry
        own = "" if self.config_dir is None else f" or {printable(str(self.config_dir))}"
        raise ConfigError(
            f"player {seat.player}: nothing in conf/{own} makes it as it played; "
            f"{_ADVICE.get(seat.kind, 'save its settings there')}"
        )

    def seat_of(self, entry: Entry) -> Seat:
        """Return the seat that an entry is composed to.

        Raises:
            ConfigError: it is composed to none.
        """
        keys = entry.keys if entry.model is None else self._model(entry.model)
        return self._composed(entry, keys)

    def _composed(self, entry: Entry, keys: Keys) -> Seat:
        team = {"players": {entry.player: keys}, "seats": [entry.seat]}
        (made,) = played_teams({"one": team}).teams
        return Seat.model_validate(tuples(made["seats"][0]))

    def _candidates(self, seat: Seat) -> Iterator[tuple[Entry, Keys]]:
        """Yield what might be this player, each with the keys that it is composed of."""
        if seat.kind == "custom":
            yield from self._own(seat.player)
            return
        variant = None
        if seat.variant is not None:
            if seat.variant.name not in self._variants:
                return
            variant = {"name": seat.variant.name, "version": seat.variant.version}
        # Of a name that somebody else chose, only letters reach a file.
        name = re.sub(r"[^A-Za-z0-9_-]", "_", seat.player)
        if seat.kind == "scripted":
            for style in STYLES:
                yield Entry(name, {"scripted": style}, None, variant), {"scripted": style}
        elif seat.kind == "model":
            for model in known_names("model", self.config_dir):
                yield Entry(name, {}, model, variant), self._model(model)

    def _model(self, name: str) -> Keys:
        if name not in self._models:
            self._models[name] = compose_choice("model", name, self.config_dir)
        return self._models[name]

    def _own(self, name: str) -> Iterator[tuple[Entry, Keys]]:
        """Yield the user's own agents of a name; the keys of one are those of its team's file."""
        for team in self._teams:
            players = team.get("players") or {}
            if name not in players or "agent" not in players[name]:
                continue
            # Composed with what its interpolations mean now, written as the user wrote it.
            with suppress(OmegaConfBaseException):
                keys = OmegaConf.to_container(players[name], resolve=True)
                written = OmegaConf.to_container(players[name], resolve=False)
                yield Entry(name, cast("dict[str, Any]", written)), cast("Keys", keys)

    @cached_property
    def _variants(self) -> frozenset[str]:
        """The variants of prompts that may be looked up: our own, and those that teams name."""
        named = set(variants())
        for team in self._teams:
            for seat in team.get("seats") or ():
                chosen = seat.get("variant") if isinstance(seat, DictConfig) else None
                found = chosen.get("name") if isinstance(chosen, DictConfig) else chosen
                named.add(str(found))
        return frozenset(named)

    @cached_property
    def _teams(self) -> tuple[DictConfig, ...]:
        """The teams of ``conf/``, composed at once, and those of the user's folder, one by one."""
        ours = known_names("teams")
        own = [name for name in known_names("teams", self.config_dir) if name not in ours]
        choices = [f"teams=[{','.join(ours)}]", *(f"teams=[{name}]" for name in own)]
        found = [composed([choice], self.config_dir).teams for choice in choices]
        return tuple(team for teams in found for team in teams.values() if team)


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
    out = Path(words.options["out"]) if "out" in words.options else None
    if out is not None:
        if out.suffix != ".yaml" or out.parent.name != "teams":
            raise ConfigError("out: a team file is DIR/teams/NAME.yaml")
        is_ours = out.is_file() and read_bytes(out).startswith(PROPOSED.encode())
        if out.exists() and not is_ours:
            raise OutputError(f"{out}: is there already, and was not proposed; name another file")
        check_not_ours(out, out.parent.parent)
    roster = Roster(_config_dir(words.path("config_dir"), out))
    record = _read([path for folder in words.paths for path in trace_paths(folder)])
    count = words.number("teams", 1, least=1, most=MOST_TEAMS)
    text = _proposed(record, words.options, roster, count)
    if out is None:
        print(text, end="", flush=True)
    else:
        write_atomically(out, text.encode())
        chosen = ["--config-dir", str(out.parent.parent), f"teams={out.stem}"]
        say(f"play it with: {program_name()} {shlex.join(chosen)}")
    games = record.agents.groupby(list(GAME_COLUMNS)).ngroups
    where = "" if out is None else f": {out}"
    verdict(
        f"{count} teams proposed from {games} games{where}", is_good=True, is_beside=out is None
    )
    return Status.DONE


def _config_dir(named: Path | None, out: Path | None) -> Path | None:
    """Return the folder of the user's own configuration: named itself, or that of ``out``."""
    own = out.parent.parent if out else None
    if named is None:
        return own if own is not None and own.is_dir() else None
    shown = printable(str(named))
    if not named.is_dir():
        raise ConfigError(f"config_dir: {shown}: there is no such folder")
    if own is not None and own.resolve() != named.resolve():
        raise ConfigError(f"out: write it into the folder of config_dir, {shown}")
    return named


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
                called = f"scenario {score.scenario_id} of {score.team_id}"
                raise FileError(f"{path}: this game, {called}, was named before; name it once")
            own = frames.cast(pd.DataFrame(AGENTS.of(game)), AGENTS.columns)
            more = dict(zip(GAME_COLUMNS, named, strict=True))
            agents[named] = own.assign(is_excluded=not game.is_scored, **more)
            for agent, player in enumerate(game.players):
                seat_by_player[player] = trace.config.team.seat_of(AgentId(agent))
            tick()
    return Record(pd.concat(agents.values(), ignore_index=True), seat_by_player)


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
