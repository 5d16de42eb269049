"""Honest games that pass for others: of another scenario, another team, by other rules.

Everything that the rules say of them holds, for each is played as it is edited. Only the suite that
is named tells what they are not.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from calbench.api.games import play_configured
from calbench.config.composition import compose
from calbench.runs.identity import Suite, suite_of
from calbench.runs.recorded import scenario_digest
from calbench.runs.verification import UnprovenError, verify_file
from calbench.scenarios.difficulty import complete
from calbench.scenarios.models import Scenario
from calbench.scenarios.storage import published_suite
from calbench.traces.models import GameConfig, Limits
from calbench.traces.storage import write_trace
from tests.conftest import Figures
from tests.effort import attacks

pytestmark = [pytest.mark.heavy, pytest.mark.slow]

EDITS_IN_ALL = 900
"""With those of ``test_semantic_edits.py`` 1,500."""

TEAMS = {"language": ("candid", "guarded"), "varied": ("imap", "first-free", "tell-all")}
"""Teams whose games are edited, by experiment."""

Game = tuple[Scenario, GameConfig]


@cache
def experiment(name: str) -> tuple[Sequence[Scenario], dict[str, GameConfig], Suite]:
    configs = {each.team.team_id: each for each in compose([f"+experiment={name}"]).game_configs}
    return published_suite(name), configs, suite_of(name)


def meaning(scenario: Scenario, config: GameConfig) -> tuple[str, bytes]:
    """Return what makes it another game: not what is derived of a scenario."""
    return scenario_digest(json.loads(scenario.written)), config.written


def rewritten(scenario: Scenario, **changes: Any) -> Scenario:
    """Return a scenario with other values; what follows from them is computed anew."""
    document = {**json.loads(scenario.written), "oracle": None, "difficulty": None, **changes}
    return complete(Scenario.model_validate_json(json.dumps(document)))


def _another_of_the_suite(game: Game, name: str, chance: random.Random) -> Game:
    scenario, config = game
    other = chance.choice([s for s in experiment(name)[0] if s.setting == scenario.setting])
    return rewritten(other, scenario_id=scenario.scenario_id), config


def _of_another_suite(game: Game, _name: str, chance: random.Random) -> Game:
    scenario, config = game
    other = chance.choice(published_suite(chance.choice(["uniform", "varied", "smollm2"])))
    return rewritten(other, scenario_id=scenario.scenario_id, setting=scenario.setting), config


def _another_setting(game: Game, _name: str, chance: random.Random) -> Game:
    scenario, config = game
    setting = {"uniform": "varied", "varied": "uniform"}[scenario.setting]
    return rewritten(scenario, setting=chance.choice([setting, f"{setting}-2"])), config


def _seed(game: Game, _name: str, chance: random.Random) -> Game:
    return rewritten(game[0], seed=game[0].seed + chance.randint(1, 9)), game[1]


def _order(game: Game, _name: str, chance: random.Random) -> Game:
    """Give two agents each other's calendars, and the meetings that they are in."""
    scenario, config = game
    document = json.loads(scenario.written)
    one, other = chance.sample(range(scenario.num_agents), 2)
    places = {one: other, other: one}
    calendars = [document["calendars"][places.get(a, a)] for a in range(scenario.num_agents)]
    return rewritten(scenario, calendars=calendars, witness=None), config


def _team_name(game: Game, name: str, chance: random.Random) -> Game:
    scenario, config = game
    others = [team for team in experiment(name)[1] if team != config.team.team_id]
    team = config.team.model_copy(update={"team_id": chance.choice(others)})
    return scenario, config.updated(team=team)


def _seats(game: Game, name: str, chance: random.Random) -> Game:
    """Seat another team of the experiment in all of its seats, or in some."""
    scenario, config = game
    other = experiment(name)[1][chance.choice(TEAMS[name])].team.seats[0]
    mixed = [chance.choice([other, config.team.seats[0]]) for _ in range(scenario.num_agents)]
    seats = chance.choice([(other,), tuple(mixed)])
    return scenario, config.updated(team=config.team.model_copy(update={"seats": seats}))


def _limits(game: Game, _name: str, chance: random.Random) -> Game:
    scenario, config = game
    changes = {
        "max_turns_per_round": chance.randint(1, 99),
        "decision_retries": chance.choice([0, 2, 3]),
        "dm_cap": chance.randint(0, 50),
        "agent_cap": chance.choice([None, 1, 50]),
        "commit": "seat",
    }
    chosen = chance.sample(sorted(changes), chance.randint(1, 5))
    values = config.limits.model_dump() | {key: changes[key] for key in chosen}
    return scenario, config.updated(limits=Limits(**values))


def _channels(game: Game, _name: str, chance: random.Random) -> Game:
    scenario, config = game
    some = chance.sample(config.channels, chance.randint(1, len(config.channels)))
    return scenario, config.updated(channels=tuple(some))


def _prompts(game: Game, _name: str, chance: random.Random) -> Game:
    scenario, config = game
    versions = {"v1", "v2", "v3"} - {config.prompt_version}
    return scenario, config.updated(prompt_version=chance.choice(sorted(versions)))


def _reflection(game: Game, _name: str, _: random.Random) -> Game:
    return game[0], game[1].updated(reflection=not game[1].reflection)


EDITS: dict[str, Callable[[Game, str, random.Random], Game]] = {
    "another scenario of the suite": _another_of_the_suite,
    "one of another suite": _of_another_suite,
    "another setting": _another_setting,
    "seed": _seed,
    "calendars of two agents": _order,
    "name of another team": _team_name,
    "seats": _seats,
    "limits": _limits,
    "channels": _channels,
}
OF_LANGUAGE = {"prompts": _prompts, "reflection": _reflection}
"""Edits of what only games in words have."""


def test_honest_game_under_a_false_name_is_found(tmp_path: Path, figures: Figures) -> None:
    found: Counter[str] = Counter()
    for number in range(attacks(EDITS_IN_ALL)):
        chance = random.Random(f"identity-{number}")
        name = chance.choice(sorted(TEAMS))
        scenarios, configs, suite = experiment(name)
        config = configs[chance.choice(TEAMS[name])]
        game = chance.choice(scenarios), config
        edits = EDITS | (OF_LANGUAGE if config.team.uses_language else {})
        what = chance.choice(sorted(edits))
        scenario, other = edits[what](game, name, chance)
        if meaning(scenario, other) == meaning(*game):
            continue
        path = tmp_path / "edited.json"
        write_trace(path, play_configured(scenario, other, ()))
        verify_file(path)  # by the rules it is a game
        accepted = f"edit {number} ({what}, {name}, {config.team.team_id}): accepted"
        with pytest.raises(UnprovenError) as caught:
            pytest.fail(f"{accepted}, {verify_file(path, suite=suite)}")
        assert caught.value.level == "identity", (number, what, str(caught.value))
        found[what] += 1
    figures("edits of identity that are found", found)


@pytest.mark.parametrize("name", TEAMS)
def test_games_hold_before_they_are_edited(name: str, tmp_path: Path) -> None:
    scenarios, configs, suite = experiment(name)
    for team in TEAMS[name]:
        path = tmp_path / "game.json"
        write_trace(path, play_configured(scenarios[0], configs[team], ()))
        assert verify_file(path, suite=suite).scenarios_unlike_published == 0
