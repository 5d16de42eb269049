"""Joint moves of earlier meetings: asked for, answered, announced, and kept.

An earlier meeting moves only to a target that all its participants said they can make, and an
agent that has promised a move keeps it, whatever happens to the meeting it was for.
"""

from typing import Final

from calbench.agents.scripted.difficulty import EASY, IMPOSSIBLE, POSSIBLE, WEIGHTS, slots_at
from calbench.agents.scripted.outbox import Outbox
from calbench.agents.scripted.phrases import Voice
from calbench.agents.scripted.understanding import Move
from calbench.agents.scripted.view import View
from calbench.domain.calendars import Booking, Meeting
from calbench.domain.ids import AgentId, Slot

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
            outbox.tell([announcer], voice.confirm_move(*move))
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
    outbox.tell(members, voice.ask_move(meeting.meeting_id, slot, sorted(targets)))
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
            outbox.tell(members, voice.settle_move(meeting_id, start, min(able)[1]))
            outbox.tell(view.others, voice.settle(start))
            return True
    return False


def _weights(
    view: View, meeting: Meeting, members: list[AgentId], target: Slot
) -> list[int] | None:
    """Return what a target weighs for each other member, ``None`` if it is not agreed by all."""
    told = [view.ledger.told.get((a, meeting.meeting_id), {}).get(target) for a in members]
    weights = [WEIGHTS[level] for level in told if level is not None and level is not IMPOSSIBLE]
    return weights if len(weights) == len(members) else None
