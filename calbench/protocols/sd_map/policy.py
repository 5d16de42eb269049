"""SD-MAP: one slot at a time, yes or no (Modi & Veloso 2004, as in appendix D.2).

The initiator goes through its calendar and proposes slots; responders answer PENDING or
IMPOSSIBLE. An own meeting is displaced if it is strictly less difficult, and its participants
move it in the talk of the same round. The low-disclosure reference point.

Where the paper does not define the rules, these keep earlier meetings intact [C]:

- A slot under negotiation is marked, and closed to the other negotiations of the round.
- A repairer waits for all answers to a target before it continues, as the initiator does.
- ``fail_reschedule`` goes to every other participant of the old meeting, even to those to which
  no target was proposed.
- An old meeting is repaired by its initiator even if its own copy failed; its partners are those
  with which it negotiated. An agent without a copy answers for its free slots.
- Only messages of the right sender count: ``propose``, ``confirm`` and ``fail`` of the new
  meeting's initiator, a repair's messages of the old one's, replies of the agents asked.
- A turn without a new speech act in the inbox is empty, except for the initiator's first. A
  message that the cap refused is not sent again.

The initiator goes through its calendar in order. A proposal therefore tells that every slot since
the last one has no room for it, and that somebody refused the last one: whoever did not, if only
one other agent could [C].
"""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from calbench.domain.actions import PASS, Action, Reschedule, Schedule, Turn
from calbench.domain.calendars import Booking, Errand, all_slots
from calbench.domain.ids import AgentId, ItemId, MeetingId, Slot
from calbench.domain.messages import (
    Channel,
    Confirm,
    Content,
    Fail,
    Message,
    Propose,
    ProposeReply,
    ProposeReschedule,
    RescheduleReply,
    RescheduleRequest,
)
from calbench.domain.observations import CHEAP_TALK, DECISION, Observation
from calbench.protocols.base import JUSTIFICATION, First, own_meeting
from calbench.protocols.clues import Told, View
from calbench.protocols.clues import Weights as CellWeights
from calbench.protocols.sd_map.memory import Memory, Weights
from calbench.protocols.sd_map.negotiation import (
    answer,
    answer_target,
    carry_on,
    lead,
    make_way,
    next_candidate,
    next_target,
)
from calbench.protocols.sd_map.notes import SPEECH_ACTS, MemoryCache, Voice, note_heard


class SdMap:
    """Scheduling-difficulty MAP; participants and outsiders play by the same rules."""

    speaks_first: ClassVar[First] = "initiator"
    talks_on: ClassVar[tuple[Channel, ...]] = ("dm",)
    takes_weights: ClassVar[bool] = True
    books_first: ClassVar[bool] = True
    books_together: ClassVar[bool] = True

    __slots__ = ("_cache",)

    def __init__(self, weights: Weights | None = None) -> None:
        """Take the difficulty weights by agent id, ``limits.sd_model``; all 1 if absent [P]."""
        self._cache = MemoryCache(weights)

    def act(self, observation: Observation) -> Turn:
        """Negotiate and repair while talking; afterwards do what was agreed."""
        phase = observation.phase
        if phase is CHEAP_TALK:
            return _talk(observation, self._cache)
        if phase is not DECISION and not observation.messages:
            return PASS
        memory = self._cache.recall(observation)
        memory.close_talk()
        if phase is DECISION:
            return decide(memory, observation.attempt)
        return Turn(confirmed_moves(memory))

    def tells(self, message: Message, view: View) -> Iterator[Told]:
        """Yield what proposals, their order and replies tell about all who take part."""
        sender, content = message.sender, message.content
        if sender is None:
            return
        match content:
            case Propose():
                proposed = {content.slot: view.possible(can_meet=True)}
                yield from _passed_over(sender, content.slot, view, proposed)
            case Fail():
                yield from _passed_over(sender, Slot(view.num_slots), view, {})
            case ProposeReply():
                can_meet = content.status == "PENDING"
                yield Told(sender, {content.slot: view.possible(can_meet=can_meet)})
            case Confirm():
                for agent in view.participants:
                    if agent != view.observer:
                        yield Told(agent, {content.slot: view.possible(can_meet=True)})
            case ProposeReschedule():
                yield Told(sender, {content.target: view.possible(can_meet=True)})
            case RescheduleReply() if content.status == "PENDING":
                yield Told(sender, {content.target: view.possible(can_meet=True)})


def _talk(observation: Observation, cache: MemoryCache) -> Turn:
    """Handle messages in order, then open repairs in order, then take the own next step."""
    unhandled = _num_new(observation) if observation.inbox else 0
    if not unhandled and not _is_opening(observation):
        return PASS
    if "dm" not in observation.channels:
        return PASS
    memory = cache.recall(observation, unhandled=unhandled)
    is_last_sweep = observation.turns_left == 0
    voice = Voice(memory, is_last_sweep)
    heard_first = not unhandled or _handle(memory, voice, observation.messages[-unhandled:])
    if memory.repairs:
        _open_repairs(memory, voice)
    if memory.initiator == memory.agent_id:
        lead(memory, voice)
    said = voice.said
    if heard_first and not is_last_sweep:  # in the last, repairs end silently
        cache.keep(memory, observation, said)
    return Turn(tuple(said)) if said else PASS


def _handle(memory: Memory, voice: Voice, messages: tuple[Message, ...]) -> bool:
    """Note messages and react; return whether all were noted before anything was said."""
    heard_first = True
    for message in messages:
        heard_first = not voice.said
        if note_heard(memory, message):
            _react(memory, voice, message.content)
    return heard_first


def _react(memory: Memory, voice: Voice, heard: Content) -> None:
    """React to what was heard, and noted before."""
    match heard:
        case Propose():
            answer(memory, voice, heard)
        case Confirm():
            make_way(memory, voice)
        case RescheduleRequest():
            carry_on(memory.repairs[heard.old_meeting_id], memory, voice)
        case ProposeReschedule():
            answer_target(memory, voice, heard)


def _open_repairs(memory: Memory, voice: Voice) -> None:
    for repair in list(memory.repairs.values()):
        if repair.repairer == memory.agent_id:
            carry_on(repair, memory, voice)


def _num_new(observation: Observation) -> int:
    """Count the newly read messages about this meeting, if any of them is a speech act."""
    about = observation.meeting.meeting_id
    new = 0
    has_news = False
    for message in observation.inbox:  # a plain loop: called in every turn
        if message.meeting_id == about:
            new += 1
            has_news = has_news or type(message.content) in SPEECH_ACTS
    return new if has_news else 0


def _is_opening(observation: Observation) -> bool:
    """Whether it is the initiator's first turn of the round."""
    if observation.turn_index:
        return False
    meeting = own_meeting(observation)
    return meeting is not None and meeting.initiator == observation.agent_id


def confirmed_moves(memory: Memory) -> tuple[Reschedule, ...]:
    """Return the agent's own part of every repair that was confirmed, oldest first.

    A meeting that is not on its calendar, because it failed there, is left out. An old meeting
    without other participants moves silently to the lowest possible slot [C].
    """
    if not memory.repairs:
        return ()
    moves: list[Reschedule] = []
    for repair in memory.repairs.values():
        if repair.repairer == memory.agent_id and not repair.others and not repair.is_over:
            repair.end(next_target(repair, memory))
        copy = None if repair.agreed is None else memory.copy_of(repair.meeting_id)
        if copy is not None and repair.agreed is not None:
            moves.append(_move(repair.meeting_id, copy[0], repair.agreed))
    return tuple(moves)


def decide(memory: Memory, attempt: int) -> Turn:
    """Book the agreed slot; on retry *k* the own slot number *k*, counted from 0 [R].

    Confirmed moves are part of every batch. If there is nothing to schedule the batch is empty,
    and the game rejects it.
    """
    if memory.meeting is None:
        return PASS
    moves = confirmed_moves(memory)
    if attempt == 0:
        slot = memory.agreed
        if memory.is_initiator and not memory.responders:
            slot = next_candidate(memory)
        return PASS if slot is None else _batch(memory, memory.meeting.meeting_id, moves, slot)
    own = retry_slots(memory, moves)
    if attempt >= len(own):
        return PASS
    return _batch(memory, memory.meeting.meeting_id, moves, own[attempt])


def retry_slots(memory: Memory, moves: tuple[Reschedule, ...]) -> tuple[Slot, ...]:
    """Return the slots the agent can book by itself now, ascending [R].

    They are free or hold an errand that has a landing slot, are unmarked, and are not targets of
    confirmed moves. Slots that its confirmed moves vacate are not included.
    """
    has_landing = landing_slot(memory, moves) is not None
    return tuple(
        [
            slot
            for slot, item in zip(all_slots(len(memory.calendar)), memory.calendar, strict=True)
            if (item is None or (isinstance(item, Errand) and not item.blocked and has_landing))
            and not _is_marked(memory, slot)
        ]
    )


def landing_slot(memory: Memory, moves: tuple[Reschedule, ...]) -> Slot | None:
    """Return where a displaced errand lands.

    The lowest free slot that is not a target of the batch; if there is none, the lowest that the
    confirmed moves vacate.
    """
    targets = [move.to_slot for move in moves]
    for slot, item in zip(all_slots(len(memory.calendar)), memory.calendar, strict=True):
        if item is None and slot not in targets:
            return slot
    return min((move.from_slot for move in moves), default=None)


def _batch(
    memory: Memory, meeting_id: MeetingId, moves: tuple[Reschedule, ...], slot: Slot
) -> Turn:
    """Return moves and schedule as one batch, or an empty one if the slot is not possible."""
    item = memory.calendar[slot]
    actions: list[Action] = list(moves)
    if item is None:
        if any(move.to_slot == slot for move in moves):
            return PASS
    elif isinstance(item, Booking):
        if all(move.from_slot != slot for move in moves):
            return PASS
    else:
        landing = landing_slot(memory, moves)
        if item.blocked or landing is None:
            return PASS
        actions.append(_move(item.errand_id, slot, landing))
    actions.append(Schedule(meeting_id, slot))
    return Turn(tuple(actions))


def _is_marked(memory: Memory, slot: Slot) -> bool:
    if slot in memory.negotiation.marks():
        return True
    return bool(memory.repairs) and memory.is_taken(slot, by_others_than=memory.negotiation)


def _move(item_id: ItemId, from_slot: Slot, to_slot: Slot) -> Reschedule:
    return Reschedule(item_id, from_slot, to_slot, JUSTIFICATION)


def _passed_over(
    sender: AgentId, slot: Slot, view: View, proposed: Mapping[Slot, CellWeights]
) -> Iterator[Told]:
    """Yield that slots since the last proposal are impossible, what is proposed, who refused.

    Args:
        sender: who goes through its calendar.
        slot: up to where, without it.
        view: of who hears it.
        proposed: the slot that is proposed now, if any, with its weights.
    """
    last = max([each.slot for each in view.heard(sender, Propose)], default=None)
    none = view.possible(can_meet=False)
    passed = range(0 if last is None else max(0, last + 1), min(slot, view.num_slots))
    yield Told(sender, {**dict.fromkeys(map(Slot, passed), none), **proposed})
    others = [agent for agent in view.participants if agent not in (sender, view.observer)]
    if last is None or len(others) != 1:
        return
    replies = {each.slot: each.status for each in view.heard(view.observer, ProposeReply)}
    if replies.get(last) == "PENDING":
        yield Told(others[0], {last: none})
