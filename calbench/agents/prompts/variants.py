"""Prompt variants: Markdown that is appended to the system prompt word for word (A.2)."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from types import ModuleType
from typing import NamedTuple

from calbench.agents.prompts.folder import own_variant, own_variants
from calbench.agents.prompts.templates import FOLDER, text_digest
from calbench.errors import ConfigError
from calbench.extensions import extension, extension_names
from calbench.files import printable

PROBING = frozenset({"nosy", "red-team"})
"""Our variants that tell an agent to find out what others keep to themselves."""

PLAYED = frozenset({("nosy", "v2"), ("red-team", "v2")})
"""Names and versions of the variants that scripted speakers can follow: a text means nothing to
them, so each is played by code (:mod:`calbench.agents.scripted.probing`)."""


class Variant(NamedTuple):
    """A variant's text, the SHA-256 of it in hexadecimal, and whether it tells agents to probe."""

    text: str
    digest: str
    is_probing: bool


def variants() -> dict[str, tuple[str, ...]]:
    """Return the versions of each of our variants by its name."""
    folders = sorted(path for path in (FOLDER / "variants").iterdir() if path.is_dir())
    return {folder.name: _versions(folder) for folder in folders}


def load_variant(name: str, version: str, digest: str | None = None) -> Variant:
    """Return one variant: ours, that of a folder which this process uses, or of a distribution.

    A distribution names a package whose folder has ``v1.md`` and so on; one that tells agents to
    probe has ``is_probing = True`` in it.

    Args:
        name: of the variant.
        version: of it.
        digest: of the text that is meant, if several folders have a variant of that name.

    Raises:
        ConfigError: listing the known ones, if it is not one of them; or a distribution that
            gives the name cannot be used.
    """
    known = variants()
    own = own_variant(name, version, digest)
    if own is not None:
        return Variant(own.text, text_digest(own.text), own.is_probing)
    found = extension("prompt", name, known)
    if found is not None:
        folder, is_probing = _package(name, found.value, found.distribution)
        known = {name: _versions(folder)}
    else:
        folder, is_probing = FOLDER / "variants" / name, name in PROBING
    if version not in known.get(name, ()):
        offered = [*known.items(), *own_variants().items()]
        listed = ", ".join(f"{one} {number}" for one, numbers in offered for number in numbers)
        others = [other for other in extension_names("prompt") if other != name]
        raise ConfigError(
            f"prompt variant {printable(repr(name))} {printable(repr(version))} is unknown; "
            f"known: {', '.join([listed, *others])}"
        )
    text = folder.joinpath(f"{version}.md").read_text(encoding="utf-8").rstrip("\n")
    return Variant(text, text_digest(text), is_probing)


def _versions(folder: Traversable) -> tuple[str, ...]:
    """Return the versions in a variant's folder, sorted."""
    names = [each.name for each in folder.iterdir()]
    return tuple(sorted(name[:-3] for name in names if name[:1] == "v" and name.endswith(".md")))


def _package(name: str, package: object, distribution: str) -> tuple[Traversable, bool]:
    """Return the folder of a distribution's variant, and whether it tells agents to probe."""
    if not isinstance(package, ModuleType) or not hasattr(package, "__path__"):
        raise ConfigError(f"prompt {printable(repr(name))} of {distribution} names no package")
    return files(package), getattr(package, "is_probing", False) is True
