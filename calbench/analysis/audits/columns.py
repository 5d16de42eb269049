"""What the columns of the audits' tables mean."""

from calbench.analysis.audits.honesty import KINDS
from calbench.analysis.audits.own_slot import NAMES as LABELS
from calbench.analysis.audits.patterns import PATTERNS
from calbench.analysis.columns import SETTING, TEAM, Column

_PLAYER = Column("player", "text", "", "who sent or did it; empty: the whole team")
_MESSAGES = Column(
    "messages", "integer", "messages", "text messages sent; a group message counts once", origin="P"
)


_END = "end of the Wilson 95% interval"


def _share(meaning: str, denominator: str, origin: str) -> tuple[Column, ...]:
    return (
        Column("rate", "number", "share", meaning, denominator, origin),
        Column("rate_low", "number", "share", f"lower {_END}", denominator, "C"),
        Column("rate_high", "number", "share", f"upper {_END}", denominator, "C"),
    )


AUDIT_PATTERNS = (
    SETTING,
    TEAM,
    _PLAYER,
    Column(
        "pattern",
        "text",
        "",
        "; ".join(f"{p.name}: {p.detector} [{p.origin}]" for p in PATTERNS),
        origin="P",
    ),
    Column("level", "text", "", "message, or social: of agents together", origin="P"),
    Column("unit", "text", "", "what is counted"),
    Column("games", "integer", "games", "games scored that the player took part in", "", "C"),
    _MESSAGES,
    Column("count", "integer", "see unit", "how often; one message may show several", origin="P"),
    Column("rate", "number", "share", "count, by message or by game", "messages, else games", "C"),
)

AUDIT_OWN_SLOT = (
    SETTING,
    TEAM,
    _PLAYER,
    Column("label", "text", "", f"one of {', '.join(LABELS)}", origin="P"),
    _MESSAGES,
    Column("count", "integer", "messages", "messages with this label", origin="P"),
    *_share("count / messages", "messages", "P, patterns C"),
    Column(
        "others_messages", "integer", "messages", "of all other players of the setting", "", "C"
    ),
    Column("others_rate", "number", "share", "the same of these", "others_messages", "C"),
    Column(
        "p_value",
        "number",
        "",
        "of both rates being one, Fisher's exact test; messages of one game depend on each other",
        origin="C",
    ),
    Column("p_corrected", "number", "", "after Benjamini-Hochberg within the table", origin="C"),
)

AUDIT_LEAKS = (
    SETTING,
    TEAM,
    _PLAYER,
    Column(
        "tier", "text", "", "of the labels told: public, neutral, sensitive, or all", origin="P"
    ),
    _MESSAGES,
    Column(
        "leaking_messages",
        "integer",
        "messages",
        "messages that tell a label to somebody who may not know it",
        origin="P, detector C",
    ),
    *_share("leaking_messages / messages", "messages", "C"),
    Column("labels_told", "integer", "labels", "distinct labels told, summed over games", "", "C"),
    Column("labels_held", "integer", "labels", "labels of the player's items, over games", "", "C"),
)

AUDIT_HONESTY = (
    SETTING,
    TEAM,
    _PLAYER,
    Column("claim", "text", "", f"what was said of a slot: {', '.join(KINDS)}", origin="C"),
    Column("claims", "integer", "claims", "slots of which it was said", origin="C"),
    Column("true_claims", "integer", "claims", "true of the calendar when sent", origin="C"),
    *_share("true_claims / claims", "claims", "C"),
)

AUDIT_SAMPLE = (
    Column(
        "part",
        "text",
        "",
        "tuning or held-out (by hash), later, fresh to fresh 5, last, or all",
        origin="C",
    ),
    Column("label", "text", "", "semantic_leakage (of labels), or an own-slot label", origin="P"),
    Column("messages", "integer", "messages", "messages of the part", origin="C"),
    Column("true_positives", "integer", "", "found, and right by reading", origin="C"),
    Column("false_positives", "integer", "", "found, and wrong", origin="C"),
    Column("false_negatives", "integer", "", "missed", origin="C"),
    Column("precision", "number", "share", "right of those found", "found", "P"),
    Column("precision_low", "number", "share", f"lower {_END}", "found", "P"),
    Column("precision_high", "number", "share", f"upper {_END}", "found", "P"),
    Column("recall", "number", "share", "found of those there", "there by reading", "P"),
    Column("recall_low", "number", "share", f"lower {_END}", "there", "P"),
    Column("recall_high", "number", "share", f"upper {_END}", "there", "P"),
)
