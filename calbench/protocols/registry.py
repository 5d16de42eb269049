"""Policies by the name under which a configuration or a trace calls them."""

from collections.abc import Callable, Mapping
from typing import Any

from calbench.protocols.base import Policy
from calbench.protocols.degenerate import FirstFree, Silent, TellAll
from calbench.protocols.imap import Imap

POLICIES: dict[str, Callable[..., Policy]] = {
    "imap": Imap,
    "silent": Silent,
    "first-free": FirstFree,
    "tell-all": TellAll,
}
"""Constructors by name; a seat's settings are their keyword arguments."""


DEGENERATE = frozenset({"first-free", "silent", "tell-all"})
"""Players that are baselines, never ranked with protocols."""


def build_policy(name: str, settings: Mapping[str, Any]) -> Policy | None:
    """Return the named policy, or ``None`` if this package has none of that name."""
    make = POLICIES.get(name)
    return None if make is None else make(**settings)
