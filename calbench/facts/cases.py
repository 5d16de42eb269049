"""Facts of what there is to show: the first case of each pattern, outcome, tier and statement."""

from collections.abc import Iterator

from calbench.facts.columns import columns
from calbench.facts.fact import Fact, MeasuredGame
from calbench.facts.speech import audited
from calbench.metrics.speech.cases import KINDS, CaseCount, case_counts


def _cases(game: MeasuredGame) -> Iterator[CaseCount]:
    talk = audited(game)
    return iter(()) if talk is None else iter(case_counts(game.trace, talk))


CASES = Fact(
    "cases",
    _cases,
    columns(f"""
    kind (text; C): one of {", ".join(KINDS)}
    name (text; C): of the pattern, outcome, tier, statement or limit
    event_index round
    agents (list; C): who said or did it; empty: no single agents
    found (count, cases): found by the detector in the game
    plain (count, cases): of these, plainly so: gossip within one sentence, a meeting displaced in
        this round, a reply that was cut off; any other that is found
    """),
    {
        "kind": "first.kind",
        "name": "first.name",
        "event_index": "first.event_index",
        "round": "first.round",
        "agents": lambda each: " ".join(map(str, each.first.agents)) or None,
    },
)
"""For every scored game in which an agent uses language, a row for each name with a case: the first
plain one, else the first."""
