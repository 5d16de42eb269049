"""Which suite a trace is of, and whether its game is the one that a team plays there."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from calbench.config.composition import compose
from calbench.config.groups import known_names
from calbench.errors import ReplayError
from calbench.files import printable, shorten
from calbench.runs.recorded import TraceHead, lineup_of, scenario_digest
from calbench.scenarios.models import Scenario
from calbench.scenarios.storage import published_lines, published_suite, read_suite, suite_names
from calbench.traces.models import GameConfig, Trace

MOST_NAMED = 3
"""Most games of a kind that a line names [C]."""

Key = tuple[str, str]
"""Setting and id of a scenario."""


def _digest(scenario: Scenario) -> str:
    return scenario_digest(orjson.loads(scenario.written))


@cache
def published_parts() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Return digests of published scenarios, by suite, setting and id, in the order of the suites.

    They are not checked once more.
    """
    found: dict[str, dict[str, dict[str, str]]] = {}
    known: dict[bytes, tuple[str, str, str]] = {}  # suites share scenarios
    for name in suite_names():
        parts = found[name] = {}
        for line in published_lines(name):
            if line not in known:
                document = orjson.loads(line)
                names = (document["setting"], document["scenario_id"])
                known[line] = (*names, scenario_digest(document))
            setting, scenario_id, digest = known[line]
            parts.setdefault(setting, {})[scenario_id] = digest
    return found


@cache
def _published() -> Mapping[Key, frozenset[str]]:
    """Return the digests of published scenarios of each name."""
    found: dict[Key, set[str]] = {}
    for parts in published_parts().values():
        for setting, digests in parts.items():
            for scenario_id, digest in digests.items():
                found.setdefault((setting, scenario_id), set()).add(digest)
    return {key: frozenset(digests) for key, digests in found.items()}


def is_other(scenario: Scenario) -> bool:
    """Whether a scenario has the name of a published one, and is another."""
    known = _published().get((scenario.setting, scenario.scenario_id))
    return known is not None and _digest(scenario) not in known


def is_published(head: TraceHead) -> bool:
    """Whether a game is on a published scenario, by its name and its digest."""
    known = _published().get((head.setting, head.scenario_id), frozenset())
    return head.scenario_digest in known


@dataclass(frozen=True)
class Suite:
    """A suite that games must be of, and how its published teams play it.

    Attributes:
        name: as it is asked for.
        digests: what defines its scenarios.
        configs: how the teams of its experiment play, by team; none of a file.
        seen: games that were checked, by team and scenario.
    """

    name: str
    digests: Mapping[Key, str]
    configs: Mapping[str, GameConfig] = field(default_factory=dict)
    seen: Counter[tuple[str, Key]] = field(default_factory=Counter)

    def check(self, trace: Trace) -> None:
        """Refuse a game that is not one of the suite.

        Raises:
            ReplayError: naming the difference.
        """
        scenario, config = trace.scenario, trace.config
        key = (scenario.setting, scenario.scenario_id)
        if key not in self.digests:
            raise ReplayError(f"scenario {'/'.join(key)}: the suite {self.name} has none")
        if _digest(scenario) != self.digests[key]:
            raise ReplayError(f"scenario {'/'.join(key)}: is another than that of {self.name}")
        team = config.team.team_id
        if team in self.configs:
            own, theirs = shared_settings(config), shared_settings(self.configs[team])
            for place in sorted({*own, *theirs}):  # a key may be absent in either
                if own.get(place) != theirs.get(place):
                    said = shorten(repr(own.get(place))), shorten(repr(theirs.get(place)))
                    raise ReplayError(f"{place}: recorded {said[0]}, {team} plays with {said[1]}")
        self.seen[team, key] += 1

    def missing(self) -> Iterator[str]:
        """Yield a line for each team of which games are missing, or there more than once too often.

        A team that plays several times has as many games on each scenario.
        """
        for team in sorted({team for team, _ in self.seen}):
            counts = {key: self.seen[team, key] for key in self.digests}
            most = max(counts.values())
            short = [key[1] for key, count in counts.items() if count < most]
            if short:
                yield f"{printable(team)}: games are missing: {_named(short)}"


def shared_settings(config: GameConfig) -> dict[str, Any]:
    """Return what all games of a team have in common, by key: its line-up, and the rules."""
    found = config.model_dump(mode="json", exclude={"replicate"})
    return {**json.loads(lineup_of(found.pop("team"))), **found}


def _named(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(map(printable, names[:MOST_NAMED])) + more


def suite_of(name: str) -> Suite:
    """Return a suite by the name of a published one, or by its file.

    Raises:
        CalbenchError: there is none, or the file does not fit.
    """
    is_file = name not in suite_names() and Path(name).exists()
    scenarios = read_suite(Path(name)) if is_file else published_suite(name)
    digests = {(each.setting, each.scenario_id): _digest(each) for each in scenarios}
    is_played = not is_file and name in known_names("experiment")
    configs = compose([f"+experiment={name}"]).game_configs if is_played else ()
    return Suite(printable(name), digests, {each.team.team_id: each for each in configs})
