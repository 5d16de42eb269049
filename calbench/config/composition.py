"""Hydra's composition of ``conf/``, and what it refuses in one line."""

import re
from collections.abc import Sequence

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from calbench.config.groups import GROUPS, among, known_names
from calbench.config.spec import RunSpec, parse_spec, unknown_key
from calbench.config.teams import compose_teams
from calbench.errors import ConfigError
from calbench.files import printable
from calbench.tree import CONF

_UNKNOWN_KEY = re.compile(r"Could not (?:override|delete from config\.) '([^']*)'")
_UNKNOWN_FILE = re.compile(r"Could not find '([^'/]*)/([^']*)'")
_SET_TWICE = re.compile(r"An item is already at '([^']*)'|Multiple values for (\w+)\.")
_SWEEP = re.compile(r"Ambiguous value for argument '([^']*)'")


def compose(overrides: Sequence[str]) -> RunSpec:
    """Compose ``conf/`` outside the command, as ``calbench <overrides>`` would.

    Raises:
        ConfigError: naming the key, the choice or the value that does not fit.
    """
    check_choices(overrides)
    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            config = hydra_compose("config", list(overrides))
    except HydraException as error:
        raise refusal(error) from error
    return run_spec(config)


def check_choices(overrides: Sequence[str]) -> None:
    """Refuse an unknown file of a group: Hydra answers some with a traceback.

    Raises:
        ConfigError: naming the nearest known ones.
    """
    for override in overrides:
        key, is_given, choice = override.partition("=")
        group = key.lstrip("+")
        if is_given and not group:
            raise ConfigError(f"{printable(override)}: names no key")
        if not is_given or group not in GROUPS:
            continue
        if re.fullmatch(r"[\w.-]*", choice) and choice not in known_names(group):
            raise _no_choice(group, choice)
        if key == "experiment":
            raise ConfigError(f"experiment: is added with a plus: +experiment={printable(choice)}")
        if key != group != "experiment":
            raise ConfigError(f"{group}: is chosen without a plus: {group}={printable(choice)}")


def _no_choice(group: str, choice: str) -> ConfigError:
    shown = printable(repr(choice))
    return ConfigError(f"{group}: there is no {shown}; {among(choice, known_names(group))}")


def refusal(error: HydraException) -> ConfigError:
    """Return Hydra's error as one line, without its advice, which does not fit our keys."""
    message = str(error)
    if found := _UNKNOWN_KEY.search(message):
        return ConfigError(unknown_key(found[1]))
    if (found := _UNKNOWN_FILE.search(message)) and found[1] in GROUPS:
        return _no_choice(found[1], found[2])
    if found := _SET_TWICE.search(message):
        return ConfigError(f"{found[1] or found[2]}: is there already; leave out the plus")
    if found := _SWEEP.search(message):
        shown = printable(found[1])
        return ConfigError(f"{shown}: a list is written key=[a,b]; a,b are two runs of --multirun")
    lines = [line for line in message.splitlines() if line and not line.startswith("See http")]
    return ConfigError(f"configuration: {printable(': '.join(lines[:2]))}")


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
    composed = compose_teams(keys.get("teams"), keys.pop("model", None))
    return parse_spec({**keys, "teams": composed.teams, "models": composed.models}, "configuration")
