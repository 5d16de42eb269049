"""YAML documents, which may be short and mean something huge: read with bounds, in one line."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import ConstructorError
from yaml.events import AliasEvent
from yaml.nodes import MappingNode, Node, ScalarNode

from calbench.errors import ConfigError
from calbench.files import printable, read_bytes, shorten

MOST_BYTES = 2**24
"""Greatest size of a document; the parameters of a run are some thousand bytes [C]."""

MOST_VALUES = 100_000
"""Greatest number of values, each counted as often as the document refers to it [C]."""


class HugeError(yaml.YAMLError):
    """A document that is larger than its text, perhaps without an end."""


class _Loader(yaml.SafeLoader):
    """Counts values as they would be written out: lists of lists of one list grow fast."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._count = 0
        self._counts: dict[int, int] = {}

    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        is_alias = self.check_event(AliasEvent)
        before = self._count
        node = super().compose_node(parent, index)
        if not is_alias:
            self._count += 1
            self._counts[id(node)] = self._count - before
        elif id(node) in self._counts:
            self._count += self._counts[id(node)]
        else:
            raise HugeError("a value holds itself")
        if self._count > MOST_VALUES:
            raise HugeError(f"more than {MOST_VALUES} values, references written out")
        return node

    def construct_mapping(self, node: MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        known: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, ScalarNode) and key.value in known:
                problem = f"key {key.value} is given twice"
                raise ConstructorError(None, None, problem, key.start_mark)
            known.add(str(key.value))
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> Any:
    """Read a YAML document.

    Raises:
        FileError: naming the file, if it cannot be read or is too large.
        ConfigError: naming the file and the place, if it is no such document.
    """
    data = read_bytes(path, MOST_BYTES)
    try:
        return yaml.load(data, _Loader)  # noqa: S506 - it is a safe one
    except RecursionError as error:
        raise ConfigError(f"{printable(str(path))}: nested too deeply") from error
    except (yaml.YAMLError, ValueError) as error:
        place, problem = _problem(error)
        raise ConfigError(f"{printable(str(path))}{place}: not YAML: {problem}") from error


def refuse_huge(path: Path) -> None:
    """Refuse a document that another reader would write out, and nothing else.

    Raises:
        FileError: naming the file, if it cannot be read or is too large.
        ConfigError: naming the file, if it means far more values than it has.
    """
    data = read_bytes(path, MOST_BYTES)
    if b"*" not in data:  # nothing is referred to
        return
    try:
        yaml.compose(data, _Loader)
    except HugeError as error:
        raise ConfigError(f"{printable(str(path))}: {error}") from error
    except (yaml.YAMLError, ValueError, RecursionError):
        return


def _problem(error: Exception) -> tuple[str, str]:
    """Return place and problem, without the lines of text around it."""
    mark = getattr(error, "problem_mark", None)
    place = "" if mark is None else f", line {mark.line + 1}"
    text = getattr(error, "problem", None) or str(error).splitlines()[0]
    return place, shorten(printable(text), 200)
