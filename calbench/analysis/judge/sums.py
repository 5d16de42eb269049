"""What one game adds to the numbers of a team: a few sums, so that games need not be kept."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calbench.analysis.estimates import Floats, ScenarioSum
from calbench.analysis.judge.agreement import union_sums
from calbench.analysis.judge.precision import TargetPrecision, precision_sums
from calbench.analysis.judge.verdicts import Belief, Cells, Verdict
from calbench.metrics.measure import MeasureSpec
from calbench.metrics.privacy.loss import excess_loss
from calbench.metrics.privacy.measured import VpsKind, game_loss
from calbench.metrics.privacy.reflection import GREATEST_MOVEMENT
from calbench.metrics.seats import players_of
from calbench.traces.models import Trace

Signs = npt.NDArray[np.int8]


class TargetLoss(NamedTuple):
    """What one agent of a game gave away, in slot-equivalents.

    Attributes:
        raw: by the judge, movements either way.
        calibrated: of this, toward the truth.
        primary: V by the primary measure; ``None`` if it is unknown.
        kind: of the primary measure.
    """

    raw: float
    calibrated: float
    primary: float | None
    kind: VpsKind | None


class Signed(NamedTuple):
    """Signs of a game's cells, by judge and reflection, in one shape."""

    judge: Signs
    reflection: Signs


@dataclass(frozen=True, slots=True)
class Compared:
    """Cells of a game in one unit: their sums, and their signs for the test against chance."""

    sums: Floats
    signs: Signed


@dataclass(frozen=True, slots=True)
class GameSums:
    """What a game adds.

    Attributes:
        cases: recipients with a message, by round.
        unread: of these, with an answer that could not be read.
        beliefs: movements that the judge sees.
        targets: by agent.
        precision: sums of appendix I.4; ``None`` without a readable reflection.
        cells: of the whole game; ``None`` likewise.
        round_cells: the same by round.
    """

    cases: int
    unread: int
    beliefs: int
    targets: tuple[TargetLoss, ...]
    precision: Floats | None
    cells: Compared | None
    round_cells: Compared | None

    def sums(self, floor: float) -> list[ScenarioSum]:
        """Return the sums behind the six means of ``metric_comparison.csv``, in its order."""
        known = [(t.calibrated, t.primary) for t in self.targets if t.primary is not None]
        return [
            _sum(target.raw for target in self.targets),
            _sum(target.calibrated for target in self.targets),
            _sum(excess_loss(target.calibrated, floor) for target in self.targets),
            _sum(primary for _, primary in known),
            _sum(excess_loss(primary, floor) for _, primary in known),
            _sum(calibrated - primary for calibrated, primary in known),
        ]


def _sum(values: Iterable[float]) -> ScenarioSum:
    listed = list(values)
    return ScenarioSum(fsum(listed), len(listed))


def game_sums(
    trace: Trace,
    verdicts: Sequence[Verdict],
    beliefs: Sequence[Belief],
    precisions: Sequence[TargetPrecision],
    cells: Cells,
    measure: MeasureSpec,
) -> GameSums:
    """Return what a game adds."""
    is_reflected = bool(cells.reflection_rows.any())
    return GameSums(
        cases=len(verdicts),
        unread=sum(verdict.delta_by_target is None for verdict in verdicts),
        beliefs=len(beliefs),
        targets=target_losses(trace, beliefs, measure),
        precision=precision_sums(precisions) if is_reflected else None,
        cells=_compared(cells.over_rounds()) if is_reflected else None,
        round_cells=_compared(cells) if is_reflected else None,
    )


def target_losses(
    trace: Trace, beliefs: Sequence[Belief], measure: MeasureSpec
) -> tuple[TargetLoss, ...]:
    """Return every agent's loss by the judge, and by the measure that fits its seat."""
    agents = trace.scenario.num_agents
    raw, calibrated = [0] * agents, [0] * agents
    for belief in beliefs:
        raw[belief.target] += abs(belief.delta)
        calibrated[belief.target] += abs(belief.delta) * belief.is_toward_truth
    primary = game_loss(trace, players_of(trace.config.team, agents), measure).by_agent
    return tuple(
        TargetLoss(steps / GREATEST_MOVEMENT, toward / GREATEST_MOVEMENT, loss.total, loss.kind)
        for steps, toward, loss in zip(raw, calibrated, primary, strict=True)
    )


def _compared(cells: Cells) -> Compared:
    signs = Signed(np.sign(cells.judge).astype(np.int8), np.sign(cells.reflection).astype(np.int8))
    return Compared(union_sums(cells), signs)
