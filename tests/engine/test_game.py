"""A whole game: its order of events, its id, and the contents of its trace."""

import uuid

import pytest

from calbench.domain.canonical import canonical_json
from calbench.domain.rules import RULES_VERSION
from calbench.engine.game import GAME_NAMESPACE, game_id
from calbench.scenarios.difficulty import completed
from calbench.traces.events import GameStart, RoundStart
from calbench.traces.models import GameConfig, Limits, Seat, Team
from tests.engine.scripts import Lines, book, decide, game_config, move, play_scripts
from tests.factories import make_scenario

SCENARIO = make_scenario(["E3...", "....", "...."], [(1, 0), (2, 1)], witness={"1": 1, "2": 2})
CONFIG = game_config("imap")


def test_game_names_the_stored_optimum_when_the_scenario_holds_it() -> None:
    (known,) = completed((SCENARIO,))
    start = play_scripts(known, {}).trace.events[0]
    assert isinstance(start, GameStart)
    assert (start.optimal_cost, start.greedy_cost) == (0, 3)


def test_metrics_relate_the_cost_to_the_optimum_and_the_greedy_cost_that_are_stored() -> None:
    # Slot 0 costs 3 and 3, slot 1 costs 1 and 1; greedy takes the first that can be cleared.
    (known,) = completed((make_scenario(["E3E1.B", "E3E1B."], [(0, 1)]),))
    lines: dict[int, Lines] = {
        0: {decide(): [move(102, 1, 2), book(1, 1)]},
        1: {decide(): [move(105, 0, 3), book(1, 0)]},
    }
    metrics = play_scripts(known, lines).trace.metrics
    assert metrics.realised_cost == 4
    assert (metrics.cost_vs_optimal, metrics.cost_vs_greedy) == (2.0, 0.666667)
    unknown = play_scripts(SCENARIO, {}).trace.metrics
    assert (unknown.cost_vs_optimal, unknown.cost_vs_greedy) == (None, None)


def test_game_of_no_meeting_has_no_round() -> None:
    game = play_scripts(make_scenario(["..", ".."], []), {})
    assert game.events(RoundStart) == []
    assert game.trace.final_state.round_outcomes == ()


def test_game_id_is_made_of_scenario_configuration_and_rules_version() -> None:
    content = {
        "scenario": SCENARIO.play_digest,
        "config": CONFIG.digest,
        "rules_version": RULES_VERSION,
    }
    assert game_id(SCENARIO, CONFIG) == str(uuid.uuid5(GAME_NAMESPACE, canonical_json(content)))
    again = make_scenario(["E3...", "....", "...."], [(1, 0), (2, 1)], witness={"1": 1, "2": 2})
    assert game_id(again, game_config("imap")) == game_id(SCENARIO, CONFIG)


def test_game_id_does_not_depend_on_what_is_computed_from_the_scenario() -> None:
    (known,) = completed((SCENARIO,))
    assert known.oracle is not None
    assert known.difficulty is not None
    assert game_id(known, CONFIG) == game_id(SCENARIO, CONFIG)


@pytest.mark.parametrize(
    "change",
    [
        {"scenario_id": "test-001"},
        {"setting": "other"},
        {"seed": 1},
        {"witness": None},
        {"witness": {"1": 1, "2": 3}},
        {"params": {"density": 0.5}},
        {"meetings": SCENARIO.meetings[:1], "witness": {"1": 1}},
        {"meetings": SCENARIO.meetings[::-1]},
        {"calendars": SCENARIO.calendars[::-1]},
    ],
    ids="-".join,
)
def test_game_id_differs_when_the_scenario_does(change: dict[str, object]) -> None:
    assert game_id(SCENARIO.updated(**change), CONFIG) != game_id(SCENARIO, CONFIG)


def limited(**limits: int | tuple[float, ...] | None) -> GameConfig:
    return CONFIG.updated(limits=Limits.model_validate(limits))


def seated(seat: Seat) -> GameConfig:
    return CONFIG.model_copy(update={"team": Team(team_id="imap", seats=(seat,))})


OTHER_CONFIGS: dict[str, GameConfig] = {
    "turns": limited(max_turns_per_round=14),
    "retries": limited(decision_retries=2),
    "cap": limited(dm_cap=100),
    "no cap is not a cap of none": limited(dm_cap=0),
    "weights": limited(sd_model=(1.0, 2.0)),
    "channels": game_config("imap", ("dm",)),
    "no channels": game_config("imap", ()),
    "team": game_config("silent"),
    "prompt version": CONFIG.model_copy(update={"prompt_version": "v1"}),
    "label bank": CONFIG.model_copy(update={"label_bank": "v1"}),
    "seats": seated(Seat(player="silent", kind="protocol")),
    "kind": seated(Seat(player="imap", kind="degenerate")),
    "settings": seated(Seat(player="imap", kind="protocol", settings={"a": 1})),
}


def test_game_ids_of_different_configurations_are_all_different() -> None:
    ids = {game_id(SCENARIO, config) for config in (CONFIG, *OTHER_CONFIGS.values())}
    assert len(ids) == 1 + len(OTHER_CONFIGS)
