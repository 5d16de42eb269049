"""What a recorded reader is worth beside the detectors -> ``data/published/reader*.csv``.

The reader's log-odds are turned into probabilities by a logistic regression, and joined with what
the detectors say by another. Nothing is judged by what was fitted to it: messages are divided into
five parts as when detectors are trained. ``python -m tests.studies.readings`` writes the tables.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from calbench.analysis.audit_sample import CROSSED, UNSEEN, read_unseen
from calbench.files import write_atomically
from calbench.metrics.speech.detectors import BOUND, OWN_SLOT, UNIT
from calbench.metrics.speech.sample import LabelledMessage, read_others
from calbench.scenarios.labels import TIERS
from calbench.stats.resampling import resample_weights
from stages import paths
from tests.studies.detectors import FOLDS, Example, Vector, fitted, fold_of
from tests.studies.reader import ANSWERS, GAMES, LABEL, SLOT

QUALITY: Final = paths.DATA / "published" / "reader.csv"

RELIABILITY: Final = paths.DATA / "published" / "reader_reliability.csv"

READERS: Final = ("detectors", "reader", "both")
"""Who reads: the detectors by words, the model, and the two joined."""

RESAMPLES, SEED = 10_000, 0
"""Draws of messages with replacement, for intervals [C]."""

STRENGTH: Final = 1.0
"""Inverse of the weight of L2, the usual one [C]: of three features, not of thousands."""

BINS: Final = 10
"""Of equal width, for reliability."""

Matrix = npt.NDArray[np.float64]


class Case(NamedTuple):
    """A question with what is known of its answer.

    Attributes:
        message: number of the message among all.
        fold: in which it is judged.
        tier: of the label it is about; empty without one.
        features: log-odds; of a label, also how much they are above those of the sender's others.
        found: whether the detectors say so.
        is_yes: the truth, by reading.
    """

    message: int
    fold: int
    tier: str
    features: tuple[float, ...]
    found: bool
    is_yes: bool


def cases(question: str) -> list[Case]:
    """Return the cases of a question about the labelled messages."""
    table = pd.read_csv(ANSWERS, keep_default_na=False)
    of_question = table[table["question"] == question]
    odds = {
        (message, about): float(value)
        for message, about, value in zip(
            of_question["message"], of_question["about"], of_question["log_odds"], strict=True
        )
    }
    unseen = read_unseen(ANSWERS.with_name(UNSEEN))[CROSSED]
    found: list[Case] = []
    for number, message in enumerate(read_others(ANSWERS.with_name("others.jsonl"))):
        found += _cases(question, number, message, odds, unseen[message.key])
    return found


def _cases(
    question: str,
    number: int,
    message: LabelledMessage,
    odds: Mapping[tuple[str, str], float],
    said: frozenset[str],
) -> Iterator[Case]:
    place = number, fold_of(message)
    if question != LABEL:
        feature = (odds[message.key, ""],)
        yield Case(*place, "", feature, question in said, bool(getattr(message, question)))
        return
    all_odds = [odds[message.key, label.private_label] for label in message.labels]
    for label, own in zip(message.labels, all_odds, strict=True):
        others = (sum(all_odds) - own) / (len(all_odds) - 1)
        known = label.label_id in said, label.label_id in message.leaks
        yield Case(*place, label.tier, (own, own - others), *known)


def chances(found: Sequence[Case], *, joined: bool) -> Vector:
    """Return probabilities of yes, each by a regression on the other four parts.

    Args:
        found: cases of one question.
        joined: whether what the detectors say is a feature, too.
    """
    features = np.array([each.features for each in found])
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    if joined:
        features = np.column_stack([features, [each.found for each in found]])
    folds = np.array([each.fold for each in found])
    stated = np.zeros(len(found))
    for fold in range(FOLDS):
        learnt = [Example((), each.is_yes, 1.0) for each in found if each.fold != fold]
        weights = fitted(features[folds != fold], learnt, STRENGTH)
        sums = features[folds == fold] @ weights[:-1] + weights[-1]
        stated[folds == fold] = 1 / (1 + np.exp(-sums))
    return stated


def quality_rows(question: str, found: Sequence[Case]) -> Iterator[dict[str, object]]:
    """Yield how well each of :data:`READERS` finds what was labelled; of labels also by tier."""
    bound = 1 / (1 + np.exp(-BOUND / UNIT))
    said = {
        "detectors": np.array([each.found for each in found]),
        "reader": chances(found, joined=False) > bound,
        "both": chances(found, joined=True) > bound,
    }
    tiers = np.array([each.tier for each in found])
    truth = np.array([each.is_yes for each in found])
    messages = np.array([each.message for each in found])
    drawn = np.concatenate([*resample_weights(messages[-1] + 1, RESAMPLES, SEED, "reader")])
    for tier in ("", *(TIERS if question == LABEL else ())):
        mask = (tiers == tier) | (tier == "")
        counts = {
            name: np.array(
                [
                    np.bincount(messages[mask & part], minlength=messages[-1] + 1)
                    for part in (said[name] & truth, said[name] & ~truth, truth & ~said[name])
                ]
            )
            for name in READERS
        }
        for name in READERS:
            own, before = counts[name], counts[READERS[0]]
            row: dict[str, object] = {"question": question, "tier": tier, "reader": name}
            row |= zip(("right", "wrong", "missed"), own.sum(axis=1).tolist(), strict=True)
            row |= _interval("f1", _f1(own.sum(axis=1)), _f1(own @ drawn.T))
            if name != READERS[0]:
                more = _f1(own.sum(axis=1)) - _f1(before.sum(axis=1))
                row |= _interval("gain", more, _f1(own @ drawn.T) - _f1(before @ drawn.T))
            yield row


def _f1(counts: Matrix) -> Vector:
    """Return F1 of right, wrong and missed, the first dimension; 0 where nothing is there."""
    right, wrong, missed = counts
    return np.asarray(2 * right / np.maximum(1, 2 * right + wrong + missed))


def _interval(name: str, value: Vector, draws: Vector) -> dict[str, float]:
    low, high = np.quantile(draws, (0.025, 0.975))
    return {name: float(value), f"{name}_low": float(low), f"{name}_high": float(high)}


# --- whether stated probabilities are shares


def slot_cases(speakers: str) -> tuple[list[Case], Vector]:
    """Return the cases of slots named in games, and how often each was said.

    Args:
        speakers: ``model`` or ``scripted``.
    """
    table = pd.read_csv(GAMES)
    rows = table[table["kind"] == speakers]
    found, times = [], []
    for number, row in enumerate(rows.to_dict("records")):
        fold = int(row["message"], 16) % FOLDS
        for is_yes, count in ((True, row["had_room"]), (False, row["times"] - row["had_room"])):
            found.append(Case(number, fold, "", (float(row["log_odds"]),), False, is_yes))
            times.append(float(count))
    return found, np.array(times)


def slot_chances(found: Sequence[Case], times: Vector, judged: Sequence[Case]) -> Vector:
    """Return the probabilities that slots have room, by a regression on cases of others.

    Args:
        found: learnt from; those in the fold of a judged case are left out.
        times: how often each was said.
        judged: whose probabilities are wanted.
    """
    stated = np.zeros(len(judged))
    for fold in range(FOLDS):
        kept = [at for at, each in enumerate(found) if each.fold != fold and times[at] > 0]
        design = np.array([found[at].features for at in kept])
        examples = [Example((), found[at].is_yes, times[at]) for at in kept]
        weights = fitted(design, examples, STRENGTH)
        for at, each in enumerate(judged):
            if each.fold == fold:
                stated[at] = 1 / (1 + np.exp(-(each.features[0] * weights[0] + weights[1])))
    return stated


def reliability_rows(
    question: str, about: str, stated: Vector, truth: Sequence[bool], times: Vector
) -> Iterator[dict[str, object]]:
    """Yield, for each tenth of probability, what was stated and what was true."""
    places = np.minimum((stated * BINS).astype(int), BINS - 1)
    yes = np.array(truth, float) * times
    for place in range(BINS):
        is_here = places == place
        count = float(times[is_here].sum())
        yield {
            "question": question,
            "messages_of": about,
            "low": place / BINS,
            "high": (place + 1) / BINS,
            "answers": int(count),
            "stated": float((stated * times)[is_here].sum() / count) if count else None,
            "true_share": float(yes[is_here].sum() / count) if count else None,
        }


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return both tables."""
    quality: list[dict[str, object]] = []
    reliability: list[dict[str, object]] = []
    for question in (LABEL, *OWN_SLOT):
        found = cases(question)
        quality += quality_rows(question, found)
        truth = [each.is_yes for each in found]
        stated = chances(found, joined=False)
        reliability += reliability_rows(question, "others", stated, truth, np.ones(len(found)))
    learnt = slot_cases("scripted")
    for speakers in ("scripted", "model"):
        found, times = slot_cases(speakers)
        stated = slot_chances(*learnt, found)
        truth = [each.is_yes for each in found]
        reliability += reliability_rows(SLOT, speakers, stated, truth, times)
    return pd.DataFrame(quality), pd.DataFrame(reliability)


def main(_: list[str]) -> None:
    """Write the tables."""
    for path, table in zip((QUALITY, RELIABILITY), tables(), strict=True):
        text = table.round(4).to_csv(index=False)
        write_atomically(path, text.encode())


if __name__ == "__main__":
    paths.answer(main)
