"""A small game in which labels are passed on, and its labels."""

from calbench.domain.actions import BroadcastMessage
from calbench.domain.ids import ErrandId, ItemId, MeetingId
from calbench.domain.messages import Text
from calbench.scenarios.labels import Labels, assign_labels, read_label_bank
from calbench.scenarios.models import Scenario
from calbench.traces.models import Trace
from tests.factories import make_scenario
from tests.metrics.games import Script, dm, play_scripts, talk
from tests.metrics.language_games import seat, seated
from tests.scenarios.label_banks import texts_of

ERRAND, OTHER, MEETING = ErrandId(101), ErrandId(102), MeetingId(2)
"""Two errands of agent 0, and the meeting of agents 1, 2 and 3."""

PLAYERS = "abccc"
"""Who sits in the five seats."""


def gossip_scenario() -> Scenario:
    return make_scenario(["EB..", "E...", "....", "....", "...."], [(0, 1), (1, 2, 3)])


def gossip_labels() -> Labels:
    return assign_labels(gossip_scenario(), read_label_bank("v1"))


def name_of(item: ItemId) -> str:
    """Return the label of an item."""
    return gossip_labels().label_of(item).text


def labelled(trace: Trace) -> Trace:
    """Return a game whose items have labels."""
    return trace.model_copy(update={"config": trace.config.updated(label_bank="v1")})


def gossiping_game() -> Trace:
    """Agent 0 tells agent 1 an errand, which passes it on to 2, which tells all others."""
    name = name_of(ERRAND)
    to_all = BroadcastMessage(content=Text(text=f"{name}: that is slot 0 of Agent 0."))
    scripts: dict[int, Script] = {
        0: talk(dm(1, Text(text=f"I have {name} at slot 0."))),
        1: talk(dm(2, Text(text=f"Agent 0 has {name} at slot 0.")), round_index=1),
        2: talk(to_all, round_index=1),
    }
    trace = play_scripts(gossip_scenario(), scripts)
    return labelled(seated(trace, *(seat(each) for each in PLAYERS)))


def telling_game() -> tuple[Trace, str]:
    """Return a game in which labels are told to who knows them and to others, and one of them.

    Agent 0 tells its errand, whose label is returned, and a shared meeting; agent 1 tells that
    meeting to agent 2.
    """
    scenario = make_scenario(["EB..", "....", "...."], [(0, 1), (1, 2)])
    labels = assign_labels(scenario, read_label_bank("v1"))
    errand = texts_of(labels)[labels.items_by_agent[0][1]]  # type: ignore[index]
    meeting = texts_of(labels)[1]  # type: ignore[index]
    scripts = {
        0: talk(
            dm(1, Text(text=f"Slots 0 and 2 are free for me. I have {errand} at slot 0.")),
            dm(1, Text(text=f"For {meeting}, how about slot 3?")),
        ),
        1: talk(dm(2, Text(text=f"Then we do {meeting}, Agent 0 is free.")), round_index=1),
    }
    played = seated(play_scripts(scenario, scripts), seat("a"), seat("b"), seat("b"))
    return labelled(played), errand
