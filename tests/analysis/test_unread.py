"""Groups of which nothing could be read have no values."""

import numpy as np
import pandas as pd

from calbench.analysis.measures import MEASURES, is_unread, measured_values
from calbench.facts.games import AGENTS
from tests.analysis.tables.sample import BY_HAND

SEATS = (
    pd.DataFrame(
        [
            # a team whose model was never read, among typed agents that do not reply
            ("x", "lost", "mute", 10, 0),
            ("x", "lost", "imap", None, None),
            # the same team elsewhere, read once
            ("y", "lost", "mute", 10, 0),
            ("y", "lost", "mute", 10, 1),
            # two models, of which one was never read
            ("x", "mixed", "mute-too", 5, 0),
            ("x", "mixed", "clear", 5, 5),
            # nobody of these speaks
            ("x", "typed", "imap", None, None),
            # a model that was never asked
            ("x", "unasked", "idle", 0, 0),
        ],
        columns=["setting", "team", "player", "replies", "read"],
    )
    .astype({"replies": "Int64", "read": "Int64"})
    .assign(vps_kind="reflection")
)


def test_team_is_unread_where_none_of_its_replies_could_be_read_in_a_setting() -> None:
    assert is_unread(SEATS, ["team"]).tolist() == [True, True, *[False] * 6]


def test_player_is_unread_over_all_its_seats() -> None:
    found = is_unread(SEATS, ["player"])
    assert SEATS[found][["setting", "player"]].to_numpy().tolist() == [
        ["x", "mute"],
        ["x", "mute-too"],
    ]


def test_no_measure_has_a_value_there_and_every_other_value_stays() -> None:
    others = {column.name for column in AGENTS.columns} - {*SEATS}
    numbers = dict.fromkeys(others, 0) | {
        "assigned": 4,
        "scheduled": 2,
        "excess_cost": 1,
        "adjusted_excess_cost": 1.0,
        "messages_sent": 3,
        "burden_gap": 0.5,
        "vps_beyond_chance": -2.0,
        "excess_vps": 7.0,
        "excess_vps_participants": 6.0,
    }
    values = measured_values(SEATS.assign(**numbers), ["team"])
    assert list(values.columns) == [measure.name for measure in MEASURES]
    assert values.iloc[:2].isna().to_numpy().all()
    expected = [50.0, 1.0, 0.5, 1.0, 1.5, 0.5, -2.0, 7.0, 6.0]
    assert np.array_equal(values[[*BY_HAND]].iloc[2:].to_numpy(), [expected] * 6)
    assert values.iloc[2:].notna().to_numpy().all()
