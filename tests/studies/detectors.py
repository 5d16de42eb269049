"""Labelled samples -> the detectors of language, and what they find in unseen messages.

Writes the released weights, trained on both samples, and ``data/audit_sample/unseen.csv``: what
detectors find that were trained without the message. Nothing runs it but ``make detectors``, since
what it writes is kept in git.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import minimize
from scipy.sparse import csr_array

from calbench.analysis.audit_sample import CROSSED, KEPT, OTHERS, UNSEEN, Unseen
from calbench.console import say
from calbench.files import write_atomically
from calbench.metrics.speech.detectors import LEAK, OWN_SLOT, UNIT, WEIGHTS, Detector, Weights
from calbench.metrics.speech.features import RULED, message_features, prepared
from calbench.metrics.speech.leakage import signs_in, told_by
from calbench.metrics.speech.rules import ruled_slot
from calbench.metrics.speech.sample import LabelledMessage, read_others, read_sample
from calbench.metrics.speech.states import STATED
from stages import paths

SAMPLE: Final = paths.DATA / "audit_sample"

STRENGTH: Final = 0.1
"""Inverse of the weight of L2 [C]."""

OTHERS_COUNT: Final = 3.0
"""Weight of a message of others; of ours, in which the author of the rules wrote, it is 1 [C]."""

RULED_SHARE: Final = 0.25
"""Share of the weight of ours with which they teach what the rules are worth. Rules know ours by
heart, so what they find there says little about what they find elsewhere [C]."""

OF_STATES: Final = frozenset({"availability"})
"""Labels whose definition is about states of slots: only their detectors read them [C]."""

LEAST: Final = 3
"""A feature of fewer training messages is left out [C]."""

HALVED: Final = ("pair ", "words ")
"""Features that count half: there are many, and each says less than its parts [C]."""

FOLDS: Final = 5
"""Parts of cross-validation, by the hash of the message [C]."""

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """What a detector learns from: features, whether they mean yes, and how much it counts."""

    features: Collection[str]
    is_yes: bool
    weight: float


def trained(messages: Sequence[LabelledMessage]) -> Weights:
    """Train all detectors on messages."""
    own = {
        name: [example for each in messages for example in own_slot_examples(each, name)]
        for name in OWN_SLOT
    }
    leaks = [example for each in messages for example in leak_examples(each)]
    return {name: detector(examples) for name, examples in {**own, LEAK: leaks}.items()}


def own_slot_examples(message: LabelledMessage, name: str) -> Iterator[Example]:
    """Yield what one message teaches about a label; ours teach mostly without what rules find."""
    features, is_yes = message_features(message.text), bool(getattr(message, name))
    if name not in OF_STATES:
        features = frozenset(each for each in features if not each.startswith(STATED))
    if message.second is not None:
        yield Example(features, is_yes, OTHERS_COUNT)
        return
    others = [each for each in features if not each.startswith(RULED)]
    yield Example(features, is_yes, RULED_SHARE)
    yield Example(others, is_yes, 1 - RULED_SHARE)


def leak_examples(message: LabelledMessage) -> Iterator[Example]:
    """Yield what one message teaches about leaks: one example for each label with any sign."""
    labels = [label.private_label_of() for label in message.labels]
    for index, sign in signs_in(message.text, labels, message.known).items():
        weight = 1.0 if message.second is None else OTHERS_COUNT
        yield Example(sign.features, labels[index].label_id in message.leaks, weight)


def detector(examples: Sequence[Example]) -> Detector:
    """Fit a logistic regression with L2; the start is free."""
    counts = Counter(name for each in examples for name in each.features)
    names = sorted(name for name, count in counts.items() if count >= LEAST)
    scales = np.array([0.5 if name.startswith(HALVED) else 1.0 for name in names])
    found = fitted(_design(examples, names) * scales, examples)
    units = np.rint(np.append(found[:-1] * scales, found[-1]) * UNIT).astype(int).tolist()
    weights = {name: unit for name, unit in zip(names, units[:-1], strict=True) if unit}
    return Detector(units[-1], weights)


def _design(examples: Sequence[Example], names: Sequence[str]) -> csr_array:
    column = {name: place for place, name in enumerate(names)}
    cells = [
        (row, column[name])
        for row, each in enumerate(examples)
        for name in sorted(each.features)
        if name in column
    ]
    rows, columns = zip(*cells, strict=True)
    return csr_array((np.ones(len(cells)), (rows, columns)), shape=(len(examples), len(names)))


def fitted(
    design: csr_array | npt.NDArray[np.float64],
    examples: Sequence[Example],
    strength: float = STRENGTH,
) -> Vector:
    """Return the weights and the start that are most likely, for one row of features an example."""
    signs = np.array([1.0 if each.is_yes else -1.0 for each in examples])
    counts = np.array([each.weight for each in examples])

    def loss(found: Vector) -> tuple[float, Vector]:
        margins = signs * (design @ found[:-1] + found[-1])
        pulls = -counts * signs / (1 + np.exp(margins))
        value = counts @ np.logaddexp(0, -margins) + found[:-1] @ found[:-1] / (2 * strength)
        slope = np.append(design.T @ pulls + found[:-1] / strength, pulls.sum())
        return float(value), slope

    start = np.zeros(design.shape[1] + 1)
    options: Any = {"maxiter": 2000, "ftol": 1e-14, "gtol": 1e-8}
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x)


def found_by(weights: Weights, message: LabelledMessage) -> frozenset[str]:
    """Return what detectors find: names of own-slot labels, and ids of labels told."""
    features = message_features(message.text)
    found = {name for name in OWN_SLOT if weights[name].says(features)}
    if ruled_slot(prepared(message.text)).exact_cost:
        found |= {"exact_cost", "cost_or_constraint"}
    labels = [label.private_label_of() for label in message.labels]
    signs = signs_in(message.text, labels, message.known)
    told = {labels[index].label_id for index in told_by(signs, labels, weights[LEAK])}
    return frozenset(found | told)


def unseen(others: Sequence[LabelledMessage], ours: Sequence[LabelledMessage]) -> Unseen:
    """Return what detectors find in messages that they were not trained on.

    By cross-validation in all messages; and in the half of others that was kept unread, by
    detectors that are trained on the other half and ours.
    """
    messages = [*others, *ours]
    crossed: dict[str, frozenset[str]] = {}
    for fold in range(FOLDS):
        weights = trained([each for each in messages if fold_of(each) != fold])
        held = [each for each in messages if fold_of(each) == fold]
        crossed |= {each.key: found_by(weights, each) for each in held}
    weights = trained([each for each in messages if not (each.second and each.is_kept)])
    kept = {each.key: found_by(weights, each) for each in others if each.is_kept}
    return {CROSSED: crossed, KEPT: kept}


def fold_of(message: LabelledMessage) -> int:
    """Return the part of cross-validation in which a message is judged."""
    return sha256(f"fold {message.text}".encode()).digest()[0] % FOLDS


def unseen_text(unseen: Unseen) -> str:
    """Return the file of what is found in unseen messages: one message a line."""
    rows = [
        {"judged": judged, "message": key, "found": " ".join(sorted(found))}
        for judged, each in unseen.items()
        for key, found in sorted(each.items())
    ]
    return pd.DataFrame(rows).to_csv(index=False, lineterminator="\n")


def text_of(weights: Weights) -> str:
    """Return the file of some detectors, one feature a line."""
    parts = {
        name: {"start": each.start, "weights": dict(sorted(each.weights.items()))}
        for name, each in weights.items()
    }
    return json.dumps(parts, indent=0, separators=(",", ":")) + "\n"


def main(_: list[str]) -> None:
    """Write the weights, and what is found in unseen messages."""
    others = read_others(SAMPLE / "others.jsonl")
    ours = read_sample(SAMPLE / "messages.jsonl")
    weights = trained([*others, *ours])
    write_atomically(WEIGHTS, text_of(weights).encode())
    write_atomically(SAMPLE / UNSEEN, unseen_text(unseen(others, ours)).encode())
    shown = ", ".join(f"{name} {len(each.weights)} features" for name, each in weights.items())
    say(f"{len(others)} messages of {OTHERS[0]}, {len(ours)} of ours: {shown}; {WEIGHTS}")


if __name__ == "__main__":
    paths.answer(main)
