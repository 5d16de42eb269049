"""Files: written whole or not at all, and read with one clear line when they do not fit."""

import os
from pathlib import Path

from pydantic import ValidationError

from calbench.errors import FileError, OutputError


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file under a temporary name beside it, then rename.

    The temporary name depends on the file alone, so a killed run leaves nothing behind that
    its successor does not replace.

    Raises:
        OutputError: naming the place, if it cannot be written.
    """
    beside = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written ({error.strerror or error}); choose another folder"
        ) from error


def read_bytes(path: Path) -> bytes:
    """Read a file.

    Raises:
        FileError: naming the file, if it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from error


def first_problem(error: ValidationError) -> str:
    """Return the first problem of a validation as ``field: what is wrong``, on one line."""
    problem = error.errors(include_url=False, include_input=True)[0]
    place = ".".join(printable(str(part)) for part in problem["loc"])
    text = printable(problem["msg"])
    shown = problem["input"]
    if problem["type"] not in {"missing", "scenario"} and isinstance(shown, str | int | float):
        text = f"{text}, got {shorten(ascii(shown))}"
    return f"{place}: {text}" if place else text


def printable(text: str) -> str:
    """Return untrusted text on one line, with control and bidirectional characters escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shorten(text: str, limit: int = 60) -> str:
    """Cut a text to a length that fits into a message."""
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
