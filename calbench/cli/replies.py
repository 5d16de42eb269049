"""``calbench replies``: recorded replies, from file to file."""

from collections.abc import Sequence
from pathlib import Path

from calbench.cli.status import Status
from calbench.llm.replies.shards import merge_into, open_replies


def merge_all(into: Path, sources: Sequence[Path]) -> int:
    """Add the replies of some stores to another, whose replies are never replaced."""
    for source in sources:
        with open_replies(source) as store:
            merged = merge_into(into, store)
        conflicts = f", {merged.conflicting} other than those there: left out"
        print(
            f"{into}: {merged.added} replies added from {source}, {merged.known} known"
            f"{conflicts if merged.conflicting else ''}"
        )
    return Status.DONE


def print_stats(paths: Sequence[Path]) -> int:
    """Count the replies of some stores, by model, and what they cost."""
    for path in paths:
        with open_replies(path) as store:
            stats = store.stats()
        print(
            f"{path}: {stats.replies} replies, {stats.messages} messages, {stats.cost_usd:.4f} USD"
        )
        for model, count in stats.replies_by_model.items():
            print(f"  {model}: {count}")
    return Status.DONE
