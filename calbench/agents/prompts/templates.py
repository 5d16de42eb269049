"""Templates: Markdown files with ``${placeholders}`` that are filled strictly."""

import hashlib
import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import NamedTuple

from calbench.errors import ConfigError

FOLDER = Path(__file__).parent

NOTHING: Mapping[str, Callable[[], object]] = MappingProxyType({})


class Templates(NamedTuple):
    """The files of one version by name, such as ``turn`` or ``parts/budget``.

    ``digest`` is the SHA-256 of all names and texts, in hexadecimal; ``folder`` is named in errors,
    absent for those of this package.
    """

    version: str
    text_by_name: Mapping[str, str]
    digest: str
    folder: str | None = None

    def fill(
        self, name: str, optional: Mapping[str, Callable[[], object]] = NOTHING, /, **values: object
    ) -> str:
        """Return a template with all its placeholders filled, once and by value.

        A paragraph that is nothing but one placeholder disappears if its value is empty.

        Args:
            name: of the template.
            optional: makes the values that a template may leave out.
            values: those that it has to show.

        Raises:
            ConfigError: naming the file, if it lacks a value or leaves one unused.
        """
        if name not in self.text_by_name:
            raise ConfigError(f"{self._place(name)}: there is no such template; add the file")
        form = _form(self.text_by_name[name])
        if form is None:
            raise ConfigError(f"{self._place(name)}: a stray $; write $$ for a dollar sign")
        further = form.placeholders & optional.keys() if optional else None
        if form.placeholders != (values.keys() | further if further else values.keys()):
            odd = ", ".join(sorted(form.placeholders ^ values.keys() ^ (further or set())))
            raise ConfigError(f"{self._place(name)}: placeholders and values do not fit: {odd}")
        for key in further or ():
            values[key] = str(optional[key]())
        empty = [name for name in form.alone if values[name] == ""]
        if not empty:
            return form.whole % values
        kept = [part for part, only in form.paragraphs if only not in empty]
        return "\n\n".join(kept) % values

    def takes(self, name: str, placeholder: str) -> bool:
        """Whether a template has a placeholder."""
        form = _form(self.text_by_name.get(name, ""))
        return form is not None and placeholder in form.placeholders

    def _place(self, name: str) -> str:
        return f"{self.folder or f'prompts/{self.version}'}/{name}.md"


class _Form(NamedTuple):
    """A template that was read, for the operator ``%``: prompts are made of the same at every turn.

    Attributes:
        placeholders: that it has.
        paragraphs: each with the placeholder that it is nothing but, if any.
        alone: placeholders that are paragraphs.
        whole: all paragraphs.
    """

    placeholders: frozenset[str]
    paragraphs: tuple[tuple[str, str | None], ...]
    alone: tuple[str, ...]
    whole: str


@lru_cache(maxsize=256)
def _form(text: str) -> _Form | None:
    """Read a template; absent if a dollar sign begins no placeholder."""
    template = Template(text)
    if not template.is_valid():
        return None
    names = frozenset(template.get_identifiers())
    only = {f"${{{name}}}": name for name in names}
    parts = [(_for_percent(part), only.get(part)) for part in text.split("\n\n")]
    alone = tuple([name for _, name in parts if name is not None])
    return _Form(names, tuple(parts), alone, "\n\n".join([part for part, _ in parts]))


def _for_percent(text: str) -> str:
    """Return a template with its placeholders as the operator ``%`` knows them."""

    def one(match: re.Match[str]) -> str:
        name = match["braced"] or match["named"]
        return "$" if name is None else f"%({name})s"

    return Template.pattern.sub(one, text.replace("%", "%%"))


def versions() -> tuple[str, ...]:
    """Return the versions that there are, ascending."""
    found = [path.name for path in FOLDER.glob("v[0-9]*") if path.is_dir()]
    return tuple(sorted(found, key=lambda name: (len(name), name)))


def read_templates(version: str) -> Templates:
    """Return the templates of one version.

    Raises:
        ConfigError: listing the known versions, if it is not one of them.
    """
    known = versions()
    if version not in known:
        raise ConfigError(f"prompt version {version!r} is unknown; known: {', '.join(known)}")
    folder = FOLDER / version
    texts = {
        path.relative_to(folder).with_suffix("").as_posix(): read_markdown(path)
        for path in folder.rglob("*.md")
    }
    ordered = dict(sorted(texts.items()))
    return Templates(version, ordered, digest_of(ordered))


@cache
def principals() -> tuple[str, ...]:
    """Return the users that agents act for since ``v3``: names with roles; a released list."""
    return tuple((FOLDER / "principals.txt").read_text(encoding="utf-8").splitlines())


def read_markdown(path: Path) -> str:
    """Return a Markdown file's text without the line ends at its end."""
    return path.read_text(encoding="utf-8").rstrip("\n")


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of(text_by_name: Mapping[str, str]) -> str:
    """Return the SHA-256 of names and texts in hexadecimal; their order does not matter."""
    whole = hashlib.sha256()
    for name, text in sorted(text_by_name.items()):
        for part in (name, text):
            data = part.encode()
            whole.update(len(data).to_bytes(8, "big") + data)
    return whole.hexdigest()
