"""Policies by their names in configurations and traces."""

from collections.abc import Callable, Mapping
from typing import Any

from calbench.domain.messages import Channel
from calbench.protocols.base import Policy
from calbench.protocols.degenerate import FirstFree, Silent, TellAll
from calbench.protocols.dsm import Dsm
from calbench.protocols.imap import Imap
from calbench.protocols.mediator import Mediated
from calbench.protocols.sd_map.policy import SdMap
from calbench.protocols.secure_sum import SecureSum

POLICIES: dict[str, Callable[..., Policy]] = {
    "imap": Imap,
    "dsm": Dsm,
    "sd-map": SdMap,
    "mediator": Mediated,
    "secure-sum": SecureSum,
    "silent": Silent,
    "first-free": FirstFree,
    "tell-all": TellAll,
}
"""Constructors by name; a seat's settings are their keyword arguments."""

NEEDS_MEDIATOR = frozenset({"mediator"})
"""Players that need a mediator in their team to agree on a slot."""

NEEDS_PRIVATE_CHANCE = frozenset({"secure-sum"})
"""Players whose seats need private chance to agree on a slot."""

TALKS_ON: Mapping[str, tuple[Channel, ...]] = {
    "imap": ("dm",),
    "dsm": ("dm",),
    "sd-map": ("dm",),
    "secure-sum": ("dm",),
    "tell-all": ("dm", "all_agent_groupchat"),
}
"""Players that talk, with the channels they use: with all of them closed they say nothing."""

TAKES_WEIGHTS = frozenset({"sd-map"})
"""Players that take the game's difficulty weights, ``limits.sd_model``, as ``weights``."""

DEGENERATE = frozenset({"first-free", "silent", "tell-all"})
"""Players that are baselines and never ranked with protocols."""


def build_policy(
    name: str, settings: Mapping[str, Any], weights: tuple[float, ...] | None = None
) -> Policy | None:
    """Return the named policy; ``None`` if the name is unknown.

    ``weights`` are the game's difficulty weights, for the players that use them.
    """
    make = POLICIES.get(name)
    if make is None:
        return None
    return make(**settings, weights=weights) if name in TAKES_WEIGHTS else make(**settings)
