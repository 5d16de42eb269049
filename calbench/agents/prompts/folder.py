"""Prompts beside the versions of this package: variants, and what a folder of the user's own has.

A variant is Markdown that is appended to the system prompt word for word (A.2). A folder that a
command names has a version, variants, or both:
``FOLDER/*.md`` and ``FOLDER/parts/*.md`` are the templates of a version, which has the folder's
name; ``FOLDER/variants/NAME/v1.md`` and so on are variants. They are known by their digests, which
are in the configurations of games and in traces. A path is in the configuration of a run alone:
games and traces have none, and none is followed for a trace.
"""

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from calbench.agents.prompts.templates import (
    FOLDER,
    Templates,
    digest_of,
    read_templates,
    text_digest,
    versions,
)
from calbench.errors import ConfigError, FileError
from calbench.extensions import extension, extension_names
from calbench.files import printable, read_bytes

LATEST = "v3"
"""The version whose templates a folder has as well, and whose values they are given."""

NEEDLESS = frozenset(
    {
        "parts/closed_channels",
        "parts/schedule_example",
        "parts/move_example",
        "parts/worked_free",
        "parts/worked_move",
    }
)
"""Templates that a version may leave out, as long as no other one asks for them."""

MOST_BYTES = 200_000
"""Size of a template or variant [C]: it is part of every request."""

PROBING_MARK = "PROBING"
"""Name of an empty file beside a variant's texts: it tells agents to find out what others keep to
themselves."""

# e.g. whole "v2.1-terse"; not "../v2", "-v2"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Variant(NamedTuple):
    """A variant's text, the SHA-256 of it in hexadecimal, and whether it tells agents to probe."""

    text: str
    digest: str
    is_probing: bool


class OwnPrompts(NamedTuple):
    """What a folder holds.

    Attributes:
        path: of the folder.
        templates: of its version; absent if it has variants alone.
        variants: by name and version.
    """

    path: Path
    templates: Templates | None
    variants: dict[tuple[str, str], Variant]


_used: dict[Path, OwnPrompts] = {}
"""The folders that this process was told to use."""


def know(own: OwnPrompts) -> None:
    """Know prompts from now on in this process, as those of the folder that was named last."""
    _used.pop(own.path, None)  # a key that is set anew keeps its place
    _used[own.path] = own


def read_folder(path: Path) -> OwnPrompts:
    """Read a folder.

    Raises:
        ConfigError: naming the file that is missing, is not one of a version, or cannot be read.
    """
    folder = path.absolute()
    if not folder.is_dir():
        raise ConfigError(f"prompts: {printable(str(path))} is not a folder")
    own = OwnPrompts(folder, _templates(folder), _variants(folder / "variants"))
    if own.templates is None and not own.variants:
        raise ConfigError(
            f"prompts: {printable(str(path))} has neither system.md nor variants/NAME/v1.md"
        )
    return own


def used_folders() -> tuple[Path, ...]:
    """Return the folders that this process uses, for the workers that it starts."""
    return tuple(_used)


def own_templates(digest: str) -> Templates | None:
    """Return the templates of a digest, if one of the folders has them."""
    found = (own.templates for own in _used.values() if own.templates is not None)
    return next((each for each in found if each.digest == digest), None)


def own_variant(name: str, version: str, digest: str | None = None) -> Variant | None:
    """Return a variant of the folder that was named last, of those that have it.

    Args:
        name: of the variant.
        version: of it.
        digest: of its text: a folder that has this text goes before the others.
    """
    named = (own.variants.get((name, version)) for own in reversed(_used.values()))
    found = [each for each in named if each is not None]
    meant = [each for each in found if each.digest == digest]
    return next(iter(meant or found), None)


def own_variants() -> dict[str, tuple[str, ...]]:
    """Return the versions of each variant of the folders by its name."""
    keys = sorted({key for own in _used.values() for key in own.variants})
    names = dict.fromkeys(name for name, _ in keys)
    return {name: tuple(version for one, version in keys if one == name) for name in names}


def _templates(folder: Path) -> Templates | None:
    """Return the templates of a folder; absent if it has none."""
    paths = {
        path.relative_to(folder).with_suffix("").as_posix(): path
        for path in sorted([*folder.glob("*.md"), *folder.glob("parts/*.md")])
    }
    if not paths:
        return None
    name, shown = folder.name, printable(str(folder))
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{shown}: a version is named like its folder, by letters and digits")
    if name in versions():
        raise ConfigError(f"{shown}: {name} is a version of this package; rename the folder")
    known = read_templates(LATEST).text_by_name.keys() | NEEDLESS
    for missing in sorted(known - paths.keys() - NEEDLESS):
        raise ConfigError(f"{shown}/{missing}.md: is missing; prompts {LATEST} show what it says")
    for odd in sorted(paths.keys() - known):
        raise ConfigError(f"{shown}/{odd}.md: is no template; known are {', '.join(sorted(known))}")
    texts = {each: _text(path) for each, path in paths.items()}
    return Templates(name, texts, digest_of(texts), shown)


def _variants(folder: Path) -> dict[tuple[str, str], Variant]:
    found: dict[tuple[str, str], Variant] = {}
    for path in sorted(folder.glob("*/*.md")):
        name, version, shown = path.parent.name, path.stem, printable(str(path))
        if not _NAME.fullmatch(name) or not re.fullmatch(r"v[0-9]{1,4}", version):
            raise ConfigError(f"{shown}: a variant is variants/NAME/v1.md, v2.md and so on")
        if (FOLDER / "variants" / name / f"{version}.md").exists():
            raise ConfigError(f"{shown}: {name} {version} is a variant of this package")
        found[name, version] = _variant(
            _text(path), is_probing=(path.parent / PROBING_MARK).exists()
        )
    return found


def _text(path: Path) -> str:
    try:
        text = read_bytes(path, MOST_BYTES).decode("utf-8-sig")
    except FileError as error:
        raise ConfigError(str(error)) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{printable(str(path))}: is no UTF-8 text") from error
    return text.replace("\r\n", "\n").rstrip("\n")


def variants() -> dict[str, tuple[str, ...]]:
    """Return the versions of each of our variants by its name."""
    folders = sorted(path for path in (FOLDER / "variants").iterdir() if path.is_dir())
    return {folder.name: _versions_in(folder) for folder in folders}


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
        return own
    found = extension("prompt", name, known)
    folder: Traversable = FOLDER / "variants" / name
    if found is not None:
        folder, is_probing = _package(name, found.value, found.distribution)
        known = {name: _versions_in(folder)}
    if version not in known.get(name, ()):
        offered = [*known.items(), *own_variants().items()]
        listed = ", ".join(f"{one} {number}" for one, numbers in offered for number in numbers)
        others = [other for other in extension_names("prompt") if other != name]
        raise ConfigError(
            f"prompt variant {printable(repr(name))} {printable(repr(version))} is unknown; "
            f"known: {', '.join([listed, *others])}"
        )
    if found is None:  # no file is looked for under a name that is not one of ours
        is_probing = folder.joinpath(PROBING_MARK).is_file()
    text = folder.joinpath(f"{version}.md").read_text(encoding="utf-8").rstrip("\n")
    return _variant(text, is_probing=is_probing)


def _variant(text: str, *, is_probing: bool) -> Variant:
    return Variant(text, text_digest(text), is_probing)


def _versions_in(folder: Traversable) -> tuple[str, ...]:
    """Return the versions in a variant's folder, sorted."""
    names = [each.name for each in folder.iterdir()]
    return tuple(sorted(name[:-3] for name in names if name[:1] == "v" and name.endswith(".md")))


def _package(name: str, package: object, distribution: str) -> tuple[Traversable, bool]:
    """Return the folder of a distribution's variant, and whether it tells agents to probe."""
    if not isinstance(package, ModuleType) or not hasattr(package, "__path__"):
        raise ConfigError(f"prompt {printable(repr(name))} of {distribution} names no package")
    return files(package), getattr(package, "is_probing", False) is True
