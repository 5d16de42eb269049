"""Games of secure sum, worked out by hand and drawn."""

from calbench import play_game
from calbench.domain.randomness import stream
from calbench.domain.sharing import infeasible_mark
from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import ScenarioParameters
from calbench.scenarios.sampling import sample_scenario
from calbench.traces.events import DmSent
from calbench.traces.models import Limits, Trace
from tests.factories import make_scenario

# The vectors, in shown costs, are
#   agent 0   100   0    1   none   0
#   agent 1     0  10    1     0  none
#   agent 2    10   1  none   10    0
# and their sums 110, 11, -, -, -: slot 1 wins.
ROWS = ["E3.E1B.", ".E2E1.B", "E2E1BE2."]
INF = infeasible_mark(3)
SHOWN = (0, 1, 10, 100, None)


def play(
    rows: list[str] = ROWS, order: tuple[int, ...] = (2, 0, 1), *, seed: int = 0, **limits: int
) -> Trace:
    scenario = make_scenario(rows, [order], seed=seed)
    return play_game(scenario, "secure-sum", limits=Limits.model_validate(limits))


def sent(trace: Trace) -> list[tuple[int, int, int, str]]:
    """Return (sweep, sender, recipient, kind) of every message."""
    return [
        (event.turn, event.from_agent, event.to_agents[0], event.content.kind)
        for event in messages(trace)
    ]


def messages(trace: Trace) -> list[DmSent]:
    return [event for event in trace.events if isinstance(event, DmSent)]


def drawn(seed: int, **changes: int) -> Scenario:
    """Draw a scenario of 4 to 6 agents, meetings of 2 to 4, prior meetings, costs of all levels."""
    chance = stream(seed, "test scenario")
    parameters = {
        "num_agents": 4 + chance.below(3),
        "num_slots": 7 + chance.below(10),
        "num_meetings": 5,
        "participants_per_meeting": 2 + chance.below(3),
        "num_prior_meetings": chance.below(3),
        "pref_level": 1 + chance.below(3),
        "density": chance.choice((0.3, 0.75, 0.9)),
        "blocked": chance.choice((0, 2, 4)),
    }
    return sample_scenario(
        ScenarioParameters.model_validate({**parameters, **changes}),
        seed=seed,
        scenario_id="drawn-000",
        setting="drawn",
    )
