"""Page data of the ledger: what each message of a game gave away, and by which words.

Of typed agents it holds every belief that a message moved, so that a reader's page can replay
the beliefs of each observer and add up the privacy loss message by message (paper, appendix
F.2). What language agents give away is measured by reflections, which are in the game's own
events (appendix F.3). Of messages in words it holds where they speak of the sender's own
slots, which private labels they tell or pass on, and the patterns they show (appendices G.5
and H).
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import compute

from calbench.errors import FileError
from calbench.facts.storage import GAME, Facts
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.metrics.players import players_of
from calbench.metrics.privacy.loss import Pair, round_beliefs
from calbench.metrics.speech.detectors import own_slot
from calbench.metrics.speech.messages import (
    AuditedMessage,
    Scene,
    Told,
    audited_messages,
    scene_of,
)
from calbench.metrics.speech.secondhand import PassedOn, spread
from calbench.report.tables import Row
from calbench.traces.events import AnnouncementSent
from calbench.traces.models import Trace

NAMES = ("event_index", "patterns", "own_slot", "labels_told", "labels_passed_on")
"""Of the fact ``messages``."""


class Judged(NamedTuple):
    """What was found in one message.

    Attributes:
        patterns: that it shows, in the paper's order.
        own_slot: its claims about its sender's own slots, in the order of tables.
        tells: whether it tells a private label to an agent that may not know it.
        passes_on: whether it passes on a label of another.
    """

    patterns: tuple[str, ...]
    own_slot: tuple[str, ...]
    tells: bool
    passes_on: bool


class GameBits(NamedTuple):
    """The bits that each message of a game told, by its event, and those of its outcome."""

    told: Mapping[int, float]
    outcome: float

    def as_data(self) -> dict[str, Any]:
        """Return them as :func:`ledger_data` says."""
        told = [value for pair in self.told.items() for value in pair]
        return {"told": told, "outcome": self.outcome}


class JudgedGames:
    """What facts say of the messages of the first game of every team on every scenario.

    Args:
        facts: of an experiment; absent, or without messages: nothing is known of any game.
    """

    def __init__(self, facts: Facts | None) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        if facts is None or not facts.has("messages"):
            return
        games = facts.table("games", ["team", "scenario_id", "replicate", "is_excluded"])
        for number, game in enumerate(zip(*games.to_pydict().values(), strict=True)):
            team, scenario_id, replicate, is_excluded = game
            if not replicate and not is_excluded:
                self._numbers[team, scenario_id] = number
        rows = facts.table("messages", [GAME, "source", "bits", *NAMES])
        texts = rows.filter(compute.equal(rows["source"], "text"))
        self._texts = _by_game(texts, NAMES, games.num_rows)
        told = rows.filter(compute.is_valid(rows["bits"]))
        self._told = _by_game(told, ("event_index", "bits"), games.num_rows)

    def of(self, team: str, scenario_id: str) -> Mapping[int, Judged] | None:
        """Return what was found in the messages in words of a game, by the index of their events.

        ``None``, if facts do not tell: of games that do not count they never do.
        """
        number = self._numbers.get((team, scenario_id))
        if number is None:
            return None
        return {
            index: Judged(
                tuple((patterns or "").split()),
                tuple((own_slot or "").split()),
                bool(told),
                bool(passed_on),
            )
            for index, patterns, own_slot, told, passed_on in self._texts(number)
        }

    def bits_of(self, team: str, scenario_id: str) -> Mapping[int, float]:
        """Return the bits that each message told, by its event; none where they are unknown."""
        number = self._numbers.get((team, scenario_id))
        return {} if number is None else dict(self._told(number))


def _by_game(
    rows: pa.Table, names: Sequence[str], num_games: int
) -> Callable[[int], Iterator[tuple[Any, ...]]]:
    """Return what yields some columns of a game's rows, by its number."""
    starts = np.searchsorted(rows[GAME].to_numpy(), np.arange(num_games + 1)).tolist()
    chosen = rows.select(names)

    def of(number: int) -> Iterator[tuple[Any, ...]]:
        start, end = starts[number], starts[number + 1]
        return zip(*chosen.slice(start, end - start).to_pydict().values(), strict=True)

    return of


DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Stand in a vector for the number of a value; one above them is ``chr(0x100 + number)``."""

UNMOVED = "."
"""Stands in a vector for a slot that the message says nothing of."""

FEW = 3
"""Slots up to which a list of slot and value is shorter than a vector [C]."""

LETTERS = {"proposal": "p", "availability": "a", "cost_or_constraint": "c", "exact_cost": "x"}
"""Own-slot claims as a span names them; ``claimNames`` of the page's script says the same."""

# e.g. "Slot 3?! Or 4"; not "...\n"
_SENTENCE = re.compile(r"[^.!?;\n]+[.!?;]*")

OPTIMUM_COLUMNS = ("is_searched", "event_index", "least_cost_before", "least_cost_after")
"""Of ``optimum_unreachable.csv``: what the ledger tells of a game."""

Move = list[Any]
Span = list[Any]


def ledger_data(
    trace: Trace,
    unreachable: Row | None = None,
    measure: MeasureSpec = DEFAULT_MEASURE,
    judged: Mapping[int, Judged] | None = None,
    bits: GameBits | None = None,
) -> dict[str, Any]:
    """Return the ledger of a game as the browser needs it.

    ``prior`` is every belief at the start of a round. ``typed`` lists the agents whose loss is
    read off their messages. ``values`` are the distinct beliefs after a message, and ``moves``
    one row for each message that moved some: the event, then which slots came to which value,
    then target and observer; these two are left out if the message speaks of its sender to all
    it is addressed to. Which slots is either a text with one character a slot, the number of
    the value or a point, or a flat list of slot and number of the value.

    ``words`` maps events of messages in words to their spans, or to an earlier event with the
    same text and spans: start, end, and either the letters of own-slot claims or the number of
    one of ``labels``, which are text, tier and item. A label of another that the message passes on
    has its path behind that number: one row for each message that told it, this one last, with
    speaker, event and the agents that learnt it. ``tags`` maps events to the patterns they show.

    ``unreachable`` says at which event the optimum became unreachable (``None``: never), and the
    least cost that was possible before and after. ``bits`` has event and bits of each message whose
    rules are known, one after the other, and what the outcome tells, which is taken off their sum.

    Args:
        trace: the game.
        unreachable: its row of ``optimum_unreachable.csv``, if there is one.
        measure: the prior.
        judged: what was found in each message in words, by its event; absent: judged now.
        bits: what each message told, if that is known.

    Raises:
        ConfigError: there is no such label bank as the trace names.
        FileError: the label bank does not fit, or what was found is not of this game.
    """
    players = players_of(trace.config.team, trace.scenario.num_agents)
    typed = [agent for agent, player in enumerate(players) if not player.uses_language]
    data: dict[str, Any] = {"prior": measure.belief_prior, "typed": typed}
    if typed:
        numbers: dict[float, int] = {}
        data["moves"] = list(_moves(trace, measure, frozenset(typed), numbers))
        data["values"] = list(numbers)
    if len(typed) < len(players):
        data.update(_heard(trace, judged))
    if bits is not None:
        data["bits"] = bits.as_data()
    reach = _reach(unreachable)
    return data if reach is None else {**data, "unreachable": reach}


def _reach(row: Row | None) -> dict[str, int | None] | None:
    if row is None or not row["is_searched"]:
        return None
    if row["event_index"] is None:
        return {"at": None}
    return {
        "at": row["event_index"],
        "before": row["least_cost_before"],
        "after": row["least_cost_after"],
    }


def _moves(
    trace: Trace, measure: MeasureSpec, typed: frozenset[int], numbers: dict[float, int]
) -> Iterator[Move]:
    num_slots = trace.scenario.num_slots
    for beliefs in round_beliefs(trace, measure):
        moved: dict[int, dict[Pair, dict[int, int]]] = {}
        for index, target, observer, _, _, evidence, _, steps in beliefs.heard:
            if target in typed:
                slots = moved.setdefault(index, {}).setdefault((target, observer), {})
                for (slot, _), (_, after) in zip(evidence, steps, strict=True):
                    number = numbers.get(after)
                    if number is None:
                        number = numbers[after] = len(numbers)
                    slots[slot] = number
        for index, by_pair in moved.items():
            yield from _rows(index, trace, by_pair, num_slots)


def _rows(
    index: int, trace: Trace, moved: Mapping[Pair, Mapping[int, int]], num_slots: int
) -> Iterator[Move]:
    """Yield one row if all addressed learn the same of the sender, else one for each pair."""
    event = trace.events[index]
    sender = getattr(event, "from_agent", None)
    everyone = () if isinstance(event, AnnouncementSent) else getattr(event, "to_agents", ())
    told = list(moved.values())
    if set(moved) == {(sender, observer) for observer in everyone} and all(
        each == told[0] for each in told
    ):
        yield [index, vector_of(told[0], num_slots)]
        return
    for (target, observer), slots in moved.items():
        yield [index, vector_of(slots, num_slots), target, observer]


def vector_of(number_by_slot: Mapping[int, int], num_slots: int) -> str | list[int]:
    """Return which slots came to which value: one character a slot, or slots and numbers."""
    if len(number_by_slot) <= FEW:
        return [number for pair in sorted(number_by_slot.items()) for number in pair]
    cells = [UNMOVED] * num_slots
    for slot, number in number_by_slot.items():
        cells[slot] = DIGITS[number] if number < len(DIGITS) else chr(0x100 + number)
    return "".join(cells)


def _heard(trace: Trace, judged: Mapping[int, Judged] | None) -> dict[str, Any]:
    """Return the spans and patterns of every message in words that has some."""
    numbers: dict[tuple[str, str, int], int] = {}
    words: dict[str, list[Span] | int] = {}
    tags: dict[str, list[str]] = {}
    said_before: dict[str, tuple[int, list[Span]]] = {}
    messages, passed = _audited(trace, judged)
    for audited in messages:
        message, index = audited.said, audited.said.event_index
        found = _judged_now(audited) if judged is None else judged[index]
        told = audited.told if found.tells else ()
        spans = [
            *_claims(message.text, _letters(found.own_slot)),
            *_leaks(message.text, (*told, *passed.get(index, ())), numbers),
        ]
        before = said_before.setdefault(message.text, (index, spans))
        if spans:
            words[str(index)] = before[0] if before[0] != index and before[1] == spans else spans
        if found.patterns:
            tags[str(index)] = list(found.patterns)
    return {"labels": [list(label) for label in numbers], "words": words, "tags": tags}


def _audited(
    trace: Trace, judged: Mapping[int, Judged] | None
) -> tuple[Sequence[AuditedMessage], Mapping[int, Sequence[PassedOn]]]:
    """Return the messages in words, and the labels that they pass on by the index of their event.

    Labels are dealt, and the way of each followed, only where some message tells or passes on one.
    """
    known = None if judged is None else judged.values()
    is_told = known is None or any(each.tells or each.passes_on for each in known)
    scene = scene_of(trace) if is_told else Scene(trace.scenario, None)
    messages = audited_messages(trace, scene)
    if judged is not None and [each.said.event_index for each in messages] != list(judged):
        name = f"{trace.config.team.team_id} on {trace.scenario.scenario_id}"
        raise FileError(f"{name}: its facts are of another game; measure the games again")
    is_passed_on = known is None or any(each.passes_on for each in known)
    return messages, spread(messages, scene.labels).by_event if is_passed_on else {}


def _judged_now(message: AuditedMessage) -> Judged:
    told = bool(message.told)
    return Judged(message.patterns, message.own_slot, tells=told, passes_on=told)


def _claims(text: str, whole: str) -> Iterator[Span]:
    """Yield the sentences that speak of the sender's own slots: start, end and which claims.

    A claim that only the whole message makes, such as a slot and a word about it in two
    sentences, is the whole message's. No sentence is judged where the message makes no claim.

    Args:
        text: of the message.
        whole: its claims, one letter each.
    """
    found = ""
    for match in _SENTENCE.finditer(text) if whole else ():
        own = whole if match[0] == text else _letters(_own(match[0]))
        claims = "".join(letter for letter in own if letter in whole)
        if claims:
            start = match.start() + len(match[0]) - len(match[0].lstrip())
            yield [*_utf16(text, start, match.end()), claims]
            found += claims
    rest = "".join(letter for letter in whole if letter not in found)
    if rest:
        yield [*_utf16(text, 0, len(text)), rest]


def _own(sentence: str) -> Sequence[str]:
    found = own_slot(sentence)
    return [name for name in LETTERS if getattr(found, name)]


def _letters(claims: Collection[str]) -> str:
    return "".join(letter for name, letter in LETTERS.items() if name in claims)


def _leaks(
    text: str, found: Iterable[Told | PassedOn], numbers: dict[tuple[str, str, int], int]
) -> Iterator[Span]:
    """Yield the words that tell a private label: start, end, the label's number, and any path."""
    for told in found:
        label = told.label.text, told.label.tier, int(told.item)
        number = numbers.setdefault(label, len(numbers))
        place = _utf16(text, told.leak.start, told.leak.end)
        yield [*place, number, *([_path(told)] if isinstance(told, PassedOn) else [])]


def _path(passed: PassedOn) -> list[list[Any]]:
    """Return the path of a label: speaker, event and learners of each message."""
    return [
        [int(step.speaker), step.place, [int(each) for each in step.learners]]
        for step in passed.path
    ]


def _utf16(text: str, *places: int) -> Sequence[int]:
    """Return places in a text as scripts count them, in 16-bit units."""
    if text.isascii():
        return places
    return [len(text[:place].encode("utf-16-le", "surrogatepass")) // 2 for place in places]
