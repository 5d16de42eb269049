"""Page data of the trace browser says what the trace says, in less space."""

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.analysis.summary import KIND_WORDS
from calbench.report.escape import data_script, script_json
from calbench.report.games.files import about_game, packed_games, team_kind
from calbench.report.games.index import ALPHABET, column
from calbench.traces.models import Kind, Seat
from calbench.traces.storage import trace_bytes
from tests.report.samples import HALF_CHARACTERS, play, suite_of
from tests.report.unpacking import unpacked

ALPHABET_SIZE = len(ALPHABET)


@pytest.mark.parametrize("team", ["imap", "silent", "first-free", "tell-all"])
def test_page_data_of_a_protocol_game_stays_small(team: str) -> None:
    trace = play(suite_of("varied", 3)[0], team)

    shared = trace.scenario.model_dump_json().encode()

    size = len(packed_games(shared, [(about_game(trace, "varied"), trace_bytes(trace))]))

    assert size < 15_000
    assert 3 * size < len(trace_bytes(trace))


@given(st.lists(st.none() | st.integers(-3, 3) | st.text(max_size=2), min_size=1))
def test_column_holds_its_values(values: list[Any]) -> None:
    held = json.loads(json.dumps(column(values)))

    assert unpacked(held, len(values)) == json.loads(json.dumps(values))


def test_more_kinds_of_values_than_letters_are_told_one_by_one() -> None:
    values = list(range(ALPHABET_SIZE + 1))

    assert column(values * 3) == values * 3
    assert column(values[1:] * 3) != values[1:] * 3


def slow_script(key: str, value: Any) -> bytes:
    return f"calbench.data({script_json(key)},{script_json(value)});\n".encode("ascii")


@given(st.text() | st.recursive(st.text() | st.integers(), st.lists))
def test_quick_script_says_what_the_slow_one_does(value: Any) -> None:
    assert data_script("a/b", value) == slow_script("a/b", value)


@pytest.mark.parametrize("value", [HALF_CHARACTERS, 2**70, {"<&>": "</script>\u2028"}])
def test_quick_script_bears_what_is_no_plain_json(value: Any) -> None:
    assert data_script("a/b", value) == slow_script("a/b", value)


def test_kinds_of_mixed_teams_are_named_together() -> None:
    seats = [Seat(player="a", kind="model"), Seat(player="b", kind="scripted")]

    assert team_kind(seats) == "language models and scripted agents"


def test_every_kind_of_player_has_a_name() -> None:
    assert set(KIND_WORDS) == set(get_args(Kind))
    assert team_kind([Seat(player="a", kind="custom")]) == "custom agents"
