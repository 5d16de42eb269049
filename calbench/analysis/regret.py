"""The two tables that explain excess cost, made from game scores one by one."""

from collections.abc import Iterator
from pathlib import Path

from calbench.analysis.cells import Cell, versioned
from calbench.analysis.dictionary import header
from calbench.analysis.order import GameKey
from calbench.analysis.rows import line
from calbench.analysis.spool import Places, SpooledTable
from calbench.metrics.game import GameScore


class RegretTables:
    """Takes the scores of a run, in any order, and writes the tables in a fixed one.

    Lost games have no rows. Rows wait on disk; what is not written is dropped.
    """

    def __init__(self, folder: Path, places: Places | None = None) -> None:
        """Prepare the folder of tables.

        Raises:
            OutputError: naming the place, if it cannot be written.
        """
        self._regret = SpooledTable(folder / "regret.csv", header("regret.csv"), places)
        self._optimum = SpooledTable(
            folder / "optimum_lost.csv", header("optimum_lost.csv"), places
        )

    def add(self, key: GameKey, score: GameScore) -> None:
        """Take one game; ``key`` says where it stands among the others.

        Raises:
            ValueError: this team's game on this scenario was taken already.
            OutputError: the folder cannot be written.
        """
        self._regret.append(key, "" if score.is_lost else versioned("".join(_regret_rows(score))))
        self._optimum.append(key, "" if score.is_lost else versioned(_optimum_row(score)))

    def write(self) -> None:
        """Write both tables, each whole or not at all.

        Raises:
            OutputError: the folder cannot be written.
        """
        self._regret.write()
        self._optimum.write()

    def close(self) -> None:
        """Let go of the rows; what was written stays."""
        self._regret.close()
        self._optimum.close()


def _regret_rows(score: GameScore) -> Iterator[str]:
    for entry in score.regret:
        yield line(
            score.setting,
            score.team_id,
            score.scenario_id,
            entry.meeting_id,
            entry.agent_id,
            entry.played_slot,
            entry.oracle_slot,
            entry.excess_cost,
            entry.slot_choice,
            entry.avoidable_moves,
            entry.failed_rounds,
        )


def _optimum_row(score: GameScore) -> str:
    reach, loss = score.optimum, score.optimum.loss
    where: list[Cell] = [None] * 6
    if loss is not None:
        where = [
            loss.event_index,
            loss.round,
            "RESOLUTION" if loss.phase is None else loss.phase.value,
            loss.agent_id,
            reach.optimum,
            loss.least_cost_after,
        ]
    return line(
        score.setting,
        score.team_id,
        score.scenario_id,
        reach.optimum,
        score.cost,
        reach.is_searched,
        *where,
    )
