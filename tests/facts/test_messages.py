"""Facts of messages: by hand, and against the score of the game."""

from pathlib import Path

import pytest

from calbench.facts.messages import MESSAGES
from calbench.metrics.measure import MeasureSpec
from tests.facts.measured import facts_of, play_preset, rows_of, values_of
from tests.facts.played import spoken_game, told_game
from tests.metrics.games import canonical_scenario
from tests.metrics.language_games import seat, seated

FOUND = ("patterns", "own_slot", "labels_told", "leak_tier", "labels_passed_on")
"""What the detectors find in words."""

SENT = tuple(column.name for column in MESSAGES.columns if column.name not in FOUND)


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


def test_the_mediator_is_nobody_and_what_it_is_told_reaches_nobody() -> None:
    trace = play_preset("mediator", canonical_scenario(1))
    rows = rows_of(MESSAGES, trace, "sender", "player", "kind", "source", "channel", "recipients")
    announced = [row for row in rows if row[3] == "announcement"]
    assert {row[:3] for row in announced} == {(None, None, None)}
    assert {row[4] for row in rows} == {"sealed"}
    assert {row[5] is None for row in rows if row[0] is not None} == {True}
    assert all(row[5] for row in announced)
    assert (len(rows), len(announced)) == (20, 5)


def test_updates_about_speakers_do_not_count() -> None:
    trace = seated(told_game(), seat("gpt", "model"))
    values = values_of(MESSAGES, trace)
    assert (values["updates"], values["vps"]) == ([0, 0], [0.0, 0.0])
