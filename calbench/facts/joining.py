"""Facts of several runs as those of one: games are chosen, and teams are put together."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from calbench.facts.fact import Fact
from calbench.facts.selection import selected
from calbench.facts.storage import Facts, FactsWriter, GameKey

Chosen = tuple[Facts, Callable[[GameKey], bool]]
"""Facts of a run, and which of its games are taken."""


def join_facts(
    sources: Iterable[Chosen], folder: Path, facts: Sequence[Fact], teams: Sequence[str]
) -> Facts:
    """Write the facts of games of several runs as those of one.

    Args:
        sources: no game may be in two of them.
        folder: of the facts.
        facts: which ones; every source has them.
        teams: order in which tables list teams; others follow by name.

    Raises:
        FileError: a source lacks one of the facts.
        OutputError: the folder cannot be written.
    """
    with FactsWriter(folder, facts, teams) as writer:
        for source, is_taken in sources:
            taken = np.array([is_taken(key) for key in source.keys], dtype=bool)
            for batch in selected(source, taken, facts):
                writer.add(batch)
        return writer.write()
