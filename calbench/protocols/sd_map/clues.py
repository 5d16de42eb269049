"""What SD-MAP's messages tell, by its rules (paper, appendix D.2) [C].

The initiator goes through its calendar in order. A proposal therefore says that every slot since
the last one has no room for it, and that somebody refused the last one: whoever did not, if only
one other agent could.
"""

from collections.abc import Iterator, Mapping

from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import (
    Confirm,
    Fail,
    Message,
    Propose,
    ProposeReply,
    ProposeReschedule,
    RescheduleReply,
)
from calbench.protocols.clues import Told, View, Weights


def told(message: Message, view: View) -> Iterator[Told]:
    """Yield what a message tells about its sender and about the other responders."""
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


def _passed_over(
    sender: AgentId, slot: Slot, view: View, proposed: Mapping[Slot, Weights]
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
