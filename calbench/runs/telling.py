"""Half-played games in words: what was said so far (``calbench verify --partial``)."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from calbench.console import alert, say, tell, verdict
from calbench.domain.actions import CalendarAction, Reschedule
from calbench.domain.messages import Text
from calbench.domain.observations import CHEAP_TALK, DECISION, VOLUNTARY
from calbench.report.games.picture import words
from calbench.runs.events import CHANNELS
from calbench.runs.fragments import Fragments, HalfPlayed, read_fragments
from calbench.traces.events import (
    AnnouncementSent,
    BatchApplied,
    BatchRejected,
    Event,
    InvalidToolCall,
    MessageSent,
    ReplyNote,
    Resolution,
    RoundStart,
)

PHASES = {VOLUNTARY: "voluntary moves", DECISION: "decision"}


def tell_all(paths: Sequence[Path]) -> bool:
    """Tell how far each half-played game of some runs or reply stores is, and what was said.

    Returns:
        Whether every game could be played again.
    """
    found = []
    for path in paths:
        fragments = read_fragments(path)
        found.append(fragments)
        for game in fragments.games:
            tell(headline(game))
            for line in told(game):
                tell(f"  {line}")
        for problem in fragments.problems:
            alert(f"error: {problem}")
        if fragments.is_silent:
            say(f"{path}: notes no games: its replies were recorded before games were noted")
    wrong = sum(len(each.problems) for each in found)
    verdict(_verdict(found, wrong), is_good=not wrong)
    return not wrong


def _verdict(found: Sequence[Fragments], wrong: int) -> str:
    games, whole = sum(len(each.games) for each in found), sum(each.whole for each in found)
    replies = sum(each.replies for each in found)
    played = "; 1 other has all its replies" if whole == 1 else f"; {whole} others have all theirs"
    end = f"{wrong} cannot be played again" if wrong else "all hold"
    return (
        f"{_plural(games, 'half-played game')}, {_plural(replies, 'reply', 'replies')}"
        f"{played if whole else ''}; {end}"
    )


def headline(game: HalfPlayed) -> str:
    """Return whose game it is, where it is, and for whom it waits."""
    config, scenario, asked = game.trace.config, game.trace.scenario, game.waiting[0]
    again = f", replicate {config.replicate}" if config.replicate else ""
    phase = PHASES.get(asked.phase, "reflection")
    where = f"sweep {asked.turn_index + 1}" if asked.phase is CHEAP_TALK else phase
    waiting = [observation.agent_id for observation in game.waiting]
    unasked = [agent for agent in waiting if agent in game.unasked]
    own = f" ({_agents(unasked)}: only the user's own code answers)" if unasked else ""
    replies = _plural(len(game.replies), "reply", "replies")
    return (
        f"{config.team.team_id} on {scenario.scenario_id}{again}: round {asked.round_index + 1} of "
        f"{len(scenario.meetings)}, {where}; {replies} so far; waits for {_agents(waiting)}{own}"
    )


def told(game: HalfPlayed) -> Iterator[str]:
    """Yield a line for each message and each change of a calendar, in their order."""
    for event in game.trace.events:
        line = _line(event)
        if line:
            yield line


def _line(event: Event) -> str:
    line = ""
    match event:
        case RoundStart():
            who = _agents(event.participants)
            line = f"round {event.round + 1}: {who} plan meeting {event.meeting_id}"
        case AnnouncementSent():
            line = f"the mediator to {_agents(event.to_agents)}: {words(event.content)}"
        case BatchApplied():
            done = "; ".join(map(_action, event.actions)) or "nothing"
            line = f"agent {event.agent_id} does: {done} (cost {event.cost})"
        case BatchRejected():
            line = f"agent {event.agent_id}, batch rejected: {event.conflict}"
        case InvalidToolCall():
            line = f"agent {event.agent_id}, {event.action.type} refused: {event.reason}"
        case ReplyNote():
            line = f"agent {event.agent_id}, reply {_spaced(event.kind)}: {event.detail}"
        case Resolution():
            outcome = _spaced(event.outcome)
            line = f"round {event.round + 1} ends: meeting {event.meeting_id} {outcome}"
        case _ if isinstance(event, MessageSent):
            line = _message(event)
    return line


def _message(event: MessageSent) -> str:
    channel = _spaced(CHANNELS[event.type])
    said = words(event.content)
    said = f'"{said}"' if isinstance(event.content, Text) else said
    return f"agent {event.from_agent} to {_agents(event.to_agents)} ({channel}): {said}"


def _action(action: CalendarAction) -> str:
    if isinstance(action, Reschedule):
        return f"move {action.item_id} from slot {action.from_slot} to slot {action.to_slot}"
    return f"meeting {action.meeting_id} in slot {action.slot}"


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _agents(agents: Sequence[int]) -> str:
    names = list(map(str, agents))
    if len(names) == 1:
        return f"agent {names[0]}"
    return f"agents {', '.join(names[:-1])} and {names[-1]}" if names else "nobody"


def _plural(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or f'{one}s'}"
