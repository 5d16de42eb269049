"""Where the paper and the code are, as MkDocs' configuration says."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from calbench.errors import FileError

CONFIG = "mkdocs.yml"
"""MkDocs' configuration, in the folder of the site's sources and in that of its written pages."""


@dataclass(frozen=True)
class SiteLinks:
    """Addresses outside of the site; an empty one is not known.

    Attributes:
        paper: of the paper (``extra.paper``).
        repository: of the code (``repo_url``).
    """

    paper: str = ""
    repository: str = ""


def read_config(path: Path) -> dict[str, Any]:
    """Read MkDocs' configuration.

    Raises:
        FileError: it is no mapping in YAML.
    """
    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: is not YAML: {error}") from error
    if not isinstance(config, dict):
        raise FileError(f"{path}: is no mapping")
    return config


def site_links(path: Path) -> SiteLinks:
    """Read the addresses that MkDocs' configuration names.

    Raises:
        FileError: one of them is no address.
    """
    config = read_config(path)
    extra = config.get("extra") or {}
    _address(path, config, "site_url")  # which MkDocs reads by itself
    return SiteLinks(
        paper=_address(path, extra, "paper"),
        repository=_address(path, config, "repo_url") or _address(path, extra, "repository"),
    )


def without_widget(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration that names the repository where only our own pages read it.

    The theme's link to ``repo_url`` asks that host for stars from the reader's browser.
    """
    kept = {key: value for key, value in config.items() if key != "repo_url"}
    if config.get("repo_url"):
        kept["extra"] = {**(config.get("extra") or {}), "repository": config["repo_url"]}
    return kept


def _address(path: Path, values: Mapping[str, Any], name: str) -> str:
    value = values.get(name) or ""
    if not isinstance(value, str) or (value and not _is_address(value)):
        raise FileError(f"{path}: {name}: {value!r} is no address that begins with https://")
    return value


def _is_address(value: str) -> bool:
    parts = urlsplit(value)
    return parts.scheme in {"http", "https"} and bool(parts.netloc) and value.split() == [value]
