"""The two largest tables of a run, written game by game: messages and calls."""

from collections.abc import Sequence
from pathlib import Path

from calbench.analysis.call_rows import call_rows
from calbench.analysis.cells import versioned
from calbench.analysis.dictionary import TABLES
from calbench.analysis.message_rows import message_rows
from calbench.analysis.parquet import SpooledParquet
from calbench.analysis.spool import Places
from calbench.analysis.spooled_tables import GameRows, SpooledTables
from calbench.analysis.usage import Prices
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.metrics.privacy.loss import RoundBeliefs, round_beliefs
from calbench.traces.models import Trace

NAMES = ("messages", "calls")
"""The tables, as files ``privacy/<name>.parquet``."""


TalkRows = GameRows
"""One game's lines of both tables."""


class TalkTables(SpooledTables):
    """Both tables of a run."""

    def __init__(self, folder: Path, teams: Sequence[str], places: Places | None = None) -> None:
        """Prepare the folder, usually ``tables/privacy``.

        Args:
            folder: where the tables go; made if missing.
            teams: team ids in the order in which tables list them.
            places: of the games, shared with other tables of the run.

        Raises:
            OutputError: naming the place, if it cannot be written.
        """
        columns = {name: TABLES[f"privacy/{name}.parquet"] for name in NAMES}
        super().__init__(
            teams,
            {
                name: SpooledParquet(folder / f"{name}.parquet", columns[name], places=places)
                for name in NAMES
            },
        )


def talk_rows(
    trace: Trace,
    measure: MeasureSpec = DEFAULT_MEASURE,
    prices: Prices | None = None,
    beliefs: Sequence[RoundBeliefs] | None = None,
) -> TalkRows:
    """Return a game's lines of both tables.

    Args:
        trace: the game.
        measure: the prior.
        prices: what tokens cost, where known.
        beliefs: its rounds, if they were replayed already.

    Raises:
        ConfigError: there is no such label bank as the trace names.
    """
    rounds = round_beliefs(trace, measure) if beliefs is None else beliefs
    blocks = {
        "messages": message_rows(trace, rounds, measure.belief_prior),
        "calls": call_rows(trace, {} if prices is None else prices),
    }
    scenario = trace.scenario
    return TalkRows(
        scenario.setting,
        trace.config.team.team_id,
        scenario.scenario_id,
        {name: versioned("".join(lines)) for name, lines in blocks.items()},
    )
