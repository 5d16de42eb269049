"""A custom agent in twenty lines; ``conf/teams/example-agent.yaml`` seats it.

Its class needs ``act(observation)``, plain or ``async``, that returns a ``Turn``. What it may
know is in the observation (:class:`calbench.domain.observations.Observation`).
"""

import re

from calbench.domain.actions import DirectMessage, Reschedule, Schedule, Turn
from calbench.domain.calendars import Errand, Meeting
from calbench.domain.ids import Slot
from calbench.domain.messages import Text
from calbench.domain.observations import Observation, Phase


class Announcer:
    """The first participant names a slot that it can clear; everybody books that one [C].

    >>> calbench.play_game(scenario, [Announcer] * 5).metrics.rounds_scheduled
    4
    """

    def act(self, observation: Observation) -> Turn:
        """Announce in the first sweep, book what was announced, hope for the best."""
        meeting, me = observation.meeting, observation.agent_id
        if not isinstance(meeting, Meeting) or None not in observation.calendar:
            return Turn()  # not our meeting, or no room for it
        said = [slot for _, text in observation.heard(Text) for slot in named_slots(text)]
        said += [slot for text in observation.said(Text) for slot in named_slots(text)]
        if observation.phase is Phase.CHEAP_TALK:
            others = [agent for agent in meeting.participants if agent != me]
            if me != meeting.initiator or said:
                return Turn()
            text = Text(text=f"Let us take slot {clearable(observation)[0]}.")
            return Turn(tuple(DirectMessage(to=agent, content=text) for agent in others))
        slot = (said or clearable(observation))[0]
        book = Schedule(meeting_id=meeting.meeting_id, slot=slot)
        item = observation.calendar[slot]
        if item is None:
            return Turn((book,))
        to = Slot(observation.calendar.index(None))
        move = Reschedule(
            item_id=item.item_id, from_slot=slot, to_slot=to, justification="The agreed meeting"
        )
        return Turn((move, book), thinking="Somebody has to give way.")


def named_slots(text: Text) -> list[Slot]:
    """Return the slots a message names."""
    return [Slot(int(number)) for number in re.findall(r"slot (\d{1,2})", text.text)]


def clearable(observation: Observation) -> list[Slot]:
    """Return the slots that are free, then those that hold a movable errand."""
    calendar = observation.calendar
    free = [Slot(slot) for slot, item in enumerate(calendar) if item is None]
    return free + [
        Slot(slot)
        for slot, item in enumerate(calendar)
        if isinstance(item, Errand) and item.is_movable
    ]
