"""What other installed distributions add: entry points of four groups, each loaded by its name.

A player or a prompt is looked up when a configuration or a caller names it, never because a trace
or a suite does: commands that read those run under :func:`reading`. What a message of a trace is
called chooses only among the evidence that the user installed. Two distributions that give one
name, and one that gives a name of this package, are refused when the name is used.
"""

import sys
import traceback
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from calbench.errors import ConfigError
from calbench.files import printable, shorten

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Group = Literal["protocol", "agent", "evidence", "prompt"]

GROUPS: Mapping[Group, str] = {
    "protocol": "calbench.protocols",
    "agent": "calbench.agents",
    "evidence": "calbench.evidence",
    "prompt": "calbench.prompts",
}
"""What an entry point adds, and the group in which distributions name it."""


class Extension(NamedTuple):
    """What an entry point names, and the distribution it is from, as ``name version``."""

    value: object
    distribution: str


@dataclass(slots=True)
class _State:
    """Whether names come from files that somebody else may have written."""

    is_reading: bool = False


_state = _State()


@contextmanager
def reading() -> Iterator[None]:
    """Load no player and no prompt meanwhile: whatever names one was read from a file."""
    before, _state.is_reading = _state.is_reading, True
    try:
        yield
    finally:
        _state.is_reading = before


def extension_names(group: Group) -> list[str]:
    """Return the names that distributions give, sorted; nothing is imported."""
    return [*given_by(group)]


def extension(group: Group, name: str, own: Container[str] = ()) -> Extension | None:
    """Load what a distribution gives under a name; ``None`` if none does.

    Args:
        group: of the entry point.
        name: of the entry point.
        own: names that this package has itself.

    Raises:
        ConfigError: the name is ambiguous, was read from a file, or what it names cannot be
            imported; in one line that names the distributions.
    """
    points = _points(group, tuple(sys.path)).get(name, ())
    if not points:
        return None
    givers = [_distribution(point) for point in points]
    if _state.is_reading and group != "evidence":
        if name in own:
            return None
        raise ConfigError(
            f"{group} {printable(repr(name))} of {givers[0]} is named by a file, and no file of "
            "games may name code: play with it instead"
        )
    if name in own:
        givers.insert(0, "CalBench itself")
    if len(givers) > 1:
        raise ConfigError(
            f"{group} {printable(repr(name))} is given by {' and by '.join(givers)}: "
            "remove all but one"
        )
    try:
        value = points[0].load()
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f"{group} {printable(repr(name))} of {givers[0]} cannot be imported ({failure(error)})"
        ) from error
    return Extension(value, givers[0])


def given_by(group: Group) -> Mapping[str, str]:
    """Return which distributions give each name, in words; by name, and nothing is imported."""
    points = _points(group, tuple(sys.path))
    return {
        name: f"Of {' and '.join(map(_distribution, points[name]))}, installed"
        for name in sorted(points)
    }


class MisfitError(Exception):
    """What somebody's function returned does not fit the game."""


def failure(error: BaseException) -> str:
    """Return what an error of somebody's function says, in one short line."""
    said = str(error) if isinstance(error, MisfitError) else f"{type(error).__name__}: {error}"
    return shorten(printable(" ".join(said.split())), 200)


def where(function: object, error: BaseException) -> str:
    """Return the place of somebody's function as ``module, line 9, name()``: where it failed."""
    module, code = getattr(function, "__module__", "?"), getattr(function, "__code__", None)
    lines = [
        line
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__") == module
    ]
    line = lines[-1] if lines else getattr(code, "co_firstlineno", "?")
    return printable(f"{module}, line {line}, {getattr(function, '__qualname__', function)}()")


def module_of(group: Group, name: str) -> str | None:
    """Return the module of what a distribution gives under a name; nothing is imported."""
    points = _points(group, tuple(sys.path)).get(name, ())
    return points[0].module if points else None


@cache
def _points(group: Group, _path: tuple[str, ...]) -> Mapping[str, list["EntryPoint"]]:
    """Return the entry points of a group by name, as they are on a search path."""
    from importlib.metadata import entry_points

    by_name: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=GROUPS[group]):
        by_name.setdefault(point.name, []).append(point)
    for points in by_name.values():
        points.sort(key=_distribution)
    return by_name


def _distribution(point: "EntryPoint") -> str:
    """Return name and version of the distribution that gives an entry point."""
    dist = point.dist
    known = ("?", "?") if dist is None else (dist.name or "?", dist.version or "?")
    return shorten(printable(" ".join(known)))
