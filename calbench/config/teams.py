"""From ``conf/team`` to teams: a seat names a protocol, a model, a script or the user's code."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import ValidationError

from calbench.agents.prompts import PROBING, load_variant
from calbench.config.groups import preset
from calbench.errors import ConfigError
from calbench.files import first_problem, printable, read_bytes
from calbench.llm.model import ModelConfig
from calbench.traces.models import Team

SOURCES = ("player", "protocol", "model", "scripted", "agent")
"""Keys by which a seat names its player; exactly one of them."""

MODEL = "_model"
"""Key of a model's configuration in a seat while it is composed."""


class Composed(NamedTuple):
    """Teams as plain data, with the models that sit in them by player."""

    teams: Sequence[Mapping[str, Any]]
    models: Mapping[str, Mapping[str, Any]]


def compose_teams(entries: Any, run_model: Mapping[str, Any] | None = None) -> Composed:
    """Compose each team; one is accepted for a list.

    Args:
        entries: ids of files in ``conf/team``; paths of files elsewhere (``*.yaml``), each with
            a team or a list of teams, as ``calbench matchmake`` writes them; or whole teams
            written in their place, as a sweep over the settings of a protocol does.
        run_model: the run's own model, for seats that say ``model: null``.

    Raises:
        ConfigError: naming what does not fit.
    """
    listed = [entries] if isinstance(entries, str | Mapping) else entries
    if not isinstance(listed, Sequence) or not listed:
        raise ConfigError("teams: name at least one team, e.g. 'teams=[imap]'")
    models: dict[str, dict[str, Any]] = {}
    teams: dict[str, dict[str, Any]] = {}
    for team in [_team(entry, run_model, models) for given in listed for entry in _written(given)]:
        if teams.setdefault(str(team.get("team_id")), team) is not team:
            raise ConfigError(f"teams: {printable(str(team.get('team_id')))} is named twice")
    return Composed(list(teams.values()), models)


def compose_team(team_id: str) -> Team:
    """Return one of the teams of ``conf/team``, as runs and their traces describe it.

    Raises:
        ConfigError: naming the nearest known teams if there is none of that id.
    """
    try:
        return Team.model_validate(tuples(compose_teams([team_id]).teams[0]))
    except ValidationError as error:
        raise ConfigError(f"team {team_id!r}: {first_problem(error)}") from error


def tuples(value: Any) -> Any:
    """Return a value whose sequences are tuples, the form the strict models hold."""
    if isinstance(value, Mapping):
        return {key: tuples(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(tuples(item) for item in value)
    return value


def _written(entry: Any) -> Sequence[Any]:
    """Replace the path of a team file by its teams."""
    if not isinstance(entry, str) or not entry.endswith(".yaml"):
        return [entry]
    try:
        held = yaml.safe_load(read_bytes(Path(entry)))
    except yaml.YAMLError as error:
        raise ConfigError(f"teams: {printable(entry)}: not YAML") from error
    teams = [held] if isinstance(held, Mapping) else held
    if not isinstance(teams, list) or not all(isinstance(team, Mapping) for team in teams):
        raise ConfigError(f"teams: {printable(entry)}: expected a team or a list of teams")
    return teams


def _team(
    entry: Any, run_model: Mapping[str, Any] | None, models: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    if isinstance(entry, Mapping):
        team = dict(entry)
    else:
        try:
            team = preset("team", str(entry))
        except ConfigError as error:
            raise ConfigError(f"teams: {error}") from error
    seats = team.get("seats")
    if isinstance(seats, Sequence) and not isinstance(seats, str):
        place = f"team {printable(str(team.get('team_id')))}"
        team["seats"] = [_seat(seat, place, run_model, models) for seat in seats]
    return team


def _seat(
    seat: Any, place: str, run_model: Mapping[str, Any] | None, models: dict[str, dict[str, Any]]
) -> Any:
    """Resolve what a seat names; keys of the seat itself prevail."""
    if not isinstance(seat, Mapping):
        return seat
    named = [key for key in SOURCES if key in seat]
    if "agent" in named and "player" in named:
        named.remove("player")  # the user's code has no name of its own
    if len(named) != 1:
        raise ConfigError(f"{place}: a seat names one of {', '.join(SOURCES)}")
    own = dict(seat)
    try:
        if named[0] == "protocol":
            own = _with_protocol(own)
        elif named[0] == "model":
            own = _with_model(own, run_model)
        elif named[0] == "scripted":
            style = str(own.pop("scripted"))
            own = {"player": style, "kind": "scripted", "settings": {"style": style}, **own}
        elif named[0] == "agent":
            own = _with_agent(own)
        return _registered(_with_variant(own), models)
    except ConfigError as error:
        raise ConfigError(f"{place}: {error}") from error


def _with_protocol(seat: dict[str, Any]) -> dict[str, Any]:
    made = preset("protocol", str(seat.pop("protocol")))
    settings = seat.pop("settings", {})
    if not isinstance(settings, Mapping):
        raise ConfigError("the settings of a seat are keys and values")
    return {**made, **seat, "settings": {**made["settings"], **settings}}


def _with_model(seat: dict[str, Any], run_model: Mapping[str, Any] | None) -> dict[str, Any]:
    """Seat a model: what defines its replies enters the game, how it is reached does not."""
    name = seat.pop("model")
    if name is None and not (run_model and run_model.get("name")):
        raise ConfigError(
            "say which model: model.name=openai/NAME (and model.api_base=URL for a server of "
            "your own), or model=ID with one of conf/model"
        )
    keys = dict(run_model or {}) if name is None else preset("model", str(name))
    try:
        config = ModelConfig.model_validate(keys)
    except ValidationError as error:
        where = "model" if name is None else f"conf/model/{name}.yaml"
        raise ConfigError(f"{where}: {first_problem(error)}") from error
    settings = config.spec.model_dump(mode="json")
    return {"player": config.player, "kind": "model", "settings": settings, **seat, MODEL: config}


def _registered(seat: dict[str, Any], models: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Note how the model of a seat is reached, under the player's id."""
    config = seat.pop(MODEL, None)
    if config is not None:
        data = config.model_dump(mode="json")
        if models.setdefault(str(seat["player"]), data) != data:
            raise ConfigError(f"two models have the player id {seat['player']}")
    return seat


def _with_agent(seat: dict[str, Any]) -> dict[str, Any]:
    """Seat the user's own code, by import path; only a configuration can name it."""
    path = seat.pop("agent")
    arguments = seat.pop("arguments", {})
    return {
        "player": "my-agent",
        "kind": "custom",
        "settings": {"agent": path, "arguments": arguments},
        **seat,
    }


def _with_variant(seat: dict[str, Any]) -> dict[str, Any]:
    """Name the text appended to a seat's system prompt, with its digest; the player shows it."""
    variant = seat.get("variant")
    if variant is None:
        return seat
    keys = {"name": variant} if isinstance(variant, str) else variant
    if not isinstance(keys, Mapping) or not {"name"} <= set(keys) <= {"name", "version"}:
        raise ConfigError("variant: a name, or name and version")
    name, version = str(keys["name"]), str(keys.get("version", "v1"))
    return {
        **seat,
        "player": f"{seat['player']}.{name}",
        "variant": {
            "name": name,
            "version": version,
            "digest": load_variant(name, version).digest,
            "is_nosy": name in PROBING,
        },
    }
