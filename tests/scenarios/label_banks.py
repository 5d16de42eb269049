"""Label banks: the released ones, and a small one that tests write."""

import json
import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

from calbench.domain.canonical import digest
from calbench.domain.ids import ItemId
from calbench.scenarios.labels import (
    KINDS,
    TIERS,
    Label,
    LabelBank,
    Labels,
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


def bank_digest(bank: LabelBank) -> str:
    """Return the SHA-256 of what a bank says, in hexadecimal, whatever its file looks like."""
    return digest(bank.model_dump(mode="json", exclude_none=True))


def texts_of(labels: Labels) -> dict[ItemId, str]:
    """Return the text of every item's label."""
    return {item: label.text for item, label in labels.label_by_item.items()}


def terms_in(label: Label, message: str) -> tuple[str, ...]:
    """Return the terms of a label that a message holds, in the order of the label.

    Capitals, accents, apostrophes and the signs between words make no difference; a term
    is whole words, but for its stems.
    """
    words = _folded(message)
    return tuple(term for term in label.terms if _pattern(term).search(words))


@cache
def _pattern(term: str) -> re.Pattern[str]:
    words = (re.escape(word.rstrip("*")) + r"\w*" * word.endswith("*") for word in term.split())
    return re.compile(rf"(?<!\w){' '.join(words)}(?!\w)")


@cache
def _folded(text: str) -> str:
    """Reduce a text to its words: small letters without accents, one space between words."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    kept = (c for c in decomposed if not unicodedata.combining(c) and c not in "'\u2018\u2019")
    return " ".join("".join(c if c.isalnum() else " " for c in kept).split())
