"""Suite files: JSON Lines, one scenario per line. The only module that reads or writes them.

Published suites are read by name: files in the folder of the release.

A file may be packed with gzip (``*.gz``) and may come from anywhere: every problem is reported in
one line that names file, line, field and remedy, and quotes the file only in escaped form.
"""

import gzip
import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn
from weakref import WeakValueDictionary

from pydantic import ValidationError

from calbench.domain.canonical import canonical_json
from calbench.errors import ConfigError, FileError, OutputError, meant
from calbench.files import (
    MOST_BYTES,
    KeyTwiceError,
    no_collection,
    opened,
    printable,
    shorten,
    unique_keys,
    unpacked_pieces,
    write_atomically,
)
from calbench.scenarios.bounds import MOST_LINE_BYTES, MOST_SCENARIOS
from calbench.scenarios.certificates import false_statements
from calbench.scenarios.models import SCHEMA_VERSION, Scenario
from calbench.tree import IS_INSTALLED, in_tree

MAX_DEPTH = 32
"""Greatest depth of nesting of a line; a scenario needs five [C]."""

_ENDING = ".jsonl" if IS_INSTALLED else ".jsonl.gz"
"""Of a published suite; an installed package has them unpacked from its archive."""

_MORE = "; those of sweeps and of the reproduction are in a checkout" * IS_INSTALLED

_ENTRY_KINDS = (["errand"], ["meeting"])


def write_suite(path: str | os.PathLike[str], scenarios: Iterable[Scenario]) -> None:
    """Write a suite file completely or not at all; equal scenarios give equal bytes.

    Missing folders are made.

    Raises:
        OutputError: there is nothing to write, or it cannot be written there.
    """
    target = Path(path)
    text = "".join(_line(scenario) for scenario in scenarios)
    if not text:
        raise OutputError(f"{target}: no scenario to write; a suite has at least one")
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise OutputError(f"{target}: a text in params holds half of a surrogate pair") from error
    write_atomically(target, data)


def _line(scenario: Scenario) -> str:
    """Return a scenario's line: the fields in the order of the model, sorted within."""
    data = scenario.model_dump(mode="json")
    fields = (f"{json.dumps(name)}:{canonical_json(value)}" for name, value in data.items())
    return "{" + ",".join(fields) + "}\n"


@no_collection()  # half of the time
def read_suite(path: str | os.PathLike[str]) -> tuple[Scenario, ...]:
    """Read a suite file, packed (``*.gz``) or not.

    A missing oracle or difficulty stays missing; see
    :func:`calbench.scenarios.difficulty.completed`.

    Raises:
        FileError: the file cannot be read or does not fit; names line, field and remedy.
    """
    return tuple(iter_suite(path))


def count_scenarios(path: str | os.PathLike[str]) -> int:
    """Return how many scenarios :func:`read_suite` finds in a file, without checking them.

    Raises:
        FileError: the file cannot be read.
    """
    return sum(1 for _ in _lines(Path(path)))


def iter_suite(path: str | os.PathLike[str]) -> Iterator[Scenario]:
    """Yield what :func:`read_suite` returns, each scenario as soon as it is checked.

    Raises:
        FileError: as there; the scenarios before the line that does not fit have been yielded.
    """
    source = Path(path)
    line_by_id: dict[str, int] = {}
    for number, line in enumerate(_lines(source), start=1):
        place = f"{printable(str(source))}, line {number}"
        if number > MOST_SCENARIOS:
            _refuse(place, None, f"more than {MOST_SCENARIOS} scenarios", "split the file")
        scenario = _read_line(place, line)
        earlier = line_by_id.setdefault(scenario.scenario_id, number)
        if earlier != number:
            _refuse(
                place,
                "scenario_id",
                f"{scenario.scenario_id} is also the id of line {earlier}",
                "give each scenario a different id",
            )
        yield scenario
    if not line_by_id:
        raise FileError(
            f"{printable(str(source))}: the file is empty; a suite has one scenario per line"
        )


def scenario_schema() -> dict[str, Any]:
    """Return the published JSON Schema of a scenario, generated from the models."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Scenario.model_json_schema(),
    }


def _refuse(place: str, field: str | None, problem: str, remedy: str) -> NoReturn:
    where = place if field is None else f"{place}, field {_shown(field, 120)}"
    raise FileError(f"{where}: {_shown(problem, 300)}; {remedy}")


def _shown(text: str, limit: int) -> str:
    """Return foreign text, escaped and shortened for one line."""
    return printable(shorten(text, limit))


def _lines(path: Path, most: int = MOST_BYTES) -> Iterator[bytes]:
    """Yield the lines of a file, packed or not, of at most so many bytes in all."""
    if path.is_dir():
        raise FileError(f"{printable(str(path))}: is a folder; name the suite file in it")
    if not path.exists():
        raise FileError(
            f"{printable(str(path))}: no such file; check the path or generate the suite"
        )
    is_packed = path.suffix == ".gz"
    if is_packed:
        for _ in unpacked_pieces(path, most):
            pass  # a damaged file is said to be damaged, before its lines are read
    try:
        with opened(path, most) as held, gzip.open(held) if is_packed else held as file:
            number = 0
            while line := file.readline(MOST_LINE_BYTES + 1):
                number += 1
                if len(line) > MOST_LINE_BYTES:
                    place = f"{printable(str(path))}, line {number}"
                    problem = f"longer than {MOST_LINE_BYTES} bytes"
                    _refuse(place, None, problem, "a line is one scenario; make it smaller")
                yield line.removesuffix(b"\n")
    except OSError as error:
        raise FileError(
            f"{printable(str(path))}: cannot be read ({error.strerror or error})"
        ) from error


_READ = WeakValueDictionary[bytes, Scenario]()
"""Scenarios in use, by their lines: suites of several experiments have the same ones."""


def _read_line(place: str, line: bytes) -> Scenario:
    """Parse and check one line: text, JSON, schema version, fields, then its statements."""
    known = _READ.get(line)
    if known is not None:
        return known
    text = _decode(place, line)
    _check_json(place, text)
    try:
        scenario = Scenario.model_validate_json(text)
    except ValidationError as error:
        _refuse(place, *_first_problem(error))
    for field, problem in false_statements(scenario):
        computed = " to have it computed" if field.startswith("oracle") else ""
        key = field.partition(".")[0]
        _refuse(place, field, problem, f"correct it, or remove {key}{computed}")
    _READ[line] = scenario
    return scenario


def _decode(place: str, line: bytes) -> str:
    if not line.strip():
        _refuse(place, None, "the line is empty", "remove it")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse(place, None, f"byte {error.start + 1} is not UTF-8", "save the file as UTF-8")


def _check_json(place: str, text: str) -> None:
    """Refuse what is not plain JSON of our schema version; the version is checked first."""
    oddities: list[str] = []

    def number(literal: str) -> float:
        value = float(literal)
        if not math.isfinite(value):
            oddities.append(f"{literal} is not a finite number")
        return value

    try:
        value = json.loads(
            text, parse_float=number, parse_constant=number, object_pairs_hook=unique_keys
        )
    except json.JSONDecodeError as error:
        _refuse(
            place, None, f"not JSON: {error.msg} at column {error.colno}", "one object per line"
        )
    except KeyTwiceError as error:
        _refuse(place, None, str(error), "correct the line")
    except RecursionError:
        _refuse(place, None, "nested too deeply", f"at most {MAX_DEPTH} levels are read")
    except ValueError as error:
        _refuse(place, None, f"not JSON that can be read: {error}", "shorten the number")
    if not isinstance(value, dict):
        _refuse(place, None, "not a JSON object", "write one scenario per line")
    _check_version(place, value)
    for oddity in (*oddities, *_odd_values(value, text)):
        _refuse(place, None, oddity, "correct the line")


def _check_version(place: str, value: dict[str, Any]) -> None:
    field, reads = "schema_version", f"this CalBench reads version {SCHEMA_VERSION}"
    if field not in value:
        _refuse(place, field, "is missing", f"add it; {reads}")
    version, shown = value[field], _excerpt(value[field])
    if type(version) is not int:
        _refuse(place, field, f"must be a whole number, got {shown}", reads)
    if version != SCHEMA_VERSION:
        remedy = f"use a CalBench that reads version {shown}, or convert the file"
        _refuse(place, field, f"is {shown}, and {reads}", remedy)


def _odd_values(value: dict[str, Any], text: str) -> Iterator[str]:
    """Yield what JSON allows and a scenario may not hold: deep nesting and lone surrogates."""
    if _is_deep(value):
        yield f"nested more than {MAX_DEPTH} levels deep"
    elif "\\u" in text:  # in UTF-8 half of a surrogate pair can only be an escape
        for found in _texts(value):
            if any("\ud800" <= char <= "\udfff" for char in found):
                yield f"the text {_shown(found, 40)} holds half of a surrogate pair"


def _is_deep(value: dict[str, Any]) -> bool:
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for each in level
            for item in (each.values() if type(each) is dict else each)
            if type(item) is dict or type(item) is list
        ]
    return bool(level)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _first_problem(error: ValidationError) -> tuple[str | None, str, str]:
    """Return (field, problem, remedy) of the first thing that the models refuse."""
    first = error.errors(include_url=False)[0]
    field = _field_name(first["loc"])
    match first["type"]:
        case "missing":
            return field, "is missing", "add it"
        case "extra_forbidden" | "unexpected_keyword_argument":
            return field, "is not a known key", "remove it or correct its name"
        case "scenario":
            return first["ctx"]["place"], first["ctx"]["problem"], "correct it"
        case _:
            problem = first["msg"][:1].lower() + first["msg"][1:]
            return field, f"{problem}, got {_excerpt(first['input'])}", "correct it"


def _field_name(loc: Sequence[int | str]) -> str | None:
    """Write a place within a scenario as a dotted path; kinds of entries are not fields."""
    names = [str(name) for name in loc]
    if names[:1] == ["calendars"] and names[3:4] in _ENTRY_KINDS:
        del names[3]
    return ".".join(names) or None


def _excerpt(value: object) -> str:
    """Return the beginning of a value of the file."""
    try:
        return _shown(json.dumps(value), 60)
    except (ValueError, TypeError, RecursionError):
        return f"a {type(value).__name__}"


def published_suites() -> Path:
    """Return the folder of the published suites, one file each."""
    return in_tree("data/release/suites")


def suite_names(folder: Path | None = None) -> list[str]:
    """Return the names of the published suites, sorted; none if there is no such folder."""
    held = published_suites() if folder is None else folder
    return sorted(path.name.removesuffix(_ENDING) for path in held.glob(f"?*{_ENDING}"))


def published_suite(name: str, folder: Path | None = None) -> tuple[Scenario, ...]:
    """Read a published suite by its name, such as ``varied``.

    Args:
        name: of the suite.
        folder: of suites, instead of the published ones.

    Raises:
        ConfigError: there is no suite of that name; lists the published ones, the nearest first.
        FileError: its file does not fit; names file, line, field and remedy.
    """
    held = published_suites() if folder is None else folder
    known = suite_names(held)
    if name not in known:
        asked = meant(name, known)
        hint = f"{asked} " if asked else ""
        those = f"published are {', '.join(known)}{_MORE}" if known else "none is published here"
        raise ConfigError(
            f"there is no suite {printable(shorten(repr(name)))}: {hint}{those}; "
            "a file of your own is given as its path, FILE.jsonl"
        )
    return read_suite(held / f"{name}{_ENDING}")


def published_lines(name: str) -> Iterator[bytes]:
    """Yield the lines of a published suite as they are, a scenario each."""
    return _lines(published_suites() / f"{name}{_ENDING}")
