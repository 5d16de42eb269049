"""Seeded damage to files: bytes, lines, documents, packing, and what is no file at all."""

import gzip
import json
import os
import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Mutation = Callable[[random.Random, bytes], bytes]

DEEP = 100_000
"""Brackets within brackets."""

BOMB = 40 * 2**20
"""Bytes of one line, which gzip packs into a few thousand."""

TEXT_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1.5,
    10**30,
    2**63,
    "",
    "../../x",
    "a\x1b[2J\n\u202eb",
    "x" * 100_000,
    [],
    {},
    [[1]],
    {"a": {"b": 1}},
)
"""Values of other types, sizes and signs."""


def _at(chance: random.Random, data: bytes) -> int:
    return chance.randrange(len(data) + 1)


def _flipped(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 8, 64])):
        if changed:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut(chance: random.Random, data: bytes) -> bytes:
    return data[: _at(chance, data)]


def _without(chance: random.Random, data: bytes) -> bytes:
    start = _at(chance, data)
    return data[:start] + data[start + chance.choice([1, 16, 256]) :]


def _inserted(piece: bytes) -> Mutation:
    def insert(chance: random.Random, data: bytes) -> bytes:
        start = _at(chance, data)
        return data[:start] + piece + data[start:]

    return insert


def _lines(change: Callable[[random.Random, list[bytes]], None]) -> Mutation:
    def lines(chance: random.Random, data: bytes) -> bytes:
        split = data.split(b"\n")
        change(chance, split)
        return b"\n".join(split)

    return lines


def _double(chance: random.Random, lines: list[bytes]) -> None:
    lines.insert(chance.randrange(len(lines)), chance.choice(lines))


def _drop(chance: random.Random, lines: list[bytes]) -> None:
    del lines[chance.randrange(len(lines))]


def _swap(chance: random.Random, lines: list[bytes]) -> None:
    i, j = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]


def _number_to(text: bytes) -> Mutation:
    """Replace one of the numbers."""

    def replace(chance: random.Random, data: bytes) -> bytes:
        found = list(re.finditer(rb"(?<![\w.])\d+(\.\d+)?(?![\w.])", data))
        if not found:
            return data + text
        chosen = chance.choice(found)
        return data[: chosen.start()] + text + data[chosen.end() :]

    return replace


def _other_number(chance: random.Random, data: bytes) -> bytes:
    """Replace one of the numbers by another that a file of this kind might hold."""
    text = str(chance.choice([0, 1, 2, 5, 7, 101, 2**40, -1]))
    return _number_to(text.encode())(chance, data)


def _text_to(text: bytes) -> Mutation:
    """Put something into one of the texts in quotes, or at the end."""

    def replace(chance: random.Random, data: bytes) -> bytes:
        found = list(re.finditer(rb'"[^"\n]*"', data))
        if not found:
            return data + text
        chosen = chance.choice(found)
        return data[: chosen.start() + 1] + text + data[chosen.end() - 1 :]

    return replace


def _key_twice(chance: random.Random, data: bytes) -> bytes:
    found = list(re.finditer(rb'"\w+":(?:\d+|"[^"]*"|null|true|false),', data))
    if not found:
        return data + data
    chosen = chance.choice(found)
    return data[: chosen.end()] + chosen.group() + data[chosen.end() :]


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return (container, key) of everything in a document."""
    if isinstance(value, dict):
        here: list[tuple[Any, Any]] = [(value, key) for key in value]
    elif isinstance(value, list):
        here = [(value, index) for index in range(len(value))]
    else:
        return []
    return [*here, *(place for box, key in here for place in _places(box[key]))]


def _document(change: Callable[[random.Random, Any, Any], None]) -> Mutation:
    """Change a value somewhere in one of the JSON documents of a file."""

    def changed(chance: random.Random, data: bytes) -> bytes:
        lines = data.split(b"\n")
        number = chance.randrange(len(lines))
        try:
            document = json.loads(lines[number])
        except ValueError:
            return _flipped(chance, data)
        if places := _places(document):
            change(chance, *chance.choice(places))
        lines[number] = json.dumps(document).encode()
        return b"\n".join(lines)

    return changed


def _other_value(chance: random.Random, box: Any, key: Any) -> None:
    box[key] = chance.choice(TEXT_VALUES)


def _no_key(_chance: random.Random, box: Any, key: Any) -> None:
    del box[key]


def _new_key(chance: random.Random, box: Any, key: Any) -> None:
    if isinstance(box, dict):
        box[f"{key}\x1b[2J\n"] = chance.choice(TEXT_VALUES)
    else:
        box.extend([box[key]] * chance.choice([1, 1000]))


def _deep(piece: str) -> Mutation:
    def deepen(chance: random.Random, data: bytes) -> bytes:
        nested = (piece * DEEP).encode()
        return chance.choice([nested, _number_to(nested)(chance, data)])

    return deepen


TEXT: Mapping[str, Mutation] = {
    "bits": _flipped,
    "cut": _cut,
    "bytes removed": _without,
    "nothing": lambda *_: b"",
    "line doubled": _lines(_double),
    "line removed": _lines(_drop),
    "lines swapped": _lines(_swap),
    "carriage returns": lambda _, data: data.replace(b"\n", b"\r\n"),
    "byte order mark": lambda _, data: b"\xef\xbb\xbf" + data,
    "not UTF-8": _inserted(b"\xff\xfe\x80"),
    "NUL": _inserted(b"\x00"),
    "UTF-16": lambda _, data: data.decode(errors="replace").encode("utf-16"),
    "huge number": _number_to(b"9" * 400),
    "huge exponent": _number_to(b"1e999"),
    "many digits": _number_to(b"9" * 20_000),
    "other number": _other_number,
    "another number": _other_number,
    "NaN": _number_to(b"NaN"),
    "Infinity": _number_to(b"-Infinity"),
    "lone surrogate": _text_to(b"\\ud800"),
    "control characters": _text_to(b"\x1b[2J\xe2\x80\xae"),
    "very long text": _text_to(b"x" * 2_000_000),
    "key twice": _key_twice,
    "other value": _document(_other_value),
    "key removed": _document(_no_key),
    "key added": _document(_new_key),
    "deep lists": _deep("["),
    "deep objects": _deep('{"a":'),
}
"""Damage to text, by name."""

BINARY: Mapping[str, Mutation] = {
    "bits": _flipped,
    "cut": _cut,
    "bytes removed": _without,
    "nothing": lambda *_: b"",
    "NULs": _inserted(b"\x00" * 64),
    "text": lambda *_: b"not this kind of file\n",
    "doubled": lambda _, data: data + data,
}
"""Damage to what is no text."""


def _laughs(_chance: random.Random, _data: bytes) -> bytes:
    """Nine lists of nine lists ...: a short file that is a billion entries."""
    lists = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    return "\n".join(["a0: &a0 [lol, lol]", *lists, "models: *a9", "scenario: *a9", ""]).encode()


YAML: Mapping[str, Mutation] = {
    **TEXT,
    "billion laughs": _laughs,
    "laughs added": lambda chance, data: data + b"\n" + _laughs(chance, data),
    "itself within": lambda _, data: data + b"\nitself: &itself [*itself]\n",
    "Python's tag": lambda _, data: data + b'\ntag: !!python/object/apply:os.system ["false"]\n',
    "unknown tag": _inserted(b"!unknown "),
    "tab": _inserted(b"\n\t"),
}
"""Damage to YAML."""


def _repacked(inner: Mapping[str, Mutation]) -> Mutation:
    def repack(chance: random.Random, data: bytes) -> bytes:
        name = chance.choice(sorted(inner))
        return gzip.compress(inner[name](chance, gzip.decompress(data)), mtime=0)

    return repack


PACKED: Mapping[str, Mutation] = {
    **BINARY,
    "unpacked": lambda _, data: gzip.decompress(data),
    "repacked": _repacked(TEXT),
    "repacked again": _repacked(TEXT),
    "bomb": lambda *_: gzip.compress(b" " * BOMB, mtime=0),
    "bomb of lines": lambda *_: gzip.compress(b"{}\n" * (BOMB // 3), mtime=0),
}
"""Damage to what is packed with gzip."""


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _nowhere(path: Path) -> None:
    path.symlink_to("nowhere")


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _locked(path: Path) -> None:
    path.touch(mode=0)


PLACES: Mapping[str, Callable[[Path], None]] = {
    "folder": _folder,
    "pipe": os.mkfifo,
    "endless device": _device,
    "link to itself": _loop,
    "link to nothing": _nowhere,
    "unreadable": _locked,
    "missing": lambda _: None,
}
"""What may be in the place of a file."""


def damage(chance: random.Random, path: Path, kinds: Mapping[str, Mutation]) -> str:
    """Damage a file, or put something else into its place; return what was done."""
    data = path.read_bytes()
    path.unlink()
    if chance.random() < 0.1:
        name = chance.choice(sorted(PLACES))
        PLACES[name](path)
        return name
    name = chance.choice(sorted(kinds))
    path.write_bytes(kinds[name](chance, data))
    return name
