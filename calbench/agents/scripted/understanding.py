"""How hard slots are, and what a sentence says about them: plain English in, speech acts out.

It understands the sentences of :mod:`calbench.agents.scripted.phrases`, and by words of
polarity similar sentences of other speakers. It ignores what it cannot understand.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

from calbench.domain.calendars import Booking, Calendar, Item, first_free
from calbench.domain.ids import MeetingId, Slot


class Level(IntEnum):
    """The words for difficulty, from easy to impossible."""

    EASY = 0
    POSSIBLE = 1
    INCONVENIENT = 2
    HARD = 3
    IMPOSSIBLE = 4

    @property
    def word(self) -> str:
        """The word as it is said."""
        return self.name.lower()


EASY, POSSIBLE, INCONVENIENT, HARD, IMPOSSIBLE = Level

WEIGHTS: Final = (0, 1, 10, 100, 10_000)
"""What a word weighs when slots are compared [C]: in step with the costs that are shown."""

_BOUNDS: Final = ((3, POSSIBLE), (30, INCONVENIENT))
"""Greatest shown cost that is still called so [C]; above the last it is hard."""


def level_of(item: Item | None, *, can_move: bool) -> Level:
    """Return how hard it is to give up an item's slot.

    A meeting is impossible to give up alone; an errand is if there is nowhere to move it.
    """
    if item is None:
        return EASY
    if isinstance(item, Booking) or item.blocked or not can_move:
        return IMPOSSIBLE
    for most, level in _BOUNDS:  # a plain loop: asked of every slot in every turn
        if item.shown_cost <= most:
            return level
    return HARD


def own_levels(calendar: Calendar) -> tuple[Level, ...]:
    """Return how hard each slot of a calendar is to give, by slot."""
    can_move = first_free(calendar) is not None
    return tuple([level_of(item, can_move=can_move) for item in calendar])


def slots_at(levels: Sequence[Level], *wanted: Level) -> list[Slot]:
    """Return the slots of these levels: the easiest first, then ascending."""
    found = [(level, slot) for slot, level in enumerate(levels) if level in wanted]
    return [Slot(slot) for _, slot in sorted(found)]


LONGEST = 4000
"""Characters of a message that are read [C]; a person stops reading too."""


class Claim(NamedTuple):
    """A slot is this hard for the sender; of an earlier meeting's target, if one is named."""

    slot: Slot
    level: Level
    meeting: MeetingId | None = None


class Ask(NamedTuple):
    """Would these slots do? None named: which would?"""

    slots: tuple[Slot, ...]


class NoneOfThem(NamedTuple):
    """None of the slots that the sender was asked for last is possible."""


class Settle(NamedTuple):
    """The meeting shall be at this slot."""

    slot: Slot


class Confirm(NamedTuple):
    """The sender agrees: to this slot, or to what was settled on."""

    slot: Slot | None


class AskMove(NamedTuple):
    """Could an earlier meeting move from its slot to one of these?"""

    meeting: MeetingId
    start: Slot
    targets: tuple[Slot, ...]


class Move(NamedTuple):
    """An earlier meeting's way from one slot to another."""

    meeting: MeetingId
    start: Slot
    to: Slot


class SettleMove(NamedTuple):
    """An earlier meeting shall move."""

    move: Move


class ConfirmMove(NamedTuple):
    """The sender will move its copy of an earlier meeting."""

    move: Move


Act = Claim | Ask | NoneOfThem | Settle | Confirm | AskMove | SettleMove | ConfirmMove

# e.g. 'because of "slot 3 is free"'; not 'a 12" pipe'
_QUOTED = re.compile(r'"[^"]*"')
# e.g. "Slot 3 is hard. Slot 5?"; not "about 2.5 hours"
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
"""Between two sentences."""
# e.g. "slot 3 is easy, but slot 5 is hard", "3: easy; 5: hard"; not "slots 3, 4 and 5 are easy"
_CLAUSE = re.compile(
    r";|:|,?\s(?:but|while|whereas|though|although|however)\s|,\s*(?:and\s+)?(?=slots?\b)",
    re.IGNORECASE,
)
_BETWEEN = r"(?:\s{0,2},\s{0,2}(?:and |or )?|\s(?:and|or)\s|\s?[/&]\s?)(?:slots?\s)?#?"
# e.g. "slots 3, 4 or #5", "try 7"; not "agent 3 at 5"
_SLOTS = re.compile(
    rf"\b(?:slots?|about|take|try)\s{{0,2}}#?(\d{{1,4}}(?:{_BETWEEN}\d{{1,4}}\b)*)", re.IGNORECASE
)
# e.g. "moving M2 is easy"; not "moving meeting 2 is easy"
_EARLIER = re.compile(r"\bM(\d{1,6})\b")
# e.g. "Agent 2 can't", "agents 1 and 3"; not "the other agents"
_OTHERS = re.compile(r"\bagents?\s+\d", re.IGNORECASE)
# e.g. "What do you have at slot 3?", "What's in the way at slot 3?"; not "What about slot 3?"
_FOR_REASON = re.compile(
    r"\bwhat(?:'s|\sis|\sare)\s(?:in\sthe\sway|behind|keeping|the\sreason)\b"
    r"|\bwhat\s(?:(?:do\s)?you\shave|keeps|stands|(?:kind|sort)\sof)\b"
    r"|\bwhat\sagent\s\d{1,6}\shas\b|\breasons?\b",
    re.IGNORECASE,
)
# e.g. "could you move M2 from slot 3 to slot 5?"; not "I moved M2 from slot 3 to slot 5"
_MOVE = re.compile(r"\bmov(?:e|ing)\b[^.?!]*?\bslot (\d{1,4})\s+to\b(.*)", re.IGNORECASE)

_WORDS: Final[Mapping[Level, tuple[str, ...]]] = {
    IMPOSSIBLE: (
        "impossible|cannot|can't|can not|won't|unavailable|unable|blocked|no way",
        "not (?:be )?(?:possible|available|free|feasible|work)|out of the question",
        "n't (?:work|do|suit|make|possible|available|free)",
    ),
    HARD: (
        "hard|difficult|tough|costly|expensive|painful|not (?:be )?easy|n't easy",
        "busy|occupied|taken|i have",
    ),
    INCONVENIENT: ("inconvenient|awkward|rather not|not ideal|prefer not|less convenient",),
    EASY: (
        "easy|easily|free|open|available|works?|fine|good|great|suits?|perfect|prefer|ideal",
        "ok|okay|best|happy|convenient",
    ),
    POSSIBLE: ("possible|could|doable|manage|feasible|can|acceptable|if needed",),
}
"""Words of polarity in the order in which they are looked for: "not easy" is not easy."""

# e.g. "slot 3 isn't easy", "slot 3 works"; not "how about slot 3?"
_LEVELS: Final = {
    level: re.compile(rf"(?:\b|(?=n't))(?:{'|'.join(words)})\b", re.IGNORECASE)
    for level, words in _WORDS.items()
}
# e.g. "none of these", "neither works"; not "nothing works"
_NONE = re.compile(r"\b(?:none|neither)\b", re.IGNORECASE)
# e.g. "let's take slot 3", "final: slot 3"; not "shall we take slot 3"
_SETTLES = re.compile(
    r"\b(?:settle|final|finalize|finalise|lock|let'?s (?:go|take|use|do|book|agree|make)|"
    r"let us (?:go|take|use|agree)|decided)\b",
    re.IGNORECASE,
)
# e.g. "agreed, slot 3", "I confirm slot 3"; not "I disagree"
_CONFIRMS = re.compile(r"\b(?:agreed?|confirm|confirmed|confirming|deal)\b", re.IGNORECASE)
# e.g. "we can't take slot 3"; not "another slot", "nothing"
_NEGATED = re.compile(r"\b(?:not|cannot|can't|don't|won't|disagree|never)\b", re.IGNORECASE)


@lru_cache(maxsize=4096)
def understood(text: str, about: MeetingId | None = None) -> tuple[Act, ...]:
    """Return what a message says, in its order.

    Args:
        text: the message.
        about: the meeting under discussion; another that is named is an earlier one.
    """
    plain = _QUOTED.sub("it", text[:LONGEST].replace("\u2019", "'"))
    acts: list[Act] = []
    for sentence in SENTENCE.split(plain):
        acts.extend(_sentence(sentence, about))
    return tuple(acts)


def is_for_reason(sentence: str) -> bool:
    """Whether a sentence asks what is in a slot, or in a calendar of somebody it names."""
    if not sentence.rstrip().endswith("?"):
        return False
    is_about = bool(slots_in(sentence)) or _OTHERS.search(sentence) is not None
    return is_about and bool(_FOR_REASON.search(sentence))


def _sentence(sentence: str, about: MeetingId | None) -> Iterator[Act]:
    if is_for_reason(sentence):
        return  # it is about no place for the meeting; the ledger reads it
    named = [m for m in _EARLIER.finditer(sentence) if int(m[1]) != about]
    earlier = named[0] if named else None
    move = _MOVE.search(sentence) if earlier else None
    if earlier and move:
        yield from _move(sentence, MeetingId(int(earlier[1])), move)
        return
    slots = slots_in(sentence)
    if sentence.rstrip().endswith("?"):
        if "for me" in sentence:
            yield from _claims(sentence, None)
        yield Ask(slots)
    elif not slots:
        yield from _remark(sentence)
    elif earlier is None and not _NEGATED.search(sentence) and _SETTLES.search(sentence):
        yield Settle(slots[-1])
    elif earlier is None and not _NEGATED.search(sentence) and _CONFIRMS.search(sentence):
        yield Confirm(slots[-1])
    elif not _OTHERS.search(sentence):  # claims about others are hearsay
        yield from _claims(sentence, MeetingId(int(earlier[1])) if earlier else None)


def _remark(sentence: str) -> Iterator[Act]:
    if _NONE.search(sentence):
        yield NoneOfThem()
    elif _CONFIRMS.search(sentence) and not _NEGATED.search(sentence):
        yield Confirm(None)


def _move(sentence: str, meeting: MeetingId, move: re.Match[str]) -> Iterator[Act]:
    start = Slot(int(move[1]))
    targets = slots_in(move[2])
    if not targets:
        return
    if sentence.rstrip().endswith("?"):
        yield AskMove(meeting, start, targets)
    elif len(targets) == 1 and not _NEGATED.search(sentence):
        act = ConfirmMove if _CONFIRMS.search(sentence) else SettleMove
        yield act(Move(meeting, start, targets[0]))


def _claims(sentence: str, meeting: MeetingId | None) -> Iterator[Act]:
    """Yield claims; slots without a word of their own share that of the next, else the last."""
    waiting: list[Slot] = []
    level: Level | None = None
    for clause in _CLAUSE.split(sentence):
        waiting.extend(slots_in(clause))
        found = _level_in(clause)
        if found is not None:
            level = found
            yield from (Claim(slot, found, meeting) for slot in waiting)
            waiting = []
    if level is not None:
        yield from (Claim(slot, level, meeting) for slot in waiting)


@lru_cache(maxsize=4096)
def _level_in(clause: str) -> Level | None:
    return next((level for level, pattern in _LEVELS.items() if pattern.search(clause)), None)


@lru_cache(maxsize=4096)
def slots_in(text: str) -> tuple[Slot, ...]:
    """Return the slots that a text names, in their order."""
    found = [number for match in _SLOTS.finditer(text) for number in re.findall(r"\d+", match[1])]
    return tuple(dict.fromkeys([Slot(int(number)) for number in found]))
