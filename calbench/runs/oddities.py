"""Words that somebody should look at before a run is believed: the rules, released as data [C].

They find how a thing is usually said in English, and the forms that keys, addresses and markup
have. Who wants to hide it from them can; what they find may be harmless, and no verdict follows.
"""

import re
import tomllib
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from calbench.domain.canary import CANARY
from calbench.files import printable, shorten

AROUND = 60
"""Characters that are quoted on either side of what was found [C]."""

MOST_FOUND = 160
"""Characters of it that are quoted [C]."""

TABLE: Final[Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_name("rules.toml").read_text("utf-8")
)
"""All rules of the scan under ``rules``, in the order of tables, and words of their patterns."""


@dataclass(frozen=True, slots=True)
class WordRule:
    """A rule on words.

    Attributes:
        kind: of what is looked for.
        pattern: what finds it.
        is_masked: whether a quotation shows its beginning alone.
    """

    kind: str
    pattern: re.Pattern[str]
    is_masked: bool = False


def _pattern(parts: list[str]) -> re.Pattern[str]:
    """Return what any of some patterns finds, with what stands for words filled in."""
    words = {**TABLE["words"], "canary": r"\W?".join(CANARY.rpartition(":")[2].split("-"))}
    whole = "|".join(parts)
    for name, found in words.items():
        whole = whole.replace(f"{{{name}}}", found)
    return re.compile(whole, re.IGNORECASE)


WORD_RULES: Final[Mapping[str, WordRule]] = {
    name: WordRule(rule["kind"], _pattern(rule["patterns"]), rule.get("is_masked", False))
    for name, rule in TABLE["rules"].items()
    if "patterns" in rule
}
"""By name, in the order of tables."""

KINDS: Final = frozenset(rule.kind for rule in WORD_RULES.values())


def masked(text: str) -> str:
    """Return a text in which what must not be repeated is cut to its first letters."""
    for rule in WORD_RULES.values():
        if rule.is_masked:
            text = rule.pattern.sub(_mask, text)
    return text


def _mask(found: re.Match[str]) -> str:
    return f"{found[0][:3]}[{len(found[0])} masked]"


def word_findings(text: str, kinds: Container[str] = KINDS) -> Iterator[tuple[str, str]]:
    """Yield each rule that finds something in a text, with its first finding quoted.

    Args:
        text: of an agent.
        kinds: of rules that count.

    Yields:
        The rule's name, and what was found with what is around it: masked, on one line, without
        anything that a terminal would obey.
    """
    clean = masked(text)
    for name, rule in WORD_RULES.items():
        source = text if rule.is_masked else clean
        if rule.kind in kinds and (found := rule.pattern.search(source)) is not None:
            said = _mask(found) if rule.is_masked else shorten(found[0], MOST_FOUND)
            before, after = masked(source[: found.start()]), masked(source[found.end() :])
            yield name, printable(f"{before[-AROUND:]}{said}{after[:AROUND]}")
