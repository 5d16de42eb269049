"""``calbench replies``: recorded replies, from file to file."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from calbench.cli.words import Status, Words
from calbench.console import tell, verdict
from calbench.llm.replies.shards import merge_into, open_replies


def export(words: Words) -> int:
    """Write a store into a folder of JSON Lines."""
    store, folder = words.paths
    return _add(folder, [store])


def merge(words: Words) -> int:
    """Add the replies of some stores to another, whose replies are never replaced."""
    into, *sources = words.paths
    return _add(into, sources)


def _add(into: Path, sources: Sequence[Path]) -> int:
    added = 0
    for source in sources:
        with open_replies(source, must_be_whole=False) as store:
            merged = merge_into(into, store)
            undigested = store.without_digest
        conflicts = f", {merged.conflicting} other than those there: left out"
        tell(
            f"{into}: {merged.added} replies added from {source}, {merged.known} known"
            f"{conflicts if merged.conflicting else ''}"
            f"{f', {undigested} had no digest' if undigested else ''}"
        )
        added += merged.added
    verdict(f"{added} replies added: {into}", is_good=True)
    return Status.DONE


def print_stats(words: Words) -> int:
    """Count the replies of some stores, by model, and what they cost."""
    replies, cost_usd = 0, 0.0
    for path in words.paths:
        with open_replies(path, must_be_whole=False) as store:
            stats = store.stats()
        tell(
            f"{path}: {stats.replies} replies, {stats.messages} messages, {stats.cost_usd:.4f} USD"
        )
        for model, count in stats.replies_by_model.items():
            answered = stats.answered_by.get(model, Counter())
            others = ", ".join(f"{name} {number}" for name, number in sorted(answered.items()))
            tell(f"  {model}: {count}{f', answered by {others}' if others else ''}")
        replies, cost_usd = replies + stats.replies, cost_usd + stats.cost_usd
    verdict(f"{replies} replies, {cost_usd:.4f} USD")
    return Status.DONE
