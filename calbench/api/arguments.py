"""Arguments of the public functions: one of another type than is asked for is refused by name."""

import functools
import inspect
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin

from calbench.errors import ConfigError
from calbench.files import printable, shorten

P = ParamSpec("P")
T = TypeVar("T")

EXAMPLES: Mapping[str, str] = {
    "Scenario": "a scenario, such as load_suite('varied')[0]",
    "Trace": "a trace, such as read_trace(FILE)",
    "Results": "results, such as read_run(FOLDER)",
    "Path": "a path, such as Path(FOLDER)",
    "PathLike": "a file's path",
    "Sequence": "a list",
    "Mapping": "a mapping",
    "bool": "True or False",
    "int": "a whole number",
    "str": "a name",
}
"""What is meant by the name of a type."""


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Refuse arguments that are of no type that the function's annotation of them names.

    Args:
        function: a public one. What its containers hold it checks itself, and so it does protocols
            (``typing.Protocol``), which any object may follow.

    Raises:
        ConfigError: from the function returned, naming the argument.
    """
    signature = inspect.signature(function)
    wanted = {name: _types(each.annotation) for name, each in signature.parameters.items()}

    @functools.wraps(function)
    def checking(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:  # Python's own names no function
            raise TypeError(f"{function.__name__}(): {error}") from None
        for name, given in bound.arguments.items():
            is_many = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
            for value in given if is_many else (given,):
                _check(name, value, wanted[name])
        return function(*args, **kwargs)

    return checking


def _check(name: str, given: object, wanted: tuple[type, ...]) -> None:
    """Refuse an argument of another type, with an example of what is meant."""
    is_odd = isinstance(given, bytes) or (isinstance(given, bool) and bool not in wanted)
    if not wanted or (isinstance(given, wanted) and not is_odd):
        return  # a number that is yes or no, and bytes as a list, are mistakes
    shown = printable(shorten(repr(given), 40))
    names = [each.__name__ for each in wanted if each is not NoneType]
    meant = " or ".join(EXAMPLES.get(each, each) for each in names)
    raise ConfigError(f"{name}: {shown} is of type {type(given).__name__}; give {meant}")


def _types(annotation: Any) -> tuple[type, ...]:
    """Return the classes that an annotation names; none if one of its parts is no plain class."""
    if annotation is None:
        return (NoneType,)
    if get_origin(annotation) in {Union, UnionType}:
        parts = [_types(each) for each in get_args(annotation)]
        return tuple(each for part in parts for each in part) if all(parts) else ()
    found = get_origin(annotation) or annotation
    is_plain = isinstance(found, type) and not getattr(found, "_is_protocol", False)
    return (found,) if is_plain else ()
