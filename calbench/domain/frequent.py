"""Value classes of what agents do, say and are seen to do; most reach a trace's file."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import TypeVar, dataclass_transform

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as pydantic_dataclass

T = TypeVar("T")

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""Values are read back from a file exactly: no unknown key, no conversion, and no number that
JSON does not have."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frequent(cls: type[T]) -> type[T]:
    """Make a value class for values made tens of thousands of times a second.

    It is frozen to type checkers only, because a frozen ``__init__`` takes twice as long. Values
    are given by position, which is faster too; only the tag that names the class in a file is
    not. It has no slots: orjson writes the fields of an object with a dictionary three times as
    fast, which is more than slots save when it is made.
    """
    # Type checkers see to it that nobody alters a value, so its hash is safe.
    make: Callable[[type[T]], type[T]] = dataclass(unsafe_hash=True)
    made = make(_strict(cls))
    for each in fields(made):  # type: ignore[arg-type]
        each.kw_only = False  # or pydantic would set the tag last, and orjson write it last
    return made


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def passing(cls: type[T]) -> type[T]:
    """Make a value class like :func:`frequent`, with slots, for values that reach no file."""
    make: Callable[[type[T]], type[T]] = dataclass(slots=True, unsafe_hash=True)
    return make(cls)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def recorded(cls: type[T]) -> type[T]:
    """Make a frozen, keyword-only value class for values that reach a file."""
    make: Callable[[type[T]], type[T]] = dataclass(frozen=True, kw_only=True)
    return make(_strict(cls))


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def checked(cls: type[T]) -> type[T]:
    """Make a value class like :func:`recorded` that is checked as a model is, also when it is made.

    With slots it takes a tenth of a model's memory: for small values that wait by the million.
    """
    made: type[T] = pydantic_dataclass(frozen=True, kw_only=True, slots=True, config=STRICT)(cls)  # type: ignore[assignment]
    return made


def _strict(cls: type[T]) -> type[T]:
    cls.__pydantic_config__ = STRICT  # type: ignore[attr-defined]
    return cls
