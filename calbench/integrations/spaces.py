"""What an agent sees and does as numbers, for frameworks of learning.

Slots are coded alike everywhere (:func:`code`). With N agents and S slots an observation has

- N numbers, 1 for the agent itself; three, 1 for the phase (:data:`PHASES`)
- the meeting's cost, ``turns_left``, ``attempt``, ``incurred_shown_cost``
- N numbers, 1 for each participant; all 0 for an outsider, who does not see them
- S numbers, its own calendar; N times S, what each agent, itself too, said last of each slot
  of this meeting

An action is 0, do nothing, or 1 + a slot, see :func:`turn_of`.
"""

import re
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from calbench.types import (
    PASS,
    BroadcastMessage,
    DirectMessage,
    Errand,
    Meeting,
    Observation,
    ParticipantMessage,
    Phase,
    Reschedule,
    Schedule,
    Slot,
    Text,
    Turn,
)

Numbers = NDArray[np.float32]

GREATEST = 10_000
"""Greatest number of an observation [C]: what is greater becomes it."""

PHASES = (Phase.CHEAP_TALK, Phase.VOLUNTARY, Phase.DECISION)
"""Phases in which an agent does something; a reflection only measures language models."""

# e.g. "Slot 3 is free for me.", "Let us take slot 12"; not "3 slots are free"
SAID = re.compile(r"[Ss]lot (\d{1,4})(?: (is not possible)| would cost me (\d{1,4}))?")


def code(cost: int | None) -> int:
    """Return a slot as a number: 1 + what clearing it costs, -1 if that is impossible."""
    return -1 if cost is None else 1 + cost


def length_of(num_agents: int, num_slots: int) -> int:
    """Return how many numbers an observation has."""
    return 2 * num_agents + len(PHASES) + 4 + num_slots * (1 + num_agents)


def vector_of(observation: Observation, num_agents: int, num_slots: int) -> Numbers:
    """Return what an agent sees, in this module's order, of shape ``(length_of,)``.

    Args:
        observation: of the agent; nothing else is read.
        num_agents: of the game.
        num_slots: of the largest game; further ones are coded 0.
    """
    people = observation.meeting.participants if isinstance(observation.meeting, Meeting) else ()
    own = [code(0 if item is None else item.local_cost) for item in observation.calendar]
    said = [[0] * num_slots for _ in range(num_agents)]
    for message in observation.messages:
        if message.sender is not None:
            for slot, value in _said_of_slots(message.content):
                if slot < num_slots:
                    said[message.sender][slot] = value
    numbers = [
        *(agent == observation.agent_id for agent in range(num_agents)),
        *(phase is observation.phase for phase in PHASES),
        *(observation.meeting.cost, observation.turns_left),
        *(observation.attempt, observation.incurred_shown_cost),
        *(agent in people for agent in range(num_agents)),
        *(own + [0] * (num_slots - len(own))),
        *chain.from_iterable(said),
    ]
    return np.array(numbers, dtype=np.float32).clip(-1, GREATEST)


@lru_cache(maxsize=4096)
def _said_of_slots(content: object) -> tuple[tuple[int, int], ...]:
    """Return (slot, code) of what a message says: costs by slot, or slots that it names."""
    if isinstance(content, Text):
        found = SAID.findall(content.text)
        return tuple((int(slot), code(None if no else int(cost or 0))) for slot, no, cost in found)
    costs: tuple[int | None, ...] | None = getattr(content, "costs", None)
    if costs is not None:
        return tuple(zip(getattr(content, "slots", ()), map(code, costs), strict=False))
    return ((content.slot, code(0)),) if hasattr(content, "slot") else ()


def mask_of(observation: Observation, num_slots: int) -> NDArray[np.int8]:
    """Return which actions make sense, of shape ``(1 + num_slots,)``; to do nothing always does.

    Participants can talk of every slot. A slot can be booked if it is free or holds an errand
    that can be moved elsewhere; an outsider can move such errands.
    """
    mask: NDArray[np.int8] = np.eye(1, 1 + num_slots, dtype=np.int8)[0]
    calendar, phase = observation.calendar, observation.phase
    for slot, item in enumerate(calendar):
        if phase is Phase.CHEAP_TALK:
            mask[1 + slot] = isinstance(observation.meeting, Meeting) and bool(observation.channels)
        elif item is None:
            mask[1 + slot] = phase is Phase.DECISION
        else:
            mask[1 + slot] = isinstance(item, Errand) and item.is_movable and None in calendar
    return mask


def turn_of(action: int, observation: Observation) -> Turn:
    """Return the turn of an action: nothing for 0, else what its slot means in the phase.

    In talk the agent says truly whether the slot is free, what it would cost, or that it is
    impossible. Later what is there moves to the first free slot, and in a decision the meeting
    takes its place. What the rules do not allow they refuse.
    """
    slot, calendar = Slot(int(action) - 1), observation.calendar
    if not 0 <= slot < len(calendar):
        return PASS
    if observation.phase is Phase.CHEAP_TALK:
        return _said(slot, observation)
    item, actions = calendar[slot], list[Reschedule | Schedule]()
    if item is not None and None in calendar:
        to, why = Slot(calendar.index(None)), f"Slot {slot} is needed."
        actions.append(Reschedule(item.item_id, from_slot=slot, to_slot=to, justification=why))
    if observation.phase is Phase.DECISION:
        actions.append(Schedule(meeting_id=observation.meeting.meeting_id, slot=slot))
    return Turn(tuple(actions))


def _said(slot: Slot, observation: Observation) -> Turn:
    """Return the turn that tells the other participants, over the narrowest group that is open."""
    item, meeting = observation.calendar[slot], observation.meeting
    cost = 0 if item is None else item.local_cost
    words = "is free for me" if item is None else f"would cost me {cost}"
    text = Text(text=f"Slot {slot} {'is not possible for me' if cost is None else words}.")
    if "participant_groupchat" in observation.channels:
        return Turn((ParticipantMessage(content=text),))
    if "all_agent_groupchat" in observation.channels:
        return Turn((BroadcastMessage(content=text),))
    people = {*meeting.participants} if isinstance(meeting, Meeting) else set()
    others = sorted(people - {observation.agent_id})
    return Turn(tuple(DirectMessage(to=agent, content=text) for agent in others))
