"""The method page states the constants that the code uses."""

import re

import pytest

from calbench.analysis.spec import AnalysisSpec
from calbench.analysis.tables import LOST_LIMIT_PERCENT
from calbench.domain.sharing import MODULUS
from calbench.metrics.measure import MeasureSpec
from calbench.metrics.outcomes import OUTCOMES
from calbench.oracle.count import MOST_COUNTED_MEETINGS
from calbench.protocols.registry import POLICIES
from calbench.scenarios.models import GREATEST_COST
from calbench.scenarios.parameters import ScenarioParameters, ScenarioShape, SuiteSpec
from calbench.scenarios.sampling import FIRST_ERRAND_ID, MAX_PLACEMENTS
from calbench.traces.models import Limits
from tests.report.samples import SOURCES

TEXT = (SOURCES / "docs" / "method.md").read_text()

ROWS = {
    cells[1].strip(): cells[2].strip()
    for line in TEXT[TEXT.index("{#constants}") :].splitlines()
    if len(cells := line.split("|")) == 5
}


def suite_default(name: str) -> object:
    return SuiteSpec.model_fields[name].default


@pytest.mark.parametrize(
    ("constant", "value"),
    [
        ("scenarios of a canonical suite", suite_default("num_scenarios")),
        ("candidates for the thirds", suite_default("num_candidates")),
        ("first errand id", FIRST_ERRAND_ID),
        ("attempts to place all meetings", MAX_PLACEMENTS),
        ("most meetings with an exact feasible count", MOST_COUNTED_MEETINGS),
        ("sweeps of talk a round, `max_turns_per_round`", Limits().max_turns_per_round),
        ("retries of a batch, `decision_retries`", Limits().decision_retries),
        ("modulus of secure sum", f"2^40 - {2**40 - MODULUS}"),
        ("prior belief", MeasureSpec().belief_prior),
        ("most ways to split an optimum, before sampling", MeasureSpec().fairness_sample_limit),
        ("share of lost games that flags a team", f"{LOST_LIMIT_PERCENT:.0f}%"),
        ("greatest cost in a file", GREATEST_COST),
        ("shown costs", ", ".join(map(str, ScenarioShape().shown_costs))),
    ],
)
def test_constant_is_that_of_the_code(constant: str, value: object) -> None:
    assert ROWS[constant].replace(",", "") == str(value).replace(",", "")


def test_bootstrap_and_floor_are_those_of_the_code() -> None:
    spec = AnalysisSpec()

    assert ROWS["bootstrap resamples; interval"] == (
        f"{spec.bootstrap_resamples:,}; {spec.confidence:.0%}"
    )
    assert ROWS["VPS floor"].startswith(f"{MeasureSpec().vps_floor:.0f} slots")


def test_size_is_that_of_the_code() -> None:
    shape = ScenarioShape()

    assert ROWS["agents, slots, meetings, participants"] == (
        f"{shape.num_agents}, {shape.num_slots}, {shape.num_meetings}, "
        f"{shape.participants_per_meeting}"
    )


@pytest.mark.parametrize("parameter", sorted(ScenarioParameters.model_fields))
def test_every_parameter_is_named(parameter: str) -> None:
    section = TEXT[TEXT.index("{#parameters}") : TEXT.index("{#suites}")]

    assert f"`{parameter}`" in section


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_outcome_is_named(outcome: str) -> None:
    assert f"| `{outcome}` |" in TEXT


@pytest.mark.parametrize("team", POLICIES)
def test_every_player_has_a_section_or_a_row_of_the_baselines(team: str) -> None:
    assert f"{{#{team}}}" in TEXT or f"| `{team}` |" in TEXT


def test_every_constant_has_an_origin() -> None:
    table = TEXT[TEXT.index("{#constants}") : TEXT.index("{#deviations}")]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]

    assert len(rows) > 15
    for row in rows:
        assert re.search(r"\[[PRFC]", row.split("|")[3]), row
