"""Hypothesis strategies: small scenarios, drawn by the generator or laid out freely."""

from hypothesis import strategies as st

from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import ScenarioParameters
from calbench.scenarios.sampling import sample_scenario
from tests.factories import make_scenario

seeds = st.integers(min_value=0, max_value=2**53 - 1)
densities = st.sampled_from([0.0, 0.3, 0.6, 0.75, 0.9, 1.0])


@st.composite
def parameters(
    draw: st.DrawFn,
    *,
    max_agents: int = 5,
    max_meetings: int = 4,
    max_prior_meetings: int = 2,
    max_slots: int = 10,
) -> ScenarioParameters:
    """Parameters that can always be met: no fewer slots than meetings, prior ones included."""
    num_agents = draw(st.integers(2, max_agents))
    num_meetings = draw(st.integers(1, max_meetings))
    num_prior_meetings = draw(st.integers(0, max_prior_meetings))
    least_slots = num_meetings + num_prior_meetings
    blocked_counts = st.integers(0, 4)
    return ScenarioParameters(
        num_agents=num_agents,
        num_slots=draw(st.integers(least_slots, max(least_slots, max_slots))),
        num_meetings=num_meetings,
        participants_per_meeting=draw(st.integers(2, min(3, num_agents))),
        num_prior_meetings=num_prior_meetings,
        participants_per_prior_meeting=draw(st.none() | st.integers(2, min(3, num_agents))),
        pref_level=draw(st.integers(1, 3)),
        meeting_cost_level=draw(st.integers(1, 2)),
        force_witness_errand=draw(st.booleans()),
        density=draw(densities | st.tuples(*[densities] * num_agents)),
        blocked=draw(blocked_counts | st.tuples(*[blocked_counts] * num_agents)),
    )


@st.composite
def scenarios(
    draw: st.DrawFn,
    *,
    max_agents: int = 5,
    max_meetings: int = 4,
    max_prior_meetings: int = 2,
    max_slots: int = 10,
) -> Scenario:
    """Scenarios of the generator: a witness exists, some errands blocked, some meetings prior."""
    drawn = draw(
        parameters(
            max_agents=max_agents,
            max_meetings=max_meetings,
            max_prior_meetings=max_prior_meetings,
            max_slots=max_slots,
        )
    )
    return sample_scenario(drawn, seed=draw(seeds), scenario_id="drawn-000", setting="drawn")


@st.composite
def loose_scenarios(
    draw: st.DrawFn,
    *,
    max_agents: int = 4,
    max_meetings: int = 3,
    max_prior_meetings: int = 2,
    max_slots: int = 6,
) -> Scenario:
    """Valid scenarios of any layout: no witness, perhaps too full or blocked to be solved."""
    num_agents = draw(st.integers(1, max_agents))
    num_slots = draw(st.integers(1, max_slots))
    cell = st.sampled_from([".", ".", "E1", "E2", "E3", "B1"])
    grid = draw(
        st.lists(
            st.lists(cell, min_size=num_slots, max_size=num_slots),
            min_size=num_agents,
            max_size=num_agents,
        )
    )
    participants = st.lists(st.integers(0, num_agents - 1), min_size=1, max_size=3, unique=True)
    prior: list[tuple[list[int], int, int]] = []
    held: set[tuple[int, int]] = set()
    for _ in range(draw(st.integers(0, max_prior_meetings))):
        group, slot = draw(participants), draw(st.integers(0, num_slots - 1))
        if held.isdisjoint((agent, slot) for agent in group):
            held.update((agent, slot) for agent in group)
            prior.append((group, slot, draw(st.integers(1, 3))))
    for agent, slot in held:
        grid[agent][slot] = "."
    return make_scenario(
        rows=["".join(row) for row in grid],
        meetings=draw(st.lists(participants, min_size=0, max_size=max_meetings)),
        prior=prior,
        seed=draw(seeds),
    )
