"""Facts of judged games: what the judge says moved, beside reflections and the primary measure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from calbench.domain.ids import AgentId
from calbench.facts.columns import (
    AGENT,
    GAME_ID,
    OBSERVER,
    ROUND,
    SCENARIO,
    SETTING,
    SLOTS,
    TARGET,
    TEAM,
    VPS_KIND,
    Column,
    count,
    number,
    text,
    truth,
)
from calbench.facts.fact import Fact, MeasuredGame
from calbench.facts.storage import GameKey, MeasuredBatch, batch_of
from calbench.metrics.judge.judging import scripted_verdicts
from calbench.metrics.judge.scripted import SCRIPTED_JUDGE
from calbench.metrics.judge.verdicts import (
    Belief,
    Cells,
    Verdict,
    case_json,
    cells_of,
    judged_beliefs,
    reflected_beliefs,
)
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.metrics.outcomes import is_lost
from calbench.metrics.privacy.measured import VpsKind, game_loss
from calbench.metrics.privacy.reflection import PairReflection, pair_reflections
from calbench.metrics.seats import players_of
from calbench.traces.models import Trace

STEPS = "steps of 1 to 3"
SLOT = Column("slot", "integer", "", "slot the belief is about", origin="P")


class PrimaryLoss(NamedTuple):
    """What an agent gave away by the measure that fits its seat; ``None`` where unknown."""

    vps: float | None
    kind: VpsKind | None


@dataclass(frozen=True)
class JudgedGame:
    """A game with what a judge answered on each of its cases; an excluded one has none.

    Attributes:
        trace: the game.
        judge: the judge's name.
        verdicts: by case.
        losses: by the primary measure, by agent; none of an excluded game.
    """

    trace: Trace
    judge: str
    verdicts: Sequence[Verdict]
    losses: Sequence[PrimaryLoss]

    @cached_property
    def is_scored(self) -> bool:
        """Whether it counts."""
        return not is_lost(self.trace.events)

    @cached_property
    def beliefs(self) -> tuple[Belief, ...]:
        """Movements that the judge sees."""
        return tuple(judged_beliefs(self.verdicts))

    @cached_property
    def _reflections(self) -> tuple[PairReflection, ...]:
        return tuple(pair_reflections(self.trace)) if self.is_scored else ()

    @cached_property
    def reflected(self) -> tuple[Belief, ...]:
        """Movements that agents reflected."""
        return tuple(reflected_beliefs(self._reflections))

    @cached_property
    def cells(self) -> Cells:
        """Both sides by cell and round, where both are known."""
        return cells_of(self.trace, self.verdicts, self._reflections)

    @property
    def is_reflected(self) -> bool:
        """Whether there is a readable reflection to compare with."""
        return bool(self.cells.reflection_rows.any())

    @property
    def unread(self) -> int:
        """Cases with an answer that could not be read."""
        return sum(verdict.delta_by_target is None for verdict in self.verdicts)


JUDGED_GAMES = Fact(
    "judged_games",
    lambda game: [game],
    (
        text("judge", "scripted (no language model), or the player id of a model", "C"),
        (
            count("cases", "cases", "recipients with a message, by round", "P"),
            lambda game: len(game.verdicts),
        ),
        count("unread", "cases", "of these, with an answer not readable"),
        truth("is_reflected", "it has a readable reflection to compare with", "C"),
        (
            count("cells", "cells", "of observer, target and slot that are compared"),
            lambda game: int(game.cells.over_rounds().union.sum()),
        ),
        (
            count("round_cells", "cells", "the same, round by round"),
            lambda game: int(game.cells.union.sum()),
        ),
    ),
)
"""Every game, excluded ones too."""

CASES = Fact(
    "judged_cases",
    lambda game: (case_json(game.trace, verdict) for verdict in game.verdicts),
    ((text("case", "what the judge was shown and what became of it, as JSON"), str),),
    is_large=True,
)
"""Every case of a scored game."""

JUDGED = Fact(
    "judged",
    lambda game: game.beliefs,
    (
        ROUND,
        (TARGET, "target"),
        (OBSERVER, "observer"),
        SLOT,
        count(
            "delta",
            STEPS,
            "how the observer's belief should move, other than 0; above 0 toward occupied",
            "P",
        ),
        truth("is_occupied", "anything stands in the target's slot after the round", "P"),
        truth("is_toward_truth", "the movement goes to where the truth is", "P"),
    ),
    is_large=True,
)
"""Every movement of a belief that the judge sees in a scored game."""


class _Movements(NamedTuple):
    """Movements about one agent: how many, how many toward the truth, and both in steps."""

    total: int
    toward: int
    steps: int
    steps_toward: int


class _Target(NamedTuple):
    """What is said of one agent of a game."""

    agent_id: AgentId
    judged: _Movements
    reflected: _Movements
    loss: PrimaryLoss


def _targets(game: JudgedGame) -> Iterator[_Target]:
    if not game.is_scored:
        return
    agents = tuple(AgentId(agent) for agent in range(game.trace.scenario.num_agents))
    judged, reflected = _by_agent(game.beliefs, agents), _by_agent(game.reflected, agents)
    for row in zip(agents, judged, reflected, game.losses, strict=True):
        yield _Target(*row)


def _by_agent(beliefs: Iterable[Belief], agents: Sequence[AgentId]) -> list[_Movements]:
    counts: Counter[tuple[AgentId, bool]] = Counter()
    steps: Counter[tuple[AgentId, bool]] = Counter()
    for belief in beliefs:
        counts[belief.target, belief.is_toward_truth] += 1
        steps[belief.target, belief.is_toward_truth] += abs(belief.delta)
    return [
        _Movements(
            counts[agent, True] + counts[agent, False],
            counts[agent, True],
            steps[agent, True] + steps[agent, False],
            steps[agent, True],
        )
        for agent in agents
    ]


JUDGED_TARGETS = Fact(
    "judged_targets",
    _targets,
    (
        AGENT,
        (count("judge_movements", "movements", "judged, other than 0", "P"), "judged.total"),
        (count("judge_toward", "movements", "of these, toward the truth", "P"), "judged.toward"),
        (count("judge_steps", STEPS, "sum of the sizes of these movements", "P"), "judged.steps"),
        (
            count("judge_steps_toward", STEPS, "of this, toward the truth", "P"),
            "judged.steps_toward",
        ),
        (
            count("reflection_movements", "movements", "reflected, other than 0", "P"),
            "reflected.total",
        ),
        (
            count("reflection_toward", "movements", "of these, toward the truth", "P"),
            "reflected.toward",
        ),
        (number("primary_vps", SLOTS, "V by the primary measure", "", "P"), "loss.vps"),
        (VPS_KIND, "loss.kind"),
    ),
)
"""Every agent of every scored game."""

JUDGE_ROWS = count("judge_rows", "rounds", "in which the judge answered", "P")
JUDGE_DELTA = count("judge_delta", STEPS, "sum of its changes over these", "P")
REFLECTION_ROWS = count("reflection_rows", "rounds", "with a readable reflection", "P")
REFLECTION_DELTA = count("reflection_delta", STEPS, "sum of its changes over these", "P")


class _Cell(NamedTuple):
    """A cell that either side says moved."""

    place: tuple[int, ...]
    judge_rows: int
    judge_delta: int
    reflection_rows: int
    reflection_delta: int


def _moved(cells: Cells) -> Iterator[_Cell]:
    """Yield the cells of which either side says something other than 0."""
    where = (cells.judge != 0) | (cells.reflection != 0)
    sides = (cells.judge_rows, cells.judge, cells.reflection_rows, cells.reflection)
    values = (side[where].tolist() for side in sides)
    yield from map(_Cell, map(tuple, np.argwhere(where).tolist()), *values)


JUDGED_CELLS = Fact(
    "judged_cells",
    lambda game: _moved(game.cells.over_rounds()),
    (
        (OBSERVER, lambda cell: cell.place[0]),
        (TARGET, lambda cell: cell.place[1]),
        (SLOT, lambda cell: cell.place[2]),
        JUDGE_ROWS,
        JUDGE_DELTA,
        REFLECTION_ROWS,
        REFLECTION_DELTA,
    ),
    is_large=True,
)
"""Every cell of a scored and reflected game that judge or reflections say moved, over its rounds.
Of the other cells both say 0."""

JUDGED_ROUND_CELLS = Fact(
    "judged_round_cells",
    lambda game: _moved(game.cells),
    (
        (ROUND, lambda cell: cell.place[0]),
        (OBSERVER, lambda cell: cell.place[1]),
        (TARGET, lambda cell: cell.place[2]),
        (SLOT, lambda cell: cell.place[3]),
        JUDGE_DELTA,
        REFLECTION_DELTA,
    ),
    is_large=True,
)
"""The same, round by round."""

OF_JUDGED_GAMES = (JUDGED_GAMES, CASES, JUDGED, JUDGED_TARGETS, JUDGED_CELLS, JUDGED_ROUND_CELLS)
"""What a :class:`JudgedGame` holds."""


@lru_cache(maxsize=1)
def _scripted(game: MeasuredGame) -> JudgedGame:
    """Return a game as the scripted judge sees it, judged once for all facts."""
    losses = [PrimaryLoss(agent.vps, agent.vps_kind) for agent in game.score.agents]
    return JudgedGame(game.trace, SCRIPTED_JUDGE, scripted_verdicts(game.trace), losses)


def _by_script(fact: Fact) -> Fact:
    """Return a fact of judged games as one of measured games, which the scripted judge judges."""
    return replace(fact, rows=lambda game: fact.rows(_scripted(game)))


JUDGE_FACTS = tuple(map(_by_script, OF_JUDGED_GAMES))
"""What the scripted judge makes of a measured game: further facts of a run that asks for them."""

_JUDGED_ALONE = Fact(
    "games",
    lambda game: [game],
    (
        (SETTING, "trace.scenario.setting"),
        (SCENARIO, "trace.scenario.scenario_id"),
        (TEAM, "trace.config.team.team_id"),
        (GAME_ID, "trace.game_id"),
        (truth("is_lost", "lost games have no measures", "C"), lambda game: not game.is_scored),
    ),
)
"""What names a game, without a score: a judge needs none."""

VERDICT_FACTS = (_JUDGED_ALONE, *OF_JUDGED_GAMES)
"""Facts of games that are judged without being scored."""


def judged_batch(
    trace: Trace,
    verdicts: Sequence[Verdict],
    judge: str = SCRIPTED_JUDGE,
    measure: MeasureSpec = DEFAULT_MEASURE,
) -> MeasuredBatch:
    """Return the facts of one game, :data:`VERDICT_FACTS`.

    Args:
        trace: the game.
        verdicts: what the judge answered on each of its cases.
        judge: its name in the tables.
        measure: prior of the primary measure.

    Raises:
        CalbenchError: a reflection does not fit the game.
    """
    team, scenario = trace.config.team, trace.scenario
    losses = []
    if not is_lost(trace.events):
        players = players_of(team, scenario.num_agents)
        found = game_loss(trace, players, measure).by_agent
        losses = [PrimaryLoss(loss.total, loss.kind) for loss in found]
    game = JudgedGame(trace, judge, verdicts, losses)
    key = GameKey(scenario.setting, team.team_id, scenario.scenario_id)
    return batch_of(VERDICT_FACTS, [(key, {fact.name: fact.of(game) for fact in VERDICT_FACTS})])
