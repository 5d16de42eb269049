"""From ``conf/`` to typed values: the only module that knows Hydra's configuration objects.

Commands and pipeline stages get the same :class:`RunSpec`: the command from Hydra's own
composition, the stages from the resolved parameters that the ``compose`` stage wrote.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

import yaml
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationError, model_validator

from calbench.analysis.spec import AnalysisSpec
from calbench.domain.messages import CHANNELS, Channel
from calbench.errors import ConfigError
from calbench.files import first_problem, printable, read_bytes, write_atomically
from calbench.metrics.measure import MeasureSpec
from calbench.scenarios.models import ID_PATTERN
from calbench.scenarios.parameters import SuiteSpec
from calbench.traces.models import GameConfig, Limits, Team

CONF = Path(__file__).resolve().parents[1] / "conf"
"""The configuration folder of this checkout."""


class Channels(BaseModel):
    """Which channels are open (paper, section 3)."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    dm: bool
    participant_groupchat: bool
    all_agent_groupchat: bool

    @property
    def open_channels(self) -> tuple[Channel, ...]:
        """The open channels in their fixed order."""
        return tuple(channel for channel in CHANNELS if getattr(self, channel))


class RunSpec(BaseModel):
    """A run: suites, the teams that play them, and how it is measured.

    Attributes:
        name: of the experiment.
        suite: what is played.
        more_suites: what is played beside it; the keys are for overrides only.
        suite_seeds: draw each suite once for each of these seeds, as settings
            ``<setting>-seed<N>``; absent: once, with its own seed.
        jobs: number of processes.
        out: folder of the command's results.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=ID_PATTERN)]
    suite: SuiteSpec
    more_suites: dict[str, SuiteSpec]
    suite_seeds: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)] | None
    teams: Annotated[tuple[Team, ...], Field(min_length=1)]
    channels: Channels
    limits: Limits
    measure: MeasureSpec
    analysis: AnalysisSpec
    jobs: Annotated[int, Strict(), Field(ge=1, le=1024)]
    out: Annotated[str, Field(min_length=1)]

    @model_validator(mode="after")
    def _suite_fits_its_agents(self) -> Self:
        """Refuse a density or a blocked count by agent of another length before any is drawn."""
        suite = self.suite
        # What is drawn is drawn for each agent: one choice stands for all.
        density = suite.density_choices[0] if suite.density_choices else suite.density
        blocked = suite.blocked_choices[0] if suite.blocked_choices else suite.blocked
        if suite.path is None and density is not None and blocked is not None:
            suite.parameters(density, blocked)
        return self

    @property
    def suites(self) -> tuple[tuple[str, SuiteSpec], ...]:
        """The suites to build, each with the setting under which tables list it."""
        parts = (self.suite, *self.more_suites.values())
        if self.suite_seeds is None:
            return tuple((part.setting, part) for part in parts)
        return tuple(
            (f"{part.setting}-seed{seed}", part.model_copy(update={"seed": seed}))
            for part in parts
            for seed in self.suite_seeds
        )

    @property
    def game_configs(self) -> tuple[GameConfig, ...]:
        """What defines the games of each team, in the order of the teams."""
        return tuple(
            GameConfig(team=team, channels=self.channels.open_channels, limits=self.limits)
            for team in self.teams
        )


def run_spec(config: DictConfig) -> RunSpec:
    """Turn a composed configuration into a typed one.

    Raises:
        ConfigError: naming the key that does not fit.
    """
    try:
        data = OmegaConf.to_container(config, resolve=True)
    except OmegaConfBaseException as error:
        raise ConfigError(f"configuration: {printable(str(error).splitlines()[0])}") from error
    if not isinstance(data, dict):
        raise ConfigError("configuration: expected keys and values")
    keys = {str(key): value for key, value in data.items()}
    return parse_spec({**keys, "teams": _teams(keys.get("teams"))}, "configuration")


def parse_spec(data: Mapping[str, Any], source: str) -> RunSpec:
    """Validate resolved parameters; ``source`` names where they come from in errors."""
    try:
        return RunSpec.model_validate(_tuples(data))
    except ValidationError as error:
        raise ConfigError(f"{source}: {first_problem(error)}") from error


def _tuples(value: Any) -> Any:
    """Sequences of a configuration become tuples, the form the strict models hold."""
    if isinstance(value, Mapping):
        return {key: _tuples(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_tuples(item) for item in value)
    return value


def known_names(group: str) -> list[str]:
    """Return the names in one group of ``conf/``, sorted."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def protocol_preset(name: str) -> dict[str, Any]:
    """Return ``conf/protocol/<name>.yaml``: a player with the settings that make the preset.

    Raises:
        ConfigError: naming the known presets if there is none of that name.
    """
    known = known_names("protocol")
    if name not in known:
        raise ConfigError(f"there is no protocol {name!r}; known are {', '.join(known)}")
    return _loaded("protocol", name)


def _teams(entries: Any) -> Sequence[Any]:
    """Compose each team; one is accepted for a list."""
    listed = [entries] if isinstance(entries, str | Mapping) else entries
    if not isinstance(listed, list) or not listed:
        raise ConfigError("teams: name at least one team, e.g. 'teams=[imap]'")
    teams = [_team(entry) for entry in listed]
    seen: set[str] = set()
    for team in teams:
        name = str(team.get("team_id"))
        if name in seen:
            raise ConfigError(f"teams: {name} is named twice")
        seen.add(name)
    return teams


def compose_team(team_id: str) -> Team:
    """Return one of the teams of ``conf/team``, as runs and their traces describe it.

    Raises:
        ConfigError: naming the known teams if there is none of that id.
    """
    try:
        return Team.model_validate(_tuples(_team(team_id)))
    except ValidationError as error:
        raise ConfigError(f"team {team_id!r}: {first_problem(error)}") from error


def _team(entry: Any) -> dict[str, Any]:
    """Return a team with its seats composed.

    An entry is the id of a file in ``conf/team``, or a whole team written in its place, as a
    sweep over the settings of a protocol does.
    """
    if isinstance(entry, Mapping):
        team = dict(entry)
    elif entry in known_names("team"):
        team = _loaded("team", entry)
    else:
        raise ConfigError(
            f"teams: there is no team {str(entry)!r}; known are {', '.join(known_names('team'))}"
        )
    if isinstance(team.get("seats"), list):
        team["seats"] = [_seat(seat, team.get("team_id")) for seat in team["seats"]]
    return team


def _seat(seat: Any, team_id: Any) -> Any:
    """Put the preset of a seat with a ``protocol`` in its place; its own settings prevail."""
    if not isinstance(seat, Mapping) or "protocol" not in seat:
        return seat
    place = f"team {printable(str(team_id))}"
    own = {key: value for key, value in seat.items() if key != "protocol"}
    if "player" in own:
        raise ConfigError(f"{place}: a seat names a protocol or a player, not both")
    settings = own.pop("settings", {})
    if not isinstance(settings, Mapping):
        raise ConfigError(f"{place}: the settings of a seat are keys and values")
    try:
        preset = protocol_preset(str(seat["protocol"]))
    except ConfigError as error:
        raise ConfigError(f"{place}: {error}") from error
    return {**preset, **own, "settings": {**preset["settings"], **settings}}


def _loaded(group: str, name: str) -> dict[str, Any]:
    """Return a file of ``conf/`` as keys and values."""
    keys = OmegaConf.to_container(OmegaConf.load(CONF / group / f"{name}.yaml"))
    if not isinstance(keys, dict):
        raise ConfigError(f"conf/{group}/{name}.yaml: expected keys and values")
    return {str(key): value for key, value in keys.items()}


def compose(overrides: Sequence[str]) -> RunSpec:
    """Compose ``conf/`` outside the command, as ``python -m calbench <overrides>`` would."""
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.errors import HydraException

    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            return run_spec(hydra_compose("config", list(overrides)))
    except HydraException as error:
        raise ConfigError(f"configuration: {printable(str(error).splitlines()[0])}") from error


def write_params(path: Path, spec: RunSpec) -> None:
    """Write resolved parameters for the later stages."""
    text = yaml.safe_dump(spec.model_dump(mode="json"), sort_keys=True, allow_unicode=True)
    write_atomically(path, text.encode())


def read_params(path: Path) -> RunSpec:
    """Read what :func:`write_params` wrote.

    Raises:
        FileError: if there is no such file.
        ConfigError: naming the file and the key that does not fit.
    """
    try:
        data = yaml.safe_load(read_bytes(path))
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not YAML: {printable(str(error))}") from error
    return parse_spec(data, str(path))
