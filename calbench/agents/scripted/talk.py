"""The styles of speakers, and CHEAP_TALK in them: propose, answer, close. The first to speak leads.

Earlier meetings are moved jointly: that is asked for, answered, announced, and kept. One moves only
to a target that all its participants said they can make, and an agent that has promised a move
keeps it, whatever happens to the meeting it was for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from calbench.agents.scripted import phrases
from calbench.agents.scripted.erring import Careless, Gossip, Manner, Withholding, Wrangler
from calbench.agents.scripted.phrases import Outbox, Voice, listed
from calbench.agents.scripted.understanding import (
    EASY,
    HARD,
    IMPOSSIBLE,
    POSSIBLE,
    WEIGHTS,
    Move,
    slots_at,
)
from calbench.agents.scripted.view import View
from calbench.domain.calendars import Booking, Errand, Meeting
from calbench.domain.ids import AgentId, Slot

REASONS: Final = 2
"""Labels that the oversharer mentions in one message [C]."""


@dataclass(frozen=True, slots=True)
class Style:
    """A way of talking.

    Attributes:
        name: as in a team's description.
        is_open: reveals all its slots to an agent that talks with it for the first time.
        gives_reasons: mentions private labels.
        most_slots: slots that one message may name.
        manner: what it does beside, by chance.
        confides: chance in percent that it tells what is in a slot if it is asked.
    """

    name: str
    is_open: bool = True
    gives_reasons: bool = False
    most_slots: int | None = None
    manner: Manner = field(default_factory=Manner)
    confides: int = 0

    def answer(self, view: View, voice: Voice, asker: AgentId, asked: Sequence[Slot]) -> list[str]:
        """Return the answer to a question for slots; to one that names none, if empty."""
        levels = view.levels
        if self.is_open and asker not in view.ledger.answered:
            return self.openness(view, voice)
        if not asked:
            best = sorted(range(len(levels)), key=lambda slot: levels[slot])
            return voice.levels([Slot(s) for s in best[:3] if levels[s] < IMPOSSIBLE], levels)
        if len(asked) > 1 and all(levels[slot] is IMPOSSIBLE for slot in asked):
            # The best slot of those that were not spoken of is offered instead.
            counter = view.best_but({*asked, *view.ledger.levels.get(view.me, {})})
            offered = [] if counter is None else [counter]
            return [voice.say(phrases.NONE), *voice.levels(offered, levels)]
        return [*self.reasons(view, voice, asked), *voice.levels(asked[: self.most_slots], levels)]

    def openness(self, view: View, voice: Voice) -> list[str]:
        """Return what an open speaker reveals of its calendar unasked; nothing for other styles."""
        if not self.is_open:
            return []
        slots = [Slot(slot) for slot in range(len(view.levels))]
        return [*self.reasons(view, voice, slots), *voice.levels(slots, view.levels)]

    def reasons(self, view: View, voice: Voice, slots: Sequence[Slot]) -> list[str]:
        """Return sentences that name own errands in these slots, the hardest slots first."""
        if not self.gives_reasons:
            return []
        errands = [
            (slot, label)
            for slot in sorted(slots, key=lambda slot: -view.levels[slot])
            if view.levels[slot] is not EASY
            and isinstance(item := view.calendar[slot], Errand)
            and (label := view.labels.get(item.item_id))
        ]
        return [
            voice.say(phrases.REASON, label=label, slot=slot) for slot, label in errands[:REASONS]
        ]


STYLES: Final = {
    style.name: style
    for style in (
        Style("candid"),
        Style("guarded", is_open=False, most_slots=3),
        Style("careless", manner=Careless()),
        Style("gossip", manner=Gossip()),
        Style("withholding", is_open=False, manner=Withholding()),
        Style("wrangler", manner=Wrangler()),
        Style("oversharer", gives_reasons=True, confides=100),
        Style("trusting", confides=50),
    )
}
"""The scripted styles by name [C]."""

TARGETS: Final = 2
"""Targets that one question names [C]."""

MOST_MOVES: Final = 2
"""Earlier meetings that a speaker asks about in one round [C]."""


def answer_moves(view: View, voice: Voice, outbox: Outbox) -> None:
    """Answer questions about meetings that both agents take part in."""
    ledger = view.ledger
    promised = {move.meeting for move in view.agreed_moves}
    for asker, act in ledger.move_questions:
        meeting = view.booking(Move(act.meeting, act.start, act.start))
        if meeting is None or asker not in meeting.participants or act.meeting in promised:
            continue
        for target in act.targets:
            if target < len(view.levels):
                outbox.tell([asker], voice.move_level(act.meeting, target, view.levels[target]))
    for move, announcer in ledger.moves.items():
        if view.me in ledger.move_votes[move]:
            continue
        if move in view.agreed_moves:
            outbox.tell([announcer], voice.say(phrases.MOVE_CONFIRM, **move._asdict()))
        elif _may_refuse(view, move, announcer):
            outbox.tell([announcer], voice.move_level(move.meeting, move.to, IMPOSSIBLE))


def _may_refuse(view: View, move: Move, announcer: AgentId) -> bool:
    """Whether a move is the speaker's business and it has not refused it yet."""
    meeting = view.booking(move)
    told = view.ledger.told.get((view.me, move.meeting), {}).get(move.to)
    return meeting is not None and announcer in meeting.participants and told is not IMPOSSIBLE


def seek_move(view: View, voice: Voice, outbox: Outbox, limit: int) -> bool:
    """Try to free a slot that an own earlier meeting holds.

    Args:
        view: what the speaker knows.
        voice: its words.
        outbox: where they go.
        limit: the cost of the best slot that needs no move.

    Returns:
        Whether something was said towards it.
    """
    if view.agreed_moves or (view.now.turns_left or 0) < 1:
        return False
    if _announce(view, voice, outbox, limit):
        return True
    if len(view.ledger.asked_moves) >= MOST_MOVES or (view.now.turns_left or 0) < 2:
        return False
    for slot, item in enumerate(view.calendar):
        if isinstance(item, Booking) and _ask(view, voice, outbox, item.meeting, Slot(slot)):
            return True
    return False


def _ask(view: View, voice: Voice, outbox: Outbox, meeting: Meeting, slot: Slot) -> bool:
    members = [agent for agent in meeting.participants if agent != view.me]
    guests = [agent for agent in view.others if agent not in members]
    targets = slots_at(view.levels, EASY, POSSIBLE)[:TARGETS]
    if (
        not targets
        or (meeting.meeting_id, slot) in view.ledger.asked_moves
        or not all(outbox.reaches(agent) for agent in members)
        or any(view.ledger.level(agent, slot) is IMPOSSIBLE for agent in guests)
    ):
        return False
    slots = listed(sorted(targets), "or")
    asked = voice.say(phrases.MOVE_ASK, meeting=meeting.meeting_id, start=slot, slots=slots)
    outbox.tell(members, asked)
    outbox.tell([a for a in guests if view.ledger.level(a, slot) is None], voice.ask([slot]))
    return True


def _announce(view: View, voice: Voice, outbox: Outbox, limit: int) -> bool:
    """Announce a move that all its participants said they can make, if it is worth it."""
    for (meeting_id, start), targets in view.ledger.asked_moves.items():
        meeting = view.booking(Move(meeting_id, start, start))
        if meeting is None:
            continue
        members = [agent for agent in meeting.participants if agent != view.me]
        guests = [agent for agent in view.others if agent not in members]
        able = [
            (sum(weights) + WEIGHTS[view.levels[target]], target)
            for target in targets
            if (weights := _weights(view, meeting, members, target)) is not None
        ]
        at_start = [view.ledger.level(agent, start) for agent in guests]
        if not able or any(level in (None, IMPOSSIBLE) for level in at_start):
            continue
        # Each participant pays for its copy; what a meeting costs is shown to all of them.
        weight = min(able)[0] + len(meeting.participants) * meeting.cost
        weight += sum(WEIGHTS[level] for level in at_start if level is not None)
        if weight < limit:
            move = Move(meeting_id, start, min(able)[1])
            outbox.tell(members, voice.say(phrases.MOVE_SETTLE, **move._asdict()))
            outbox.tell(view.others, voice.say(phrases.SETTLE, slot=start))
            return True
    return False


def _weights(
    view: View, meeting: Meeting, members: list[AgentId], target: Slot
) -> list[int] | None:
    """Return what a target weighs for each other member, ``None`` if it is not agreed by all."""
    told = [view.ledger.told.get((a, meeting.meeting_id), {}).get(target) for a in members]
    weights = [WEIGHTS[level] for level in told if level is not None and level is not IMPOSSIBLE]
    return weights if len(weights) == len(members) else None


PATIENCE: Final = 3
"""Turns in which it neither heard nor said anything after which a speaker leads [C]."""

PROPOSED: Final = 3
"""Slots that one question names [C]."""


def talk(view: View, style: Style, voice: Voice) -> Outbox:
    """Return what a speaker says in its turn."""
    outbox = Outbox(view.rules, view.others)
    answer_moves(view, voice, outbox)
    if not view.others:
        return outbox
    agreed = view.agreed
    if agreed is None:
        _answer(view, style, voice, outbox)
        if _leads(view, outbox):
            _lead(view, style, voice, outbox)
    elif view.ledger.votes.get(view.me) != agreed:
        _agree(view, style, voice, outbox, agreed)
    else:
        _answer(view, style, voice, outbox)
    return outbox


def _leads(view: View, outbox: Outbox) -> bool:
    """Whether the speaker should propose: it spoke first, or no one else continues."""
    if view.ledger.first in (None, view.me) or view.ledger.first not in view.others:
        return True
    is_late = (view.now.turns_left or 0) < PATIENCE
    return not outbox and view.idle >= (1 if is_late else PATIENCE)


def _answer(view: View, style: Style, voice: Voice, outbox: Outbox) -> None:
    ledger = view.ledger
    for asker in view.others:
        asked = ledger.questions.get(asker, [])
        if asked or asker in ledger.open_questions:
            outbox.tell([asker], *style.answer(view, voice, asker, asked))


def _agree(view: View, style: Style, voice: Voice, outbox: Outbox, slot: Slot) -> None:
    """Answer those who settled on a slot: confirm it, or say that it cannot be."""
    backers = [agent for agent in view.others if view.ledger.votes.get(agent) == slot]
    if view.levels[slot] is not IMPOSSIBLE:
        outbox.tell(
            backers, voice.say(phrases.CONFIRM, slot=slot), *style.reasons(view, voice, [slot])
        )
        return
    outbox.tell(backers, voice.level([slot], IMPOSSIBLE))
    if counter := _fresh(view, but=slot):
        outbox.tell(backers, voice.ask(counter[:2]))


def _lead(view: View, style: Style, voice: Voice, outbox: Outbox) -> None:
    """Settle on the best slot that all have commented on, or ask about those that may be better."""
    people = [agent for agent in view.others if outbox.reaches(agent)]
    best = _best(view)
    fresh = _fresh(view)
    turns_left = view.now.turns_left or 0
    if best is not None:
        fresh = [slot for slot in fresh if view.burden[slot] < view.burden[best]]
    if fresh and turns_left:
        opening = [] if view.ledger.said else style.openness(view, voice)
        outbox.tell(people, *opening, voice.ask(sorted(fresh[:PROPOSED])))
        return
    weight = WEIGHTS[IMPOSSIBLE] if best is None else view.burden[best]
    if weight >= WEIGHTS[HARD] and seek_move(view, voice, outbox, weight):
        return
    chosen = best_guess(view) if best is None else best
    if chosen is not None:
        outbox.tell(
            people, voice.say(phrases.SETTLE, slot=chosen), *style.reasons(view, voice, [chosen])
        )


def _best(view: View) -> Slot | None:
    """Return the least costly slot that all have commented on."""
    unknown, burden = view.unknown, view.burden
    known = [slot for slot in view.able if not unknown[slot]]
    return min(known, key=lambda slot: (burden[slot], slot), default=None)


def _fresh(view: View, but: Slot | None = None) -> list[Slot]:
    """Return the possible slots not asked about yet: the least costly and best known first."""
    unknown, burden, asked = view.unknown, view.burden, view.ledger.ever_asked
    slots = [slot for slot in view.able if slot != but and slot not in asked and unknown[slot]]
    return sorted(slots, key=lambda slot: (burden[slot], unknown[slot], slot))


def best_guess(view: View) -> Slot | None:
    """Return the slot that is most likely to work if nothing was agreed."""
    unknown, burden = view.unknown, view.burden
    return min(view.able, key=lambda slot: (unknown[slot], burden[slot], slot), default=None)
