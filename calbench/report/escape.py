"""How data becomes files of a site: nothing of a trace is ever read as HTML or as a script."""

import json
import os
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

import orjson
from pyarrow import Codec

HTML_ESCAPES = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&quot;",
        "'": "&#x27;",
        **{mark: f"&#{ord(mark)};" for mark in "{}\\`"},
    }
)
"""Braces, backslashes and backticks too, so that no template syntax is left for a later step."""

SCRIPT_ESCAPES = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}
"""Within JSON these are in strings only, where an escape means the same character."""


def html_text(value: object) -> str:
    """Return text that is safe in HTML, also within a quoted attribute."""
    return str(value).translate(HTML_ESCAPES)


def markdown_text(value: object) -> str:
    """Return text that Markdown and HTML both leave as it is."""
    return re.sub(r"[^\w\s.,:;/%()-]|_", lambda match: f"&#{ord(match[0])};", str(value))


def script_json(value: Any) -> str:
    """Return JSON that may be part of a classic script, inline or in a file of its own.

    The text is ASCII: U+2028, U+2029, bidirectional controls and lone surrogates are
    escapes, and ``</script>`` or ``<!--`` cannot appear.
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.translate(SCRIPT_ESCAPES)


def data_script(key: str, value: Any) -> bytes:
    """Return a page-data file: one call of a function of ours with a key and a value.

    Takes whatever ``orjson`` does, data classes among them. Text beyond ASCII, or that is no
    text at all, takes the slower way of :func:`script_json`.
    """
    try:
        body = orjson.dumps(value, default=_plain)
    except orjson.JSONEncodeError:  # half a character, a number beyond 64 bits
        body = b"\xff"
    if body.isascii():
        for code, escaped in SCRIPT_ESCAPES.items():
            body = body.replace(bytes((code,)), escaped.encode("ascii"))
    else:
        plain = value if body == b"\xff" else orjson.loads(body)
        body = script_json(plain).encode("ascii")
    return b"calbench.data(%s,%s);\n" % (script_json(key).encode("ascii"), body)


def _plain(value: Any) -> float:
    """Return what no JSON knows: a number that remembers how a table writes it."""
    if isinstance(value, float):
        return float(value)
    raise TypeError(f"{type(value)} is no data of a page")


def write_data(folder: Path, key: str, value: Any) -> None:
    """Write a page-data file; its folder is made if missing."""
    name = f"{folder}/{key}.js"
    script = data_script(key, value)
    try:
        file = open(name, "wb", buffering=0)  # noqa: PTH123, SIM115 - thousands are written
    except FileNotFoundError:
        os.makedirs(name.rpartition("/")[0], exist_ok=True)  # noqa: PTH103
        file = open(name, "wb", buffering=0)  # noqa: PTH123, SIM115
    with file:
        file.write(script)


LEVEL = 6
"""Of a compressed file [C]: level 9 takes half as long again for 3% less."""


def gzipped(data: bytes) -> bytes:
    """Return data compressed as gzip does it, without a time or a name.

    pyarrow brings its own zlib, which the lock file fixes; Python's is that of the machine, and
    another one writes other bytes.
    """
    packed: bytes = Codec("gzip", compression_level=LEVEL).compress(data, asbytes=True)
    return packed


def packed_text(data: bytes) -> str:
    """Return data as a page-data file holds what scripts unpack.

    Compressed as gzip, for browsers unpack nothing better, and in base64, as scripts hold it.
    """
    return b64encode(gzipped(data)).decode("ascii")
