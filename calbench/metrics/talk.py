"""How much was said (paper, section 3)."""

from collections.abc import Iterable

from pydantic import TypeAdapter

from calbench.domain.messages import RecordedContent
from calbench.traces.events import Event, MessageSent

_CONTENT: TypeAdapter[RecordedContent] = TypeAdapter(RecordedContent)


def messages_sent_by_agent(events: Iterable[Event], num_agents: int) -> tuple[int, ...]:
    """Return the messages each agent sent; a group message counts once, for its sender [P].

    What was refused has no message event and does not count.
    """
    counts = [0] * num_agents
    for event in events:
        if isinstance(event, MessageSent):
            counts[event.from_agent] += 1
    return tuple(counts)


def message_bytes(events: Iterable[Event]) -> int:
    """Return the length of all messages' contents as JSON in UTF-8 without spaces [C].

    Contents are counted as their sender wrote them: a group message once, and no envelope.
    """
    return sum(
        len(_CONTENT.dump_json(event.content)) for event in events if isinstance(event, MessageSent)
    )
