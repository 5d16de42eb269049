"""Values made tens of thousands of times a second: what agents do, say and are seen to do."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frequent(cls: type[T]) -> type[T]:
    """Make a slotted value class, frozen to type checkers.

    A frozen ``__init__`` takes twice as long, and so does naming the values: the classes
    take them in order as well, but for the tag that says what they are in a file.
    """
    # Nobody alters a value, which type checkers see to: its hash is safe.
    make: Callable[[type[T]], type[T]] = dataclass(slots=True, unsafe_hash=True)
    return make(cls)
