"""Facts of games that were played in memory."""

from collections.abc import Sequence
from pathlib import Path

from calbench.facts.fact import Fact, measured
from calbench.facts.storage import Facts, FactsWriter, GameKey, batch_of
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.traces.models import Trace


def facts_of(
    folder: Path,
    traces: Sequence[Trace],
    facts: Sequence[Fact],
    teams: Sequence[str] = (),
    measure: MeasureSpec = DEFAULT_MEASURE,
) -> Facts:
    with FactsWriter(folder, facts, teams) as writer:
        for trace in traces:
            game = measured(trace, measure)
            score = game.score
            key = GameKey(score.setting, score.team_id, score.scenario_id)
            writer.add(batch_of(facts, [(key, {fact.name: fact.of(game) for fact in facts})]))
        return writer.write()
