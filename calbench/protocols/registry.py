"""Policies by their names in configurations and traces: our own, and those of distributions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from calbench.domain.messages import CHANNELS, Channel
from calbench.errors import ConfigError
from calbench.extensions import Extension, extension, extension_names
from calbench.files import printable
from calbench.protocols.base import Policy
from calbench.protocols.degenerate import FirstFree, Silent, TellAll
from calbench.protocols.dsm import Dsm
from calbench.protocols.imap import Imap
from calbench.protocols.mediator import Mediated
from calbench.protocols.sd_map.policy import SdMap
from calbench.protocols.secure_sum import SecureSum

POLICIES: dict[str, type[Policy]] = {
    "imap": Imap,
    "dsm": Dsm,
    "sd-map": SdMap,
    "mediator": Mediated,
    "secure-sum": SecureSum,
    "silent": Silent,
    "first-free": FirstFree,
    "tell-all": TellAll,
}
"""Our own classes by name; a seat's settings are their keyword arguments."""

DISTRIBUTION = "distribution"
"""Setting of a player from a distribution: name and version, so that a trace says what played."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Requirements of a player for the team that seats it.

    Attributes:
        is_degenerate: whether it is a baseline.
        private_chance: whether its seat has a random stream of its own.
        mediator: whether its team has a mediator.
        talks_on: the channels of which one should be open, if it uses any.
        settings: those that are not the caller's.
    """

    is_degenerate: bool = False
    private_chance: bool = False
    mediator: bool = False
    talks_on: tuple[Channel, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


def policy_names() -> list[str]:
    """Return the names of all policies, our own and those of distributions, sorted."""
    return sorted({*POLICIES, *extension_names("protocol")})


def needs_of(name: str) -> Needs | None:
    """Return what a team has to say of a policy that it seats; ``None`` if the name is unknown.

    Its class says so, ours or that of a distribution, which gives no baselines.

    Raises:
        ConfigError: a distribution gives the name, and it is ambiguous or cannot be imported.
    """
    found = extension("protocol", name, POLICIES)
    policy = POLICIES.get(name) if found is None else found.value
    if policy is None:
        return None
    said = getattr(policy, "talks_on", ())
    channels = said if isinstance(said, tuple | list) else ()  # it may be anybody's
    return Needs(
        is_degenerate=found is None and has_trait(policy, "is_degenerate"),
        private_chance=has_trait(policy, "needs_private_chance"),
        mediator=has_trait(policy, "needs_mediator"),
        talks_on=tuple(each for each in CHANNELS if each in channels),
        settings={} if found is None else {DISTRIBUTION: found.distribution},
    )


def has_trait(policy: object, name: str) -> bool:
    """Whether a policy's class says this of itself, see :class:`Policy`."""
    return getattr(policy, name, False) is True


def build_policy(
    name: str, settings: Mapping[str, Any], weights: tuple[float, ...] | None = None
) -> Policy | None:
    """Return the named policy; ``None`` if the name is unknown.

    ``weights`` are the game's difficulty weights, for the players that use them.

    Raises:
        ConfigError: a distribution gives the name, and it is ambiguous, cannot be imported or is
            another one than the settings say.
    """
    found = extension("protocol", name, POLICIES)
    make: Any = POLICIES.get(name) if found is None else found.value
    if make is None:
        return None
    arguments = dict(settings)
    if found is not None:
        check_distribution(f"protocol {printable(name)}", found, settings)
        del arguments[DISTRIBUTION]
    further = {"weights": weights} if has_trait(make, "takes_weights") else {}
    policy: Policy = make(**arguments, **further)
    if found is not None and not callable(getattr(policy, "act", None)):
        raise ConfigError(
            f"protocol {printable(name)} of {found.distribution} has no method act(observation)"
        )
    return policy


def is_outside(settings: Mapping[str, Any]) -> bool:
    """Whether these are the settings of a player from a distribution."""
    return DISTRIBUTION in settings


def check_distribution(what: str, found: Extension, settings: Mapping[str, Any]) -> None:
    """Refuse to play with another distribution than the one that the settings name.

    Raises:
        ConfigError: naming both.
    """
    named = settings.get(DISTRIBUTION)
    if named != found.distribution:
        raise ConfigError(
            f"{what}: settings.{DISTRIBUTION} says {printable(str(named))}, and installed is "
            f"{found.distribution}"
        )
