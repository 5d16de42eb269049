"""What a seat's rules say that its messages tell, checked: protocols may be anybody's [C]."""

from math import inf

from calbench.domain.messages import Message
from calbench.errors import ConfigError
from calbench.files import printable, shorten
from calbench.metrics.privacy.inference.literal import LiteralReader
from calbench.protocols.clues import Clue, Telling, Told, Total, View
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
        policy: object = build_policy(seat.player, seat.settings, weights)
    except Exception:  # noqa: BLE001 - not installed, or of other settings: unknown
        return None
    return policy if isinstance(policy, Telling) and _says_itself(type(policy)) else None


def _says_itself(policy: type) -> bool:
    """Whether its rules are those of its own play: who overrides ``act`` says something else."""
    acts, tells = (
        next(at for at, each in enumerate(policy.__mro__) if name in vars(each))
        for name in ("act", "tells")
    )
    return tells <= acts


def clues_of(policy: Telling, message: Message, view: View, num_agents: int) -> list[Clue]:
    """Return what a protocol says that a message tells, without slots that are not there.

    Raises:
        ConfigError: its rules fail, or say what is no clue.
    """
    try:
        found = [_fitting(clue, view, num_agents) for clue in policy.tells(message, view)]
        return [clue for clue in found if clue is not None]
    except Exception as error:
        said = shorten(printable(f"{type(error).__name__}: {error}"), 200)
        raise ConfigError(f"tells() of {type(policy).__name__} failed: {said}") from error


def _fitting(clue: Clue, view: View, num_agents: int) -> Clue | None:
    """Return a clue about what exists; ``None`` if a hostile message makes it about nothing.

    Raises:
        ValueError: it is none, or its weights or values do not fit the cells.
    """
    agents = (clue.agent,) if isinstance(clue, Told) else clue.agents
    slots = range(view.num_slots)
    if not all(agent in range(num_agents) for agent in agents):
        raise ValueError(f"agents {agents} are not all in the game")
    if isinstance(clue, Told):
        told = {slot: weights for slot, weights in clue.slots.items() if slot in slots}
        if not all(0 <= each < inf for each in clue.held.values()):
            raise ValueError(f"weights {clue.held} are not all from 0 on")
        for weights in told.values():
            if len(weights) != len(view.cells) or not all(0 <= each < inf for each in weights):
                raise ValueError(f"weights {weights} are not one for each of {view.cells}")
        return clue._replace(slots=told)
    if isinstance(clue, Total):
        return clue if len(clue.sums) == view.num_slots else None
    if len(clue.values) != len(view.cells):
        raise ValueError(f"values {clue.values} are not one for each of {view.cells}")
    is_there = clue.slot in clue.among and all(slot in slots for slot in clue.among)
    return clue if is_there else None
