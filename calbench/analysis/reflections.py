"""What language agents said they learnt: by pair and round, and how often it was the truth.

These two tables stand beside the four of protocol-semantic evidence (appendix F.5), which hold
nothing about language: ``reflections.csv`` has a row for each reflection and target, those
that could not be read too, and ``reflection_calibration.csv`` one for each setting and team.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from calbench.analysis.cells import Cell, cell, row, trimmed, versioned
from calbench.analysis.dictionary import header
from calbench.analysis.estimates import Estimate, ScenarioSum, estimate_means
from calbench.analysis.language_columns import MAGNITUDES
from calbench.analysis.order import GameOrder
from calbench.analysis.spool import Places, SpooledTable
from calbench.files import write_atomically
from calbench.metrics.outcomes import is_lost
from calbench.metrics.privacy.reflection import (
    Moved,
    PairReflection,
    is_toward_truth,
    pair_reflections,
)
from calbench.metrics.seats import players_of
from calbench.stats.spec import DEFAULT_ANALYSIS, AnalysisSpec
from calbench.traces.models import Trace

DIGITS = 6
"""Most decimals of a number of one reflection [C]."""

ESTIMATE_DIGITS = 4
"""Decimals of a share or a mean [C]."""

NAMES = ("reflections", "reflection_calibration")
"""The tables, as files ``privacy/<name>.csv``."""


@dataclass(slots=True)
class _Calibration:
    """Movements of a team in a setting, by scenario, direction and size.

    ``counts[scenario]`` holds two numbers for each size: movements toward the truth and away.
    """

    reflections: int = 0
    unread: int = 0
    counts: dict[str, list[list[int]]] = field(default_factory=dict)

    def add(self, scenario: str, pairs: Sequence[PairReflection]) -> None:
        counts = self.counts[scenario] = [[0, 0] for _ in MAGNITUDES]
        for pair in pairs:
            self.reflections += 1
            self.unread += pair.movements is None
            for movement in pair.movements or ():
                if movement.delta:
                    is_toward = is_toward_truth(movement.delta, is_occupied=movement.is_occupied)
                    counts[abs(movement.delta) - 1][not is_toward] += 1

    def of_size(self, scenario: str, sizes: Sequence[int]) -> ScenarioSum:
        """Return how many movements of these sizes went toward the truth, of how many."""
        counts = self.counts.get(scenario)
        chosen = [] if counts is None else [counts[size - 1] for size in sizes]
        return ScenarioSum(float(sum(toward for toward, _ in chosen)), sum(map(sum, chosen)))

    def mean_size(self, direction: int) -> float | None:
        """Return the mean ``|movement|`` of one direction: 0 toward the truth, 1 away."""
        by_size = [
            sum(counts[size - 1][direction] for counts in self.counts.values())
            for size in MAGNITUDES
        ]
        moves = sum(by_size)
        if not moves:
            return None
        return sum(size * count for size, count in zip(MAGNITUDES, by_size, strict=True)) / moves


class ReflectedGame(NamedTuple):
    """One game's reflections, its lines of ``reflections.csv``, and where they belong."""

    setting: str
    team: str
    scenario_id: str
    lines: str
    pairs: tuple[PairReflection, ...]


class ReflectionTables:
    """Takes the traces of a run, in any order, and writes the two tables in a fixed one.

    Games without reflections add nothing, nor do lost ones. Use it as a context manager: what
    is not written is dropped.
    """

    def __init__(
        self,
        folder: Path,
        teams: Sequence[str],
        spec: AnalysisSpec = DEFAULT_ANALYSIS,
        places: Places | None = None,
    ) -> None:
        """Prepare the folder, usually ``tables/privacy``.

        Args:
            folder: where the two tables go; made if missing.
            teams: team ids in the order in which tables list them.
            spec: settings of the estimates.
            places: of the games, shared with other tables of the run.

        Raises:
            OutputError: naming the place, if it cannot be written.
        """
        self._folder = folder
        self._spec = spec
        self._order = GameOrder(teams)
        self._calibrations: dict[tuple[str, int, str], _Calibration] = {}
        self._rows = SpooledTable(
            folder / "reflections.csv", header("privacy/reflections.csv"), places
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._rows.close()

    def add(self, trace: Trace) -> None:
        """Take one game.

        Raises:
            CalbenchError: a reflection does not fit the game.
            ValueError: this team's game on this scenario was taken already.
            OutputError: the folder cannot be written.
        """
        self.append(reflected_game(trace))

    def append(self, game: ReflectedGame) -> None:
        """Take the reflections of one game, read here or in another process.

        Raises:
            ValueError: this team's game on this scenario was taken already.
            OutputError: the folder cannot be written.
        """
        key = self._order.key(game.setting, game.team, game.scenario_id)
        self._rows.append(key, versioned(game.lines))
        if game.pairs:
            calibration = self._calibrations.setdefault(key[:3], _Calibration())
            calibration.add(game.scenario_id, game.pairs)

    def write(self) -> None:
        """Write both tables, each whole or not at all.

        Raises:
            OutputError: the folder cannot be written.
        """
        self._rows.write()
        head = row(*header("privacy/reflection_calibration.csv"))
        lines = versioned("".join(self._calibration_rows()))
        write_atomically(self._folder / "reflection_calibration.csv", (head + lines).encode())

    def _calibration_rows(self) -> Iterator[str]:
        """Estimate setting by setting, all teams over the same resampled scenarios."""
        groups = [MAGNITUDES, *((size,) for size in MAGNITUDES)]
        for setting in sorted({key[0] for key in self._calibrations}):
            keys = sorted(key for key in self._calibrations if key[0] == setting)
            found = [self._calibrations[key] for key in keys]
            scenarios = sorted({scenario for each in found for scenario in each.counts})
            columns = [
                [each.of_size(scenario, sizes) for scenario in scenarios]
                for each in found
                for sizes in groups
            ]
            estimates = iter(estimate_means(columns, self._spec, setting))
            for key, each in zip(keys, found, strict=True):
                yield _calibration_row(key, each, [next(estimates) for _ in groups])


def reflected_game(trace: Trace) -> ReflectedGame:
    """Read the reflections of a game; a lost game has none.

    Raises:
        CalbenchError: a reflection does not fit the game.
    """
    team, scenario = trace.config.team.team_id, trace.scenario
    pairs = () if is_lost(trace.events) else tuple(pair_reflections(trace))
    game = f"{team}/{scenario.scenario_id}.json,{trace.game_id}"
    speaks = [p.uses_language for p in players_of(trace.config.team, scenario.num_agents)]
    lines = [_pair_row(game, pair, uses_language=speaks[pair.target]) for pair in pairs]
    return ReflectedGame(scenario.setting, team, scenario.scenario_id, "".join(lines), pairs)


def _pair_row(game: str, pair: PairReflection, *, uses_language: bool) -> str:
    counted, answered = pair.counted, pair.answered
    cells: list[Cell] = [
        pair.round,
        pair.target,
        pair.observer,
        pair.target_is_participant,
        pair.observer_is_participant,
        uses_language,
        pair.movements is not None,
        None if pair.movements is None else pair.is_expected,
    ]
    return row(
        game,
        *(cell(value, DIGITS) for value in cells),
        *_moved_cells(counted),
        *_moved_cells(answered),
    )


def _moved_cells(moved: Moved | None) -> list[str]:
    if moved is None:
        return ["", "", ""]
    return [trimmed(value, DIGITS) for value in (moved.total, moved.toward, moved.away)]


def _calibration_row(
    key: tuple[str, int, str], found: _Calibration, estimates: Sequence[Estimate | None]
) -> str:
    setting, _, team = key
    whole, *by_size = estimates
    cells: list[Cell] = [setting, team, found.reflections, found.unread, *_precision(whole)]
    cells += [found.mean_size(0), found.mean_size(1)]
    for estimate in by_size:
        cells += _precision(estimate)
    return row(*(cell(value, ESTIMATE_DIGITS) for value in cells))


def _precision(estimate: Estimate | None) -> list[Cell]:
    """Return the number of movements, and the share toward the truth with its interval."""
    if estimate is None:
        return [0, None, None, None]
    return [estimate.num_agent_games, estimate.value, estimate.low, estimate.high]
