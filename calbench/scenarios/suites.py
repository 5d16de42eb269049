"""A suite: the scenarios of one setting, drawn and chosen by difficulty, or read from a file.

A part of a suite has the same scenarios under the same names, for pilots that grow [C]. A number
takes the first scenarios of one fixed order of each setting, so a smaller subset is part of every
larger one. The order depends only on the suite: it goes round easy, medium and hard scenarios, and
within each of these thirds from the middle outwards.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from difflib import SequenceMatcher
from functools import partial
from itertools import chain, islice, zip_longest
from typing import NamedTuple, TypeVar

from calbench.domain.randomness import derived_seed, stream
from calbench.errors import ConfigError, GenerationError
from calbench.files import located, printable, shorten
from calbench.pool import Pool, cut, mapped
from calbench.scenarios import recipe
from calbench.scenarios.difficulty import (
    TERTILES,
    complete,
    tertile_choice,
    with_difficulty,
    with_oracle,
)
from calbench.scenarios.models import Scenario, Tertile
from calbench.scenarios.parameters import Subset, SuiteSpec
from calbench.scenarios.sampling import sample_scenario
from calbench.scenarios.storage import read_suite

NEAREST = 3
"""Ids named beside an unknown one [C]."""


def chosen_ids(scenarios: Sequence[Scenario], subset: Subset | None) -> frozenset[str]:
    """Return the ids of the scenarios in a subset; all of them if there is none.

    Args:
        scenarios: whole suites, each in its order.
        subset: what is chosen of them.

    Raises:
        ConfigError: a setting has fewer scenarios, or none has such an id.
    """
    if subset is None:
        return frozenset(scenario.scenario_id for scenario in scenarios)
    if isinstance(subset, int):
        return frozenset(_first(by_setting(scenarios), subset))
    return _known_ids(subset, [scenario.scenario_id for scenario in scenarios])


def check_subset(suites: Sequence["Named"], subset: Subset | None) -> None:
    """Refuse a subset that suites cannot have, before any is drawn.

    Raises:
        ConfigError: as :func:`chosen_ids`; nothing is known of suites in files or of one name.
    """
    specs = [spec for _, spec in suites]
    are_own = len({spec.setting for spec in specs}) == len(specs)  # else some are renamed
    if subset is None or not are_own or any(spec.path is not None for spec in specs):
        return
    if isinstance(subset, int):
        for spec in specs:
            _check_count(subset, spec.setting, spec.num_scenarios)
        return
    _known_ids(
        subset, [f"{spec.setting}-{n:03d}" for spec in specs for n in range(spec.num_scenarios)]
    )


def _known_ids(subset: Sequence[str], known: Sequence[str]) -> frozenset[str]:
    for name in subset:
        if name not in known:
            likeness = {each: SequenceMatcher(None, name, each).ratio() for each in known}
            near = ", ".join(sorted(known, key=lambda each: -likeness[each])[:NEAREST])
            shown = printable(shorten(repr(name)))
            raise ConfigError(f"subset: there is no scenario {shown}; the nearest are {near}")
    return frozenset(subset)


def by_setting(scenarios: Sequence[Scenario]) -> Mapping[str, Sequence[Scenario]]:
    """Return the scenarios of each setting, in their order."""
    found: dict[str, list[Scenario]] = {}
    for scenario in scenarios:
        found.setdefault(scenario.setting, []).append(scenario)
    return found


def subset_order(scenarios: Sequence[Scenario]) -> list[str]:
    """Return the ids of one setting's scenarios in the order in which subsets grow.

    At any length the thirds differ by at most one scenario, as long as each has one left. Thirds
    are the tertiles of difficulty; if a scenario has none, those of the suite's order.
    """
    tertiles = [scenario.difficulty and scenario.difficulty.tertile for scenario in scenarios]
    if None in tertiles:
        tertiles = [TERTILES[3 * place // len(scenarios)] for place in range(len(scenarios))]
    ids = [scenario.scenario_id for scenario in scenarios]
    thirds = (
        [name for name, own in zip(ids, tertiles, strict=True) if own == tertile]
        for tertile in TERTILES
    )
    rounds = zip_longest(*(_from_the_middle(third) for third in thirds))
    return [name for name in chain.from_iterable(rounds) if name is not None]


def _from_the_middle(names: Sequence[str]) -> Iterator[str]:
    """Yield the middle one, then the middles of both halves, and so on."""
    parts = deque([names])
    while parts:
        part = parts.popleft()
        if part:
            middle = (len(part) - 1) // 2
            yield part[middle]
            parts += part[:middle], part[middle + 1 :]


def _first(scenarios_by_setting: Mapping[str, Sequence[Scenario]], count: int) -> Iterator[str]:
    for setting, scenarios in scenarios_by_setting.items():
        _check_count(count, setting, len(scenarios))
        yield from subset_order(scenarios)[:count]


def _check_count(count: int, setting: str, there: int) -> None:
    if count > there:
        raise ConfigError(
            f"subset={count}: setting {setting} has {there} scenarios; choose at most {there}"
        )


SEED_BITS = 53
"""Seeds of scenarios are exact as doubles, which the trace viewer needs [C]."""

DRAW_SECONDS, SLOT_SECONDS, CUBE_SECONDS = 0.001, 6e-6, 1e-5
"""Time to draw a scenario, of each slot of each agent in it, and of the cube of its meetings [C].

As measured for 5 to 50 agents and meetings, within a factor of four.
"""

Named = tuple[str, SuiteSpec]
"""A suite, and the setting under which tables list its scenarios."""

Tick = Callable[[], object]
"""Is called as something is done."""

Provide = Callable[[float], AbstractContextManager[Pool | None]]
"""Provides workers for so many seconds of processor time; with ``None`` all is done here."""

Item = TypeVar("Item", bound="Candidate | Given")
Result = TypeVar("Result")


class Candidate(NamedTuple):
    """A scenario that may be chosen for a suite.

    Attributes:
        spec: of the suite.
        number: among its candidates.
        setting: under which tables list it.
        place: in the suite, once it is chosen.
        tertile: the third from which it was chosen, if any.
    """

    spec: SuiteSpec
    number: int
    setting: str
    place: int = 0
    tertile: Tertile | None = None


class Given(NamedTuple):
    """A scenario of a suite's file, in which oracle or difficulty may be missing."""

    spec: SuiteSpec
    scenario: Scenario


def _uncounted() -> None:
    """Count nothing."""


def _here(_: float) -> nullcontext[None]:
    """Provide no workers."""
    return nullcontext()


def build_suite(spec: SuiteSpec) -> tuple[Scenario, ...]:
    """Return the scenarios of one suite; like :func:`build_suites`."""
    (scenarios,) = build_suites([(spec.setting, spec)])
    return scenarios


def build_suites(
    suites: Sequence[Named],
    provide: Provide = _here,
    *,
    done: Tick = _uncounted,
    drawn: Tick = _uncounted,
) -> list[tuple[Scenario, ...]]:
    """Return the scenarios of several suites with oracle and difficulty.

    They are built one by one, and are the same wherever that is. Candidates are scored for
    difficulty only; oracles are computed for the chosen ones.

    Args:
        suites: each with the setting under which tables list its scenarios, which may be another
            than that from which they are drawn; the draw does not depend on it.
        provide: where to build them.
        done: called for each scenario that is finished.
        drawn: called for each candidate that was scored for difficulty.

    Returns:
        The scenarios of each suite, named ``<setting>-000`` and so on in order of tertile, then
        rank; those of a file keep their names and order.

    Raises:
        GenerationError: a scenario cannot be drawn, or tertiles are wanted and a feasible
            fraction is unknown.
        FileError: a suite file does not fit.
    """
    given = [_given(spec) for _, spec in suites]
    scored = [
        Candidate(spec, number, setting)
        for setting, spec in suites
        for number in range(_num_scored(spec))
    ]
    taken = [Candidate(s, n, name) for name, s in suites for n in range(_num_taken(s))]
    with provide(sum(_seconds(item) for item in (*scored, *taken, *chain(*given)))) as pool:
        fractions = _results(_fraction, scored, pool, drawn)
        items = [
            own or _chosen(suite, list(islice(fractions, _num_scored(suite[1]))))
            for suite, own in zip(suites, given, strict=True)
        ]
        finished = _results(_finished, list(chain(*items)), pool, done)
        return [tuple(islice(finished, len(own))) for own in items]


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


def _given(spec: SuiteSpec) -> Sequence[Candidate | Given]:
    if spec.path is None:
        return []
    return [Given(spec, scenario) for scenario in read_suite(located(spec.path))]


def _num_scored(spec: SuiteSpec) -> int:
    return spec.num_candidates if spec.path is None and spec.tertiles else 0


def _num_taken(spec: SuiteSpec) -> int:
    return spec.num_scenarios if spec.path is None else 0


def _seconds(item: Candidate | Given) -> float:
    """Return about how long it takes to score a candidate, or to finish a scenario."""
    if isinstance(item, Candidate):
        shape = item.spec.scenario
        agents, slots, meetings = shape.num_agents, shape.num_slots, shape.num_meetings
    elif item.scenario.oracle is not None and item.scenario.difficulty is not None:
        return 0.0
    else:
        scenario = item.scenario
        agents, slots, meetings = scenario.num_agents, scenario.num_slots, len(scenario.meetings)
    return DRAW_SECONDS + SLOT_SECONDS * agents * slots + CUBE_SECONDS * meetings**3


def _results(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    pool: Pool | None,
    tick: Tick,
) -> Iterator[Result]:
    """Yield the result of each item, in their order."""
    for results in mapped(partial(_each, work), cut(items, _seconds), pool):
        for result in results:
            tick()
            yield result


def _each(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Do the items of a task, in a worker."""
    return [work(item) for item in items]


def _fraction(candidate: Candidate) -> float:
    """Return the feasible fraction of a candidate.

    Raises:
        GenerationError: it has none.
    """
    scored = with_difficulty(sample_candidate(candidate.spec, candidate.number)).difficulty
    if scored is None or scored.feasible_fraction is None:
        reason = "it was not scored" if scored is None else scored.reason
        raise GenerationError(
            f"suite {candidate.spec.setting}: tertiles need the feasible fraction of every "
            f"candidate ({reason}): set tertiles to false"
        )
    return scored.feasible_fraction


def _chosen(suite: Named, fractions: Sequence[float]) -> list[Candidate]:
    """Choose the scenarios of a suite, from each tertile if its candidates were scored."""
    setting, spec = suite
    if not spec.tertiles:
        return [Candidate(spec, place, setting, place) for place in range(spec.num_scenarios)]
    if spec.recipe == "paper":
        chosen = recipe.choice([_task(spec, each) for each in range(len(fractions))], fractions)
    else:
        chosen = tertile_choice(fractions, spec.num_scenarios)
    return [
        Candidate(spec, number, setting, place, tertile)
        for place, (number, tertile) in enumerate(chosen)
    ]


def _task(spec: SuiteSpec, number: int) -> recipe.Task:
    return recipe.task(spec.scenario.greatest_errand_cost, spec.seed, number)


def _finished(item: Candidate | Given) -> Scenario:
    """Return a scenario of a suite, whole."""
    spec = item.spec
    if isinstance(item, Given):
        return complete(item.scenario, estimates=spec.estimates, effort=spec.oracle_effort)
    named = sample_candidate(spec, item.number).updated(
        scenario_id=f"{item.setting}-{item.place:03d}", setting=item.setting
    )
    scored = with_difficulty(named, item.tertile, estimates=spec.estimates)
    return with_oracle(scored, spec.oracle_effort)


def sample_candidate(spec: SuiteSpec, candidate: int) -> Scenario:
    """Draw one candidate of a suite: of the paper, or with density and blocked counts by agent [F].

    The seed of a sampled one derives from the suite's seed, the setting and the candidate's number;
    everything else in it derives from its seed and its recorded parameters.

    Raises:
        GenerationError: no scenario can be made from the parameters.
    """
    scenario_id = f"{spec.setting}-candidate-{candidate}"[:64]
    if spec.recipe == "paper":
        task = _task(spec, candidate)
        return recipe.drawn(task, scenario_id=scenario_id, setting=spec.setting)
    seed = derived_seed(spec.seed, spec.stream or spec.setting, candidate) % 2**SEED_BITS
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
        scenario_id=scenario_id,
        setting=spec.setting,
    )
