"""The laws of the whole game, on games of random players over random scenarios."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from calbench.domain.randomness import stream
from calbench.engine.game import game_id
from calbench.scenarios.models import ErrandEntry, Scenario
from calbench.traces.events import BatchApplied, BatchRejected, Event, InvalidToolCall, Resolution
from tests.effort import examples
from tests.properties.games import DrawnGame, games
from tests.properties.laws import LAWS, assert_observations_do_not_depend_on_the_calendar_of

FEW = settings(max_examples=examples(100, nightly=500), deadline=None)


@st.composite
def two_worlds(draw: st.DrawFn) -> tuple[int, Scenario, DrawnGame]:
    """A game, an agent of it, and the scenario with another calendar for that agent."""
    game = draw(games())
    agent = draw(st.integers(0, game.scenario.num_agents - 1))
    chance = stream(draw(st.integers(0, 2**32)), "other world")
    calendar = tuple(
        entry
        if entry is not None and not isinstance(entry, ErrandEntry)
        else None
        if chance.below(3) == 0
        else ErrandEntry(
            errand_id=10**6 + slot,
            cost=chance.below(9),
            shown_cost=chance.below(99),
            blocked=chance.below(4) == 0,
        )
        for slot, entry in enumerate(game.scenario.calendars[agent])
    )
    calendars = list(game.scenario.calendars)
    calendars[agent] = calendar
    other = game.scenario.updated(
        calendars=tuple(calendars), witness=None, oracle=None, difficulty=None
    )
    return agent, other, game


@given(worlds=two_worlds())
@FEW
def test_observation_never_changes_when_the_calendar_of_another_agent_does(
    worlds: tuple[int, Scenario, DrawnGame],
) -> None:
    assert_observations_do_not_depend_on_the_calendar_of(*worlds)


@pytest.mark.parametrize("assert_law", LAWS, ids=lambda law: law.__name__)
@given(game=games())
@FEW
def test_game_obeys(assert_law: Callable[[DrawnGame], None], game: DrawnGame) -> None:
    assert_law(game)


@pytest.mark.heavy
def test_drawn_games_hold_what_the_laws_are_about() -> None:
    """Laws hold of nothing, too: so see that games of all kinds are among the drawn ones."""
    kinds: Counter[str] = Counter()

    @given(game=games())
    @settings(max_examples=200, deadline=None, derandomize=True, phases=[Phase.generate])
    def note(game: DrawnGame) -> None:
        trace = game.play()
        kinds.update({kind for event in trace.events if (kind := kind_of(event)) is not None})
        kinds["two scheduled"] += trace.metrics.rounds_scheduled >= 2
        kinds["costs"] += trace.metrics.realised_cost > 0

    note()
    expected = {
        "scheduled",
        "inconsistent_slots",
        "no_batch",
        "earlier_meeting_broken",
        "two scheduled",
        "costs",
        "applied in VOLUNTARY",
        "rejected in VOLUNTARY",
        "rejected in DECISION",
        "refused in CHEAP_TALK",
        "refused in VOLUNTARY",
        "refused in DECISION",
    }
    assert {kind: kinds[kind] for kind in expected if kinds[kind] < 3} == {}


def kind_of(event: Event) -> str | None:
    if isinstance(event, Resolution):
        return event.outcome
    if isinstance(event, BatchApplied):
        return f"applied in {event.phase}"
    if isinstance(event, BatchRejected):
        return f"rejected in {event.phase}"
    return f"refused in {event.phase}" if isinstance(event, InvalidToolCall) else None


@given(one=games(), other=games())
@FEW
def test_game_id_is_the_same_exactly_when_the_content_is(one: DrawnGame, other: DrawnGame) -> None:
    same = (
        one.scenario.model_dump(exclude={"oracle", "difficulty"}),
        one.config.model_dump(),
    ) == (other.scenario.model_dump(exclude={"oracle", "difficulty"}), other.config.model_dump())
    assert (game_id(one.scenario, one.config) == game_id(other.scenario, other.config)) == same
    copy = one.scenario.model_validate_json(one.scenario.model_dump_json())
    assert game_id(copy, one.config.model_copy()) == game_id(one.scenario, one.config)
