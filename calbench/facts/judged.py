"""Facts of judged games: movements by the judge, reflections and the primary measure."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from calbench.facts.columns import columns, count
from calbench.facts.fact import Fact, MeasuredGame, Values
from calbench.facts.storage import GameKey, MeasuredBatch, batch_of
from calbench.metrics.judge.cases import Verdict, case_json
from calbench.metrics.judge.comparison import Cells, JudgedGame, PrimaryLoss, judged_targets
from calbench.metrics.judge.scripted import SCRIPTED_JUDGE, scripted_verdicts
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.metrics.outcomes import is_excluded
from calbench.metrics.players import players_of
from calbench.metrics.privacy.estimators import game_loss
from calbench.metrics.privacy.reflection import PairReflection, pair_reflections
from calbench.traces.models import Trace

STEPS = "steps of 1 to 3"
SLOT = count("slot", "", "slot the belief is about", "P")


JUDGED_GAMES = Fact(
    "judged_games",
    lambda game: [game],
    columns("""
    judge (text; C): scripted (no language model), or the player id of a model
    cases (count, cases; P): recipients with a message, by round
    unread (count, cases): of these, with an unreadable answer
    is_reflected (truth; C): it has a readable reflection
    cells (count, cells): of observer, target and slot that are compared
    round_cells (count, cells): the same, round by round
    """),
    {
        "cases": lambda game: len(game.verdicts),
        "cells": lambda game: int(game.cells.over_rounds().union.sum()),
        "round_cells": lambda game: int(game.cells.union.sum()),
    },
)
"""Every game, excluded ones too."""

CASES = Fact(
    "judged_cases",
    lambda game: (case_json(game.trace, verdict) for verdict in game.verdicts),
    columns("""
    case (text): what the judge was shown and its verdict, as JSON
    """),
    {"case": str},
    is_large=True,
)
"""Every case of a scored game."""

JUDGED = Fact(
    "judged",
    lambda game: game.beliefs,
    columns(
        f"""
    round target_agent observer_agent slot
    delta (count, {STEPS}; P): how the observer's belief should move, not 0; above 0 toward occupied
    is_occupied (truth; P): the target's slot holds an item after the round
    is_toward_truth (truth; P): the movement is toward the truth
    """,
        of=[SLOT],
    ),
    {"target_agent": "target", "observer_agent": "observer"},
    is_large=True,
)
"""Every movement of a belief in a scored game, according to the judge."""


JUDGED_TARGETS = Fact(
    "judged_targets",
    judged_targets,
    columns(f"""
    agent_id
    judge_movements (count, movements; P): judged, not 0
    judge_toward (count, movements; P): of these, toward the truth
    judge_steps (count, {STEPS}; P): sum of the sizes of these movements
    judge_steps_toward (count, {STEPS}; P): of this, toward the truth
    judge_constant (number, slot-equivalents): calibrated loss of +1 everywhere
    judge_chance (number, slot-equivalents): expected loss of the answers in any order
    reflection_movements (count, movements; P): reflected, not 0
    reflection_toward (count, movements; P): of these, toward the truth
    primary_vps (number, slot-equivalents; P): V by the primary measure
    vps_kind
    """),
)
"""Every agent of every scored game."""


def _moved(cells: Cells, axes: str) -> Values:
    """Return the cells in which at least one side is not 0, column by column."""
    where = (cells.judge != 0) | (cells.reflection != 0)
    sides = {
        "judge_rows": cells.judge_rows,
        "judge_delta": cells.judge,
        "reflection_rows": cells.reflection_rows,
        "reflection_delta": cells.reflection,
    }
    places = dict(zip(axes.split(), np.argwhere(where).T.tolist(), strict=True))
    return places | {name: side[where].tolist() for name, side in sides.items()}


JUDGED_CELLS = Fact(
    "judged_cells",
    lambda game: _moved(game.cells.over_rounds(), "observer_agent target_agent slot"),
    columns(
        f"""
    observer_agent target_agent slot
    judge_rows (count, rounds; P): in which the judge answered
    judge_delta (count, {STEPS}; P): sum of its changes over these
    reflection_rows (count, rounds; P): with a readable reflection
    reflection_delta (count, {STEPS}; P): sum of its changes over these
    """,
        of=[SLOT],
    ),
    is_large=True,
)
"""Every cell of a scored and reflected game that moved according to judge or reflections, summed
over rounds. In all other cells both are 0."""

JUDGED_ROUND_CELLS = Fact(
    "judged_round_cells",
    lambda game: _moved(game.cells, "round observer_agent target_agent slot"),
    columns(
        "round observer_agent target_agent slot judge_delta reflection_delta",
        of=JUDGED_CELLS.columns,
    ),
    is_large=True,
)
"""The same, round by round."""

OF_JUDGED_GAMES = (JUDGED_GAMES, CASES, JUDGED, JUDGED_TARGETS, JUDGED_CELLS, JUDGED_ROUND_CELLS)
"""Facts of a :class:`JudgedGame`."""


@lru_cache(maxsize=1)
def _scripted(game: MeasuredGame) -> JudgedGame:
    """Return a game with the verdicts of the scripted judge, judged once for all facts."""
    losses = [PrimaryLoss(agent.vps, agent.vps_kind) for agent in game.score.agents]
    told = game.reflections if game.is_scored else ()
    return JudgedGame(game.trace, SCRIPTED_JUDGE, scripted_verdicts(game.trace), losses, told)


def _by_script(fact: Fact) -> Fact:
    """Return a fact of judged games as one of measured games, judged by the scripted judge."""
    return replace(fact, rows=lambda game: fact.rows(_scripted(game)))


JUDGE_FACTS = tuple(map(_by_script, OF_JUDGED_GAMES))
"""Facts of a measured game by the scripted judge, for runs that ask for them."""

_JUDGED_ALONE = Fact(
    "games",
    lambda game: [game],
    columns("""
    setting scenario_id team replicate game_id
    is_excluded (truth; C): excluded games have no measures
    """),
    {
        "setting": "trace.scenario.setting",
        "scenario_id": "trace.scenario.scenario_id",
        "team": "trace.config.team.team_id",
        "replicate": "trace.config.replicate",
        "game_id": "trace.game_id",
        "is_excluded": lambda game: not game.is_scored,
    },
)
"""Names of a game without its score, which a judge does not need."""

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
        verdicts: of the judge on each of its cases.
        judge: its name in the tables.
        measure: prior of the primary measure.

    Raises:
        CalbenchError: a reflection does not fit the game.
    """
    team, scenario = trace.config.team, trace.scenario
    losses: Sequence[PrimaryLoss] = ()
    told: Sequence[PairReflection] = ()
    if not is_excluded(trace.events):
        players, told = players_of(team, scenario.num_agents), tuple(pair_reflections(trace))
        found = game_loss(trace, players, measure, reflections=told).by_agent
        losses = [PrimaryLoss(loss.total, loss.kind) for loss in found]
    game = JudgedGame(trace, judge, verdicts, losses, told)
    key = GameKey(scenario.setting, team.team_id, scenario.scenario_id, trace.config.replicate)
    return batch_of(VERDICT_FACTS, [(key, {fact.name: fact.of(game) for fact in VERDICT_FACTS})])
