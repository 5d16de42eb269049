"""Silence is no way to lead: the reference in every pool, and silent players among others."""

import json
import math
import re
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench import play_game
from calbench.analysis.rating_scopes import Scope
from calbench.facts.fact import MeasuredGame, measured
from calbench.metrics.measure import DEFAULT_MEASURE
from calbench.stats.spec import RatingSpec
from tests.analysis.rated_games import COST_RANGE, Took, chance_games, rated_score, scope_of
from tests.effort import examples
from tests.metrics.games import canonical_scenario

SPEC = RatingSpec(orders=10, resamples=10, orders_per_resample=1)


def mmr(scope: Scope, column: str = "mmr") -> dict[str, float]:
    """Return the MMR of players by name, and that of the reference as ``silence``."""
    rows = scope.standings
    names = [scope.players[number].name for number in rows["number"]]
    found = dict(zip(names, rows[column].tolist(), strict=True))
    return found | dict.fromkeys(["silence"] * len(scope.silence), scope.silence[column].max())


def quiet(messages: list[dict[str, str]]) -> str:
    """Do nothing; in measurements say that one learnt nothing."""
    asked = re.search(r"^Other agents: (.*)$", messages[-1]["content"], re.MULTILINE)
    if asked is None:
        return '{"thinking": "", "actions": []}'
    return json.dumps({"beliefs": {other: [0] * 16 for other in re.findall(r"\d+", asked[1])}})


def quiet_game(number: int) -> MeasuredGame:
    """Return a game of scripted speakers with a player that never says or does anything."""
    players: list[Any] = ["candid", "guarded", "oversharer", "guarded", quiet]
    turned = players[number:] + players[:number]
    scenario = canonical_scenario(number, f"uniform-00{number}")
    limits = {"commit": "seat", "max_turns_per_round": 15, "decision_retries": 3, "agent_cap": None}
    trace = play_game(scenario, turned, channels=("dm",), limits=limits, reflection=True)
    game = measured(trace, DEFAULT_MEASURE)
    agents = tuple(
        replace(agent, player=agent.player._replace(kind="model")) for agent in game.score.agents
    )
    return replace(game, score=replace(game.score, agents=agents))


@pytest.mark.heavy
def test_a_silent_player_among_speakers_comes_last() -> None:
    scope = scope_of(map(quiet_game, range(5)), SPEC)
    ranked, paper = mmr(scope), mmr(scope, "mmr_paper")
    assert set(sorted(ranked, key=ranked.__getitem__)[:2]) == {"silence", "quiet"}
    # By the paper's formula it is before two that speak.
    assert paper["quiet"] > max(paper["candid"], paper["oversharer"])


seat = st.builds(
    Took,
    st.sampled_from("abcd"),
    scheduled=st.integers(1, 3),
    excess=st.integers(-2, 30),
    vps=st.floats(0, 100),
    kind=st.just("model"),
    assigned=st.just(3),
    vps_kind=st.just("reflection"),
    chance=st.just(0.0),
)


@pytest.mark.heavy
@given(st.lists(st.lists(seat, min_size=1, max_size=4), min_size=1, max_size=8))
@settings(max_examples=examples(80))
def test_a_silent_player_leads_no_pool_of_players_that_agree(games: list[list[Took]]) -> None:
    silent = Took("quiet", scheduled=0, excess=0, vps=0.0)
    scope = scope_of([rated_score(f"s-{n}", silent, *own) for n, own in enumerate(games)], SPEC)
    found = mmr(scope)
    assert found["quiet"] < max(value for name, value in found.items() if name != "quiet")
    leader = scope.players[int(scope.standings["number"].iloc[0])].name
    assert leader != "quiet"


def test_the_reference_is_a_seat_that_pays_the_mean_price_of_failure() -> None:
    # Beside a player that does exactly what the reference does, it fares like that player.
    silent, other = Took("quiet", scheduled=0), Took("a", scheduled=2, excess=1, vps=4.0)
    scope = scope_of([rated_score("s-0", other, Took("b", scheduled=1, vps=3.0))], SPEC)
    real = scope_of([rated_score("s-0", silent, other, Took("b", scheduled=1, vps=3.0))], SPEC)
    names = [player.name for player in real.players]
    own = real.standings.set_index("number").loc[names.index("quiet")]
    for rating in ("coordination", "shown_excess_cost", "excess_vps", "adjusted_excess_cost"):
        assert own[f"{rating}_mu"] < 25 or rating in {"shown_excess_cost", "excess_vps"}
        assert scope.silence[f"{rating}_mu"].item() == pytest.approx(own[f"{rating}_mu"], abs=0.3)
    # COST_RANGE / M is more than both paid with their penalties.
    assert max(1 / 3 + COST_RANGE / 9, COST_RANGE * 2 / 9) < COST_RANGE / 3


def test_players_below_silence_are_marked() -> None:
    # w agrees on a meeting in three and pays for it more than failure costs.
    games = [
        rated_score(f"s-{n}", Took("a", vps=1.0), Took("w", 1, 99, 90.0), Took("b", vps=2.0))
        for n in range(3)
    ]
    scope = scope_of(games, SPEC)
    rows = scope.standings
    marks = zip(rows["number"].tolist(), rows["is_below_silence"].tolist(), strict=True)
    by_name = {scope.players[number].name: mark for number, mark in marks}
    found = mmr(scope)
    assert by_name == {name: found[name] < found["silence"] for name in "abw"}
    assert not by_name["a"]
    assert len(scope.silence) == 1


def test_silence_has_no_rank_and_moves_nobody() -> None:
    games = chance_games({"a": 0.0, "b": 0.8}, 5, seed=2)
    scope = scope_of(games, SPEC)
    assert scope.silence[["rank", "rank_low", "tie_group"]].isna().all(axis=None)
    assert len(scope.players) == 2
    assert scope.meetings.games.shape == (2, 2)
    # Where nobody met another there is nothing to compare silence with.
    alone = scope_of([rated_score("s", Took("a"), Took("a"))], SPEC)
    assert alone.silence.empty
    assert alone.standings["is_below_silence"].isna().all()


def test_names_are_no_merit() -> None:
    luck = {"a": 0.0, "b": 0.4, "c": 0.8}
    games = chance_games(luck, 6, seed=4)
    other = {"a": "z", "b": "y", "c": "x"}
    renamed = [
        replace(
            score,
            agents=tuple(
                replace(agent, player=agent.player._replace(name=other[agent.player.name]))
                for agent in score.agents
            ),
        )
        for score in games
    ]
    plain, found = mmr(scope_of(games, SPEC)), mmr(scope_of(renamed, SPEC))
    assert {other.get(name, name): value for name, value in plain.items()} == pytest.approx(found)


def test_losses_measured_in_two_ways_are_never_compared() -> None:
    typed = [Took(name, vps=loss, vps_kind="protocol") for name, loss in (("a", 1.0), ("b", 2.0))]
    told = [Took(name, vps=loss) for name, loss in (("c", 50.0), ("d", 90.0))]
    both = scope_of([rated_score("s", typed[0], told[0], typed[1], told[1])], SPEC)
    privacy = ["excess_vps", "vps_per_meeting"]
    for pair in (typed, told):
        alone = scope_of([rated_score("s", *pair)], SPEC)
        names = [took.player for took in pair]
        for rating in privacy:
            assert values(both, f"{rating}_mu", names) == pytest.approx(
                values(alone, f"{rating}_mu", names)
            )
    assert values(both, "rank", list("abcd")) == [1, 2, 1, 2]
    measured = set(zip(both.margins["rating"], both.margins["measured_by"], strict=True))
    assert {kind for rating, kind in measured if rating in privacy} == {"protocol", "reflection"}
    assert {kind for rating, kind in measured if rating not in privacy} == {"all"}


def values(scope: Scope, column: str, names: list[str]) -> list[float]:
    by_number = scope.standings.set_index("number")[column].to_dict()
    return [by_number[[player.name for player in scope.players].index(name)] for name in names]


def test_a_single_seat_of_its_kind_has_no_rating_of_privacy_and_no_rank() -> None:
    seats = [Took("a"), Took("b", vps=2.0), Took("t", vps=1.0, vps_kind="protocol")]
    scope = scope_of([rated_score("s", *seats)], SPEC)
    assert values(scope, "excess_vps_events", ["a", "b", "t"]) == [1, 1, 0]
    assert math.isnan(values(scope, "rank", ["t"])[0])
    assert scope.standings["rank"].notna().tolist() == [True, True, False]


def test_who_agreed_on_nothing_is_last_even_where_all_agreed_ones_are_equal() -> None:
    seats = [Took("a", 3, 0, 9.0), Took("b", 3, 0, 9.0), Took("q", 0, 0, 0.0)]
    scope = scope_of([rated_score("s", *seats)], SPEC)
    a, b, q = values(scope, "vps_per_meeting_mu", ["a", "b", "q"])
    assert a == pytest.approx(b)
    assert q < a
    # By the paper's formula it is the other way round.
    a, b, q = values(scope, "excess_vps_mu", ["a", "b", "q"])
    assert q > a == pytest.approx(b)
    nobody = scope_of([rated_score("s", Took("a", 0), Took("q", 0))], SPEC)
    assert nobody.standings["vps_per_meeting_events"].tolist() == [0, 0]
    assert isinstance(nobody.standings, pd.DataFrame)
