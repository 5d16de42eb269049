"""A game whose every text is an attack: each field of a trace that may hold any text holds one."""

import gzip
import json
from base64 import b64decode
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import cycle
from pathlib import Path
from typing import Any

from calbench.report.escape import packed_text, write_data
from calbench.traces.models import Trace
from calbench.traces.storage import read_trace, trace_bytes, trace_schema, write_trace
from tests.report.samples import HOSTILE_TEXTS
from tests.report.unpacking import file_value

HALF = ("\ue000", "\ue001")
"""Stand for halves of a character until the page data is written: no trace file can hold those."""

ENDLESS = "x" * 1_000_000

ATTACKS = (
    *HOSTILE_TEXTS[:6],
    '"><a href="javascript:window.hacked=7" autofocus onfocus="window.hacked=7" id="cb-traces">x',
    "'><iframe srcdoc='<script>parent.hacked=8</script>'></iframe><details open ontoggle=hacked=1>",
    "<script src=//host.invalid/x.js></script><link rel=stylesheet href=//host.invalid/x.css>",
    "<base href=//host.invalid/><meta http-equiv=refresh content='0;url=//host.invalid/'><style>*{",
    "![x](x){: onerror=window.hacked=9 } <!-- calbench:headline --> --8<-- 'x' :material-x: ]]> </",
    "__proto__ constructor %s %(x)s $& $1 \\u003cb\\u003e &#60;b&#62; \r\n\t | a | b |\n|---|",
    f"half {HALF[0]} and half {HALF[1]} and \U0001f4c5 z\u0300\u0301\u0302\u0303 \ufeff\u200b",
)

FIELDS = frozenset(
    {
        "conflict",
        "detail",
        "justification",
        "player",
        "prompt",
        "reason",
        "reply_keys",
        "system_prompt",
        "text",
        "thinking",
    }
)
"""Fields of events, their actions and contents that may hold any text."""

ENDLESS_IN = frozenset(
    {
        ("batch_rejected", "conflict"),
        ("batch_rejected", "justification"),
        ("dm_sent", "text"),
        ("invalid_tool_call", "reason"),
        ("reply_note", "detail"),
        ("turn_end", "thinking"),
        ("turn_start", "prompt"),
    }
)
"""Fields by type of event; the first text in each is the endless one."""


def free_fields() -> set[str]:
    """Return the fields of a trace that its schema leaves free, as ``Class.field``."""
    found = set()
    for name, definition in trace_schema()["$defs"].items():
        for field, schema in definition.get("properties", {}).items():
            if _is_free(schema) or _is_free(schema.get("items", {})):
                found.add(f"{name}.{field}")
    return found


def _is_free(schema: dict[str, Any]) -> bool:
    if any(_is_free(each) for each in schema.get("anyOf", ())):
        return True
    return schema.get("type") == "string" and not {"enum", "const", "pattern"} & set(schema)


def spoil(
    path: Path,
    attacks: Sequence[str] = ATTACKS,
    endless_in: AbstractSet[tuple[str, str]] = ENDLESS_IN,
) -> None:
    """Put an attack into every text of a trace file; the scenario and the team keep theirs."""
    document = json.loads(trace_bytes(read_trace(path)))
    events = document["events"]
    events[-1:-1] = list(_refused(events))
    texts = cycle(attacks)
    endless = set(endless_in)
    for event in events:
        _spoil(event, event["type"], texts, endless)
    write_trace(path, Trace.model_validate_json(json.dumps(document)))


def _refused(events: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield events of each kind in which something is refused, for an agent at the end."""
    last = next(event for event in reversed(events) if event["type"] == "resolution")
    move = {"type": "reschedule", "item_id": 0, "from_slot": 0, "to_slot": 1}
    place = {"round": last["round"], "phase": "DECISION", "agent_id": 0}
    for _ in ("an endless text", "another"):
        action = {**move, "justification": ""}
        yield {"type": "invalid_tool_call", **place, "action": action, "reason": ""}
        actions = [{**move, "justification": ""}]
        yield {"type": "batch_rejected", **place, "attempt": 9, "conflict": "", "actions": actions}


def _spoil(
    value: dict[str, Any], kind: str, texts: Iterator[str], endless: set[tuple[str, str]]
) -> None:
    for name, held in value.items():
        if name not in FIELDS:
            for each in held if isinstance(held, list) else [held]:
                if isinstance(each, dict):
                    _spoil(each, kind, texts, endless)
        elif (kind, name) == ("game_halted", "reason"):
            continue  # one of a few words
        elif isinstance(held, list):
            value[name] = [f"{name} {next(texts)}" for _ in held]
        elif (kind, name) in endless:
            endless.discard((kind, name))
            value[name] = ENDLESS
        else:
            value[name] = f"{name} {next(texts)}"


def halve(folder: Path) -> int:
    """Put half characters into page data, where they are awaited; return how many."""
    found = 0
    for path in sorted(folder.rglob("*.js")):
        script = path.read_bytes()
        found += sum(script.count(whole) for whole in _ESCAPED)
        path.write_bytes(_halved(script))
    for path in sorted((folder / "games").rglob("*.js")):
        held = file_value(path)
        text = gzip.decompress(b64decode(held["games"]))
        found += sum(text.count(whole) for whole in _RAW)
        key = path.relative_to(folder).with_suffix("").as_posix()
        write_data(folder, key, {**held, "games": packed_text(_halved(text))})
    return found


_ESCAPED = (b"\\ue000", b"\\ue001")
_RAW = tuple(half.encode() for half in HALF)


def _halved(text: bytes) -> bytes:
    for escaped, raw, half in zip(_ESCAPED, _RAW, (b"\\ud800", b"\\udc00"), strict=True):
        text = text.replace(escaped, half).replace(raw, half)
    return text
