"""Templates: Markdown files with ``${placeholders}`` that are filled strictly."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import NamedTuple

from calbench.errors import ConfigError

FOLDER = Path(__file__).parent


class Templates(NamedTuple):
    """The files of one version by name, such as ``turn`` or ``parts/budget``.

    ``digest`` is the SHA-256 of all names and texts, in hexadecimal.
    """

    version: str
    text_by_name: Mapping[str, str]
    digest: str

    def fill(self, name: str, **values: object) -> str:
        """Return a template with all its placeholders filled, once and by value.

        A paragraph that is nothing but one placeholder disappears if its value is empty.

        Raises:
            ConfigError: naming the file, if it lacks a value or leaves one unused.
        """
        where = f"prompts/{self.version}/{name}.md"
        if name not in self.text_by_name:
            raise ConfigError(f"{where}: there is no such template; add the file")
        template = Template(self.text_by_name[name])
        if not template.is_valid():
            raise ConfigError(f"{where}: a stray $; write $$ for a dollar sign")
        wanted = set(template.get_identifiers())
        if wanted != set(values):
            odd = ", ".join(sorted(wanted ^ set(values)))
            raise ConfigError(f"{where}: placeholders and values do not fit: {odd}")
        filled = {key: str(value) for key, value in values.items()}
        empty = {f"${{{key}}}" for key, value in filled.items() if not value}
        paragraphs = template.template.split("\n\n")
        kept = "\n\n".join(part for part in paragraphs if part not in empty)
        return Template(kept).substitute(filled)


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


def read_markdown(path: Path) -> str:
    """Return a Markdown file's text without the line ends at its end."""
    return path.read_text(encoding="utf-8").rstrip("\n")


def digest_of(text_by_name: Mapping[str, str]) -> str:
    """Return the SHA-256 of names and texts in hexadecimal; their order does not matter."""
    whole = hashlib.sha256()
    for name, text in sorted(text_by_name.items()):
        for part in (name, text):
            data = part.encode()
            whole.update(len(data).to_bytes(8, "big") + data)
    return whole.hexdigest()
