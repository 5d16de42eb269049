"""SD-MAP: one slot at a time, yes or no (Modi & Veloso 2004, as in appendix D.2).

The initiator walks its calendar and proposes; who is asked answers PENDING or IMPOSSIBLE;
an own meeting makes way if it is strictly less difficult, and is moved by its participants
in the talk of the same round. The low-disclosure reference point.

Where the paper is silent we chose what keeps earlier meetings whole [C]:

- A slot at stake in one negotiation is marked, and closed to the others of the round.
- A repairer waits for all answers to a target before it goes on, as the initiator does.
- ``fail_reschedule`` goes to every other participant of the old meeting, also to those
  that no target was ever proposed to.
- An old meeting is repaired by its initiator even if its own copy failed; its partners are
  those it once negotiated with. Whoever holds no copy answers for its free slots.
- Only what the right one says counts: ``propose``, ``confirm`` and ``fail`` of the new
  meeting's initiator, a repair's messages of the old one's, replies of those asked.
- Nothing is said without news: a turn without a speech act in the inbox is empty, but for
  the initiator's first. What a message cap refused is not said again.
"""

from collections.abc import Callable, Mapping
from typing import Any

from calbench.domain.actions import PASS, Turn
from calbench.domain.messages import Confirm, Message, Propose, ProposeReschedule, RescheduleRequest
from calbench.domain.observations import CHEAP_TALK, DECISION, Observation
from calbench.protocols.base import own_meeting
from calbench.protocols.sd_map.decision import confirmed_moves, decide
from calbench.protocols.sd_map.memory import Memory, Weights
from calbench.protocols.sd_map.memory_cache import MemoryCache
from calbench.protocols.sd_map.negotiation import answer, lead, make_way
from calbench.protocols.sd_map.notes import SPEECH_ACTS, Voice, note_heard
from calbench.protocols.sd_map.repair import answer_target, carry_on


class SdMap:
    """Scheduling-difficulty MAP; participants and outsiders play by the same rules."""

    __slots__ = ("_cache",)

    def __init__(self, weights: Weights | None = None) -> None:
        """Take the difficulty weights by agent id, ``limits.sd_model``; absent: all 1 [P]."""
        self._cache = MemoryCache(weights)

    def act(self, observation: Observation) -> Turn:
        """Negotiate and repair while talking; then do what was agreed."""
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


def _talk(observation: Observation, cache: MemoryCache) -> Turn:
    """Handle messages as they came, then open repairs as they began, then the own step."""
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
    if heard_first and not is_last_sweep:  # in the last, repairs end without a word
        cache.keep(memory, observation, said)
    return Turn(tuple(said)) if said else PASS


def _handle(memory: Memory, voice: Voice, messages: tuple[Message, ...]) -> bool:
    """Note messages and do what they ask for; return whether all were heard before a word."""
    heard_first = True
    for message in messages:
        heard_first = not voice.said
        if note_heard(memory, message):
            react = _REACTIONS[type(message.content)]
            react(memory, voice, message.content)
    return heard_first


def _open_repairs(memory: Memory, voice: Voice) -> None:
    for repair in list(memory.repairs.values()):
        if repair.repairer == memory.agent_id:
            carry_on(repair, memory, voice)


def _num_new(observation: Observation) -> int:
    """Count what was read just now about this meeting, if any of it is a speech act."""
    about = observation.meeting.meeting_id
    new = 0
    has_news = False
    for message in observation.inbox:  # a plain loop: asked in every turn
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


def _on_confirm(memory: Memory, voice: Voice, _confirm: Confirm) -> None:
    make_way(memory, voice)


def _on_request(memory: Memory, voice: Voice, request: RescheduleRequest) -> None:
    carry_on(memory.repairs[request.old_meeting_id], memory, voice)


_REACTIONS: Mapping[type, Callable[[Memory, Voice, Any], None]] = {
    Propose: answer,
    Confirm: _on_confirm,
    RescheduleRequest: _on_request,
    ProposeReschedule: answer_target,
}
"""What a message asks for; what it tells is noted before."""
