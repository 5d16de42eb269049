"""Facts of judged games: movements by the judge, reflections and the primary measure."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from calbench.facts.columns import (
    AGENT,
    GAME_ID,
    OBSERVER,
    REPLICATE,
    ROUND,
    SCENARIO,
    SETTING,
    SLOTS,
    TARGET,
    TEAM,
    VPS_KIND,
    count,
    number,
    text,
    truth,
)
from calbench.facts.fact import Fact, MeasuredGame
from calbench.facts.storage import GameKey, MeasuredBatch, batch_of
from calbench.metrics.judge.comparison import (
    JudgedGame,
    PrimaryLoss,
    judged_targets,
    moved_cells,
)
from calbench.metrics.judge.scripted import SCRIPTED_JUDGE, scripted_verdicts
from calbench.metrics.judge.verdicts import Verdict, case_json
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
    (
        text("judge", "scripted (no language model), or the player id of a model", "C"),
        (
            count("cases", "cases", "recipients with a message, by round", "P"),
            lambda game: len(game.verdicts),
        ),
        count("unread", "cases", "of these, with an unreadable answer"),
        truth("is_reflected", "it has a readable reflection", "C"),
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
    ((text("case", "what the judge was shown and its verdict, as JSON"), str),),
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
            "how the observer's belief should move, not 0; above 0 toward occupied",
            "P",
        ),
        truth("is_occupied", "the target's slot holds an item after the round", "P"),
        truth("is_toward_truth", "the movement is toward the truth", "P"),
    ),
    is_large=True,
)
"""Every movement of a belief in a scored game, according to the judge."""


JUDGED_TARGETS = Fact(
    "judged_targets",
    judged_targets,
    (
        AGENT,
        (count("judge_movements", "movements", "judged, not 0", "P"), "judged.total"),
        (count("judge_toward", "movements", "of these, toward the truth", "P"), "judged.toward"),
        (count("judge_steps", STEPS, "sum of the sizes of these movements", "P"), "judged.steps"),
        (
            count("judge_steps_toward", STEPS, "of this, toward the truth", "P"),
            "judged.steps_toward",
        ),
        (
            number("judge_constant", SLOTS, "calibrated loss of +1 everywhere", "", "C"),
            "baseline.constant",
        ),
        (
            number("judge_chance", SLOTS, "expected loss of the answers in any order", "", "C"),
            "baseline.chance",
        ),
        (
            count("reflection_movements", "movements", "reflected, not 0", "P"),
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


JUDGED_CELLS = Fact(
    "judged_cells",
    lambda game: moved_cells(game.cells.over_rounds()),
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
"""Every cell of a scored and reflected game that moved according to judge or reflections, summed
over rounds. In all other cells both are 0."""

JUDGED_ROUND_CELLS = Fact(
    "judged_round_cells",
    lambda game: moved_cells(game.cells),
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
    (
        (SETTING, "trace.scenario.setting"),
        (SCENARIO, "trace.scenario.scenario_id"),
        (TEAM, "trace.config.team.team_id"),
        (REPLICATE, "trace.config.replicate"),
        (GAME_ID, "trace.game_id"),
        (
            truth("is_excluded", "excluded games have no measures", "C"),
            lambda game: not game.is_scored,
        ),
    ),
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
