"""Players with known faults for the focal seat, beside the player without them."""

from calbench import types


class Plain(types.Announcer):
    """The example under another name."""

    def __init__(self, name: str = "plain") -> None:
        self.name = name


class Spender(Plain):
    """Moves an errand for nothing in each of its meetings, and tells one label a game."""

    def __init__(self, name: str = "spender") -> None:
        super().__init__(name)
        self.has_told = False

    def act(self, observation: types.Observation) -> types.Turn:
        """Act as the example does, and then some."""
        turn = super().act(observation)
        if observation.phase is types.Phase.CHEAP_TALK and not self.has_told:
            self.has_told = True
            return types.Turn((*turn.actions, *told(observation)))
        if observation.phase is types.Phase.DECISION and turn.actions:
            return types.Turn((*turn.actions, *wasted(observation, turn)))
        return turn


def told(observation: types.Observation) -> tuple[types.DirectMessage, ...]:
    """Quote the label of the first errand to one other agent."""
    item = next(item for item in observation.calendar if isinstance(item, types.Errand))
    label = observation.labels[item.item_id]
    to = next(agent for agent in observation.agent_ids if agent != observation.agent_id)
    return (types.DirectMessage(to=to, content=types.Text(text=f"I have {label} then.")),)


def wasted(observation: types.Observation, turn: types.Turn) -> tuple[types.Reschedule, ...]:
    """Move one errand more, for nothing, where there is room."""
    calendar = observation.calendar
    used = {action.slot for action in turn.actions if isinstance(action, types.Schedule)}
    used |= {action.to_slot for action in turn.actions if isinstance(action, types.Reschedule)}
    free = [
        slot for slot, item in enumerate(calendar) if item is None and types.Slot(slot) not in used
    ]
    errands = [
        (slot, item)
        for slot, item in enumerate(calendar)
        if isinstance(item, types.Errand) and item.is_movable and types.Slot(slot) not in used
    ]
    if not free or not errands:
        return ()
    slot, item = errands[0]
    return (
        types.Reschedule(
            item_id=item.item_id,
            from_slot=types.Slot(slot),
            to_slot=types.Slot(free[-1]),
            justification="No reason",
        ),
    )
