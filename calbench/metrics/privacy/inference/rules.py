"""What a seat's rules say that its messages tell, checked: protocols may be anybody's [C]."""

from collections.abc import Collection
from functools import lru_cache
from math import inf
from typing import cast

import numpy as np

from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import Message
from calbench.errors import ConfigError
from calbench.extensions import MisfitError, failure, where
from calbench.files import printable
from calbench.metrics.privacy.inference.literal import LiteralReader
from calbench.protocols.clues import Best, Clue, OneOf, Telling, Told, Total, View, Weights
from calbench.protocols.registry import build_policy, is_outside
from calbench.traces.models import Seat


def rules_of(seat: Seat, weights: tuple[float, ...] | None, *, is_own: bool) -> Telling | None:
    """Return the rules by which a seat speaks; ``None`` if they are not known.

    Nothing is imported because a trace names it: a protocol of another distribution is, like its
    evidence, only for messages of its own.

    Args:
        seat: whose rules.
        weights: the game's difficulty weights.
        is_own: whether the seat sent messages that only its own distribution explains.
    """
    if seat.kind == "scripted":
        return LiteralReader()
    if seat.kind not in ("protocol", "degenerate") or (not is_own and is_outside(seat.settings)):
        return None
    try:
        policy = cast(Telling, build_policy(seat.player, seat.settings, weights))
    except Exception:  # noqa: BLE001 - not installed, or of other settings: unknown
        return None
    return policy if _says_itself(type(policy)) else None


@lru_cache(maxsize=256)
def _says_itself(policy: type) -> bool:
    """Whether it has rules, of its own play: who overrides ``act`` says something else."""
    if not issubclass(policy, Telling):
        return False
    acts, tells = (
        next(at for at, each in enumerate(policy.__mro__) if name in vars(each))
        for name in ("act", "tells")
    )
    return tells <= acts


@lru_cache(maxsize=256)
def are_ours(policy: type) -> bool:
    """Whether rules are ours, which tell of a message's sender and the meeting's members alone."""
    return policy.__module__.partition(".")[0] == "calbench"


def clues_of(policy: Telling, message: Message, view: View, num_agents: int) -> list[Clue]:
    """Return what a protocol says that a message tells.

    Rules of ours may name slots that are not there, since a hostile message may: that says nothing.

    Raises:
        ConfigError: rules of somebody else do, or they fail, or say what is no clue.
    """
    is_ours = are_ours(type(policy))
    agents, slots = _numbered(num_agents), _numbered(view.num_slots)
    found: list[Clue] = []
    try:
        for clue in policy.tells(message, view):
            if is_ours and _is_there(clue, agents, slots):
                found.append(clue)
            elif (fitting := _fitting(clue, view, num_agents, is_ours)) is not None:
                found.append(fitting)
    except Exception as error:
        kind = getattr(message.content, "name", message.content.kind)
        heard = f"{kind} of agent {message.sender} about meeting {message.meeting_id}"
        raise ConfigError(
            f"{where(type(policy).tells, error)}, on a {printable(heard)}: "
            f"{failure(error)}; correct it, or remove it, and bits are unknown"
        ) from error
    return found


@lru_cache(maxsize=256)
def _numbered(count: int) -> frozenset[int]:
    """Return what agents or slots are called."""
    return frozenset(range(count))


def _is_there(clue: Clue, agents: frozenset[int], slots: frozenset[int]) -> bool:
    """Whether a clue of ours needs no closer look, as most: it is about what exists alone.

    Only a hostile message makes one that is not; ways of ours are about the message's own slots.
    """
    if isinstance(clue, Told):
        return clue.agent in agents and clue.slots.keys() <= slots
    if isinstance(clue, Best):
        among = clue.among
        return agents.issuperset(clue.agents) and slots.issuperset(among) and clue.slot in among
    return isinstance(clue, OneOf)


def _fitting(clue: Clue, view: View, num_agents: int, is_ours: bool) -> Clue | None:
    """Return a clue about what exists; ``None`` if one of ours is about nothing.

    Raises:
        MisfitError: it is none, or its slots, weights or values do not fit.
    """
    if isinstance(clue, Told):
        return _told_fitting(clue, view, num_agents, is_ours)
    if isinstance(clue, OneOf):
        return _one_of_fitting(clue, view, num_agents)
    if not isinstance(clue, (Best, Total)):
        raise MisfitError(f"{clue!r} is neither Told, Best, Total nor OneOf")
    _check_agents(clue.agents, num_agents)
    absent = _absent(clue.among if isinstance(clue, Best) else (), view, is_ours)
    if isinstance(clue, Best) and len(clue.values) != len(view.cells):
        raise MisfitError(f"values {clue.values} are not one for each of {view.cells}")
    if isinstance(clue, Best):
        is_there = clue.slot in clue.among
        problem = f"slot {clue.slot} is not in {clue.among}"
    else:
        is_there = len(clue.sums) == view.num_slots
        problem = f"{len(clue.sums)} sums are not one for each of {view.num_slots} slots"
    if not is_there and not is_ours:
        raise MisfitError(problem)
    return clue if is_there and not absent else None


def _told_fitting(clue: Told, view: View, num_agents: int, is_ours: bool) -> Told:
    """Return a clue about slots that exist; weights of our own rules fit the cells."""
    _check_agents((clue.agent,), num_agents)
    if absent := _absent(clue.slots, view, is_ours):
        there = {slot: weights for slot, weights in clue.slots.items() if slot not in absent}
        clue = clue._replace(slots=there)
    if is_ours:
        return clue
    _check_weights(clue.held.values())
    slots: dict[Slot, Weights] = {}
    held: dict[Slot, float] = {}
    for slot, weights in clue.slots.items():
        _check_weights(weights)
        if len(weights) != len(view.cells):
            raise MisfitError(f"weights {weights} are not one for each of {view.cells}")
        # Copied, as its author may fill them again; only ratios count, so that none is too large.
        by_meeting = clue.held.get(slot, weights[-1])
        most = max(*weights, by_meeting) or 1.0
        slots[slot] = tuple([weight / most for weight in weights])
        held[slot] = by_meeting / most
    return clue._replace(slots=slots, held=held)


def _one_of_fitting(clue: OneOf, view: View, num_agents: int) -> OneOf:
    """Return a clue of somebody else whose ways fit its slots, and these the calendar."""
    otherwise = _told_fitting(Told(clue.agent, clue.otherwise), view, num_agents, is_ours=False)
    _absent(clue.slots, view, is_ours=False)
    try:
        ways = np.array([*clue.ways], dtype=float)
    except ValueError as error:
        raise MisfitError(f"its ways are no numbers of one shape: {error}") from error
    shape = len(clue.slots), len(view.cells) + 1
    if not len(clue.slots) or len({*clue.slots}) < len(clue.slots):
        raise MisfitError(f"slots {clue.slots} are none, or some of them are there twice")
    if ways.ndim != 3 or not len(ways) or ways.shape[1:] != shape:
        raise MisfitError(f"ways of shape {ways.shape} are not (ways, {shape[0]}, {shape[1]})")
    _check_weights(ways[~((ways >= 0) & (ways < inf))][:1].tolist())
    return clue._replace(slots=tuple(clue.slots), ways=ways, otherwise=otherwise.slots)


def _check_agents(agents: Collection[AgentId], num_agents: int) -> None:
    if not all(agent in range(num_agents) for agent in agents):
        raise MisfitError(f"agents {(*agents,)} are not all in the game")


def _absent(slots: Collection[Slot], view: View, is_ours: bool) -> list[Slot]:
    """Return the slots that are not there, which only rules of ours may name."""
    there = range(view.num_slots)
    absent = [slot for slot in slots if slot not in there]
    if absent and not is_ours:
        raise MisfitError(f"slot {absent[0]} is not there; slots are 0 to {view.num_slots - 1}")
    return absent


def _check_weights(weights: Collection[float]) -> None:
    if not all(0 <= each < inf for each in weights):
        raise MisfitError(f"weights {(*weights,)} are not all from 0 on")
