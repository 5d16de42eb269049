"""Identifiers as distinct types: mypy rejects a calendar that is indexed by an agent."""

from typing import NewType

AgentId = NewType("AgentId", int)
"""An agent, ``0..N-1``."""

MeetingId = NewType("MeetingId", int)
"""A meeting, ``1..M``; prior meetings follow after them."""

ErrandId = NewType("ErrandId", int)
"""An errand; no meeting of the scenario has the same number."""

ItemId = ErrandId | MeetingId
"""What a slot can hold. Ids are unique across kinds within a scenario."""

Slot = NewType("Slot", int)
"""A position in a calendar, ``0..S-1``."""
