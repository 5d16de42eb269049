"""Impossible parameters are refused with one clear message; every suite of conf/ fits."""

from typing import Any

import pytest
from pydantic import ValidationError

from calbench.config.composition import compose_choice
from calbench.config.groups import known_names
from calbench.scenarios.parameters import ScenarioParameters, ScenarioShape, SuiteSpec

SUITES = known_names("suite")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"density": 1.2}, "less than or equal to 1"),
        ({"density": -0.1}, "greater than or equal to 0"),
        ({"density": (0.5, 0.5)}, "density has 2 entries, but there are 5 agents"),
        ({"blocked": (1,)}, "blocked has 1 entries, but there are 5 agents"),
        ({"blocked": -1}, "greater than or equal to 0"),
        ({"participants_per_meeting": 6}, "is 6, but there are only 5 agents"),
        (
            {"num_prior_meetings": 1, "participants_per_prior_meeting": 7},
            "participants_per_prior_meeting is 7, but there are only 5 agents",
        ),
        ({"pref_level": 4}, "shown_costs has 3 entries, but errands cost up to 4"),
        ({"errand_cost_level": 4}, "shown_costs has 3 entries, but errands cost up to 4"),
        ({"errand_cost_floor": 2}, "errand_cost_floor is 2, above the greatest errand cost, 1"),
        ({"participant_lists": ((0, 1),)}, "has 1 lists, but there are 5 meetings"),
        (
            {"num_meetings": 1, "participant_lists": ((0, 5),)},
            "participant_lists.0 names agent 5, but agents are numbered 0 to 4",
        ),
        ({"num_meetings": 1, "participant_lists": ((),)}, "participant_lists.0 is empty"),
        ({"num_meetings": 1, "participant_lists": ((1, 1),)}, "names an agent twice"),
        ({"num_slots": "16"}, "valid integer"),
        ({"num_slots": True}, "valid integer"),
        ({"slots": 16}, "Extra inputs"),
    ],
)
def test_parameters_refuse_what_is_impossible(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        ScenarioParameters(**({"density": 0.75} | fields))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"density": 0.5}, "give exactly one of density"),
        ({"density_choices": None}, "give exactly one of density"),
        ({"blocked": 2}, "give exactly one of blocked"),
        ({"num_candidates": 44}, "num_candidates is 44, but 45 scenarios"),
        ({"setting": "no blanks"}, "pattern"),
        ({"num_scenario": 3}, "Extra inputs"),
        (
            {"density": (0.5,), "density_choices": None, "blocked": 1, "blocked_choices": None},
            "density has 1 entries",
        ),
    ],
)
def test_suite_spec_refuses_what_is_impossible(fields: dict[str, Any], message: str) -> None:
    base = {"setting": "s", "density_choices": [0.5], "blocked_choices": [1]}
    with pytest.raises(ValidationError) as caught:
        SuiteSpec(**(base | fields))
    assert message in str(caught.value)


def test_suite_spec_needs_no_choices_with_a_path() -> None:
    assert SuiteSpec(setting="mine", path="mine.jsonl").path == "mine.jsonl"


@pytest.mark.heavy
@pytest.mark.parametrize("name", SUITES)
def test_suite_files_of_conf_fit_and_survive_a_dump(name: str) -> None:
    data = compose_choice("suite", name)
    spec = SuiteSpec(**data)
    assert spec.setting == ("taste-varied" if name == "taste" else name)
    assert SuiteSpec(**spec.model_dump(mode="json")) == spec
    assert set(data) == set(SuiteSpec.model_fields)
    assert set(data["scenario"]) == set(ScenarioShape.model_fields)


def test_suite_files_of_conf_are_those_promised() -> None:
    assert set(SUITES) == {
        *("uniform", "varied", "former-uniform", "former-varied"),
        *("blocked0", "focal", "prior", "smollm2", "taste"),
        *("density-060", "density-075", "density-090", "large-10", "large-20", "large-50"),
        *("scale-05", "scale-10", "scale-20", "scale-50"),
    }
