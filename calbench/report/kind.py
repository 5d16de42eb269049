"""Kinds of players with the colour of each, and the instruments that measure loss of privacy.

A kind has the same colour on every page, and no other kind has it. The style sheet has the colours
once more, as ``--cb-kind-*`` (``site/assets/every/calbench.css``); a test holds both against each
other.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of player.

    Attributes:
        id: in names of classes and variables.
        name: of several players, in a legend.
        colour: at least 3:1 on light and on dark pages [C].
    """

    id: str
    name: str
    colour: str


PROTOCOL = Kind("protocol", "Protocols", "#0072b2")
SCRIPTED = Kind("scripted", "Scripted speakers", "#d55e00")
MODEL = Kind("model", "Recorded models", "#008f68")
MIXED = Kind("mixed", "Teams of several kinds", "#a87900")
PUBLISHED = Kind("published", "The paper's models", "#b8579a")
DEGENERATE = Kind("degenerate", "Degenerate baselines", "#7d7d7d")
REFERENCE = Kind("reference", "The exact optimum", "#6f6fd1")
OWN = Kind("own", "Own code", "#a0622d")

KINDS = (PROTOCOL, SCRIPTED, MODEL, MIXED, PUBLISHED, DEGENERATE, REFERENCE, OWN)

WORDS = {
    "protocol": PROTOCOL,
    "scripted agents": SCRIPTED,
    "language models": MODEL,
    "degenerate baseline": DEGENERATE,
    "reference": REFERENCE,
    "custom agents": OWN,
}
"""What tables call the kinds of a team whose players are all of one."""


def kind_of(words: str) -> Kind:
    """Return the kind of a team from what tables say of it, such as "protocol, not published"."""
    players = words.partition(",")[0]
    return MIXED if " and " in players else WORDS.get(players, OWN)


TYPED = "protocol"
"""The instrument that follows from what typed messages mean (``vps_kind``).

What two instruments measured is never on one axis: certainty about a slot is half a slot-equivalent
for typed messages and a whole one for reflections, and expected answers are not the integers that
agents wrote.
"""

VPS_KIND_NAMES: Mapping[str, str] = {
    TYPED: "typed messages",
    "reflection": "reflections",
    "expected": "reflections, expected values",
    "mixed": "several ways",
    "": "not measured",
}
"""How VPS was measured, by what tables say."""
