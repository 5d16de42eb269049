"""Prompt variants: Markdown that is appended to the system prompt word for word (A.2)."""

import hashlib
from typing import NamedTuple

from calbench.agents.prompts.templates import FOLDER, read_markdown
from calbench.errors import ConfigError

PROBING = frozenset({"nosy", "red-team"})
"""Variants that tell an agent to find out what others keep to themselves."""


class Variant(NamedTuple):
    """A variant's text and the SHA-256 of it in hexadecimal."""

    text: str
    digest: str


def variants() -> dict[str, tuple[str, ...]]:
    """Return the versions of each variant by its name."""
    versions: dict[str, tuple[str, ...]] = {}
    for path in sorted((FOLDER / "variants").glob("*/v*.md")):
        name = path.parent.name
        versions[name] = (*versions.get(name, ()), path.stem)
    return versions


def load_variant(name: str, version: str) -> Variant:
    """Return one variant.

    Raises:
        ConfigError: listing the known ones, if it is not one of them.
    """
    known = variants()
    if version not in known.get(name, ()):
        listed = ", ".join(f"{one} {number}" for one in known for number in known[one])
        raise ConfigError(f"prompt variant {name!r} {version!r} is unknown; known: {listed}")
    text = read_markdown(FOLDER / "variants" / name / f"{version}.md")
    return Variant(text, hashlib.sha256(text.encode()).hexdigest())
