"""The tables of the judge audit, taken game by game (paper, appendix I.1)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from calbench.agents.judging import JUDGE_PROMPT
from calbench.analysis.cells import Cell, cell, row, trimmed, versioned
from calbench.analysis.dictionary import header
from calbench.analysis.judge.precision import TargetPrecision, target_precisions
from calbench.analysis.judge.rows import Games, comparison_rows, statistics_rows
from calbench.analysis.judge.scripted import SCRIPTED_JUDGE
from calbench.analysis.judge.sums import GameSums, game_sums
from calbench.analysis.judge.verdicts import (
    Belief,
    Cells,
    Verdict,
    cells_of,
    judged_beliefs,
    reflected_beliefs,
)
from calbench.analysis.order import GameOrder
from calbench.stats.spec import DEFAULT_ANALYSIS, AnalysisSpec
from calbench.analysis.spool import SpooledFile, SpooledTable
from calbench.domain.canonical import canonical_json
from calbench.files import write_atomically
from calbench.metrics.measure import DEFAULT_MEASURE, METRICS_VERSION, MeasureSpec
from calbench.metrics.outcomes import is_lost
from calbench.metrics.privacy.reflection import pair_reflections
from calbench.traces.models import Trace

BY_GAME = (
    "judge_beliefs",
    "judge_beliefs_calibrated",
    "judge_vs_reflection_precision",
    "judge_more_precise_than_reflection",
    "judge_reflection_cell_agreement",
)
"""Tables with rows for single games, as files ``<name>.csv``."""

CASES = "judge_cases.json"
"""What was shown to the judge, and whether its answer could be read."""

DIGITS = 6
"""Most decimals of a number of one game [C]."""

TEAM_DIGITS = 4
"""Decimals of a number of a team [C]."""


class JudgeTables:
    """Takes the games of a run as judged, in any order, and writes the tables in a fixed one.

    Lost games add nothing. Rows of games wait on disk; what is kept in memory are a few sums and
    the signs of the cells of each game. Use it as a context manager: what is not written is
    dropped.
    """

    def __init__(
        self,
        folder: Path,
        teams: Sequence[str],
        judge: str = SCRIPTED_JUDGE,
        measure: MeasureSpec = DEFAULT_MEASURE,
        spec: AnalysisSpec = DEFAULT_ANALYSIS,
    ) -> None:
        """Prepare the folder.

        Args:
            folder: where the tables go, usually ``tables/judge``; made if missing.
            teams: team ids in the order in which tables list them.
            judge: its name in the tables.
            measure: prior of the primary measure, and the floor.
            spec: settings of the estimates.

        Raises:
            OutputError: naming the place, if it cannot be written.
        """
        self._folder, self._judge = folder, judge
        self._measure, self._spec = measure, spec
        self._order = GameOrder(teams)
        self._sums: dict[tuple[str, int, str], dict[str, GameSums]] = {}
        head = canonical_json(
            {"judge": judge, "metrics_version": METRICS_VERSION, "prompt": JUDGE_PROMPT}
        )
        self._cases = SpooledFile(
            folder / CASES, f'{head[:-1]},"cases":[\n', joint=",\n", tail="\n]}\n"
        )
        self._tables = {
            name: SpooledTable(folder / f"{name}.csv", header(f"judge/{name}.csv"))
            for name in BY_GAME
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for table in (self._cases, *self._tables.values()):
            table.close()

    def add(self, trace: Trace, verdicts: Sequence[Verdict]) -> None:
        """Take one game with what the judge answered on each of its cases.

        Raises:
            CalbenchError: a reflection does not fit the game.
            ValueError: this team's game on this scenario was taken already.
            OutputError: the folder cannot be written.
        """
        team, scenario = trace.config.team.team_id, trace.scenario
        key = self._order.key(scenario.setting, team, scenario.scenario_id)
        place = (f"{team}/{scenario.scenario_id}.json", trace.game_id)
        self._cases.append(key, ",\n".join(_case_json(place, each) for each in verdicts))
        if is_lost(trace.events):
            return
        pairs = tuple(pair_reflections(trace))
        beliefs = list(judged_beliefs(verdicts))
        reflected = reflected_beliefs(pairs)
        precisions = target_precisions(scenario.num_agents, beliefs, reflected)
        cells = cells_of(trace, verdicts, pairs)
        sums = game_sums(trace, verdicts, beliefs, precisions, cells, self._measure)
        self._sums.setdefault(key[:3], {})[scenario.scenario_id] = sums
        prefix = row(self._judge, *place)[:-1]
        is_reflected = sums.cells is not None
        joined = [target for target in precisions if target.is_joined]
        lines = (
            _belief_lines(prefix, beliefs, is_calibrated=False),
            _belief_lines(prefix, beliefs, is_calibrated=True),
            (_precision_line(prefix, each) for each in joined),
            (_precision_line(prefix, each) for each in joined if each.sharper == "judge"),
            _cell_lines(prefix, cells.over_rounds()) if is_reflected else (),
        )
        for name, found in zip(BY_GAME, lines, strict=True):
            self._tables[name].append(key, versioned("".join(found)))

    def write(self) -> None:
        """Write all tables, each whole or not at all.

        Raises:
            OutputError: the folder cannot be written.
        """
        self._cases.write()
        for table in self._tables.values():
            table.write()
        self._write_rows("metric_comparison", self.comparisons())
        self._write_rows("judge_agreement", self.statistics())

    def comparisons(self) -> Iterator[list[Cell]]:
        """Yield the rows of ``metric_comparison.csv``, without the judge and the version."""
        for setting, teams in self._by_setting():
            yield from comparison_rows(setting, teams, self._measure, self._spec)

    def statistics(self) -> Iterator[list[Cell]]:
        """Yield the rows of ``judge_agreement.csv``, without the judge and the version."""
        for setting, teams in self._by_setting():
            yield from statistics_rows(setting, teams, self._spec)

    def _by_setting(self) -> Iterator[tuple[str, Mapping[str, Games]]]:
        for setting in sorted({key[0] for key in self._sums}):
            keys = sorted(key for key in self._sums if key[0] == setting)
            yield setting, {key[2]: self._sums[key] for key in keys}

    def _write_rows(self, name: str, rows: Iterator[list[Cell]]) -> None:
        head = row(*header(f"judge/{name}.csv"))
        lines = (
            row(self._judge, *(cell(value, TEAM_DIGITS) for value in values)) for values in rows
        )
        text = head + versioned("".join(lines))
        write_atomically(self._folder / f"{name}.csv", text.encode())


def _case_json(place: tuple[str, str], verdict: Verdict) -> str:
    found, case = verdict.round_case, verdict.round_case.case
    path, game = place
    return canonical_json(
        {
            "trace_path": path,
            "game_id": game,
            "round": found.round,
            "recipient": case.recipient,
            "num_agents": len(case.agent_ids),
            "num_slots": case.num_slots,
            "meeting_id": case.meeting_id,
            "participants": case.participants,
            "messages": [
                {
                    "sender": message.sender,
                    "channel": message.channel,
                    "content": asdict(message.content),
                }
                for message in case.messages
            ],
            "problem": verdict.problem,
            "recovered": verdict.recovered,
            "reply_key": verdict.key,
        }
    )


def _belief_lines(prefix: str, beliefs: Sequence[Belief], *, is_calibrated: bool) -> Iterator[str]:
    for belief in beliefs:
        size = trimmed(belief.slot_equivalents, DIGITS)
        cells: list[Cell] = [belief.round, belief.target, belief.observer]
        cells += [belief.slot, belief.delta, size]
        if is_calibrated:
            is_toward = belief.is_toward_truth
            cells += [belief.is_occupied, is_toward, size if is_toward else "0"]
        yield row(prefix, *(cell(value, DIGITS) for value in cells))


def _precision_line(prefix: str, found: TargetPrecision) -> str:
    judge, reflection = found.judge, found.reflection
    cells: list[Cell] = [found.target, judge.total, judge.toward, judge.precision]
    cells += [reflection.total, reflection.toward, reflection.precision, found.gap, found.sharper]
    return row(prefix, *(cell(value, DIGITS) for value in cells))


def _cell_lines(prefix: str, cells: Cells) -> Iterator[str]:
    for place in np.argwhere((cells.judge != 0) | (cells.reflection != 0)):
        where = tuple(int(number) for number in place)
        judge, reflection = int(cells.judge[where]), int(cells.reflection[where])
        ours, theirs = int(cells.judge_rows[where]), int(cells.reflection_rows[where])
        yield row(
            prefix,
            *map(str, where),
            *(str(ours), str(judge), _mean(judge, ours)),
            *(str(theirs), str(reflection), _mean(reflection, theirs)),
            _agreement(judge, reflection),
        )


def _mean(total: int, count: int) -> str:
    return trimmed(total / count, DIGITS) if count else ""


def _agreement(judge: int, reflection: int) -> str:
    if not judge or not reflection:
        return "judge_only" if judge else "reflection_only"
    return "same" if (judge > 0) == (reflection > 0) else "opposite"
