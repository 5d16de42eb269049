"""Who takes part in which meeting and who speaks first, as balanced as possible."""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb

from calbench.domain.ids import AgentId
from calbench.domain.randomness import Stream

Participants = tuple[AgentId, ...]


def balanced_participants(
    num_agents: int, num_meetings: int, size: int, chance: Stream
) -> tuple[Participants, ...]:
    """Draw the participants of every meeting: the least-used agents, ties at random [R].

    The counts of any two agents differ by at most one, after every meeting (paper,
    section 4.1: rotating participants). Linear in ``num_agents * num_meetings``.

    Args:
        num_agents: agents to draw from.
        num_meetings: meetings to fill.
        size: participants of each, at most ``num_agents``.
        chance: breaks ties.

    Returns:
        One tuple of ascending ids for each meeting.
    """
    fresh = [AgentId(agent) for agent in range(num_agents)]
    used: list[AgentId] = []
    lists: list[Participants] = []
    for _ in range(num_meetings):
        fresh, used = chance.shuffled(fresh), chance.shuffled(used)
        queue = fresh + used
        chosen, rest = queue[:size], queue[size:]
        lists.append(tuple(sorted(chosen)))
        if size < len(fresh):
            fresh, used = fresh[size:], used + chosen
        else:
            again = size - len(fresh)
            fresh, used = rest + fresh, used[:again]
    return tuple(lists)


def balanced_sequences(
    num_agents: int, num_meetings: int, size: int
) -> list[tuple[Participants, ...]]:
    """Return everything that :func:`balanced_participants` can draw; each is as likely [C].

    As long as :func:`num_balanced` says: 720 of five agents in five meetings of three.
    """
    agents = frozenset(map(AgentId, range(num_agents)))
    begun: list[tuple[tuple[Participants, ...], frozenset[AgentId]]] = [((), agents)]
    for _ in range(num_meetings):
        begun = [
            ((*lists, chosen), left)
            for lists, fresh in begun
            for chosen, left in _next_lists(agents, fresh, size)
        ]
    return [lists for lists, _ in begun]


def _next_lists(
    agents: frozenset[AgentId], fresh: frozenset[AgentId], size: int
) -> Iterator[tuple[Participants, frozenset[AgentId]]]:
    """Yield who may take part in the next meeting, and who is then used least."""
    if size < len(fresh):
        for chosen in combinations(sorted(fresh), size):
            yield chosen, fresh - {*chosen}
        return
    for again in combinations(sorted(agents - fresh), size - len(fresh)):
        yield tuple(sorted((*fresh, *again))), agents - {*again}


def is_balanced(lists: Sequence[Sequence[AgentId]], num_agents: int) -> bool:
    """Return whether :func:`balanced_participants` can have drawn these."""
    counts = [0] * num_agents
    for each in lists:
        for agent in each:
            counts[agent] += 1
        if not len(lists[0]) == len(each) == len({*each}) or max(counts) - min(counts) > 1:
            return False
    return True


def num_balanced(num_agents: int, num_meetings: int, size: int) -> int:
    """Return how many sequences :func:`balanced_participants` can draw."""
    found, fresh = 1, num_agents
    for _ in range(num_meetings):
        if size < fresh:
            found, fresh = found * comb(fresh, size), fresh - size
        else:
            again = size - fresh
            found, fresh = found * comb(num_agents - fresh, again), num_agents - again
    return found


def first_speakers(
    participant_lists: Sequence[Sequence[AgentId]], num_agents: int, chance: Stream
) -> tuple[AgentId, ...]:
    """Choose who speaks first in each meeting, as evenly as the lists allow [P].

    A balanced semi-matching: starting from random speakers, a chain of meetings passes the first
    turn from one agent to another that speaks first at least two times less, until there is no
    such chain. Then no assignment is more balanced (Harvey et al., 2006: it is minimal for every
    symmetric convex cost). For lists drawn by :func:`balanced_participants` every agent therefore
    speaks first ``floor(M/N)`` or ``ceil(M/N)`` times.

    Args:
        participant_lists: participants of each meeting, none empty.
        num_agents: agents of the scenario, ``N``.
        chance: draws the first assignment and the order of search.

    Returns:
        One agent for each meeting.
    """
    speakers = [chance.choice(participants) for participants in participant_lists]
    agents = chance.shuffled([AgentId(agent) for agent in range(num_agents)])
    while True:
        loads = dict.fromkeys(agents, 0)
        for speaker in speakers:
            loads[speaker] += 1
        for agent in sorted(agents, key=lambda each: -loads[each]):
            chain = _relieving_chain(agent, participant_lists, speakers, loads)
            if chain:
                break
        else:
            return tuple(speakers)
        for meeting, successor in chain:
            speakers[meeting] = successor


def _relieving_chain(
    start: AgentId,
    participant_lists: Sequence[Sequence[AgentId]],
    speakers: Sequence[AgentId],
    loads: dict[AgentId, int],
) -> list[tuple[int, AgentId]]:
    """Find the changes ``(meeting, new first speaker)`` that relieve an agent, [] if none."""
    meetings_by_speaker: dict[AgentId, list[int]] = {}
    for meeting, speaker in enumerate(speakers):
        meetings_by_speaker.setdefault(speaker, []).append(meeting)
    reached = {start}
    queue: deque[tuple[AgentId, list[tuple[int, AgentId]]]] = deque([(start, [])])
    while queue:
        agent, chain = queue.popleft()
        if loads[agent] <= loads[start] - 2:
            return chain
        for meeting in meetings_by_speaker.get(agent, ()):
            for successor in participant_lists[meeting]:
                if successor not in reached:
                    reached.add(successor)
                    queue.append((successor, [*chain, (meeting, successor)]))
    return []


def speaker_order(participants: Sequence[AgentId], first: AgentId) -> Participants:
    """Return the first speaker, then the others in ascending id [R]."""
    return (first, *sorted(agent for agent in participants if agent != first))
