"""Manners of speakers that err: what each of them does beside its talk, by seeded chance [C].

The wordings have the stream ``words``; every draw here has ``errs`` and its purpose in its names,
so what one manner draws moves nothing else, and a speaker without a manner draws nothing.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from calbench.agents.scripted import phrases
from calbench.agents.scripted.ledger import Given, Ledger, reasons_in
from calbench.agents.scripted.phrases import Outbox, Voice, listed
from calbench.agents.scripted.reading import Heard
from calbench.agents.scripted.understanding import EASY, IMPOSSIBLE, Claim, Level, understood
from calbench.agents.scripted.view import View
from calbench.domain.calendars import Booking, Errand
from calbench.domain.ids import AgentId, ErrandId, MeetingId, Slot
from calbench.domain.randomness import Stream, stream
from calbench.llm.completion import Completion

GAMES = 504
"""Games of the paper's behaviour audit (Table 14) [P]."""

MODELS = 7
"""Model families in it; each has an equal share of its games and messages here [C]."""

MESSAGES = 36_858
"""Messages of it (Table 14) [P]."""

ROUNDS, SEATS = 5, 3
"""Rounds of a game, participants of a meeting (section 3) [P]."""


def share_of_messages(count: int) -> float:
    """Return the share of a family's messages that shows a pattern of Table 15, by its count."""
    return count * MODELS / MESSAGES


def share_of_rounds(count: int) -> float:
    """Return the share of a family's rounds that shows a pattern of Table 15, by its count."""
    return count * MODELS / (GAMES * ROUNDS)


@dataclass(frozen=True, slots=True)
class Moment:
    """When a speaker is asked; the same moment always draws the same.

    Attributes:
        seed: of the speaker.
        round_index: from 0.
        kind: of the question.
        turn_index: sweep of the talk; -1 outside of it.
    """

    seed: int
    round_index: int
    kind: str
    turn_index: int

    def of_round(self, purpose: str) -> Stream:
        """Open the stream of a purpose that is drawn once a round."""
        return stream(self.seed, "errs", purpose, self.round_index)

    def of_turn(self, purpose: str) -> Stream:
        """Open the stream of a purpose that is drawn in every turn."""
        return stream(self.seed, "errs", purpose, self.round_index, self.kind, self.turn_index)


def happens(chance: Stream, share: float) -> bool:
    """Whether something that happens in this share of cases happens now."""
    return chance.below(1_000_000) < round(share * 1_000_000)


@dataclass(frozen=True, slots=True)
class Manner:
    """What a style does beside its talk; this one does nothing."""

    def seen(self, view: View, moment: Moment) -> View:
        """Return what the speaker takes for true in this round."""
        del moment
        return view

    def remembered(self, view: View, moment: Moment) -> View:
        """Return what it remembers when it writes into its calendar."""
        del moment
        return view

    def voiced(self, voice: Voice, moment: Moment) -> Voice:
        """Return the voice in which it says this turn's sentences."""
        del moment
        return voice

    def gives_reasons(self, moment: Moment) -> bool:
        """Whether it mentions private labels in this turn, though its style does not always."""
        del moment
        return False

    def add(self, view: View, voice: Voice, outbox: Outbox, moment: Moment) -> None:
        """Add to what is to be said, after everything that the talk needs."""

    def written(self, text: str, moment: Moment) -> Completion:
        """Return a reply as it leaves the speaker."""
        del moment
        return Completion(text=text)


AMBIGUOUS: Final = share_of_rounds(21)
"""Rounds that ended in different slots: GPT's 21 of 360, the most of Table 15 [P, shares C]."""

FORGETS: Final = AMBIGUOUS / SEATS
"""Chance, in a round, that a participant forgets all that was said in it [C]."""

CONFIRMS_TWO: Final = AMBIGUOUS / SEATS
"""Chance, in a round, that it names a second slot to somebody when it first confirms one [C]."""

MOVES_ALONE: Final = 1 / 4
"""Chance, in a round, that it takes an earlier meeting for an errand of its own [C].

The paper counts what came of it (Qwen: 33 of 360 rounds), not how often there was an occasion."""

BREAKS_OFF: Final = 10 * MODELS / (GAMES * ROUNDS * SEATS)
"""Chance, in a round, that its batches are cut off: Llama's 10 of 1,080 agent-rounds [P, shares C].
"""

LONGEST_REPLY: Final = 65 * 4
"""Characters at which such a reply is cut: 65 tokens [P, appendix H] of four characters [C]."""

_THINKING: Final = "Let me think once more about every slot before I write anything down. "
_DECIDING: Final = ("decision", "retry")


@dataclass(frozen=True, slots=True)
class Careless(Manner):
    """Forgets what was agreed, confirms two slots, moves meetings alone, breaks off.

    Each lapse happens at most once in a round, and nobody is told of it.
    """

    def seen(self, view: View, moment: Moment) -> View:
        """Take one of the earlier meetings for an errand, which may be moved alone."""
        chance = moment.of_round("moves alone")
        held = [(slot, b) for slot, b in enumerate(view.calendar) if isinstance(b, Booking)]
        if not view.others or not happens(chance, MOVES_ALONE) or not held:
            return view
        slot, booking = chance.choice(held)
        # By its number it can be moved as a meeting can: the game looks at what is in the slot.
        errand = Errand(ErrandId(booking.item_id), booking.meeting.cost, blocked=False)
        calendar = (*view.calendar[:slot], errand, *view.calendar[slot + 1 :])
        return replace(view, calendar=calendar)

    def remembered(self, view: View, moment: Moment) -> View:
        """Forget all that was said, and with it the slot that was agreed and moves promised."""
        if not happens(moment.of_round("forgets"), FORGETS):
            return view
        return replace(view, ledger=Ledger(view.me, view.rules.num_slots))

    def add(self, view: View, voice: Voice, outbox: Outbox, moment: Moment) -> None:
        """Confirm a second slot to the last of the others, when it first agrees to one."""
        agreed = view.agreed
        if (
            agreed is None
            or view.me in view.ledger.votes
            or view.levels[agreed] is IMPOSSIBLE
            or not happens(moment.of_round("confirms two"), CONFIRMS_TWO)
        ):
            return
        second = view.best_but({agreed})
        if second is not None:
            outbox.tell(view.others[-1:], voice.say(phrases.CONFIRM, slot=second))

    def written(self, text: str, moment: Moment) -> Completion:
        """Think aloud at such length that the reply is cut off before its actions."""
        if moment.kind not in _DECIDING or not happens(moment.of_round("breaks off"), BREAKS_OFF):
            return Completion(text=text)
        rambling = json.dumps({"thinking": _THINKING * LONGEST_REPLY})
        return Completion(text=rambling[:LONGEST_REPLY], finish_reason="length")


PASSES_ON: Final = share_of_messages(1782)
"""Chance that what an agent said is passed on to another: DeepSeek's 1,782 messages of
availability gossip, the most of Table 15 [P, shares C]."""

TELLS_OF_ERRANDS: Final = share_of_messages(2058)
"""Chance that an answer mentions an own errand: Flash's 2,058 [P, shares C]."""

TELLS_COST: Final = share_of_messages(712)
"""Chance that it does so with its cost: Gemini Pro's 712 [P, shares C]."""

TELLS_NUMBER: Final = share_of_messages(56)
"""Chance that it does so with its number: Llama's 56 [P, shares C]."""

GIVES_REASONS: Final = 1 / 4
"""Chance that it mentions own labels in a turn [C].

The paper's models hardly did (DeepSeek: 7 of 5,265 messages): at that rate a suite of this size
would show none, and none could be passed on."""


@dataclass(frozen=True, slots=True)
class Gossip(Manner):
    """Tells each of the others what the third one said, labels too, a turn after it heard it."""

    def gives_reasons(self, moment: Moment) -> bool:
        """Whether it names own labels in this turn."""
        return happens(moment.of_turn("reasons"), GIVES_REASONS)

    def add(self, view: View, voice: Voice, outbox: Outbox, moment: Moment) -> None:
        """Pass on what was heard since its last turn, and mention an errand in an answer."""
        chance = moment.of_turn("gossip")
        for heard in view.now.inbox:
            for listener in _strangers_to(view, heard):
                told = list(_told(heard, listener, view, voice))
                if told and happens(chance, PASSES_ON):
                    outbox.tell([listener], chance.choice(told))
        sentence = _errand(view, voice, moment.of_turn("errands"))
        for agent in view.others if sentence else ():
            if outbox.speaks_to(agent):
                outbox.tell([agent], sentence)


def _strangers_to(view: View, heard: Heard) -> list[AgentId]:
    """Return the other participants that did not hear a message; a channel is heard by all."""
    if heard.channel != "dm" or heard.about is not None:
        return []
    return [agent for agent in view.others if agent != heard.sender]


def _told(heard: Heard, listener: AgentId, view: View, voice: Voice) -> Iterator[str]:
    """Yield what there is to pass on of a message: its labels, or else what it says of slots.

    A label that the sender passed on itself stays its owner's, who is not told of it.
    """
    if heard.sender is None or heard.text is None:
        return
    given = [act for act in reasons_in(heard.text) if isinstance(act, Given)]
    if given:
        for reason in given:
            owner = heard.sender if reason.owner is None else reason.owner
            if owner not in (listener, view.me):
                yield voice.say(
                    phrases.HEARSAY_REASON, agent=owner, label=reason.label, slot=reason.slot
                )
        return
    for act in understood(heard.text, view.meeting.meeting_id):
        if isinstance(act, Claim) and act.meeting is None:
            word = "free" if act.level is EASY else act.level.word
            yield voice.say(phrases.HEARSAY, agent=heard.sender, slot=act.slot, word=word)


def _errand(view: View, voice: Voice, chance: Stream) -> str:
    """Return a sentence about an own errand; empty in most turns, or if there is none."""
    draw = chance.below(1_000_000) / 1_000_000
    errands = [
        (Slot(slot), item)
        for slot, item in enumerate(view.calendar)
        if isinstance(item, Errand) and view.levels[slot] not in (EASY, IMPOSSIBLE)
    ]
    if not errands or draw >= TELLS_OF_ERRANDS:
        return ""
    slot, errand = chance.choice(errands)
    if draw < TELLS_NUMBER:
        return voice.say(phrases.ERRAND_NUMBER, errand=errand.errand_id, slot=slot)
    if draw < TELLS_NUMBER + TELLS_COST:
        return voice.say(phrases.ERRAND_COST, cost=errand.shown_cost, slot=slot)
    return voice.say(phrases.ERRAND, slot=slot)


TELLS_DIFFICULTY: Final = 0.063
"""Share of turns in which it says how hard slots are all the same [P, section 4]."""

_CAN: Final = ("I can do {slots}.", "I could do {slots}.")
_CANNOT: Final = ("I cannot do {slots}.", "I am not available at {slots}.")


@dataclass(frozen=True, slots=True)
class Withholding(Manner):
    """Says which slots are possible, and keeps how hard they are to itself.

    What the paper saw in GPT-5.4 Mini: it proposed slots and told its availability as others did,
    and hardly ever its costs or constraints (section 4).
    """

    def voiced(self, voice: Voice, moment: Moment) -> Voice:
        """Return a voice for yes and no, in nearly every turn."""
        is_frank = happens(moment.of_turn("difficulty"), TELLS_DIFFICULTY)
        return voice if is_frank else YesOrNo(voice.chance)


class YesOrNo(Voice):
    """A voice that has two words for five levels."""

    def level(self, slots: Sequence[Slot], level: Level) -> str:
        """Say whether slots can be."""
        wordings = _CANNOT if level is IMPOSSIBLE else _CAN
        return self.say(wordings, slots=listed(slots, "and"))

    def levels(self, slots: Sequence[Slot], levels: Sequence[Level]) -> list[str]:
        """Say which of several slots can be, and which cannot."""
        cannot = sorted(slot for slot in slots if levels[slot] is IMPOSSIBLE)
        can = sorted(slot for slot in slots if levels[slot] is not IMPOSSIBLE)
        said = [self.level(can, Level.POSSIBLE)] if can else []
        return [*said, self.level(cannot, IMPOSSIBLE)] if cannot else said

    def move_level(self, meeting: MeetingId, slot: Slot, level: Level) -> str:
        """Answer for one target with yes or no."""
        return f"For M{meeting}, I {'cannot' if level is IMPOSSIBLE else 'can'} do slot {slot}."


RECONFIRMS: Final = 3 / 4
"""Chance, in a turn with nothing else to say, that it confirms the agreed slot again [C].

The paper counts short confirmations (Flash: 1,428 of 5,265 messages), which speakers that are to
the point also need; how often one repeated another it does not say."""


@dataclass(frozen=True, slots=True)
class Wrangler(Manner):
    """Confirms and reconfirms what is agreed, until the talk is cut off."""

    def add(self, view: View, voice: Voice, outbox: Outbox, moment: Moment) -> None:
        """Confirm the agreed slot again to everybody, though nobody asked."""
        agreed = view.agreed
        if outbox or agreed is None or view.ledger.votes.get(view.me) != agreed:
            return
        if view.levels[agreed] is not IMPOSSIBLE and happens(
            moment.of_turn("reconfirms"), RECONFIRMS
        ):
            outbox.tell(view.others, voice.say(phrases.RECONFIRM, slot=agreed))
