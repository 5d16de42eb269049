"""Teams as they are played, from what Hydra composes of ``conf/teams``: players, seats, prompts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from calbench.agents.prompts import (
    PROMPT_VERSION,
    Prompts,
    load_prompts,
    load_variant,
    use_prompts,
)
from calbench.agents.prompts.templates import Templates, read_templates
from calbench.agents.prompts.trial import worded
from calbench.agents.scripted import GOALS
from calbench.agents.scripted.reading import read_briefing, read_message
from calbench.errors import ConfigError, among
from calbench.extensions import extension
from calbench.files import first_problem, printable
from calbench.llm.model import ModelConfig, holds_secret
from calbench.protocols.registry import DISTRIBUTION, Needs, needs_of, policy_names

SOURCES = ("protocol", "scripted", "agent", "name")
"""Keys by which a player says what it is, exactly one of them; ``name`` is that of a model."""

NO_MODEL = "my-model"
"""Player of a model without a name, for names of teams; no game can be played with it."""

Keys = Mapping[str, Any]


class _TeamSpec(BaseModel, extra="forbid", frozen=True):
    """A team of the configuration.

    Attributes:
        team_id: its name in traces and tables; absent: its key.
        about: what it does, in a sentence or two, for pages and help.
        players: what each player is, by names that only ``seats`` uses.
        seats: who takes the seat of agent 0, 1, ...: one of the players, or that with a variant
            of its prompt, ``{player: NAME, variant: NAME}``.
        rotation: whether all players move by one seat from scenario to scenario.
    """

    team_id: str | None = None
    about: str = ""
    players: dict[str, dict[str, Any]] = Field(default_factory=dict)
    seats: tuple[str | dict[str, Any], ...] = Field(min_length=1)
    rotation: bool = False


@dataclass(frozen=True, slots=True)
class Composed:
    """Teams as plain data, the models in them by player, and what they do by the team's name."""

    teams: list[dict[str, Any]] = field(default_factory=list)
    models: dict[str, dict[str, Any]] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)


def played_teams(composed: object) -> Composed:
    """Return the teams of a composed configuration as traces describe them.

    Args:
        composed: teams by key.

    Raises:
        ConfigError: naming the team, player or seat that does not fit.
    """
    if not isinstance(composed, Mapping) or not composed:
        raise ConfigError("teams: name at least one team, e.g. 'teams=[imap]'")
    found = Composed()
    taken: set[str] = set()
    for key, given in composed.items():
        if key in _TeamSpec.model_fields:
            raise ConfigError(f"teams: {key} is a key of a team; write it below the team's name")
        spec = _spec(str(key), given)
        team = _team(str(key), spec, found.models)
        if team["team_id"] in taken:
            raise ConfigError(f"teams: {printable(str(team['team_id']))} is named twice")
        taken.add(team["team_id"])
        found.teams.append(team)
        if spec.about:
            found.about[team["team_id"]] = spec.about
    return found


def player_of(name: str | None) -> str:
    """Return the player's name of a model: the last part of what LiteLLM calls it."""
    last = (name or NO_MODEL).rpartition("/")[2]
    return re.sub(r"[^A-Za-z0-9._-]", "-", last).strip("-._")[:64] or NO_MODEL


def _spec(key: str, given: object) -> _TeamSpec:
    try:
        return _TeamSpec.model_validate(given)
    except ValidationError as error:
        raise ConfigError(f"teams.{printable(key)}: {first_problem(error, _TeamSpec)}") from error


def _team(key: str, spec: _TeamSpec, models: dict[str, dict[str, Any]]) -> dict[str, Any]:
    try:
        seats = [_seat(seat, spec.players, models) for seat in spec.seats]
    except ConfigError as error:
        raise ConfigError(f"teams.{printable(key)}.{error}") from error
    has_mediator = any(_needs(seat).mediator for seat in seats)
    return {
        "team_id": spec.team_id or key,
        "seats": seats,
        **({"mediator": True} if has_mediator else {}),
        **({"rotation": True} if spec.rotation else {}),
    }


def _seat(
    entry: str | Keys, players: Mapping[str, Keys], models: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    keys = {"player": entry} if isinstance(entry, str) else dict(entry)
    name, variant = str(keys.pop("player", "")), keys.pop("variant", None)
    if keys or name not in players:
        hint = among(name, list(players)) if players else "there are none"
        raise ConfigError(f"seats: {printable(str(entry))} is not one of the players; {hint}")
    try:
        seat = _with_variant(_player(name, players[name]), variant)
        if seat["kind"] == "model":
            _note_model(str(seat["player"]), players[name], models)
    except ConfigError as error:
        raise ConfigError(f"players.{printable(name)}: {error}") from error
    # In the order in which the pipeline's parameters are written: traces keep it.
    return {**seat, "settings": _sorted(seat["settings"])}


def _sorted(value: Any) -> Any:
    """Return a value with the keys of all mappings in alphabetical order."""
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value, key=str)}
    return [_sorted(item) for item in value] if isinstance(value, list | tuple) else value


def _player(name: str, keys: Keys) -> dict[str, Any]:
    """Return the seat of a player."""
    named = [key for key in SOURCES if key in keys]
    if len(named) != 1:
        raise ConfigError(f"a player names one of {', '.join(SOURCES)}")
    if named[0] == "protocol":
        return _protocol(keys)
    if named[0] == "scripted":
        style = _only(keys, "scripted")
        return {"player": style, "kind": "scripted", "settings": {"style": style}}
    if named[0] == "agent":
        return _agent(name, keys)
    return _model(keys)


def _only(keys: Keys, key: str, *others: str) -> Any:
    for other in keys:
        if other not in (known := [key, *others]):
            hint = among(str(other), known)
            raise ConfigError(f"{printable(str(other))}: is not a known key; {hint}")
    return keys[key]


def _protocol(keys: Keys) -> dict[str, Any]:
    """Seat a protocol; its other keys are its settings."""
    protocol = str(keys["protocol"])
    needs = needs_of(protocol)
    if needs is None:
        shown = printable(repr(protocol))
        raise ConfigError(f"there is no protocol {shown}; {among(protocol, policy_names())}")
    own = {key: value for key, value in keys.items() if key not in {"id", "protocol"}}
    return {
        "player": protocol,
        "kind": "degenerate" if needs.is_degenerate else "protocol",
        "settings": {**needs.settings, **own},
        **({"private_chance": True} if needs.private_chance else {}),
    }


def _needs(seat: Keys) -> Needs:
    """Return what a seat requires of its team: a mediator, for instance."""
    is_policy = seat["kind"] in {"protocol", "degenerate"}
    return (needs_of(seat["player"]) if is_policy else None) or Needs()


def _agent(name: str, keys: Keys) -> dict[str, Any]:
    """Seat the user's own code, by import path or by a distribution's name for it.

    Only a configuration can name it.
    """
    path = _only(keys, "agent", "arguments")
    settings = {"agent": path, "arguments": keys.get("arguments", {})}
    if holds_secret(settings["arguments"]):
        raise ConfigError(
            "arguments: they hold a key, which every trace would show; let your code read it from "
            "an environment variable"
        )
    if isinstance(path, str) and (found := extension("agent", path)) is not None:
        settings[DISTRIBUTION] = found.distribution
    return {"player": name, "kind": "custom", "settings": settings}


def _model(keys: Keys) -> dict[str, Any]:
    """Seat a model: what defines its replies enters the game, how it is reached does not."""
    config = _config(keys)
    settings = config.spec.model_dump(mode="json")
    return {"player": config.player, "kind": "model", "settings": settings}


def _config(keys: Keys) -> ModelConfig:
    if not keys.get("name"):
        raise ConfigError(
            "say which model: model.name=openai/NAME (and model.api_base=URL for a server of "
            "your own), or model=ID with one of conf/model"
        )
    try:
        return ModelConfig.model_validate({"player": player_of(keys["name"]), **keys})
    except ValidationError as error:
        raise ConfigError(first_problem(error, ModelConfig)) from error


def _note_model(player: str, keys: Keys, models: dict[str, dict[str, Any]]) -> None:
    """Note how the model of a seat is reached, under the player's id."""
    data = _config(keys).model_dump(mode="json")
    if models.setdefault(player, data) != data:
        raise ConfigError(f"two models have the player id {player}")


def _with_variant(seat: dict[str, Any], variant: object) -> dict[str, Any]:
    """Name the text appended to a seat's system prompt, with its digest; the player shows it."""
    if variant is None:
        return seat
    keys = {"name": variant} if isinstance(variant, str) else variant
    if not isinstance(keys, Mapping) or not {"name"} <= set(keys) <= {"name", "version"}:
        raise ConfigError("variant: a name, or name and version")
    name, version = str(keys["name"]), str(keys.get("version", "v1"))
    found = load_variant(name, version)
    if seat["kind"] == "scripted" and (name, version) not in GOALS:
        played = ", ".join(f"{{name: {one}, version: {other}}}" for one, other in sorted(GOALS))
        raise ConfigError(
            f"variant: a scripted speaker cannot follow {printable(name)} {printable(version)}; "
            f"it plays {played}"
        )
    return {
        **seat,
        "player": f"{seat['player']}.{name}",
        "variant": {
            "name": name,
            "version": version,
            "digest": found.digest,
            "is_nosy": found.is_probing,
        },
    }


# --- prompts that teams are asked with: what the run says, else what the files of models say


PROMPT_KEYS = ("version", "path", "canary")


def chosen_prompts(
    given: object, teams: Sequence[Mapping[str, Any]], models: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the prompts of a run, as its parameters hold them.

    Args:
        given: what :data:`PROMPT_KEYS` name of the configuration; each may be absent.
        teams: as traces describe them.
        models: by player; ``prompts`` of each is a version, or absent.

    Raises:
        ConfigError: saying which key does not fit.
    """
    if not isinstance(given, Mapping) or not given.keys() <= {*PROMPT_KEYS}:
        raise ConfigError(f"prompts: expected the keys {', '.join(PROMPT_KEYS)}")
    version, path, canary = map(given.get, PROMPT_KEYS)
    known = {"path": path, "canary": canary or False}
    own = None if path is None else use_prompts(Path(str(path)))
    if own is not None and own.templates is not None:
        if any(seat["kind"] == "scripted" for team in teams for seat in team["seats"]):
            _check_scripted(own.templates)
        name = own.templates.version
        if version not in (None, name):
            raise ConfigError(
                f"prompts.version: the folder of prompts.path holds {name}, not "
                f"{printable(str(version))}: leave one of the two out"
            )
        return {**known, "version": name, "path": str(path), "digest": own.templates.digest}
    if version is not None:
        load_prompts(str(version))
        return {**known, "version": str(version)}
    chosen = {team["team_id"]: _of_models(team, models) for team in teams}
    by_team = {team: name for team, name in chosen.items() if name is not None}
    for name in by_team.values():
        load_prompts(name)
    return {**known, "version": PROMPT_VERSION, "by_team": by_team}


def _check_scripted(own: Templates) -> None:
    """Refuse templates of a folder that scripted speakers would be mute under.

    They read the lines that all versions of this package share, so every message has to tell them
    what it tells in the version of the same edition.

    Raises:
        ConfigError: naming the first template that they cannot read.
    """
    version = f"v{Prompts(own).edition}"
    for mine, known in zip(worded(own), worded(read_templates(version)), strict=True):
        read = read_briefing if mine.template == "system" else read_message
        if read(mine.text) != read(known.text):
            raise ConfigError(
                f"{own.folder}/{mine.template}.md: a scripted speaker cannot read what it says: "
                f"keep the headings and the lines with values as they are in {version} (those of "
                "parts/ too), or seat models only"
            )


def _of_models(team: Mapping[str, Any], models: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the version that the models of a team name; absent if none does.

    Raises:
        ConfigError: two name different ones.
    """
    players = [seat["player"] for seat in team["seats"] if seat["kind"] == "model"]
    named = {models[player]["prompts"]: player for player in players}
    named.pop(None, None)
    if len(named) > 1:
        said = ", ".join(f"{player} {version}" for version, player in sorted(named.items()))
        raise ConfigError(
            f"teams.{printable(team['team_id'])}: its models name different prompts ({said}): "
            "choose one with prompts.version"
        )
    return next(iter(named), None)
