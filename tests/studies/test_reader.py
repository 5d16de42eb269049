"""A recorded reader: its answers are kept at once, and its tables follow from them."""

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from calbench.metrics.speech.sample import read_others
from tests.llm.stub_server import Answer, Asked, StubServer, served
from tests.studies.reader import (
    ANSWERS,
    DRAWN,
    GAMES,
    LABEL,
    Heard,
    answered,
    digest,
    drawn,
    games_table,
    odds_of,
    of_sample,
)
from tests.studies.reader import Asked as Question
from tests.studies.readings import QUALITY, RELIABILITY, Case, chances, tables


def tokens(**chances: float) -> list[dict[str, Any]]:
    return [{"token": token, "logprob": math.log(each)} for token, each in chances.items()]


def test_odds_add_spellings_and_take_the_last_for_what_is_not_there() -> None:
    assert odds_of(tokens(Yes=0.4, yes=0.2, No=0.3, Maybe=0.1)) == round(math.log(2), 3)
    assert odds_of(tokens(Yes=0.9, Maybe=0.09)) == round(math.log(10), 3)
    assert odds_of(tokens(Maybe=0.9, Perhaps=0.1)) == 0


def test_message_is_asked_about_before_the_question_and_the_entry() -> None:
    asked = Question("At 3 I see the dentist. Slot 4?", LABEL, "dental check")
    assert asked.words.startswith(f"Message: {asked.text}\n")
    assert "dental check" in asked.words
    assert "dental check" not in Question(asked.text, "proposal").words


def test_draw_is_the_same_in_every_order() -> None:
    found = [
        Question(f"message {text}", "slot", str(slot)) for text in range(600) for slot in (1, 2)
    ]
    some = drawn(found)
    assert some == drawn(reversed(found))
    assert len(some) == len({each.text for each in some}) == DRAWN
    assert {each.about for each in some} == {"1", "2"}


class Reader(StubServer):
    """Answers each question with yes at three times the odds of no, but for a fault."""

    def answer_to(self, asked: Asked) -> Answer:
        if "fault" in asked.body["messages"][1]["content"]:
            return Answer(status=500)
        top = {"top_logprobs": tokens(Yes=0.6, No=0.2)}
        return Answer({"choices": [{"logprobs": {"content": [top]}}]})


def test_only_what_is_new_is_asked_and_a_fault_loses_nothing(tmp_path: Path) -> None:
    server, path = Reader(), tmp_path / "answers.jsonl"
    first = [Question("a", "proposal"), Question("a", LABEL, "x")]
    with served(server):
        with pytest.raises(OSError, match="500"):
            answered([*first, Question("z fault", "proposal")], server.url, path)
        assert len(path.read_text().splitlines()) == 2
        server.asked.clear()
        found = answered([*first, Question("b", "proposal")], server.url, path)
    heard = [body["messages"][1]["content"] for body in server.asked]
    assert [each.partition("\n")[0] for each in heard] == ["Message: b"]
    assert set(found.values()) == {round(math.log(3), 3)}
    assert answered(first, "http://127.0.0.1:9", path) == found


def test_games_count_how_often_a_slot_that_was_named_had_room() -> None:
    asked = Question("Slot 3 works.", "slot", "3")
    said = [Heard(asked, "model", "m", had_room) for had_room in (True, False, True)]
    (row,) = games_table(said, {asked: 1.5}).to_dict("records")
    assert row == {
        "kind": "model", "speaker": "m", "message": digest(asked.text), "slot": 3,
        "log_odds": 1.5, "times": 3, "had_room": 2,
    }  # fmt: skip


def test_every_question_about_the_labelled_messages_is_answered() -> None:
    table = pd.read_csv(ANSWERS, keep_default_na=False)
    rows = zip(table["message"], table["question"], table["about"], strict=True)
    assert [*rows] == [(key, *asked[1:]) for key, asked in of_sample()]
    assert len(read_others(ANSWERS.with_name("others.jsonl"))) * 11 == len(table)
    games = pd.read_csv(GAMES)
    assert (games["had_room"] <= games["times"]).all()


def test_probabilities_follow_features_that_tell_and_are_of_other_parts() -> None:
    telling = [Case(at, at % 5, "", (float(at % 2),), False, at % 2 == 1) for at in range(100)]
    stated = chances(telling, joined=False)
    assert stated[1::2].min() > 0.8
    assert stated[::2].max() < 0.2
    lone = [each._replace(is_yes=each.fold == 0) for each in telling]
    assert chances(lone, joined=False)[::5].max() < 0.1, "its own part has not taught it"


@pytest.mark.heavy
def test_published_tables_follow_from_the_answers() -> None:
    for path, table in zip((QUALITY, RELIABILITY), tables(), strict=True):
        numbers = ("stated", "true_share", "gain", "gain_low", "gain_high")
        kept = pd.read_csv(path, keep_default_na=False, na_values=dict.fromkeys(numbers, ""))
        pd.testing.assert_frame_equal(table.round(4), kept, check_dtype=False, atol=2e-4)
    assert (pd.read_csv(QUALITY)["gain_low"].dropna() <= 0).all(), (
        "the page says that nothing is gained"
    )
