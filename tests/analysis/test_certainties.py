"""What is exact is so in every game, also where meetings fail; and only that is marked."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.analysis.certainties import CERTAINTIES
from calbench.analysis.measures import MEASURE_BY_NAME
from calbench.facts.games import AGENTS, MEETINGS
from calbench.facts.storage import GAME
from calbench.metrics.measure import MeasureSpec
from calbench.scenarios.models import Scenario
from tests.facts.measured import play_preset, table_rows, values_of
from tests.facts.scored import agent, facts_of_scores, meeting, player, score
from tests.strategies import loose_scenarios, scenarios

SCENARIOS = loose_scenarios() | scenarios(max_agents=4, max_meetings=3, max_slots=8)
SILENT, MEDIATED = player("silent", "degenerate"), player("mediator")


@pytest.mark.parametrize("name", sorted({each.player for each in CERTAINTIES}))
@given(SCENARIOS, st.sampled_from([0.0, 0.5, 1.0, 3.0, 5.0]))
def test_every_agent_of_every_game_has_the_value(
    name: str, scenario: Scenario, floor: float
) -> None:
    trace, measure = play_preset(name, scenario), MeasureSpec(vps_floor=floor)
    agents = pd.DataFrame(values_of(AGENTS, trace, measure))
    meetings = pd.DataFrame(values_of(MEETINGS, trace, measure)).assign(**{GAME: 0})
    for each in CERTAINTIES:
        if each.player == name and (each.holds is None or each.holds(meetings, floor).all()):
            for measured in each.measures:
                values = MEASURE_BY_NAME[measured].value(agents).dropna()
                assert set(values) <= {each.value}


def exact_of(folder: Path, *games: object) -> dict[str, str]:
    rows = table_rows(facts_of_scores(folder, games), "leaderboard.csv")  # type: ignore[arg-type]
    for row in rows:
        kinds = {name: row[f"{name}_interval"] for name in MEASURE_BY_NAME}
        assert row["exact"].split() == [name for name, kind in kinds.items() if kind == "exact"]
        for name in row["exact"].split():
            assert row[name]
            assert (row[f"{name}_low"], row[f"{name}_high"]) == ("", "")
    return {row["team"]: row["exact"] for row in rows}


def test_what_nobody_counts_for_is_not_exact(tmp_path: Path) -> None:
    nothing = agent(SILENT, scheduled=0)
    found = exact_of(tmp_path, score(nothing, nothing, team="silent"))
    assert found["silent"] == (
        "coordination excess_cost fairness excess_vps excess_vps_participants"
    )


def test_a_baseline_in_company_and_a_model_of_its_name_are_not_exact(tmp_path: Path) -> None:
    impostor = player("silent", "model", "a/silent")
    found = exact_of(
        tmp_path,
        score(agent(SILENT), agent(), team="mixed"),
        score(agent(impostor, vps_kind="reflection"), team="impostor"),
        score(agent(SILENT), team="partly"),
        score(agent(), scenario="s1", team="partly"),
    )
    assert set(found.values()) == {""}


def test_what_a_mediator_gives_away_depends_on_the_meetings(tmp_path: Path) -> None:
    """Each meeting of two gives away half a slot of each: ten are at most the floor of five."""
    seats = (agent(MEDIATED), agent(MEDIATED))
    ten, eleven = (tuple(meeting(each + 1) for each in range(count)) for count in (10, 11))
    found = exact_of(
        tmp_path,
        score(*seats, team="few", meetings=ten),
        score(*seats, team="many", meetings=eleven),
        score(*seats, team="many", scenario="s1", meetings=ten),
    )
    assert found == {"few": "excess_vps excess_vps_participants", "many": ""}
