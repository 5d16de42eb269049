"""Problems too large for brute force, drawn as suites are."""

from calbench.oracle.problem import Problem
from calbench.scenarios.parameters import ScenarioParameters
from calbench.scenarios.sampling import sample_scenario


def drawn_problem(
    agents: int, meetings: int, slots: int, *, blocked: int, seed: int = 0, priors: int = 0
) -> Problem:
    """Draw meetings of three at errand costs 1 to 3, three quarters of the slots taken."""
    parameters = ScenarioParameters(
        num_agents=agents,
        num_meetings=meetings,
        num_slots=slots,
        num_prior_meetings=priors,
        pref_level=3,
        density=0.75,
        blocked=blocked,
    )
    return sample_scenario(parameters, seed=seed, scenario_id="x", setting="x").problem
