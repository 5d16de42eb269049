"""What a judge answered about a game, beside what its agents reflected."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calbench.agents.judging import read_verdict
from calbench.domain.canonical import canonical_json
from calbench.domain.ids import AgentId
from calbench.domain.replies import Unreadable
from calbench.llm.completion import Completion
from calbench.metrics.judge.cases import RoundCase
from calbench.metrics.privacy.reflection import (
    GREATEST_MOVEMENT,
    PairReflection,
    is_toward_truth,
)
from calbench.traces.models import Trace

Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came back on one case.

    Attributes:
        round_case: the case.
        delta_by_target: changes of belief by slot, -3..3; ``None`` if it could not be read.
        problem: why it could not be read.
        recovered: what had to be cut away to read it.
        key: of the recorded reply; absent for the scripted judge.
    """

    round_case: RoundCase
    delta_by_target: Mapping[AgentId, tuple[int, ...]] | None
    problem: str | None
    recovered: str | None
    key: str | None


def verdict_of(round_case: RoundCase, completion: Completion) -> Verdict:
    """Read what a judge answered on a case."""
    found = read_verdict(round_case.case, completion)
    if isinstance(found, Unreadable):
        return Verdict(round_case, None, found.problem, None, completion.key)
    delta = {AgentId(int(target)): values for target, values in found.value.delta.items()}
    return Verdict(round_case, delta, None, found.recovered, completion.key)


class Belief(NamedTuple):
    """One change of belief other than 0, in steps of 1 to 3.

    ``is_occupied`` is the truth after the round; see
    :class:`calbench.metrics.privacy.reflection.Movement`.
    """

    round: int
    target: AgentId
    observer: AgentId
    slot: int
    delta: int
    is_occupied: bool

    @property
    def slot_equivalents(self) -> float:
        """``|delta| / 3`` [P, appendix I.2]."""
        return abs(self.delta) / GREATEST_MOVEMENT

    @property
    def is_toward_truth(self) -> bool:
        """Whether it goes to where the truth is."""
        return is_toward_truth(self.delta, is_occupied=self.is_occupied)


def judged_beliefs(verdicts: Sequence[Verdict]) -> Iterator[Belief]:
    """Yield the beliefs that a judge says were moved, in the order of the cases."""
    for verdict in verdicts:
        found, truth = verdict.round_case, verdict.round_case.occupied
        for target, deltas in (verdict.delta_by_target or {}).items():
            for slot, delta in enumerate(deltas):
                if delta:
                    observer = found.case.recipient
                    held = truth[target][slot]
                    yield Belief(found.round, target, observer, slot, delta, held)


def reflected_beliefs(pairs: Sequence[PairReflection]) -> Iterator[Belief]:
    """Yield the same of reflections, by the integers that were answered."""
    for pair in pairs:
        for slot, delta, _, is_occupied in pair.movements or ():
            if delta:
                yield Belief(pair.round, pair.target, pair.observer, slot, delta, is_occupied)


@dataclass(frozen=True, slots=True)
class Cells:
    """Slot-belief cells of a game by ``[round, observer, target, slot]``, or without the round.

    Attributes:
        judge: sums of the judge's changes.
        reflection: sums of the reflected ones.
        judge_rows: how many answers of the judge each sum adds, 0 where there is none.
        reflection_rows: the same of readable reflections.
    """

    judge: Integers
    reflection: Integers
    judge_rows: Integers
    reflection_rows: Integers

    @property
    def union(self) -> Truths:
        """Cells that are compared: either side says anything, be it that nothing changed."""
        return np.asarray((self.judge_rows + self.reflection_rows) > 0)

    def over_rounds(self) -> "Cells":
        """Return the cells of whole games: rounds are repeated rows of one cell, and add up."""
        return Cells(
            self.judge.sum(axis=0),
            self.reflection.sum(axis=0),
            self.judge_rows.sum(axis=0),
            self.reflection_rows.sum(axis=0),
        )


def cells_of(trace: Trace, verdicts: Sequence[Verdict], pairs: Sequence[PairReflection]) -> Cells:
    """Return the cells of a game by round, of which both sides are known [C].

    What could not be read is unknown, not 0: where a reflection or the judge's answer about a
    round cannot be read, or nobody was asked to reflect, the other's answer is left out as well.
    A judge that had no case, since nothing was delivered, says 0.
    """
    agents, slots = trace.scenario.num_agents, trace.scenario.num_slots
    shape = (len(trace.scenario.meetings), agents, agents, slots)
    cells = Cells(*(np.zeros(shape, dtype=np.int64) for _ in range(4)))
    answers = {(each.round_case.round, each.round_case.case.recipient): each for each in verdicts}
    for pair in pairs:
        verdict = answers.get((pair.round, pair.observer))
        if pair.movements is None or (verdict and verdict.delta_by_target is None):
            continue
        where = pair.round, pair.observer, pair.target
        cells.reflection[where] = [movement.delta for movement in pair.movements]
        cells.reflection_rows[where] = 1
        if verdict and verdict.delta_by_target is not None:
            cells.judge[where] = verdict.delta_by_target[pair.target]
            cells.judge_rows[where] = 1
    return cells


def case_json(trace: Trace, verdict: Verdict) -> str:
    """Return a case with what was answered, as JSON."""
    found, case = verdict.round_case, verdict.round_case.case
    return canonical_json(
        {
            "trace_path": f"{trace.config.team.team_id}/{trace.scenario.scenario_id}.json",
            "game_id": trace.game_id,
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
