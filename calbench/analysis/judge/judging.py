"""From traces to verdicts and facts: by the scripted judge, as the pipeline does, or by another."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from calbench.agents.judging import Judge
from calbench.analysis.judge.case_file import write_cases
from calbench.analysis.judge.cases import cases_of
from calbench.analysis.judge.facts import JUDGED, OF_JUDGED_GAMES, JudgedGame, PrimaryLoss
from calbench.analysis.judge.scripted import SCRIPTED_JUDGE, scripted_verdict
from calbench.analysis.judge.verdicts import Verdict, verdict_of
from calbench.analysis.settings import Settings
from calbench.analysis.tables import TABLES
from calbench.analysis.tables.registry import write_frames
from calbench.facts.columns import GAME_ID, SCENARIO, SETTING, TEAM, truth
from calbench.facts.fact import Fact, MeasuredGame
from calbench.facts.storage import Facts, GameKey, MeasuredBatch, batch_of
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.metrics.outcomes import is_lost
from calbench.metrics.privacy.measured import game_loss
from calbench.metrics.seats import players_of
from calbench.traces.models import Trace


def scripted_verdicts(trace: Trace) -> tuple[Verdict, ...]:
    """Return what the scripted judge makes of a game."""
    return tuple(verdict_of(case, scripted_verdict(case.case)) for case in cases_of(trace))


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


JUDGE_TABLES = {
    Path(path).name: table for path, table in TABLES.items() if JUDGED.name in table.needs
}
"""Tables of the judge alone, by file."""


def write_judge_tables(facts: Facts, folder: Path, settings: Settings) -> None:
    """Write the tables of the judge alone, and its cases, at the top of a folder.

    Args:
        facts: of judged games.
        folder: where they go; made if missing.
        settings: of the estimates, and the floor.

    Raises:
        OutputError: the folder cannot be written.
    """
    write_cases(facts, folder)
    for name, table in JUDGE_TABLES.items():
        write_frames(folder / name, table.frames(facts, settings), table.columns)


async def verdicts_of(trace: Trace, judge: Judge, player: str) -> tuple[Verdict, ...]:
    """Ask a judge about all cases of a game at once.

    Args:
        trace: the game.
        judge: who is asked.
        player: its name, for errors.

    Raises:
        UnavailableError: if a case cannot be asked; the others are asked nonetheless.
        CalbenchError: as the source of text raises it.
    """
    cases = cases_of(trace)
    # Whatever fails, the others come home: they are paid for.
    found = await asyncio.gather(
        *(judge.judge(case.case, case.site(player)) for case in cases), return_exceptions=True
    )
    verdicts = []
    for case, completion in zip(cases, found, strict=True):
        if isinstance(completion, BaseException):
            raise completion
        verdicts.append(verdict_of(case, completion))
    return tuple(verdicts)
