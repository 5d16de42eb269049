"""A small run on disk with something in every table: teams, settings, and an excluded game."""

import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calbench import play_game
from calbench.analysis.registry import Settings
from calbench.analysis.scoring import facts_of
from calbench.domain.usage import Usage
from calbench.scenarios.models import DifficultyEntry, Scenario, Tertile
from calbench.stats.spec import AnalysisSpec, RatingSpec
from calbench.traces.events import Event, Reflection
from calbench.traces.models import Trace
from calbench.traces.storage import write_trace
from tests.llm.asking import price
from tests.metrics.games import canonical_scenario, play_random, with_outcome
from tests.metrics.language_games import chances, paid

TEAMS = ("mixed-scripted", "random", "candid", "imap")
FACTS = facts_of("all", "scripted")
SETTINGS = Settings(
    analysis=AnalysisSpec(
        permutations=19, ratings=RatingSpec(orders=2, resamples=2, orders_per_resample=1)
    ),
    prices={"candid": price(1.0, 0.5, 2.0)},
)
USAGE = Usage(input_tokens=1000, cached_tokens=400, output_tokens=50)


@dataclass(frozen=True)
class Game:
    """A game whose trace is on disk."""

    path: Path
    team_id: str
    scenario_id: str
    seconds: float = 0.01


class Elsewhere(Executor):
    """Does what a process does that is handed its task as bytes, at once."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        task, given, named = _copied((fn, args, kwargs))
        found: Future[Any] = Future()
        found.set_result(_copied(task(*given, **named)))
        return found


def _copied(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own bytes


def difficulty(tertile: Tertile, feasible: int) -> DifficultyEntry:
    """Return a difficulty: of 16 slots for 5 meetings there are 524160 assignments."""
    return DifficultyEntry(
        feasible_count=feasible, feasible_fraction=feasible / 524160, tertile=tertile, reason=None
    )


def play_small_run(folder: Path) -> tuple[Game, ...]:
    """Play two scenarios of two draws with every team; the last game is excluded."""
    scenarios = [
        canonical_scenario(10 * draw + number, f"uniform-seed{draw}-{number:03d}").updated(
            setting=f"uniform-seed{draw}",
            difficulty=difficulty("hard", 65520) if number else difficulty("easy", 262080),
        )
        for draw in (1, 2)
        for number in range(2)
    ]
    games = []
    for team in TEAMS:
        for scenario in scenarios:
            trace = _play(team, scenario)
            if (team, scenario) == (TEAMS[-1], scenarios[-1]):
                trace = with_outcome(trace, "provider_fault")
            path = folder / team / f"{scenario.scenario_id}.json"
            write_trace(path, trace)
            games.append(Game(path, team, scenario.scenario_id))
    return tuple(games)


def _play(team: str, scenario: Scenario) -> Trace:
    if team == "random":
        return play_random(scenario, scenario.seed)
    trace = play_game(scenario, team, reflection=True)
    return paid(with_chances(trace), USAGE) if team == "candid" else trace


def with_chances(trace: Trace) -> Trace:
    """Return the game as if chances had been asked for at its end, and said what changes say.

    Earlier on, they would move the events by whose numbers inboxes name messages.
    """
    events: list[Event] = []
    for event in trace.events:
        if isinstance(event, Reflection) and event.round == len(trace.scenario.meetings) - 1:
            changes = event.delta_by_target.items()
            stated = {int(agent): [50 + 15 * each for each in own] for agent, own in changes}
            events.append(chances(event.round, event.agent_id, stated))
        events.append(event)
    return trace.model_copy(update={"events": tuple(events)})
