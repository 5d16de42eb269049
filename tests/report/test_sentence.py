"""What happened in a game, in one sentence: made from the cells of tables, and of nothing else."""

import json
from pathlib import Path

import pytest

from calbench.report.escape import write_data
from calbench.report.games.files import (
    NOTHING,
    PLAYED_COLUMNS,
    TOLD_COLUMNS,
    OfTables,
    Rows,
    about_game,
    packed_games,
    what_happened,
)
from calbench.report.tables import Row
from calbench.traces.models import Trace
from calbench.traces.storage import trace_bytes
from tests.report.samples import play, suite_of
from tests.report.unpacking import unpacked_game


def played(*cells: object, bits: float | None = None) -> Row:
    return dict(zip(PLAYED_COLUMNS, (False, *cells, bits), strict=True))


def told(*cells: object) -> Row:
    return dict(zip(TOLD_COLUMNS, cells, strict=True))


ALL = played(5, 5, 21, 7, 5, 2)


@pytest.mark.parametrize(
    ("row", "audit", "said"),
    [
        (
            played(1, 1, 2, 0, 0, 0, bits=12.34),
            None,
            (
                "The meeting was scheduled in 2 messages at cost 0, the optimum; "
                "all together learnt 12.3 bits."
            ),
        ),
        (ALL, None, "All 5 meetings were scheduled in 21 messages at cost 7, 2 above the optimum."),
        (
            played(5, 4, 1, 7, 7, 0),
            None,
            "4 of 5 meetings were scheduled in 1 message at cost 7, the optimum of these 4.",
        ),
        (
            played(2, 1, 8, 3, 1, 2),
            None,
            (
                "1 of 2 meetings was scheduled in 8 messages at cost 3, 2 above the optimum of "
                "that one."
            ),
        ),
        (
            played(5, 0, 0, 0, 0, 0),
            None,
            "None of 5 meetings was scheduled in 0 messages at cost 0.",
        ),
        (
            played(1, 1, 2, 0, 0, 0),
            told(0, 0, 0),
            "The meeting was scheduled in 2 messages at cost 0, the optimum.",
        ),
        (
            ALL,
            told(3, 1, 2),
            (
                "All 5 meetings were scheduled in 21 messages at cost 7, 2 above the optimum; 3 "
                "private labels (1 sensitive) were told and 2 labels of others were passed on."
            ),
        ),
        (
            ALL,
            told(1, 0, 0),
            (
                "All 5 meetings were scheduled in 21 messages at cost 7, 2 above the optimum; 1 "
                "private label was told."
            ),
        ),
        (
            ALL,
            told(None, None, 1),
            (
                "All 5 meetings were scheduled in 21 messages at cost 7, 2 above the optimum; 1 "
                "label of others was passed on."
            ),
        ),
        (
            {**played(5, 2, 9, 4, None, None), "is_excluded": True},
            told(1, 1, 0),
            "Halted before its end and not scored: 2 of 5 meetings were scheduled in 9 messages.",
        ),
    ],
)
def test_sentence_is_made_from_the_rows(row: Row, audit: Row | None, said: str) -> None:
    assert what_happened(Rows(row, audit)) == said


def sentence(trace: Trace, of_tables: OfTables = NOTHING) -> str:
    return str(about_game(trace, "varied", of_tables).get("summary", ""))


def test_game_of_which_a_table_tells_has_its_sentence() -> None:
    trace = play(suite_of("varied", 3)[0], "imap")

    assert sentence(trace, OfTables(rows=Rows(ALL))).startswith("All 5")
    assert sentence(trace) == ""


@pytest.mark.parametrize("trace", [b"", b"{}", b"{}\n\n", b"{\n}", b"{\n}\n"])
def test_file_holds_no_trace_that_is_not_one_line(trace: bytes) -> None:
    with pytest.raises(ValueError, match="one line"):
        packed_games(b"[]", [({}, trace)])


def test_file_has_the_bytes_of_each_trace_also_of_one_with_another_scenario(tmp_path: Path) -> None:
    scenario, other = suite_of("varied", 3)[:2]
    traces = {team: play(scenario, team) for team in ("imap", "silent")}
    traces["tell-all"] = play(other, "tell-all")
    games = [(about_game(each, "varied"), trace_bytes(each)) for each in traces.values()]

    held = packed_games(scenario.model_dump_json().encode(), games)
    write_data(tmp_path, "games/varied/a", {"teams": list(traces), "games": held})

    assert held == packed_games(scenario.model_dump_json().encode(), games)
    for team, (about, trace) in zip(traces, games, strict=True):
        told, file = unpacked_game(tmp_path, "varied", team, "a")
        assert file == trace
        assert told == json.loads(json.dumps(about))
