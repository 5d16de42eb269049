"""Hydra's composition of ``conf/``: overrides as it has to read them, refusals in one line."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from threading import RLock
from typing import Any

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException, OverrideParseException
from hydra.version import VersionBase
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from calbench.agents.prompts import use_prompts
from calbench.config.groups import GROUPS, known_names
from calbench.config.spec import RunSpec, parse_spec
from calbench.config.teams import chosen_prompts, played_teams, player_of
from calbench.documents import read_yaml, refuse_huge
from calbench.domain.canary import CANARY
from calbench.errors import CalbenchError, ConfigError, FileError, among, nearest
from calbench.extensions import extension_names
from calbench.files import printable, shorten
from calbench.llm.replies.shards import is_recorded_without
from calbench.traces.models import Team
from calbench.tree import CONF

SEATED = {
    frozenset({"model"}): "my-model",
    frozenset({"protocol"}): "my-protocol",
    frozenset({"model", "protocol"}): "my-model-among-protocols",
}
"""Team that plays if a command line chooses no team but who takes the open seats."""

# e.g. "[imap,tell-all]", "'one, quoted'"; not "[{}]"
_ELEMENT = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|[^,\[\]{}()'\"]+")
"""One element of a value: quoted, or up to the next separator."""

# e.g. "[imap]", "[imap],[silent,imap]"; not "a[31mb"
_ENDS = re.compile(r"(?:^|(?<=,))\[|\](?=,|$)")

# e.g. whole "protocol=dsm-private"; not "protocol=imap,dsm", "+protocol=imap"
_PROTOCOL = re.compile(r"protocol=([\w.-]+)")
"""A choice of one protocol."""

# e.g. "protocol.k=5"; not "protocol.id=bid", "+protocol.k=5"
_OWN_KEY = re.compile(r"^protocol\.(?!(?:id|protocol)=)")
"""A setting of the one protocol that is chosen."""

# e.g. "Zürich", "a;b"; not "runs/my_run-1.0"
_BEYOND = re.compile(r"[^\w\s/\\+.$%*@?|:-]", re.ASCII)
"""What Hydra's grammar takes in quotes only."""


def quoted(override: str) -> str:
    """Quote what Hydra's grammar does not take as it is: letters beyond ASCII, and some signs."""
    key, sign, value = override.partition("=")
    if not sign or "(" in value:  # a function of Hydra's, such as range(3)
        return override
    has_keys = "{" in value
    return f"{key}={_ELEMENT.sub(lambda found: _quoted(found[0], has_keys), value)}"


def _quoted(element: str, has_key: bool) -> str:
    key, sign, value = element.rpartition(":") if has_key else ("", "", element)
    if element[0] in "'\"" or not _BEYOND.search(value):
        return element
    text = value.strip()
    escaped = re.sub(r"(\\+)$", r"\1\1", text)
    return f"{key}{sign}'{escaped}'"


def _in_place(override: str) -> list[str]:
    """Write a distribution's protocol in place of the choice of a file, which it has not."""
    chosen = _PROTOCOL.fullmatch(override)
    if chosen is None or chosen[1] in known_names("protocol"):
        return [override]
    if chosen[1] not in extension_names("protocol"):
        return [override]
    return [f"protocol.id={chosen[1]}", f"protocol.protocol={chosen[1]}"]


def with_players(
    overrides: Sequence[str], open_seats: Callable[[Sequence[str]], frozenset[str]]
) -> list[str]:
    """Return overrides with the team that a choice of a model or a protocol means.

    Who takes the open seats of teams also plays alone: without teams that have such a seat, it
    sits everywhere.

    Args:
        overrides: of a run.
        open_seats: says for which groups the teams of some overrides have open seats.
    """
    placed = [word for override in overrides for word in _in_place(override)]
    if len(placed) > len(overrides):  # its keys are those of its class, in no file
        placed = [_OWN_KEY.sub("++protocol.", word) for word in placed]
    overrides = placed
    keys = [override.partition("=")[0].lstrip("+~") for override in overrides]
    chosen = frozenset(
        group for group in ("model", "protocol") for key in keys if key.split(".")[0] == group
    )
    if not chosen or any(re.split(r"[.@]", key)[0] == "teams" for key in keys):
        return overrides
    experiments = [each for each in overrides if each.startswith("+experiment=")]
    for each in experiments:
        names = each.partition("=")[2].split(",")
        if any(chosen & open_seats([f"+experiment={name}"]) for name in names):
            return overrides
    return [*overrides, f"teams=[{SEATED[chosen]}]"]


# e.g. "Could not override 'teams.imap'."; not "Could not load 'teams/imap'."
_UNKNOWN_KEY = re.compile(r"Could not (?:override|delete from config\.) '([^']*)'")
# e.g. "In 'teams/mine': Could not find 'x/y'"; not "In 'config': Could not find 'x/y'"
_IN_FILE = re.compile(r"In '(\w+/[^']+)': ")
"""How Hydra names the file of a group that chooses what there is not."""

# e.g. "Could not find 'model/none'"; not "Could not find 'none'"
_UNKNOWN_FILE = re.compile(r"Could not find '([^'/]*)/([^']*)'")
# e.g. "Multiple values for x.", "An item is already at 'x'"; not "Multiple values for 'x'"
_SET_TWICE = re.compile(r"An item is already at '([^']*)'|Multiple values for ([\w@.-]+)\.")
# e.g. "model appears more than once in the final defaults list"; not "model appears twice"
_NAMED_TWICE = re.compile(r"(\S+) appears more than once in the final defaults list")
# e.g. "Ambiguous value for argument 'seed=1,2'"; not "Ambiguous value for seed"
_SWEEP = re.compile(r"Ambiguous value for argument '([^']*)'")

BROKEN = (ValueError, OSError, YAMLError, RecursionError)
"""What Hydra raises of files that it cannot read."""

NOT_PLAYED = ("model", "protocol")
"""Groups that only take seats of teams."""

MADE = ("models", "about")
"""Keys of a run that its teams say."""

OmegaConf.register_new_resolver("player_of", player_of, replace=True)


def compose(overrides: Sequence[str], config_dir: Path | None = None) -> RunSpec:
    """Compose ``conf/`` outside the command, as ``calbench <overrides>`` would.

    Args:
        overrides: as on the command line, without sweeps.
        config_dir: a folder of more configuration, as ``--config-dir``.

    Raises:
        ConfigError: naming the key, the choice or the value that does not fit.
    """
    return run_spec(composed(for_hydra(overrides, config_dir), config_dir))


def for_hydra(overrides: Sequence[str], config_dir: Path | None = None) -> list[str]:
    """Return overrides of a run as Hydra has to read them, with the team that they mean.

    Raises:
        ConfigError: naming a choice that does not fit.
    """
    for path in _files(config_dir):
        check_not_ours(path, config_dir or Path())
    check_choices(overrides, config_dir)
    seats = partial(open_seats, config_dir=config_dir)
    return with_players([quoted(override) for override in overrides], seats)


@cache
def compose_team(key: str) -> Team:
    """Return one of the teams of ``conf/teams``, as runs and their traces describe it.

    Raises:
        ConfigError: naming the nearest known teams if there is none of that name.
    """
    if key not in known_names("teams"):
        raise _no_choice("teams", key)
    return compose([f"teams=[{key}]"]).teams[0]


def compose_choice(group: str, name: str, config_dir: Path | None = None) -> dict[str, Any]:
    """Return one file of a group as keys and values.

    Args:
        group: of ``conf/``.
        name: of the file.
        config_dir: a folder of more configuration.

    Raises:
        ConfigError: naming the nearest known ones if there is none of that name.
    """
    if name not in known_names(group, config_dir):
        raise _no_choice(group, name, config_dir)
    chosen = composed([f"{group}={name}"], config_dir)[group]
    found = OmegaConf.to_container(chosen, resolve=True)
    return {str(key): value for key, value in found.items()} if isinstance(found, dict) else {}


_HYDRA = RLock()
"""Held while Hydra's one state of the process is ours."""


@contextmanager
def initialized(config_dir: Path | None = None) -> Iterator[tuple[ConfigLoader, list[str]]]:
    """Initialise Hydra; yield its loader, and the overrides that every composition needs.

    A program around this one may be Hydra's itself, or compose in several threads. It finds its
    state, the version base included, as it was.
    """
    with _HYDRA:
        state, base = GlobalHydra.instance(), VersionBase.instance()
        hydra_before, base_before = state.hydra, base.version_base
        state.clear()
        try:
            with initialize_config_dir(str(CONF), version_base="1.3"):
                yield GlobalHydra.instance().config_loader(), _search_path(config_dir)
        finally:
            GlobalHydra.set_instance(state)
            state.hydra, base.version_base = hydra_before, base_before


def _search_path(config_dir: Path | None) -> list[str]:
    if config_dir is None:
        return []
    path = str(config_dir.absolute()).replace("\\", "\\\\").replace("'", "\\'")
    return [f"hydra.searchpath=['file://{path}']"]


def composed(overrides: Sequence[str], config_dir: Path | None = None) -> DictConfig:
    """Return what Hydra composes of overrides as it reads them.

    Raises:
        ConfigError: what Hydra refuses, in one line.
    """
    for path in _files(config_dir):  # a short one that means much, which Hydra would write out
        with suppress(FileError):  # Hydra reads what it needs
            refuse_huge(path)
    try:
        with initialized(config_dir) as (_, more):
            return hydra_compose("config", [*more, *overrides])
    except HydraException as error:
        raise refusal(error, overrides, config_dir) from error
    except BROKEN as error:
        raise broken(error, config_dir) from error


def _files(config_dir: Path | None) -> list[Path]:
    """Return the files of configuration in a folder."""
    if config_dir is None:
        return []
    groups = ("", *GROUPS)
    return sorted(path for group in groups for path in (config_dir / group).glob("*.yaml"))


def check_not_ours(path: Path, folder: Path) -> None:
    """Refuse a file of configuration that has the name of one of ours, which is taken instead.

    Args:
        path: of the file, which need not be there.
        folder: of more configuration, as ``--config-dir``.

    Raises:
        ConfigError: it has such a name, and is no copy of ours.
    """
    name = path.relative_to(folder)
    ours = CONF / name
    if ours.is_file() and not (path.is_file() and path.read_bytes() == ours.read_bytes()):
        raise ConfigError(
            f"{printable(str(path))}: is not read, since conf/ has a file {name}; give yours "
            "another name"
        )


def open_seats(overrides: Sequence[str], config_dir: Path | None = None) -> frozenset[str]:
    """Return for which groups the teams of some overrides have open seats."""
    found = composed(overrides, config_dir).teams or OmegaConf.create({})
    teams = OmegaConf.to_container(found, resolve=False)
    return frozenset(group for group in NOT_PLAYED if f"${{{group}}}" in str(teams))


def check_choices(overrides: Sequence[str], config_dir: Path | None = None) -> None:
    """Refuse choices that Hydra would answer with advice about its own syntax.

    Args:
        overrides: of a run.
        config_dir: a folder of more configuration.

    Raises:
        ConfigError: saying how to write it.
    """
    for override in overrides:
        key, is_given, choice = override.partition("=")
        group = key.lstrip("+")
        if is_given and not group:
            raise ConfigError(f"{printable(override)}: names no key")
        if not is_given or group not in GROUPS:
            continue
        if key == "experiment":
            raise ConfigError(f"experiment: is added with a plus: +experiment={printable(choice)}")
        if key != group and group not in {"experiment", "teams"}:
            raise ConfigError(f"{group}: is chosen without a plus: {group}={printable(choice)}")
        if "{" in choice:
            own = "; a team of your own is written '+teams.NAME={players: {...}, seats: [...]}'"
            hint = own if group == "teams" else ""
            raise ConfigError(f"{group}: takes names of conf/{group}{hint}")
        for name in _names(choice):
            if name not in _choices(group, config_dir):  # Hydra would follow a path
                raise _no_choice(group, name, config_dir)
            if any(_names(part).count(name) > 1 for part in re.findall(r"\[[^]]*\]", choice)):
                raise ConfigError(f"{group}: {name} is chosen twice")


def _names(choice: str) -> list[str]:
    """Return the names in a choice, ``a``, ``[a,b]`` or a sweep; functions of Hydra's have none."""
    if choice == "[]" or re.fullmatch(r"\w+\(.*\)", choice):
        return []
    return [name.strip().strip("'\"") for name in _ENDS.sub("", choice).split(",")]


def _no_choice(group: str, choice: str, config_dir: Path | None = None) -> ConfigError:
    shown = printable(repr(choice))
    hint = among(choice, _choices(group, config_dir))
    return ConfigError(f"{group}: there is no {shown}; {hint}")


def _choices(group: str, config_dir: Path | None) -> list[str]:
    """Return what a command line may choose from a group, other distributions' names included."""
    others = extension_names("protocol") if group == "protocol" else []
    return sorted({*known_names(group, config_dir), *others})


def broken(error: Exception, config_dir: Path | None = None) -> CalbenchError:
    """Return what is no configuration as one line: a file of a folder, if one is broken."""
    for path in _files(config_dir):
        try:
            read_yaml(path)
        except CalbenchError as found:
            return found
    # A choice of a type that is no name, or a file that is YAML of another dialect than Hydra's.
    mark = getattr(error, "problem_mark", None)
    place = "configuration" if mark is None else f"{printable(mark.name)}, line {mark.line + 1}"
    problem = getattr(error, "problem", None) or next(iter(str(error).splitlines()), "")
    return ConfigError(f"{place}: {shorten(printable(problem), 200)}")


def refusal(
    error: HydraException, overrides: Sequence[str] = (), config_dir: Path | None = None
) -> ConfigError:
    """Return Hydra's error as one line, without its advice, which does not fit our keys."""
    message = str(error)
    if found := _UNKNOWN_KEY.search(message):
        return ConfigError(unknown_key(found[1], overrides, config_dir))
    if (found := _UNKNOWN_FILE.search(message)) and found[1] in GROUPS:
        place = _IN_FILE.match(message)
        named = "" if place is None or config_dir is None else f"{printable(place[1])}.yaml: "
        return ConfigError(f"{named}{_no_choice(found[1], found[2], config_dir)}")
    if found := _SET_TWICE.search(message):
        return ConfigError(f"{found[1] or found[2]}: is there already; leave out the plus")
    if found := _NAMED_TWICE.search(message):
        return ConfigError(f"{printable(found[1].rpartition('@')[2])}: is chosen twice")
    if found := _SWEEP.search(message):
        shown = printable(found[1])
        return ConfigError(f"{shown}: a list is written key=[a,b]; a,b are two runs of --multirun")
    lines = [line for line in message.splitlines() if line and not line.startswith("See http")]
    if isinstance(error, OverrideParseException):
        lines = [f"{shorten(error.override)}: a bracket or quote is open, or out of place"]
    return ConfigError(f"configuration: {printable(': '.join(lines[:2]))}")


def unknown_key(key: str, overrides: Sequence[str], config_dir: Path | None = None) -> str:
    """Return the message about an unknown key, with the nearest known ones."""
    others = [each for each in overrides if each.partition("=")[0].lstrip("+~") != key]
    keys = _keys(OmegaConf.to_container(composed(others, config_dir)), "")
    known = list(dict.fromkeys([*keys, "scenario"]))  # a choice whose keys are those of the suite
    parent, _, last = key.rpartition(".")
    beside = [name.rpartition(".")[2] for name in known if name.rpartition(".")[0] == parent]
    meant = [f"{parent}.{name}".lstrip(".") for name in nearest(last, beside)]
    if not meant:
        meant = [name for name in known if name.rpartition(".")[2] == last and name != key][:3]
    if meant:
        hint = f"; did you mean {' or '.join(meant)}?"
    else:
        hint = f"; known are {', '.join(beside)}" if beside else ""
    return f"{printable(key)}: is not a known key{hint}"


def _keys(config: Any, prefix: str) -> Iterator[str]:
    """Yield the keys of a configuration at all levels."""
    if isinstance(config, dict):
        for key, value in config.items():
            yield f"{prefix}{key}"
            yield from _keys(value, f"{prefix}{key}.")


def run_spec(config: DictConfig) -> RunSpec:
    """Turn a composed configuration into a typed one.

    Raises:
        ConfigError: naming the key that does not fit.
    """
    try:
        data = OmegaConf.to_container(config, resolve=True)
    except (OmegaConfBaseException, RecursionError) as error:
        raise ConfigError(f"configuration: {printable(str(error).splitlines()[0])}") from error
    if not isinstance(data, dict):
        raise ConfigError("configuration: expected keys and values")
    keys = {str(key): value for key, value in data.items() if key not in NOT_PLAYED}
    known = [*(name for name in RunSpec.model_fields if name not in MADE), *NOT_PLAYED]
    for key in keys:
        if key not in known:
            hint = among(key, known)
            raise ConfigError(f"configuration: {printable(key)}: is not a known key; {hint}")
    own = keys.get("prompts")
    if isinstance(own, dict) and own.get("path") is not None:
        use_prompts(Path(str(own["path"])))  # seats may name variants of it
    teams = played_teams(keys.get("teams"))
    prompts = chosen_prompts(own, teams.teams, teams.models)
    made = {"teams": teams.teams, **{key: getattr(teams, key) for key in MADE}, "prompts": prompts}
    spec = parse_spec({**keys, **made}, "configuration")
    if own is None or own.get("canary") is not None or not any(team.is_open for team in spec.teams):
        return spec
    if spec.store is not None and is_recorded_without(spec.store, CANARY):
        return spec  # a request is the key of its reply, which was paid for
    return spec.model_copy(update={"prompts": spec.prompts.model_copy(update={"canary": True})})
