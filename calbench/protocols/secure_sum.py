"""Secure sum: IMAP's choice from a total, without a trusted party [C].

Participants are honest but curious, without coalitions. Each splits its IMAP vector into p
uniform shares modulo a prime, keeps one and sends one to each other participant (``share``). An
agent that has all shares sends their sum to the initiator (``partial_sum``), which adds the sums,
chooses the cheapest slot that is feasible for all and tells the others. That is p(p-1) shares,
p-1 partial sums and p-1 announcements: ten messages for a meeting of three. Without such a slot
the initiator stays silent. Batches and retries are IMAP's.

Limits: the initiator learns the total of the others' vectors. For p = 2 this is the other's
vector; for p = 3 with shown costs 0, 1, 10 or 100 it gives both values of a slot, but not whose
they are. The initiator and one other agent together know the total of the rest; for p = 3 all.
"""

from collections.abc import Iterator
from typing import ClassVar

from calbench.domain.actions import PASS, Action, DirectMessage, Turn
from calbench.domain.calendars import Meeting
from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import Announcement, Channel, Message, PartialSum, Share
from calbench.domain.observations import CHEAP_TALK, DECISION, Observation
from calbench.domain.randomness import stream
from calbench.domain.sharing import (
    MODULUS,
    Residues,
    added,
    encoded,
    infeasible_count,
    infeasible_mark,
    remainder,
    total_of,
    uniform,
)
from calbench.protocols.base import First, others, own_meeting, partners
from calbench.protocols.clues import Best, Total, View, cheapest_of_all
from calbench.protocols.costs import cheapest_slot, local_costs
from calbench.protocols.imap import agreed_slot, decide


class SecureSum:
    """A participant that sends its vector only in shares."""

    speaks_first: ClassVar[First] = "participants"
    talks_on: ClassVar[tuple[Channel, ...]] = ("dm",)
    needs_private_chance: ClassVar[bool] = True
    books_cheapest: ClassVar[bool] = True
    books_together: ClassVar[bool] = True

    def act(self, observation: Observation) -> Turn:
        """Share, add or announce while talking; book the announced slot when deciding."""
        meeting = own_meeting(observation)
        if meeting is None:
            return PASS
        if observation.phase is DECISION:
            return decide(observation, meeting, agreed_slot(observation, meeting, Announcement))
        if observation.phase is not CHEAP_TALK or "dm" not in observation.channels:
            return PASS
        if observation.private_seed is None or len(meeting.participants) == 1:
            return PASS
        return _talk(observation, meeting, observation.private_seed)

    def tells(self, message: Message, view: View) -> Iterator[Best | Total]:
        """Yield the total of the others once the initiator has it, or the cheapest slot.

        A share is uniform for every secret, and so is a partial sum while one is missing.
        """
        if isinstance(message.content, Announcement):
            yield cheapest_of_all(view, message.content.slot)
        elif isinstance(message.content, PartialSum):
            total = _total_of_others(message, view)
            if total is not None:
                count = len(view.participants)
                mark = infeasible_mark(count)
                bad = [infeasible_count(each, count) for each in total]
                sums = [(each, value - each * mark) for each, value in zip(bad, total, strict=True)]
                if not all(bad):  # else somebody may have no free slot, and no errand can move
                    yield Total(partners(view.participants, view.observer), sums)


def _total_of_others(last: Message, view: View) -> Residues | None:
    """Return the sum of the other participants' vectors; ``None`` while a part is missing."""
    rest = partners(view.participants, view.observer)
    sums: dict[AgentId, Residues] = {}
    received: dict[AgentId, Residues] = {}
    for message in (*view.messages, last):
        if message.sender in rest and isinstance(message.content, Share | PartialSum):
            by_agent = received if isinstance(message.content, Share) else sums
            by_agent.setdefault(message.sender, message.content.values)
    given = [share.values for share in view.heard(view.observer, Share)]
    if any(len(each) != view.num_slots for each in (*sums.values(), *received.values(), *given)):
        return None
    return total_of(rest, sums, received, given)


def _talk(observation: Observation, meeting: Meeting, seed: int) -> Turn:
    """Send the shares in the first turn; continue in it if all other shares have arrived."""
    partners = others(observation, meeting)
    sent = [said.values for said in observation.said(Share)]
    actions: list[Action] = []
    if not sent:
        chance = stream(seed, "shares")
        sent = [uniform(chance, len(observation.calendar)) for _ in partners]
        actions = [
            DirectMessage(to=agent, content=Share(values=mask))
            for agent, mask in zip(partners, sent, strict=True)
        ]
    if len(sent) == len(partners):
        actions += _after_sharing(observation, meeting, sent)
    return Turn(tuple(actions)) if actions else PASS


def _after_sharing(
    observation: Observation, meeting: Meeting, sent: list[Residues]
) -> list[Action]:
    """Return what follows after all shares have arrived: a partial sum, or the choice."""
    leads = observation.agent_id == meeting.initiator
    if next(observation.said(Announcement if leads else PartialSum), None) is not None:
        return []
    partners = others(observation, meeting)
    shares = _vectors(observation, Share, partners)
    if len(shares) < len(partners):
        return []
    secret = encoded(local_costs(observation.calendar), len(meeting.participants))
    partial = added([remainder(secret, sent, MODULUS), *shares.values()], MODULUS)
    if not leads:
        return [DirectMessage(to=meeting.initiator, content=PartialSum(values=partial))]
    sums = _vectors(observation, PartialSum, partners)
    if len(sums) < len(partners):
        return []
    slot = _choice(added([partial, *sums.values()], MODULUS), len(meeting.participants))
    if slot is None:
        return []
    return [DirectMessage(to=agent, content=Announcement(slot=slot)) for agent in partners]


def _vectors(
    observation: Observation, kind: type[Share] | type[PartialSum], partners: tuple[AgentId, ...]
) -> dict[AgentId, Residues]:
    """Return the vectors of one kind heard from other participants, the first of each."""
    by_agent: dict[AgentId, Residues] = {}
    for sender, said in observation.heard(kind):
        if sender in partners and len(said.values) == len(observation.calendar):
            by_agent.setdefault(sender, said.values)
    return by_agent


def _choice(total: Residues, count: int) -> Slot | None:
    """Return IMAP's choice: the smallest (total, index) of the slots feasible for all."""
    return cheapest_slot(
        [tuple([None if infeasible_count(value, count) else value for value in total])]
    )
