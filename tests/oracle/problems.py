"""Small problems, readable or random, and large ones drawn as suites are."""

from collections.abc import Sequence

from hypothesis import strategies as st

from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.oracle.problem import PriorMeeting, Problem
from calbench.scenarios.parameters import ScenarioParameters
from calbench.scenarios.sampling import sample_scenario


def problem_of(
    rows: Sequence[str],
    meetings: Sequence[Sequence[int]],
    priors: Sequence[tuple[Sequence[int], int, int]] = (),
) -> Problem:
    """Build a problem from rows such as ``"..2B"``: free, free, errand of cost 2, blocked.

    ``priors`` are (participants, slot, cost); their slots must be ``.`` in the rows.
    Incoming meetings are numbered from 1, prior meetings after them.
    """
    return Problem(
        num_slots=len(rows[0]),
        errand_costs=tuple(tuple(int(c) if c.isdigit() else None for c in row) for row in rows),
        blocked=tuple(frozenset(Slot(s) for s, c in enumerate(row) if c == "B") for row in rows),
        meetings=tuple(
            (MeetingId(number), tuple(AgentId(a) for a in agents))
            for number, agents in enumerate(meetings, start=1)
        ),
        prior_meetings=tuple(
            (MeetingId(number), PriorMeeting(tuple(AgentId(a) for a in agents), Slot(slot), cost))
            for number, (agents, slot, cost) in enumerate(priors, start=len(meetings) + 1)
        ),
    )


@st.composite
def problems(
    draw: st.DrawFn, max_priors: int = 2, max_slots: int = 5, has_capacity: bool = False
) -> Problem:
    """Draw a problem that brute force can solve; prior meetings are in free slots."""
    num_agents = draw(st.integers(1, 4))
    num_slots = draw(st.integers(1, max_slots))
    groups = st.sets(st.integers(0, num_agents - 1), min_size=1).map(sorted)
    priors: list[tuple[list[int], int, int]] = []
    taken: set[tuple[int, int]] = set()
    for _ in range(draw(st.integers(0, max_priors))):
        agents, slot = draw(groups), draw(st.integers(0, num_slots - 1))
        if not taken & {(agent, slot) for agent in agents}:
            taken |= {(agent, slot) for agent in agents}
            priors.append((agents, slot, draw(st.integers(0, 3))))
    meetings = draw(st.lists(groups, max_size=4 - len(priors)))
    # Mostly free cells, or nearly every problem would lack capacity.
    cells = st.sampled_from("....0112233B")
    rows = [
        [draw(cells) if (agent, slot) not in taken else "." for slot in range(num_slots)]
        for agent in range(num_agents)
    ]
    if has_capacity:
        for agent, row in enumerate(rows):
            needed = sum(agent in group for group in meetings)
            free = [s for s, c in enumerate(row) if c == "." and (agent, s) not in taken]
            full = [s for s, c in enumerate(row) if c != "."]
            for slot in full[: max(0, needed - len(free))]:
                row[slot] = "."
    return problem_of(["".join(row) for row in rows], meetings, priors)


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
