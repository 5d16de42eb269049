"""Who can be named by a configuration that the user wrote: players found again by how they played.

A trace says what sat in a seat. Nothing of it is copied: a seat is looked up among the players that
``conf/`` and a folder of the user's own make, and the entry found there names it.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from calbench.agents.prompts.folder import variants
from calbench.agents.scripted import STYLES
from calbench.config.composition import compose_choice, composed
from calbench.config.groups import known_names
from calbench.config.spec import tuples
from calbench.config.teams import Keys, played_teams
from calbench.domain.canonical import digest
from calbench.errors import ConfigError
from calbench.files import printable
from calbench.traces.models import Seat

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

    def entry(self, seat: Seat) -> Entry:
        """Return how a team file names who took a seat.

        Raises:
            ConfigError: no configuration makes this player.
        """
        played = _digest(seat)
        for entry, keys in self._candidates(seat):
            try:
                made = self._composed(entry, keys)
            except ConfigError:
                continue
            if _digest(made) == played:
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
        if entry.model is None:
            return self._composed(entry, entry.keys)
        return self._composed(entry, compose_choice("model", entry.model, self.config_dir))

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
    def _models(self) -> dict[str, Keys]:
        """The models that were composed, by name."""
        return {}

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


def _digest(seat: Seat) -> str:
    return digest(seat.model_dump(mode="json"))
