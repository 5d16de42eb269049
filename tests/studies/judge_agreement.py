"""What a model and the scripted judge answer on the same cases -> how far they agree.

Both answer for every other agent and slot how a belief should move, in -3..3. What is compared is
the sign; a slot is right if it moved toward the truth, the calendar after the round.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from calbench.metrics.judge.cases import Verdict
from calbench.metrics.judge.scripted import scripted_deltas
from calbench.metrics.privacy.answers import chance_losses
from calbench.metrics.privacy.reflection import moved
from calbench.stats import agreement
from calbench.stats.agreement import Statistic
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Floats

SIDES: Final = ("rules", "model")
"""Who answers: the scripted judge, and the model."""


class Judged(NamedTuple):
    """The model's answer on a case.

    Attributes:
        kind: of the speakers that the case was drawn for, ``scripted`` or ``model``.
        scenario: of the game, the unit of intervals.
        verdict: the answer, with its case.
    """

    kind: str
    scenario: str
    verdict: Verdict


def cells(judged: Iterable[Judged]) -> pd.DataFrame:
    """Return both answers and the truth by case, agent and slot, of answers that could be read."""
    rows: list[tuple[object, ...]] = []
    for number, each in enumerate(judged):
        found = each.verdict.round_case
        rules = scripted_deltas(found.case)
        senders = {message.sender for message in found.case.messages}
        for target, deltas in (each.verdict.delta_by_target or {}).items():
            own = zip(rules[target], deltas, found.occupied[target], strict=True)
            rows += [(number, each.scenario, target in senders, *cell) for cell in own]
    return pd.DataFrame(rows, columns=["case", "scenario", "is_sender", *SIDES, "occupied"])


def same(sums: Floats) -> Floats:
    """Share of all cells in which both answers have one sign, or are 0."""
    return agreement.ratio(sums[..., [0, 4, 8]].sum(axis=-1), agreement.cells(sums))


AGREED: Final[Mapping[str, tuple[Statistic, float]]] = {
    "same": (same, 0.0),
    "kappa": (agreement.kappa, -1.0),
    "direction": (agreement.directional_agreement, 0.0),
}
"""How far both agree, with the least possible value."""


def measured(found: pd.DataFrame) -> dict[str, object]:
    """Return how far both answers agree on some cells, and what each says and gets right."""
    units, names = pd.factorize(found["scenario"])
    rules, model = (found[side].to_numpy(np.int64) for side in SIDES)
    sums = agreement.cell_sums(rules, model, units, len(names))
    ends = agreement.jackknife_intervals(sums, [*AGREED.values()], AnalysisSpec())
    row: dict[str, object] = {"cells": len(found), "occupied_share": found["occupied"].mean()}
    for name, *values in zip(AGREED, *ends[:3], strict=True):
        row |= zip((name, f"{name}_low", f"{name}_high"), values, strict=True)
    for side in SIDES:
        moves = found[found[side] != 0]
        row[f"{side}_moved_share"] = len(moves) / len(found)
        row[f"{side}_mean"] = found[side].mean()
        row[f"{side}_toward_share"] = ((moves[side] > 0) == moves["occupied"]).mean()
        row[f"{side}_beyond_chance"] = np.mean(
            [
                moved(*own).toward - chance_losses([own])[0]
                for _, case in found.groupby("case")
                for own in [(case[side].tolist(), case["occupied"].tolist())]
            ]
        )
    return row


def table(judged: Sequence[Judged]) -> pd.DataFrame:
    """Return a row each for all cases and by speakers, about all other agents and about senders."""
    rows = []
    for kind in ("all", "scripted", "model"):
        own = [each for each in judged if kind in ("all", each.kind)]
        counts = {
            "scenarios": len({each.scenario for each in own}),
            "cases": len(own),
            "unread": sum(each.verdict.delta_by_target is None for each in own),
        }
        found = cells(own)
        for about, part in (("others", found), ("senders", found[found["is_sender"].eq(True)])):
            numbers = measured(part) if len(part) else {"cells": 0}
            rows.append({"messages_of": kind, "about": about, **counts, **numbers})
    return pd.DataFrame(rows)
