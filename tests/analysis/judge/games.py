"""A small game in which three agents write to each other, with what a judge makes of it by hand."""

from calbench.domain.actions import BroadcastMessage, ParticipantMessage
from calbench.domain.messages import Text
from calbench.traces.models import Trace
from tests.factories import make_scenario
from tests.metrics.games import Script, book, decide, dm, move, play_scripts, talk
from tests.metrics.language_games import SMALL_REFLECTIONS, TALKERS, reflecting, seated

OFFER = "Slot 2 is impossible for me. How about slot 1 or slot 3?"
FREE = "Slot 0 is free for me."
AGREED = "Agreed, slot 1."
HARD = "Slot 1 would be hard for me."

SCRIPTS: dict[int, Script] = {
    0: talk(dm(1, Text(text=OFFER))) | decide(book(1, 1)),
    1: talk(
        BroadcastMessage(content=Text(text=FREE)), ParticipantMessage(content=Text(text=AGREED))
    )
    | talk(dm(2, Text(text=HARD)), round_index=1)
    | decide(book(1, 1))
    | decide(book(2, 0), round_index=1),
    2: decide(move(109, 1, 3), book(2, 0), round_index=1),
}


def spoken_game(rows: tuple[str, str, str] = ("E.B.", "....", ".E..")) -> Trace:
    """Return a game of 3 agents, 4 slots and 2 meetings, (0, 1) and then (1, 2).

    ======  ===========  ===========  ==============================================
    agent   after round  after round  what it says
    ======  ===========  ===========  ==============================================
    0       0: ``EMB.``  1: ``EMB.``  round 0 to 1: OFFER
    1       0: ``.M..``  1: ``MM..``  round 0 to all: FREE, to 0: AGREED; round 1 to 2: HARD
    2       0: ``.E..``  1: ``M..E``
    ======  ===========  ===========  ==============================================

    The scripted judge, by observer and target: 0 of 1 ``(-3, 3, 0, 0)``, 1 of 0
    ``(0, -1, 3, -1)``, 2 of 1 ``(-3, 0, 0, 0)``, and in round 1 2 of 1 ``(0, 2, 0, 0)``.
    """
    return seated(play_scripts(make_scenario(list(rows), [(0, 1), (1, 2)]), SCRIPTS), *TALKERS)


def reflected_game() -> Trace:
    return reflecting(spoken_game(), SMALL_REFLECTIONS)
