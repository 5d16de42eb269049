"""``python -m calbench.replies export|merge|stats``: recorded replies, from file to file."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from calbench.console import ending_on_interrupt, say
from calbench.errors import CalbenchError
from calbench.llm.replies.shards import merge_into, open_replies

USAGE = """\
usage: python -m calbench.replies export STORE FOLDER
       python -m calbench.replies merge INTO FROM...
       python -m calbench.replies stats PATH...

  export  write a store's replies into a folder of sorted JSON Lines, for git and archives
  merge   add the replies of others to a store (*.sqlite) or a folder; what is there stays
  stats   count replies, by model, and what they cost

A store is an SQLite file; wherever one is read, a folder of JSON Lines will do."""


def main(arguments: Sequence[str]) -> int:
    """Run one of the commands; return 0, 1 for an error, 2 on wrong use."""
    match list(arguments):
        case ["-h" | "--help", *_]:
            print(USAGE)
            return 0
        case ["export", store, folder]:
            return _reporting(lambda: _merge(Path(folder), [Path(store)]))
        case ["merge", into, *sources] if sources:
            return _reporting(lambda: _merge(Path(into), [Path(source) for source in sources]))
        case ["stats", *paths] if paths:
            return _reporting(lambda: _stats([Path(path) for path in paths]))
    print(USAGE)
    return 2


def _merge(into: Path, sources: Sequence[Path]) -> None:
    for source in sources:
        with open_replies(source) as store:
            merged = merge_into(into, store)
        conflicts = f", {merged.conflicting} other than those there: left out"
        print(
            f"{into}: {merged.added} replies added from {source}, {merged.known} known"
            f"{conflicts if merged.conflicting else ''}"
        )


def _stats(paths: Sequence[Path]) -> None:
    for path in paths:
        with open_replies(path) as store:
            stats = store.stats()
        print(
            f"{path}: {stats.replies} replies, {stats.messages} messages, {stats.cost_usd:.4f} USD"
        )
        for model, count in stats.replies_by_model.items():
            print(f"  {model}: {count}")


def _reporting(work: Callable[[], None]) -> int:
    try:
        work()
    except CalbenchError as error:
        say(f"error: {error}")
        return 1
    return 0


if __name__ == "__main__":
    with ending_on_interrupt(lambda: "Stopped"):
        sys.exit(main(sys.argv[1:]))
