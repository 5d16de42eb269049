"""Identifiers as distinct types: mypy rejects a calendar that is indexed by an agent."""

from typing import NewType

AgentId = NewType("AgentId", int)
"""An agent, ``0..N-1`` (paper, section 3).

>>> trace.config.team.seat_of(AgentId(2)).player
'Watching'
"""

MeetingId = NewType("MeetingId", int)
"""A meeting, ``1..M``; prior meetings follow after them (paper, section 3).

>>> [MeetingId(each.meeting_id) for each in scenario.meetings]
[1, 2, 3, 4, 5]
"""

ErrandId = NewType("ErrandId", int)
"""An errand; no meeting of the scenario has the same number [C].

>>> Errand(ErrandId(101), shown_cost=10, blocked=False).item_id
101
"""

ItemId = ErrandId | MeetingId
"""What a slot can hold. Ids are unique across kinds within a scenario."""

Slot = NewType("Slot", int)
"""A position in a calendar, ``0..S-1`` (paper, section 3).

>>> seen[0].calendar[Slot(1)]
Errand(errand_id=1050, shown_cost=100, blocked=False)
"""
