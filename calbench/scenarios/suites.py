"""A suite: the scenarios of one setting, drawn and chosen by difficulty, or read from a file."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from calbench.domain.randomness import derived_seed, stream
from calbench.errors import GenerationError
from calbench.files import located
from calbench.pool import Pool, mapped
from calbench.scenarios.difficulty import (
    Progress,
    completed,
    tertile_choice,
    with_difficulty,
    with_oracle,
)
from calbench.scenarios.models import Scenario, Tertile
from calbench.scenarios.parameters import SuiteSpec
from calbench.scenarios.sampling import sample_scenario
from calbench.scenarios.storage import read_suite

SEED_BITS = 53
"""Seeds of scenarios are exact as doubles, which the trace viewer needs [C]."""


def _uncounted() -> None:
    """Count nothing."""


def build_suites(
    suites: Sequence[tuple[str, SuiteSpec]],
    progress: Progress | None = None,
    pool: Pool | None = None,
    drawn: Callable[[], object] = _uncounted,
) -> tuple[Scenario, ...]:
    """Return the scenarios of several suites, each under the name it is given.

    Args:
        suites: name and contents of each.
        progress: called with (done, total) of a suite as its scenarios are finished.
        pool: where to build them; ``None`` builds here, one after the other.
        drawn: called for each candidate that was scored for difficulty here.

    Raises:
        GenerationError: two suites hold a scenario of the same name, or one cannot be drawn.
        FileError: a suite file does not fit.
    """
    if pool is None:
        return together(
            [build_suite(spec, progress, name=name, drawn=drawn) for name, spec in suites]
        )
    parts = []
    for built in mapped(build_named, suites, pool):
        parts.append(built)
        for done in range(len(built)):
            if progress is not None:
                progress(done + 1, len(built))
    return together(parts)


def together(suites: Iterable[Sequence[Scenario]]) -> tuple[Scenario, ...]:
    """Return the scenarios of several suites, one after the other.

    Raises:
        GenerationError: two suites hold a scenario of the same name.
    """
    scenarios = tuple(scenario for suite in suites for scenario in suite)
    counts = Counter(scenario.scenario_id for scenario in scenarios)
    twice = [scenario_id for scenario_id, count in counts.items() if count > 1]
    if twice:
        raise GenerationError(f"two suites hold a scenario {twice[0]}: give them other settings")
    return scenarios


def build_named(suite: tuple[str, SuiteSpec]) -> tuple[Scenario, ...]:
    """Build a suite under a name, as a worker's task."""
    name, spec = suite
    return build_suite(spec, name=name)


def build_suite(
    spec: SuiteSpec,
    progress: Progress | None = None,
    *,
    name: str | None = None,
    drawn: Callable[[], object] = _uncounted,
) -> tuple[Scenario, ...]:
    """Return the scenarios of a suite with oracle and difficulty.

    Candidates are scored for difficulty only; oracles are computed for the chosen ones.

    Args:
        spec: what to draw, or the file to read.
        progress: called with (done, total) as the scenarios are finished.
        name: the setting under which tables list the scenarios, if it is not the one from which
            they are drawn; the draw does not depend on it.
        drawn: called for each candidate that was scored for difficulty.

    Returns:
        The scenarios, named ``<name>-000`` and so on in order of tertile, then rank; those of
        a file keep their names and order.

    Raises:
        GenerationError: a scenario cannot be drawn, or tertiles are wanted and a feasible
            fraction is unknown.
        FileError: the suite file does not fit.
    """
    if spec.path is not None:
        return completed(
            read_suite(located(spec.path)),
            progress,
            estimates=spec.estimates,
            effort=spec.oracle_effort,
        )
    scenarios: list[Scenario] = []
    chosen = _choose_by_difficulty(spec, drawn) if spec.tertiles else _take_in_order(spec)
    for index, (scenario, tertile) in enumerate(chosen):
        setting = spec.setting if name is None else name
        named = scenario.updated(scenario_id=f"{setting}-{index:03d}", setting=setting)
        scored = with_difficulty(named, tertile, estimates=spec.estimates)
        scenarios.append(with_oracle(scored, spec.oracle_effort))
        if progress is not None:
            progress(len(scenarios), len(chosen))
    return tuple(scenarios)


def sample_candidate(spec: SuiteSpec, candidate: int) -> Scenario:
    """Draw one candidate of a suite, with density and blocked counts drawn for each agent [F].

    Its seed derives from the suite's seed, the setting and the candidate's number; everything
    else in it derives from its seed and its recorded parameters.

    Raises:
        GenerationError: no scenario can be made from the parameters.
    """
    seed = derived_seed(spec.seed, spec.setting, candidate) % 2**SEED_BITS
    agents = range(spec.scenario.num_agents)
    density, blocked = spec.density, spec.blocked
    if spec.density_choices is not None:
        chance = stream(seed, "density")
        density = tuple(chance.choice(spec.density_choices) for _ in agents)
    if spec.blocked_choices is not None:
        chance = stream(seed, "blocked counts")
        blocked = tuple(chance.choice(spec.blocked_choices) for _ in agents)
    if density is None or blocked is None:
        raise GenerationError("a suite that is read from a file has no candidates to draw")
    return sample_scenario(
        spec.parameters(density, blocked),
        seed=seed,
        scenario_id=f"{spec.setting}-candidate-{candidate}"[:64],
        setting=spec.setting,
    )


def _take_in_order(spec: SuiteSpec) -> list[tuple[Scenario, Tertile | None]]:
    return [(sample_candidate(spec, index), None) for index in range(spec.num_scenarios)]


def _choose_by_difficulty(
    spec: SuiteSpec, drawn: Callable[[], object]
) -> list[tuple[Scenario, Tertile | None]]:
    """Score all candidates and choose from each tertile.

    Raises:
        GenerationError: a candidate has no feasible fraction.
    """
    candidates: list[Scenario] = []
    for number in range(spec.num_candidates):
        candidates.append(with_difficulty(sample_candidate(spec, number)))
        drawn()
    fractions: list[float] = []
    for candidate in candidates:
        scored = candidate.difficulty
        if scored is None or scored.feasible_fraction is None:
            reason = "it was not scored" if scored is None else scored.reason
            raise GenerationError(
                f"suite {spec.setting}: tertiles need the feasible fraction of every candidate "
                f"({reason}): set tertiles to false"
            )
        fractions.append(scored.feasible_fraction)
    choice = tertile_choice(fractions, spec.num_scenarios)
    return [(candidates[number], tertile) for number, tertile in choice]
