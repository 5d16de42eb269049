"""CHEAP_TALK: sweeps over the active speakers until a sweep is silent (appendix A.4)."""

from collections.abc import Generator, Mapping
from functools import lru_cache

from calbench.domain.actions import (
    Action,
    BroadcastMessage,
    DirectMessage,
    ParticipantMessage,
    SealedReport,
)
from calbench.domain.calendars import Meeting
from calbench.domain.ids import AgentId
from calbench.domain.observations import CHEAP_TALK, Observation
from calbench.domain.replies import PASSED, Reply
from calbench.engine.delivery import Mediator, hand_over, read_inbox, refuse, send
from calbench.engine.observe import observe
from calbench.engine.state import Moment, State, note_prose, note_reply
from calbench.traces.events import TurnEnd, TurnStart

Asks = dict[AgentId, Observation]
Answers = Mapping[AgentId, Reply]
Asking = Generator[Asks, Answers, None]
"""The rules ask and never wait: the driver of the generator sends the answers."""


class Talk:
    """The talk of one round: who may speak, who was activated, how much was sent."""

    __slots__ = ("mediator", "meeting", "round_index", "sent", "speakers", "state", "woken")

    def __init__(
        self,
        state: State,
        meeting: Meeting,
        speaker_order: tuple[AgentId, ...],
        round_index: int,
    ) -> None:
        self.state = state
        self.meeting = meeting
        self.round_index = round_index
        self.speakers = list(speaker_order)
        self.woken: set[AgentId] = set()
        self.sent = 0
        self.mediator: Mediator | None = None
        if state.has_mediator:
            self.mediator = Mediator(meeting.participants, len(state.calendars[0]))

    @property
    def outsiders(self) -> tuple[AgentId, ...]:
        """The activated non-participants, ascending."""
        return tuple(sorted(a for a in self.speakers if a not in self.meeting.participants))

    def run(self) -> Asking:
        """Sweep until a sweep has no message, or the limit of sweeps is reached."""
        state, meeting, speakers = self.state, self.meeting, self.speakers
        for turn_index in range(state.limits.max_turns_per_round):
            moment = Moment(self.round_index, meeting, CHEAP_TALK, turn_index)
            before = self.sent
            spoken = 0
            while spoken < len(speakers):
                agent = speakers[spoken]
                if self._is_idle(turn_index, agent):
                    self._pass(turn_index, agent, ())
                else:
                    inbox, messages = read_inbox(state, agent, meeting)
                    reply = (yield {agent: observe(state, moment, agent, messages)})[agent]
                    if reply is PASSED:
                        self._pass(turn_index, agent, inbox)
                    else:
                        self._record(moment, agent, inbox, reply)
                    if agent in state.typed_among_speakers:
                        note_prose(state, moment, agent, messages)
                    if reply.turn.actions:
                        self._speak(moment, agent, reply.turn.actions)
                spoken += 1
                if self.woken and spoken == len(speakers):
                    # Agents activated meanwhile speak in this sweep and keep their place.
                    speakers.extend(sorted(self.woken))
                    self.woken.clear()
            if self.sent == before:
                return

    def _is_idle(self, turn_index: int, agent: AgentId) -> bool:
        """Whether an agent has declared that it would pass now."""
        state, meeting = self.state, self.meeting
        first = state.speaking_first[agent]
        if first is None or state.unread[agent] or state.refusals[agent]:
            return False
        if turn_index or first == "nobody":
            return True
        people = (meeting.initiator,) if first == "initiator" else meeting.participants
        return agent not in people

    def _pass(self, turn_index: int, agent: AgentId, inbox: tuple[int, ...]) -> None:
        round_index = self.round_index
        start, end = idle_turn(round_index, turn_index, agent)
        if inbox:
            start = TurnStart(round_index, turn_index, agent, CHEAP_TALK, inbox, None)
        self.state.events += (start, end)

    def _record(self, moment: Moment, agent: AgentId, inbox: tuple[int, ...], reply: Reply) -> None:
        turn = reply.turn
        round_index, turn_index = moment.round_index, moment.turn_index
        self.state.events += (
            TurnStart(round_index, turn_index, agent, CHEAP_TALK, inbox, reply.prompt),
            TurnEnd(
                round_index,
                turn_index,
                agent,
                turn.actions,
                turn.thinking,
                reply.usage,
                reply.reply_keys,
            ),
        )
        note_reply(self.state, moment, agent, reply)

    def _speak(self, moment: Moment, agent: AgentId, actions: tuple[Action, ...]) -> None:
        state, speakers = self.state, self.speakers
        for action in actions:
            if isinstance(action, (DirectMessage, ParticipantMessage, BroadcastMessage)):
                recipients = send(state, moment, agent, action, self.sent)
                if recipients:
                    self.sent += 1
                for recipient in recipients:
                    # Participants speak anyway; a message only to them activates nobody.
                    if recipient not in speakers:
                        self.woken.add(recipient)
            elif isinstance(action, SealedReport):
                self._seal(moment, agent, action)
            else:
                reason = f"{action.type} is not allowed in CHEAP_TALK"
                refuse(state, moment, agent, action, reason)

    def _seal(self, moment: Moment, agent: AgentId, action: SealedReport) -> None:
        after = hand_over(self.state, moment, agent, action, self.mediator, self.sent)
        if after is not None:
            self.mediator = after
            self.sent += 1


@lru_cache(maxsize=4096)
def idle_turn(round_index: int, turn_index: int, agent: AgentId) -> tuple[TurnStart, TurnEnd]:
    """Return the events of a turn of talk in which nothing was heard, thought or said.

    They are the same in every game, so they are made once.
    """
    return (
        TurnStart(round_index, turn_index, agent, CHEAP_TALK, (), None),
        TurnEnd(round_index, turn_index, agent, (), None, None, ()),
    )
