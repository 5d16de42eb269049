"""Facts of what the detectors find in each message."""

from calbench.domain.messages import Text
from calbench.facts.messages import MESSAGES
from calbench.scenarios.labels import assign_labels, read_label_bank
from calbench.traces.models import Trace
from tests.factories import make_scenario
from tests.facts.measured import rows_of
from tests.facts.played import spoken_game, told_game
from tests.metrics.games import dm, play_scripts, talk
from tests.metrics.language_games import halted, seat, seated
from tests.scenarios.label_banks import texts_of

NAMES = ("patterns", "own_slot", "labels_told", "leak_tier")


def telling_game() -> Trace:
    """Agent 0 tells a private errand and a shared meeting; agent 1 that meeting to agent 2."""
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
    return played.model_copy(update={"config": played.config.updated(label_bank="v1")})


def test_words_by_hand() -> None:
    assert rows_of(MESSAGES, telling_game(), *NAMES) == [
        (None, "availability cost_or_constraint", 1, "public"),
        (None, "proposal", 0, None),  # its recipient takes part in the meeting
        ("availability_gossip", None, 1, "public"),
    ]


def test_a_game_without_labels_tells_none() -> None:
    trace = telling_game()
    plain = trace.model_copy(update={"config": trace.config.updated(label_bank=None)})
    assert [row[2:] for row in rows_of(MESSAGES, plain, *NAMES)] == [(None, None)] * 3
    assert rows_of(MESSAGES, spoken_game(), *NAMES) == [(None, "proposal", None, None)]


def test_nothing_is_found_in_typed_messages_and_excluded_games_have_none() -> None:
    assert rows_of(MESSAGES, told_game(), *NAMES) == [(None,) * 4] * 2
    assert rows_of(MESSAGES, halted(telling_game()), *NAMES) == []
