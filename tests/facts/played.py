"""Small games of which every fact is easy to follow."""

from collections.abc import Sequence
from dataclasses import replace

from calbench.domain.actions import BroadcastMessage
from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import CostReport, Decision, Text
from calbench.domain.observations import CHEAP_TALK
from calbench.domain.usage import Usage
from calbench.traces.events import Event, ReplyNote, TurnEnd
from calbench.traces.models import Trace
from tests.factories import make_scenario
from tests.metrics.games import dm, play_scripts, talk
from tests.metrics.language_games import reflecting, reflection, seat, seated, with_events

USAGE = Usage(input_tokens=1000, cached_tokens=400, output_tokens=50)

WORDS = "Agent 1, could we take slot 2? I have a dentist appointment at slot 3."


def told_game() -> Trace:
    """Agent 0 tells all what slots cost it, then agent 1 of its decision; three agents, 2 slots."""
    report = CostReport(slots=(Slot(0), Slot(1)), costs=(0, None))
    return play_scripts(
        make_scenario(["..", "..", ".."], [(0, 1)]),
        {0: talk(BroadcastMessage(content=report), dm(1, Decision(slot=Slot(0))))},
    )


def spoken_game(words: str = WORDS) -> Trace:
    """Agent 0 says a sentence to agent 1, which is typed."""
    scenario = make_scenario(["....", "....", "...."], [(0, 1)])
    trace = play_scripts(scenario, {0: talk(dm(1, Text(text=words)))})
    return seated(trace, seat("gpt", "model", model="vendor/gpt"), seat("plain", "protocol"))


def paid_game(kind: str = "recovered", noted_agent: int = 0) -> Trace:
    """Agent 0 answers with two replies behind its turn; a note follows; then it reflects."""
    trace = spoken_game()

    def notes(event: Event) -> Sequence[Event]:
        if not isinstance(event, TurnEnd) or event.agent_id != 0:
            return ()
        return [
            ReplyNote(
                round=event.round,
                phase=CHEAP_TALK,
                agent_id=AgentId(noted_agent),
                kind=kind,  # type: ignore[arg-type]
                detail="a fence",
            )
        ]

    events = tuple(
        replace(event, usage=USAGE, reply_keys=("a", "b"))
        if isinstance(event, TurnEnd) and event.agent_id == 0
        else event
        for event in trace.events
    )
    trace = with_events(trace.model_copy(update={"events": events}), notes)
    return reflecting(trace, [reflection(0, 0, {1: [1, 0, 0, 0]})])
