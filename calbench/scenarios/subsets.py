"""A part of a suite: the same scenarios under the same names, for pilots that grow [C].

A number takes the first scenarios of one fixed order of each setting, so a smaller subset is part
of every larger one. The order depends only on the suite: it goes round easy, medium and hard
scenarios, and within each of these thirds from the middle outwards.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import chain, zip_longest

from calbench.errors import ConfigError
from calbench.files import printable, shorten
from calbench.scenarios.difficulty import TERTILES
from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import Subset

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
    known = [scenario.scenario_id for scenario in scenarios]
    for name in subset:
        if name not in known:
            raise ConfigError(_unknown(name, known))
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
        if count > len(scenarios):
            raise ConfigError(
                f"subset={count}: setting {setting} has {len(scenarios)} scenarios; "
                f"choose at most {len(scenarios)}"
            )
        yield from subset_order(scenarios)[:count]


def _unknown(name: str, known: Sequence[str]) -> str:
    likeness = {each: SequenceMatcher(None, name, each).ratio() for each in known}
    near = sorted(known, key=lambda each: -likeness[each])[:NEAREST]
    shown = printable(shorten(repr(name)))
    return f"subset: there is no scenario {shown}; the nearest are {', '.join(near)}"
