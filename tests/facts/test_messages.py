"""Facts of messages and of what the detectors find in each: by hand, and against the score."""

from dataclasses import replace
from pathlib import Path

import pytest

from calbench.domain.usage import Usage
from calbench.facts.messages import CALLS, MESSAGES
from calbench.metrics.game import score_game
from calbench.metrics.measure import MeasureSpec
from calbench.traces.events import TurnEnd
from tests.facts.measured import facts_of, play_preset, rows_of, values_of
from tests.facts.played import paid_game, spoken_game, told_game
from tests.metrics.games import canonical_scenario
from tests.metrics.gossip import telling_game
from tests.metrics.language_games import halted, noted, seat, seated, small_game


@pytest.mark.parametrize("words", ['Slot 2, "please",\r\n', "naïve 雪 agent", " x "])
def test_words_are_kept_letter_by_letter(tmp_path: Path, words: str) -> None:
    facts = facts_of(tmp_path, [spoken_game(words)])
    (rows,) = facts.batches("messages", ["text", "chars"])
    assert rows["text"].tolist() == [words]
    assert rows["chars"].tolist() == [len(words)]


def test_a_step_back_toward_the_prior_is_negative() -> None:
    values = values_of(MESSAGES, told_game(), MeasureSpec(belief_prior=0.0))
    assert values["vps"] == [2.0, 0.0]  # feasible from 0 to 1 for two observers; 0 stays 0
    assert values["updates"] == [4, 1]
    speaker = values_of(MESSAGES, seated(told_game(), seat("gpt", "model")))
    assert (speaker["updates"], speaker["vps"]) == ([0, 0], [0.0, 0.0]), "not about speakers"


def test_the_mediator_is_nobody_and_what_it_is_told_reaches_nobody() -> None:
    trace = play_preset("mediator", canonical_scenario(1))
    rows = rows_of(MESSAGES, trace, "sender", "player", "kind", "source", "channel", "recipients")
    announced = [row for row in rows if row[3] == "announcement"]
    assert {row[:3] for row in announced} == {(None, None, None)}
    assert {row[4] for row in rows} == {"sealed"}
    assert {row[5] is None for row in rows if row[0] is not None} == {True}
    assert all(row[5] for row in announced)
    assert (len(rows), len(announced)) == (20, 5)


NAMES = tuple(column.name for column in CALLS.columns)


def test_calls_by_hand() -> None:
    gpt, paid = ("gpt", "model", "vendor/gpt"), (2, 1000, 400, 50, False, "recovered", False)
    free = (0, None, None, None, None, "read")
    assert rows_of(CALLS, paid_game(), *NAMES) == [
        (6, 0, "CHEAP_TALK", 0, *gpt, 0, *paid),
        (12, 0, "CHEAP_TALK", 0, *gpt, 1, *paid),
        (17, 0, "DECISION", 0, *gpt, 0, *free, True),
        (24, 0, "REFLECTION", 0, *gpt, None, *free, False),
    ]
    assert values_of(CALLS, told_game())["calls"] == [], "only players in words are asked"


@pytest.mark.parametrize(
    ("kind", "agent", "reading"),
    [
        ("recovered", 0, "recovered"),
        ("truncated", 0, "truncated"),
        ("prose_ignored", 0, "read"),
        ("recovered", 1, "read"),
    ],
)
def test_a_note_is_about_the_answer_before_it(kind: str, agent: int, reading: str) -> None:
    assert values_of(CALLS, paid_game(kind, agent))["reading"][0] == reading


def test_estimates_and_recorded_replies() -> None:
    trace = paid_game()
    usage = Usage(input_tokens=7, cached_tokens=0, output_tokens=5, is_estimated=True)
    events = tuple(
        replace(event, usage=usage, reply_keys=()) if isinstance(event, TurnEnd) else event
        for event in trace.events
    )
    values = values_of(CALLS, trace.model_copy(update={"events": events}))
    assert (values["calls"][0], values["is_estimated"][0]) == (1, True)
    assert (values["input_tokens"][0], values["cached_tokens"][0]) == (7, 0)


def test_calls_add_up_to_the_tokens_of_the_score() -> None:
    tokens = [agent.tokens for agent in score_game(paid_game()).agents]
    values = values_of(CALLS, paid_game())
    assert sum(values["calls"]) == sum(each.calls for each in tokens) == 4
    for name in ("input_tokens", "cached_tokens", "output_tokens"):
        assert sum(n or 0 for n in values[name]) == sum(getattr(each, name) for each in tokens) > 0


def test_excluded_games_have_theirs_too() -> None:
    scored, excluded = (values_of(CALLS, trace) for trace in (paid_game(), halted(paid_game())))
    assert score_game(halted(paid_game())).is_excluded
    assert excluded["event_index"] == [6, 12, 17, 25]  # the halt stands before the reflection
    assert {name for name in NAMES if excluded[name] != scored[name]} == {"event_index"}


def test_decisions_name_their_phase_and_attempt() -> None:
    rows = rows_of(CALLS, noted(small_game(), 0, ["truncated"]), "phase", "attempt", "reading")
    assert rows[0] == ("CHEAP_TALK", 0, "truncated")
    assert {phase for phase, *_ in rows} >= {"CHEAP_TALK", "DECISION"}
    assert {reading for _, _, reading in rows[1:]} == {"read"}


WORDS = ("patterns", "own_slot", "labels_told", "leak_tier")


def test_words_by_hand() -> None:
    assert rows_of(MESSAGES, telling_game()[0], *WORDS) == [
        (None, "availability cost_or_constraint", 1, "public"),
        (None, "proposal", 0, None),  # its recipient takes part in the meeting
        ("availability_gossip", None, 1, "public"),
    ]


def test_words_tell_nothing_without_labels_typed_or_excluded() -> None:
    trace = telling_game()[0]
    plain = trace.model_copy(update={"config": trace.config.updated(label_bank=None)})
    assert [row[2:] for row in rows_of(MESSAGES, plain, *WORDS)] == [(None, None)] * 3
    assert rows_of(MESSAGES, spoken_game(), *WORDS) == [(None, "proposal", None, None)]
    assert rows_of(MESSAGES, told_game(), *WORDS) == [(None,) * 4] * 2
    assert rows_of(MESSAGES, halted(trace), *WORDS) == []
