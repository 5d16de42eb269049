"""What happened in a game, in one sentence: made from the cells of tables, and of nothing else."""

import gzip
import json
from base64 import b64decode

import pytest

from calbench.report.games.files import (
    NOTHING,
    PLAYED_COLUMNS,
    TOLD_COLUMNS,
    OfTables,
    Rows,
    about_game,
    packed_game,
    what_happened,
)
from calbench.report.tables import Row
from calbench.traces.models import Trace
from calbench.traces.storage import trace_bytes
from tests.report.samples import play, suite_of


def played(*cells: object) -> Row:
    return dict(zip(PLAYED_COLUMNS, (False, *cells), strict=True))


def told(*cells: object) -> Row:
    return dict(zip(TOLD_COLUMNS, cells, strict=True))


ALL = played(5, 5, 21, 7, 5, 2)


@pytest.mark.parametrize(
    ("row", "audit", "said"),
    [
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


def test_whole_trace_follows_what_is_told_of_a_game_byte_for_byte() -> None:
    trace = play(suite_of("varied", 3)[0], "imap")
    about = about_game(trace, "varied")

    packed = packed_game(about, trace_bytes(trace))

    assert packed == packed_game(about, trace_bytes(trace))
    told, _, file = gzip.decompress(b64decode(packed)).partition(b"\n")
    assert file == trace_bytes(trace)
    assert json.loads(told) == json.loads(json.dumps(about))
