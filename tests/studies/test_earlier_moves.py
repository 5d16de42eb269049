"""How often moving an earlier meeting would be cheaper: by hand, and as kept."""

import pandas as pd
import pytest

from calbench import load_suite, play_game
from calbench.oracle.cache import OracleCache
from tests.cli.runs import REPO
from tests.factories import make_scenario
from tests.studies.earlier_moves import OUT, RoundCosts, measured, round_costs

SECOND_FITS_WHERE_THE_FIRST_STANDS = make_scenario(
    ["....", "....", ".E3E3E3"], [[0, 1], [1, 2]], scenario_id="moved-000"
)
"""IMAP puts the first meeting into slot 0, the only one that is free for agent 2."""


@pytest.mark.parametrize("sees_ahead", [False, True])
def test_move_by_two_participants_is_cheaper_than_an_errand_of_three(sees_ahead: bool) -> None:
    scenario = SECOND_FITS_WHERE_THE_FIRST_STANDS
    events = play_game(scenario, "imap").events

    found = round_costs(scenario, events, OracleCache(), sees_ahead=sees_ahead)

    assert found == [RoundCosts(round=1, in_place=3, with_moves=2)]


def test_nothing_is_compared_after_a_meeting_that_failed() -> None:
    scenario = SECOND_FITS_WHERE_THE_FIRST_STANDS
    events = play_game(scenario, "silent").events

    assert round_costs(scenario, events, OracleCache(), sees_ahead=False) == []


@pytest.mark.heavy
def test_kept_rows_are_what_is_measured() -> None:
    kept = pd.read_csv(REPO / OUT)
    rows = pd.DataFrame(measured("varied", "sd-map", load_suite("varied")))

    expected = kept[(kept["setting"] == "varied") & (kept["team"] == "sd-map")]

    assert rows.to_dict("records") == expected.to_dict("records")
