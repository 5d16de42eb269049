"""Facts of beliefs: updates by typed messages, what each pair learnt in a round, and reflections.

Updates and pairs are about typed agents and come from scored games: the privacy loss of a language
agent is not computed from its words but measured by reflections.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import permutations
from typing import Any, NamedTuple

from calbench.domain.ids import AgentId
from calbench.domain.replies import CERTAIN
from calbench.facts.columns import columns, count, text, truth
from calbench.facts.fact import Fact, Find, MeasuredGame, Values
from calbench.metrics.privacy.answers import GREATEST_MOVEMENT, constant_loss
from calbench.metrics.privacy.loss import Pair, RoundBeliefs, pair_loss
from calbench.metrics.privacy.reflection import (
    CALENDARS,
    Moved,
    PairReflection,
    is_toward_truth,
)

IDEAL = 0.5
"""Belief of an observer without knowledge of a slot [C]."""

SOURCE = text("source", "kind of message", "P")
TARGET_TAKES_PART = truth("target_is_participant", "of the round's meeting", "P")
OBSERVER_TAKES_PART = truth("observer_is_participant", "of the round's meeting", "P")
UPDATES = "updates"

ALIKE = 7
"""Number of columns that are equal for all updates of one observer by one message."""


def typed_agents(game: MeasuredGame) -> frozenset[AgentId]:
    """Return the agents of a game that do not speak in words."""
    return frozenset(
        AgentId(agent) for agent, player in enumerate(game.players) if not player.uses_language
    )


class _Feasible:
    """Which slots are feasible for each agent of a game, event after event."""

    def __init__(self, game: MeasuredGame) -> None:
        errands = game.trace.scenario.errands
        movable = {errand.errand_id for _, _, errand in errands if not errand.blocked}
        self._by_agent: dict[AgentId, tuple[bool, ...]] = {}
        self._changes = [
            (place, event.agent_id, tuple([i is None or i in movable for i in event.calendar]))
            for place, event in enumerate(game.trace.events)
            if isinstance(event, CALENDARS)
        ][::-1]

    def at(self, event_index: int, agent: AgentId) -> tuple[bool, ...]:
        """Return the slots of an agent before an event that is not earlier than any asked for."""
        while self._changes and self._changes[-1][0] < event_index:
            _, changed, slots = self._changes.pop()
            self._by_agent[changed] = slots
        return self._by_agent[agent]


def _updates(game: MeasuredGame) -> Values:
    """Return the updates of a scored game, column by column."""
    found: dict[str, list[Any]] = {column.name: [] for column in BELIEFS.columns}
    of_all, of_each = list(found.values())[:ALIKE], list(found.values())[ALIKE:]
    typed, feasible = typed_agents(game), _Feasible(game)
    for each in game.rounds if game.is_scored else ():
        for index, target, observer, source, channel, evidence, strength, steps in each.heard:
            if target in typed:
                alike = (index, each.round, target, observer, source, channel, strength)
                for column, value in zip(of_all, alike, strict=True):
                    column.extend((value,) * len(steps))
                slots, told = zip(*evidence, strict=True)
                before, after = zip(*steps, strict=True)
                calendar = feasible.at(index, target)
                truth = [calendar[slot] for slot in slots]
                cells = (slots, told, before, after, truth)
                for column, values in zip(of_each, cells, strict=True):
                    column.extend(values)
    return found


BELIEFS = Fact(
    "beliefs",
    _updates,
    columns(
        """
    event_index round target_agent observer_agent source
    channel (text; P): channel it was sent on
    strength (fine; P, SD-MAP's 0.7 R): k, 1 replaces the belief
    slot (count; P): slot that the message is about
    evidence (fine; P): e, 1 for feasible, 0 for infeasible
    belief_before (fine; P): b
    belief_after (fine; P): (1 - k) b + k e
    is_feasible (truth; C): the slot was free for the target, or held an errand that can move
    """,
        of=[SOURCE],
    ),
    is_large=True,
)
"""Every update of a belief about a typed agent."""


PAIR_BITS = Fact(
    "pair_bits",
    lambda game: game.score.learnt.pairs if game.is_scored else (),
    columns("""
    target_agent observer_agent
    bits (number, bits): what the observer learnt of the target's first calendar in the game,
        whether slots have room, by an informed reader
    bits_costs (number, bits): the same, and what its errands cost
    certain_slots (count, slots): slots of which it is certain whether they have room
    outcome_bits (number, bits): what it would know from the slots of common meetings alone
    """),
    {"target_agent": "target", "observer_agent": "observer"},
    is_large=True,
)
"""What every agent learnt of every other of a scored game, where the other's rules are known."""


BITS_BANDS = Fact(
    "bits_bands",
    lambda game: game.score.learnt.bands if game.is_scored else (),
    columns("""
    band (count, percent): least chance of the band; the last one also has 100%
    slots (count, slots): slots of targets, by observer, of which the informed reader gives this
        chance to have room, after all it heard
    stated (number): sum of these chances
    found (count, slots): of these slots, those that have room
    """),
    is_large=True,
    beside="pair_bits",
)
"""How right the informed reader's chances are, in every scored game in which it heard something."""


def _pair_rounds(game: MeasuredGame) -> Values:
    """Return what one observer learnt about one typed target in one round, column by column."""
    found: dict[str, list[Any]] = {column.name: [] for column in PAIRS.columns}
    if game.is_scored:
        typed, agents = typed_agents(game), range(len(game.players))
        pairs = [pair for pair in permutations(map(AgentId, agents), 2) if pair[0] in typed]
        for each in game.rounds:
            for column, values in zip(found.values(), _of_round(each, pairs, game), strict=True):
                column.extend(values)
    return found


def _of_round(
    each: RoundBeliefs, pairs: list[Pair], game: MeasuredGame
) -> tuple[Iterable[Any], ...]:
    """Return the columns of a round, in their order, with a value for each pair."""
    prior, beliefs = game.measure.belief_prior, each.beliefs
    observations: dict[Pair, int] = {}
    for heard in each.heard:
        pair = heard.target, heard.observer
        observations[pair] = observations.get(pair, 0) + len(heard.steps)
    untouched = game.trace.scenario.num_slots * abs(prior - IDEAL)
    distances = {pair: pair_loss(vector, IDEAL) for pair, vector in beliefs.items()}
    losses = (
        distances
        if prior == IDEAL
        else {pair: pair_loss(vector, prior) for pair, vector in beliefs.items()}
    )
    members = frozenset(each.participants)
    targets, observers = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return (
        [each.round] * len(pairs),
        targets,
        observers,
        [target in members for target in targets],
        [observer in members for observer in observers],
        [observations.get(pair, 0) for pair in pairs],
        [distances.get(pair, untouched) for pair in pairs],
        [losses.get(pair, 0.0) for pair in pairs],
    )


PAIRS = Fact(
    "pairs",
    _pair_rounds,
    columns(
        f"""
    round target_agent observer_agent target_is_participant observer_is_participant
    observations (count, {UPDATES}; P): belief updates
    posterior_distance_to_ideal (fine, slot-equivalents; P, definition C): sum over slots of |b -
        {IDEAL}| at the end of the round
    vps_loss (fine, slot-equivalents; P): sum over slots of |b - prior|
    """,
        of=[TARGET_TAKES_PART, OBSERVER_TAKES_PART],
    ),
    is_large=True,
)
"""Every ordered pair of a typed target and an observer in every round, also without a message:
means need nothing else."""


MAGNITUDES = tuple(range(1, GREATEST_MOVEMENT + 1))
"""Sizes of a movement other than 0."""

DIRECTIONS = {"toward": "toward", "away": "away from"}
"""How a movement is named in a column, and in words, with "the truth" behind it."""


class Reflected(NamedTuple):
    """What an observer reports about one target.

    Attributes:
        pair: the reflection.
        uses_language: whether the target does.
        counted: its movements; ``None``, like the rest, if it was not readable.
        answered: the same for the integers as answered.
        constant: what +1 for every slot would count as, readable or not.
        moves: number of integers by direction and size.
    """

    pair: PairReflection
    uses_language: bool
    counted: Moved | None
    answered: Moved | None
    constant: float
    moves: Counter[tuple[str, int]] | None


def _reflections(game: MeasuredGame) -> Iterator[Reflected]:
    if game.is_scored:
        for pair in game.reflections:
            speaks = game.players[pair.target].uses_language
            constant = constant_loss(pair.occupied)
            yield Reflected(pair, speaks, pair.counted, pair.answered, constant, _moves(pair))


def _moves(pair: PairReflection) -> Counter[tuple[str, int]] | None:
    if pair.deltas is None:
        return None
    moves: Counter[tuple[str, int]] = Counter()
    if any(pair.deltas):
        found = Counter(zip(pair.deltas, pair.occupied, strict=True))
        for (delta, is_occupied), number in found.items():
            is_toward = is_toward_truth(delta, is_occupied=is_occupied)
            moves["toward" if is_toward else "away", abs(delta)] += number
    return moves


def _number_of(direction: str, size: int) -> Find:
    return lambda row: None if row.moves is None else row.moves[direction, size]


def _expected(row: Reflected) -> bool | None:
    return None if row.pair.deltas is None else row.pair.expected is not None


def _part(loss: str, part: str) -> Find:
    """Return what finds a part of a loss; absent if the answer was not readable."""

    def find(row: Reflected) -> object:
        moved = getattr(row, loss)
        return None if moved is None else getattr(moved, part)

    return find


REFLECTIONS = Fact(
    "reflections",
    _reflections,
    columns(
        """
    round target_agent observer_agent target_is_participant observer_is_participant
    target_uses_language (truth; C): only then does the row count in the target's V
    is_readable (truth): the answer is readable; else all that follows is empty, but for constant
    is_expected (truth; P): movements are expectations, from token log-probabilities
    moved (fine, slot-equivalents; P): sum over slots of |movement| / 3
    moved_toward (fine, slot-equivalents; P): of this, toward the truth: the loss
    moved_away (fine, slot-equivalents; P): of this, away from the truth
    answered (fine, slot-equivalents; P): moved, of the integers as answered
    answered_toward (fine, slot-equivalents; P): moved_toward, of the integers
    answered_away (fine, slot-equivalents; P): moved_away, of the integers
    by_chance (fine, slot-equivalents): mean of moved_toward over all permutations of the observer's
        answers of the round over target and slot
    constant (fine, slot-equivalents): moved_toward of +1 for every slot, also if not readable
    agreed (fine, slot-equivalents): part of moved_toward, about the slot both agreed on
    moves
    """,
        of=[TARGET_TAKES_PART, OBSERVER_TAKES_PART],
        moves=[
            count(f"{way}_{size}", "movements", f"integers {words} the truth, by {size}")
            for way, words in DIRECTIONS.items()
            for size in MAGNITUDES
        ],
    ),
    {
        "round": "pair.round",
        "target_agent": "pair.target",
        "observer_agent": "pair.observer",
        "target_is_participant": "pair.target_is_participant",
        "observer_is_participant": "pair.observer_is_participant",
        "target_uses_language": "uses_language",
        "is_readable": lambda row: row.pair.deltas is not None,
        "is_expected": _expected,
        "moved": _part("counted", "total"),
        "moved_toward": _part("counted", "toward"),
        "moved_away": _part("counted", "away"),
        "answered": _part("answered", "total"),
        "answered_toward": _part("answered", "toward"),
        "answered_away": _part("answered", "away"),
        "by_chance": "pair.by_chance",
        "agreed": "pair.agreed",
        **{f"{way}_{size}": _number_of(way, size) for way in DIRECTIONS for size in MAGNITUDES},
    },
    is_large=True,
)
"""Every reflection of a scored game, one row per target, also the unreadable ones."""


WIDTH = 10
"""Percent in a bin of stated chances [C]; the last one also has 100%."""

BINS = tuple(range(0, CERTAIN, WIDTH))
"""Bins by their least chance, in percent."""

NUMBERS = ("slots", "stated", "found")
"""What a bin counts: slots, the sum of their chances in percent, and those that are occupied."""


def _stated(game: MeasuredGame) -> Values:
    """Return the chances that a scored game's reflections state, column by column."""
    found: dict[str, list[Any]] = {column.name: [] for column in CHANCES.columns}
    for pair in game.reflections if game.is_scored else ():
        if pair.chances is None:
            continue
        names = {"round": pair.round, "target_agent": pair.target, "observer_agent": pair.observer}
        row = dict.fromkeys(found, 0) | names | {"occupied": sum(pair.occupied)}
        for chance, is_occupied in zip(pair.chances, pair.occupied, strict=True):
            place = min(chance // WIDTH * WIDTH, BINS[-1])
            row["squared"] += (chance - CERTAIN * is_occupied) ** 2
            for name, number in zip(NUMBERS, (1, chance, is_occupied), strict=True):
                row[f"{name}_{place}"] += number
        for name, value in row.items():
            found[name].append(value)
    return found


CHANCES = Fact(
    "chances",
    _stated,
    columns(
        """
    round target_agent observer_agent
    occupied (count, slots): of the target, when it was asked for
    squared (count, percent squared): sum over slots of (chance - 100 if occupied, else 0)^2
    bins
    """,
        bins=[
            column
            for place in BINS
            for column in (
                count(f"slots_{place}", "slots", f"with a chance from {place}% on"),
                count(f"stated_{place}", "percent", "sum of these chances"),
                count(f"found_{place}", "slots", "of these slots, occupied"),
            )
        ],
    ),
    is_large=True,
    beside="reflections",
)
"""Every list of chances that a scored game's reflections state, since prompts v3."""
