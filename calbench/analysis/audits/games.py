"""What the audits find in one game: the same detectors as the tables, before they are added up."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from calbench.analysis.audits.failures import occurrences
from calbench.analysis.audits.patterns import message_patterns
from calbench.analysis.audits.said import said
from calbench.analysis.audits.told import labels_of_game, told_labels
from calbench.domain.ids import ItemId
from calbench.metrics.outcomes import is_lost
from calbench.scenarios.labels import LABEL_BANKS, Tier
from calbench.traces.models import Trace


@dataclass(frozen=True, slots=True)
class GameAudit:
    """One game of speakers.

    Attributes:
        patterns: how often each pattern of Table 15 occurs, in its own unit; absent is never.
        told: how many private labels were told, by tier; each counts once.
    """

    patterns: Mapping[str, int]
    told: Mapping[Tier, int]


def audited_game(trace: Trace, *, label_banks: Path = LABEL_BANKS) -> GameAudit | None:
    """Audit a game; ``None`` for games that the tables leave out: typed or lost ones.

    Args:
        trace: the game.
        label_banks: where the label banks stand that traces name.

    Raises:
        ConfigError: there is no such label bank as the trace names.
        FileError: the label bank does not fit.
    """
    if not trace.config.team.uses_language or is_lost(trace.events):
        return None
    labels = labels_of_game(trace, label_banks)
    patterns: Counter[str] = Counter()
    told: list[dict[ItemId, Tier]] = [{} for _ in range(trace.scenario.num_agents)]
    for message in said(trace):
        patterns.update(message_patterns(message.text, {message.sender, *message.recipients}))
        leaked = {} if labels is None else told_labels(message, labels, trace.scenario)
        patterns["semantic_label_leakage"] += bool(leaked)
        told[message.sender] |= leaked
    patterns.update(pattern for pattern, _ in occurrences(trace))
    return GameAudit(
        patterns={name: count for name, count in patterns.items() if count},
        told=Counter(tier for labels_told in told for tier in labels_told.values()),
    )
