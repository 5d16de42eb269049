"""What an agent says it came to believe: the answer to a reflection (appendix F.3)."""

from collections.abc import Callable, Sequence
from typing import Any

from calbench.agents.expectation import expectations
from calbench.agents.reading import MisshapenError, Read, check_keys, kind_of, read_object
from calbench.domain.ids import AgentId
from calbench.domain.replies import Beliefs, Unreadable
from calbench.llm.completion import Completion

MOST_CHANGE = 3
"""Changes of belief run from -3 to 3 [P]."""

Parser = Callable[[Completion, Sequence[AgentId], AgentId, int], Read[Beliefs] | Unreadable]
"""Reads the answer of an agent, given all agents, itself and the number of slots."""


PARTIAL = "partial"
"""What is noted of an answer of which some lists could not be read."""

SURPLUS = "surplus"
"""What is noted of an answer that held more than was asked for."""


def parse_reflection(
    completion: Completion, agent_ids: Sequence[AgentId], me: AgentId, num_slots: int
) -> Read[Beliefs] | Unreadable:
    """Return the changes of belief, by the other agents in the order of ``agent_ids``.

    Where token log-probabilities are given and their tokens spell the reply,
    :attr:`Beliefs.expected` holds for each number its :func:`expectation
    <calbench.agents.expectation.expectations>`.
    """
    found = read_object(completion, frozenset({"beliefs"}))
    if isinstance(found, Unreadable):
        return found
    targets = _targets(agent_ids, me)
    try:
        check_keys("reply", found.value, ("beliefs",))
        written = _lists(found.value["beliefs"], targets, num_slots)
    except MisshapenError as error:
        return Unreadable("wrong_shape", str(error))
    expected = _expected(completion, found.place, written)
    beliefs = Beliefs(
        {target: written[target] for target in targets},
        None if expected is None else {target: expected[target] for target in targets},
    )
    return Read(beliefs, found.recovered, found.place)


def parse_partial_reflection(
    completion: Completion, agent_ids: Sequence[AgentId], me: AgentId, num_slots: int
) -> Read[Beliefs] | Unreadable:
    """Return the changes of belief about those agents whose lists can be read, at least one [C].

    A list is read as a whole, since one that is too short or too long does not say which slot
    it leaves out: a list of another length, or with anything but integers in -3..3, counts as
    missing. What was not asked for is passed over. Both are noted in :attr:`Read.recovered`,
    and such an answer has no expected values: its tokens hold other numbers as well.
    """
    whole = parse_reflection(completion, agent_ids, me, num_slots)
    if isinstance(whole, Read) or whole.problem != "wrong_shape":
        return whole
    found = read_object(completion, frozenset({"beliefs"}))
    beliefs = None if isinstance(found, Unreadable) else found.value.get("beliefs")
    if isinstance(found, Unreadable) or not isinstance(beliefs, dict):
        return whole
    targets = _targets(agent_ids, me)
    lists = {
        target: tuple(beliefs[target]) for target in targets if _is_list(beliefs, target, num_slots)
    }
    if not lists:
        return whole
    is_surplus = len(found.value) > 1 or not beliefs.keys() <= set(targets)
    words = (
        found.recovered,
        PARTIAL if len(lists) < len(targets) else None,
        SURPLUS if is_surplus else None,
    )
    return Read(Beliefs(lists), "+".join(filter(None, words)), found.place)


def reflection_parser(edition: int) -> Parser:
    """Return how answers to reflections of an edition of the prompts are read."""
    return parse_reflection if edition == 1 else parse_partial_reflection


def _targets(agent_ids: Sequence[AgentId], me: AgentId) -> list[str]:
    return [str(agent) for agent in agent_ids if agent != me]


def _is_list(beliefs: dict[str, Any], target: str, num_slots: int) -> bool:
    try:
        _check_list(target, beliefs.get(target), num_slots)
    except MisshapenError:
        return False
    return True


def _lists(beliefs: object, targets: Sequence[str], num_slots: int) -> dict[str, tuple[int, ...]]:
    """Return the lists in the order in which they were written."""
    if not isinstance(beliefs, dict):
        raise MisshapenError(f"beliefs: expected an object, got {kind_of(beliefs)}")
    check_keys("beliefs", beliefs, tuple(targets))
    for target, values in beliefs.items():
        _check_list(f"beliefs.{target}", values, num_slots)
    return {target: tuple(values) for target, values in beliefs.items()}


def _check_list(where: str, values: Any, num_slots: int) -> None:
    if not isinstance(values, list):
        raise MisshapenError(f"{where}: expected a list, got {kind_of(values)}")
    if len(values) != num_slots:
        raise MisshapenError(f"{where}: expected {num_slots} integers, got {len(values)}")
    if (
        set(map(type, values)) == {int}
        and -MOST_CHANGE <= min(values) <= max(values) <= MOST_CHANGE
    ):
        return  # of hundreds of numbers, each would take long to look at
    for slot, value in enumerate(values):
        if type(value) is not int:
            raise MisshapenError(f"{where}[{slot}]: expected an integer, got {kind_of(value)}")
        if abs(value) > MOST_CHANGE:
            raise MisshapenError(f"{where}[{slot}]: {value} is outside -3..3")


def _expected(
    completion: Completion, place: int, written: dict[str, tuple[int, ...]]
) -> dict[str, tuple[float, ...]] | None:
    """Return the expectation of every number, or nothing if the tokens do not spell the reply.

    Args:
        completion: with its tokens.
        place: where in the stripped text the object begins.
        written: the numbers, in the order in which they were written.
    """
    tokens = completion.logprobs or ()
    joined = "".join(token.token for token in tokens)
    start = joined.find((completion.text or "").strip())
    if not tokens or start < 0:
        return None
    numbers = [value for values in written.values() for value in values]
    results = iter(expectations(tokens, start + place, numbers))
    return {target: tuple([next(results) for _ in values]) for target, values in written.items()}
