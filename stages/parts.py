"""What a stage is given of each experiment: ``compose`` writes it, and the stage alone reads it.

A stage depends on its own part, so an edit of ``conf`` reruns only the stages that it concerns, and
configuration is the business of ``compose`` alone.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from calbench.errors import ConfigError
from calbench.files import first_problem, read_bytes, write_atomically
from stages import paths


class Part(BaseModel):
    """What a stage is given of an experiment."""

    model_config = ConfigDict(extra="forbid", frozen=True)


P = TypeVar("P", bound=Part)


def write_parts(stage: str, parts: Mapping[str, Mapping[str, Any]]) -> None:
    """Write what a stage is given, by experiment, in the order of the site."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    write_atomically(paths.part(stage), orjson.dumps(parts, option=options))


def read_parts(stage: str, kind: type[P]) -> dict[str, P]:
    """Read what a stage is given, by experiment, in the order of the site.

    Raises:
        FileError: there is no such file.
        ConfigError: naming the key that does not fit.
    """
    path = paths.part(stage)
    try:
        found = TypeAdapter(dict[str, kind]).validate_json(read_bytes(path))  # type: ignore[valid-type]
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_problem(error)}; run the stage compose") from error
    return found
