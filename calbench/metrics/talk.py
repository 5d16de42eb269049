"""How much was said (paper, section 3)."""

from collections.abc import Iterable

from calbench.traces.events import Event, MessageSent


def messages_sent_by_agent(events: Iterable[Event], num_agents: int) -> tuple[int, ...]:
    """Return the messages each agent sent; a group message counts once, for its sender [P].

    What was refused has no message event and does not count.
    """
    counts = [0] * num_agents
    for event in events:
        if isinstance(event, MessageSent):
            counts[event.from_agent] += 1
    return tuple(counts)
