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
    """A run: a suite, the teams that play it, and how it is measured.

    ``jobs`` is the number of processes; ``out`` the folder of the command's results.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=ID_PATTERN)]
    suite: SuiteSpec
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


def _teams(ids: Any) -> Sequence[Any]:
    """Compose ``conf/team/<id>.yaml`` for each id; one id is accepted for a list."""
    names = [ids] if isinstance(ids, str) else ids
    if not isinstance(names, list) or not names:
        raise ConfigError("teams: name at least one team, e.g. 'teams=[imap]'")
    seen: set[str] = set()
    for name in names:
        if name not in known_names("team"):
            raise ConfigError(
                f"teams: there is no team {str(name)!r}; known are {', '.join(known_names('team'))}"
            )
        if name in seen:
            raise ConfigError(f"teams: {name} is named twice")
        seen.add(name)
    return [
        OmegaConf.to_container(OmegaConf.load(CONF / "team" / f"{name}.yaml")) for name in names
    ]


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
