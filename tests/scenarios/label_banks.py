"""Label banks: the released ones, and a small one that tests write."""

import json
from pathlib import Path
from typing import Any

from calbench.scenarios.labels import (
    KINDS,
    TIERS,
    known_label_banks,
    read_label_bank,
)

BANKS = [read_label_bank(version) for version in known_label_banks()]
BANK = BANKS[0]


def entry(number: int, kind: str, tier: str, **changes: Any) -> dict[str, Any]:
    """Return a label's line with terms of its own."""
    letters = "abcdefghij"
    name = f"{kind}{tier}{letters[number]}"
    fields: dict[str, Any] = {"id": f"{kind}-{number:03d}", "kind": kind, "tier": tier}
    if tier == "sensitive":
        fields["category"] = "legal"
    return fields | {"text": f"About {name}", "terms": [name, f"un{name}"]} | changes


def small_bank() -> list[dict[str, Any]]:
    """Return header and labels of the least bank: one label of each kind and tier."""
    labels = [entry(number, kind, tier) for kind in KINDS for number, tier in enumerate(TIERS)]
    return [{"schema_version": 1, "version": "v9"}, *labels]


def written(folder: Path, lines: list[dict[str, Any]]) -> Path:
    path = folder / "v9.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path
