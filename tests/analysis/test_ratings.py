import csv
import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openskill.models import PlackettLuce

from calbench.analysis.rating_pools import RATINGS, tied
from calbench.analysis.rating_scopes import Scope, meetings_of
from calbench.analysis.registry import Settings
from calbench.analysis.tables import TABLES
from calbench.config.composition import compose
from calbench.domain.randomness import derived_seed
from calbench.metrics.game import AgentGame, GameScore
from calbench.stats.spec import AnalysisSpec, RatingSpec
from tests.analysis.rated_games import Took, chance_games, facts_of, player, rated_score, scope_of

SPEC = RatingSpec(orders=20, resamples=40, orders_per_resample=2)


def rated(games: list[GameScore], setting: str = "uniform", pool: str = "models") -> Scope:
    return scope_of(games, SPEC, setting, pool)


def by_name(scope: Scope) -> pd.DataFrame:
    """Return the standings by player, in their order by rank."""
    names = [scope.players[number].name for number in scope.standings["number"]]
    return scope.standings.set_axis(names, axis="index")


def value(standings: pd.DataFrame, name: str, column: str) -> float:
    """Return a player's number."""
    return float(standings[column].to_dict()[name])


def values(standings: pd.DataFrame, name: str, *columns: str) -> list[float]:
    return [value(standings, name, column) for column in columns]


def tables(folder: Path, games: list[GameScore]) -> dict[str, bytes]:
    """Write the tables of ratings."""
    facts = facts_of(folder / "facts", games)
    for name, table in TABLES.items():
        if name.startswith("ratings"):
            table.write(facts, Settings(analysis=AnalysisSpec(ratings=SPEC)), folder)
    return {path.name: path.read_bytes() for path in folder.glob("*.csv")}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


GAMES = [
    *chance_games({"a": 0.0, "b": 0.5, "c": 0.9}, 6, seed=1),
    rated_score("s-0001", Took("a"), Took("d", kind="custom", excess=2), setting="varied"),
    rated_score("s-0009", Took("x", kind="scripted"), Took("a"), Took("imap", kind="protocol")),
]


@pytest.fixture(scope="module")
def of_games(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return tables(tmp_path_factory.mktemp("ratings"), GAMES)


def test_tables_are_those_they_always_were(of_games: dict[str, bytes]) -> None:
    folder = Path(__file__).parent / "ratings"
    assert of_games == {path.name: path.read_bytes() for path in folder.glob("*.csv")}


def test_players_that_never_met_are_named() -> None:
    games = [
        rated_score("s-0", Took("a"), Took("b"), team="one"),
        rated_score("s-0", Took("b"), Took("c"), team="two"),
        rated_score("s-0", Took("d"), Took("e"), team="three"),
    ]
    scope = rated(games)
    assert list(scope.warnings()) == [
        (
            "models, uniform: no chain of games links these groups, so ranks do not either: "
            "a, b, c; d, e"
        ),
        "models, uniform: a and c never met, only through others",
    ]
    assert [each.name for each in scope.players] == list("abcde")
    assert scope.meetings.first.tolist() == [0, 0, 0, 3, 3]
    assert scope.meetings.never_met(1).tolist() == [3, 4]
    assert not list(rated(games[:1]).warnings())


def test_meetings_are_counted_once_a_game() -> None:
    # Two games: 0, 0 and 2 sit in the first, 2, 1 and 0 in the second; 3 and 4 in none.
    games, players = [0, 0, 0, 1, 1, 1], [0, 0, 2, 2, 1, 0]
    found = meetings_of(pd.array(games).to_numpy(int), pd.array(players).to_numpy(int), 5)
    assert found.games.tolist() == [
        [2, 1, 2, 0, 0],
        [1, 1, 1, 0, 0],
        [2, 1, 2, 0, 0],
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
    ]
    assert found.first.tolist() == [0, 0, 0, 3, 4]
    assert found.never_met(3).tolist() == [0, 1, 2, 4]
    assert found.never_met(0).tolist() == [3, 4]
    assert found.is_linked(1, 2)
    assert not found.is_linked(3, 4)
    assert list(found.pairs())[:5] == [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2)]


def test_seats_without_a_value_are_left_out_of_that_rating_alone() -> None:
    games = [
        rated_score("s-0", Took("a", vps=None), Took("b", vps=1.0), Took("c", vps=2.0)),
        rated_score("s-1", Took("a", vps=None), Took("b", 0, assigned=0), Took("c")),
    ]
    found = by_name(rated(games)).sort_index()
    counts = found[[f"{rating.name}_events" for rating in RATINGS]].to_numpy().tolist()
    # A seat without meetings has none of which it could have agreed on some.
    assert counts == [
        [2, 2, 2, 0, 2, 0, 2, 2, 0],
        [1, 2, 2, 2, 1, 1, 1, 2, 2],
        [2, 2, 2, 2, 2, 1, 2, 2, 2],
    ]
    assert math.isnan(value(found, "a", "rank"))
    assert not math.isnan(value(found, "b", "rank"))


def test_scores_are_better_where_less_is_lost() -> None:
    # One game a rating: b is better in exactly that.
    same: dict[str, Any] = {"scheduled": 2, "excess": 2, "vps": 2.0}
    adjusted, private = ["adjusted_excess_cost"], ["excess_vps", "vps_per_meeting"]
    costs = ["shown_excess_cost", "excess_cost", *adjusted]
    for better, names in (
        ({"scheduled": 3}, ["coordination", *adjusted, private[1], "authors_coordination"]),
        ({"excess": 1}, costs),  # one is within the authors' tolerance
        ({"excess": 0}, [*costs, "authors_excess"]),
        ({"vps": 1.0}, private),
        ({"vps": 0.5}, [*private, "authors_vps"]),
    ):
        found = by_name(rated([rated_score("s", Took("a", **same), Took("b", **same | better))]))
        for rating in RATINGS:
            gap = value(found, "b", f"{rating.name}_mu") - value(found, "a", f"{rating.name}_mu")
            assert (gap > 1) if rating.name in names else gap == 0


def test_a_reflected_price_of_meetings_is_what_is_beyond_chance() -> None:
    """And the paper's rating is V above the floor, chance or not."""
    lucky, told = Took("lucky", vps=9.0, chance=9.5), Took("told", vps=8.0, chance=1.0)
    found = by_name(rated([rated_score("s", lucky, told)]))
    for name, better, worse in (("vps_per_meeting", "lucky", "told"),
                                ("excess_vps", "told", "lucky")):  # fmt: skip
        assert value(found, better, f"{name}_mu") > value(found, worse, f"{name}_mu")


def test_excluded_games_are_counted_and_move_nothing() -> None:
    games = chance_games({"a": 0.0, "b": 0.8}, 4, seed=5)
    excluded = rated_score("s-9", Took("a"), Took("z"), Took("z"), is_excluded=True)
    plain, found = by_name(rated(games)), rated([*games, excluded])
    standings = by_name(found)
    assert standings.loc[["b"]].equals(plain.loc[["b"]])
    assert [found.players[other].name for other in found.meetings.never_met(1)] == ["z"]
    assert values(standings, "a", "games", "games_excluded") == [4, 1]
    assert values(standings, "z", "games", "games_excluded") == [0, 1]
    assert math.isnan(value(standings, "z", "rank"))
    assert standings.index.tolist()[-1] == "z"


def test_games_among_oneself_move_nothing() -> None:
    games = chance_games({"a": 0.0, "b": 0.8}, 4, seed=5)
    alone = rated_score("s-9", Took("a", 3), Took("a", 0), team="only-a")
    plain, found = by_name(rated(games)), by_name(rated([*games, alone]))
    assert found.drop(columns="games").equals(plain.drop(columns="games"))
    assert (value(found, "a", "games"), value(found, "b", "games")) == (5, 4)


def test_settings_of_one_name_are_other_players() -> None:
    other = rated_score("s-1", Took("a"), Took("b"))
    agents = tuple(
        replace(agent, player=agent.player._replace(settings_digest="1" * 64))
        for agent in other.agents
    )
    scope = rated([rated_score("s-0", Took("a"), Took("b")), replace(other, agents=agents)])
    found = [(each.name, each.settings_digest[0]) for each in scope.players]
    assert found == [("a", "0"), ("a", "1"), ("b", "0"), ("b", "1")]
    assert scope.meetings.games.diagonal().tolist() == [1, 1, 1, 1]


def test_players_with_and_without_a_model_are_told_apart() -> None:
    score = rated_score("s-0", Took("a"), Took("b", kind="custom"))
    first, second = score.agents
    named = replace(first, player=first.player._replace(model="openai/a"))
    scope = rated([replace(score, agents=(named, second))])
    assert scope.players == (named.player, second.player)
    assert scope.standings["games"].tolist() == [1, 1]


def test_unrated_are_ordered_by_coordination_then_excess_then_vps(tmp_path: Path) -> None:
    seats = [
        Took("late", 2, -5, 0.0, "protocol"),
        Took("leaky", 3, 1, 9.0, "degenerate"),
        Took("best", 3, 1, 2.0, "scripted"),
        Took("dear", 3, 2, 0.0, "protocol"),
        Took("unknown", 3, 1, None, "protocol"),
    ]
    tables(tmp_path, [rated_score("s-0", *seats)])
    found = [(row["player"], row["place"]) for row in rows(tmp_path / "ratings_unrated.csv")]
    assert found == [
        ("best", "1"), ("leaky", "2"), ("unknown", "3"), ("dear", "4"), ("late", "5")
    ]  # fmt: skip


def test_vps_of_two_instruments_orders_nobody(tmp_path: Path) -> None:
    seats = [
        Took("typed", 3, 1, 9.0, "protocol", vps_kind="protocol"),
        Took("spoken", 3, 1, 2.0, "scripted"),
        Took("other", 3, 1, 5.0, "scripted"),
        Took("dear", 3, 2, 3.0, "scripted"),
        Took("cheap", 3, 2, 1.0, "scripted"),
    ]
    tables(tmp_path, [rated_score("s-0", *seats)])
    found = rows(tmp_path / "ratings_unrated.csv")
    assert [(row["player"], row["place"], row["vps_kind"]) for row in found] == [
        ("other", "1", "reflection"),
        ("spoken", "1", "reflection"),
        ("typed", "1", "protocol"),
        ("cheap", "4", "reflection"),
        ("dear", "5", "reflection"),
    ]


def test_unrated_have_raw_means_over_what_counts(tmp_path: Path) -> None:
    games = [
        rated_score("s-0", Took("p", 1, 3, 1.0, "protocol"), Took("p", 2, 0, None, "protocol")),
        rated_score("s-1", Took("p", 0, 1, 0.5, "protocol", assigned=0), Took("a")),
        rated_score("s-2", Took("p", 0, 99, 9.0, "protocol"), is_excluded=True),
    ]
    tables(tmp_path, games)
    (found,) = rows(tmp_path / "ratings_unrated.csv")
    assert (found["games"], found["agent_games"]) == ("2", "3")
    assert found["coordination"] == "50.0000"  # of two seats with a meeting
    assert found["excess_cost"] == "1.3333"
    assert found["excess_vps"] == "0.7500"
    assert (found["kind"], found["settings_digest"], found["is_probing"]) == (
        "protocol", "0" * 8, "false"
    )  # fmt: skip


def test_equal_raw_means_share_a_place_in_their_setting(tmp_path: Path) -> None:
    seats = [Took(name, 3, 1, 2.0, "protocol") for name in ("q", "p")]
    worse = Took("o", 2, 1, 2.0, "protocol")
    nothing = Took("n", 0, 0, None, "protocol", assigned=0)
    games = [
        rated_score("s-0", worse, *seats, nothing),
        rated_score("s-0", seats[0], setting="varied"),
    ]
    tables(tmp_path, games)
    found = rows(tmp_path / "ratings_unrated.csv")
    assert [(row["setting"], row["player"], row["place"]) for row in found] == [
        ("uniform", "p", "1"),
        ("uniform", "q", "1"),
        ("uniform", "o", "3"),
        ("uniform", "n", "4"),
        ("varied", "q", "1"),
    ]
    assert found[3]["coordination"] == found[3]["excess_vps"] == ""


def test_a_rating_without_an_event_has_no_range(tmp_path: Path) -> None:
    tables(tmp_path, [rated_score("s-0", Took("a", vps=None), Took("b", vps=None))])
    found = {row["rating"]: row for row in rows(tmp_path / "ratings_margins.csv")}
    assert list(found) == [rating.name for rating in RATINGS if not rating.tolerance]
    vps = found["excess_vps"]
    assert (vps["events"], vps["median_range"], vps["greatest_range"], vps["margin"]) == (
        "0", "", "", "0.0000"
    )  # fmt: skip


def test_margins_move_ratings() -> None:
    # a wins by little as often as b wins by much: margins find that difference, ranks would not.
    games = [
        *(rated_score(f"s-{n}", Took("a", excess=0), Took("b", excess=1)) for n in range(4)),
        *(rated_score(f"t-{n}", Took("a", excess=9), Took("b", excess=0)) for n in range(4)),
    ]
    found = by_name(rated(games))
    assert value(found, "b", "excess_cost_mu") != pytest.approx(value(found, "a", "excess_cost_mu"))


def by_openskill(games: list[GameScore], spec: RatingSpec) -> dict[str, float]:
    """Return the authors' MMR by calls of OpenSkill: places with ties, and plain weighted sums."""
    names = sorted({seat.player.name for each in games for seat in each.agents})
    rated_by: list[tuple[float, float, Callable[[AgentGame], float | None]]] = [
        (0.40, 0.2, lambda seat: seat.scheduled / seat.assigned),
        (0.35, 1.0, lambda seat: -min(max(0, seat.cost), 5)),
        (0.25, 1.0, lambda seat: None if seat.excess_vps is None else -seat.excess_vps),
    ]
    bits = np.random.PCG64(derived_seed(spec.seed, "rating orders", "models", "uniform"))
    orders = [np.argsort(bits.random_raw(len(games)), kind="stable") for _ in range(spec.orders)]
    model, total = PlackettLuce(), dict.fromkeys(names, 0.0)
    for order in orders:
        for weight, tolerance, score in rated_by:
            skills = {name: model.rating() for name in names}
            for game in (games[place] for place in order):
                seats = [seat for seat in game.agents if score(seat) is not None]
                seats.sort(key=lambda seat: -(score(seat) or 0.0))
                places, first = [0], score(seats[0]) or 0.0
                for seat in seats[1:]:
                    is_next = round(first - (score(seat) or 0.0), 9) > tolerance
                    first = (score(seat) or 0.0) if is_next else first
                    places.append(places[-1] + is_next)
                before = [[deepcopy(skills[seat.player.name])] for seat in seats]
                after = model.rate(before, ranks=[float(place) for place in places])
                for name in {seat.player.name for seat in seats}:
                    own = [
                        new for seat, (new,) in zip(seats, after, strict=True)
                        if seat.player.name == name
                    ]  # fmt: skip
                    skills[name] = model.rating(
                        fmean(new.mu for new in own), fmean(new.sigma for new in own)
                    )
            for name in names:
                total[name] += weight * skills[name].ordinal() / len(orders)
    return {name: spec.mmr_start + spec.mmr_scale * sum_ for name, sum_ in total.items()}


def test_authors_mmr_is_that_of_openskill_called_seat_by_seat() -> None:
    games = [
        *chance_games({"a": 0.0, "b": 0.5, "c": 0.9, "d": 0.2}, 7, seed=3),
        rated_score("t-0", Took("a", 0, 9), Took("b", 3, 4, 7.5), Took("b", 2, 0, 6.0), Took("d")),
    ]
    spec = RatingSpec(orders=6, resamples=2, orders_per_resample=1)
    found = by_name(scope_of(games, spec))
    expected = by_openskill(games, spec)

    assert {name: value(found, name, "mmr_authors") for name in expected} == pytest.approx(
        expected, abs=1e-6
    )
    assert len({round(each) for each in expected.values()}) == 4


@given(
    st.lists(st.none() | st.integers(0, 40).map(lambda step: step / 20), max_size=6),
    st.sampled_from([0.0, 0.2, 1.0]),
)
def test_scores_of_a_group_tie_with_its_first(scores: list[float | None], tolerance: float) -> None:
    found = tied(scores, tolerance)

    assert [each is None for each in found] == [each is None for each in scores]
    known = [(own, new) for own, new in zip(scores, found, strict=True) if own is not None]
    firsts = sorted({new for _, new in known if new is not None})
    assert set(firsts) <= {own for own, _ in known}
    assert all(round(more - less, 9) > tolerance for less, more in pairwise(firsts))
    for own, new in known:
        assert new is not None
        assert -1e-12 <= new - own <= tolerance + 1e-9
        assert new == min(first for first in firsts if first >= own)
    if not tolerance:
        assert list(found) == scores


def test_one_scenario_gives_no_interval() -> None:
    found = rated(chance_games({"a": 0.0, "b": 0.8}, 1, seed=5)).standings
    assert not found["rank"].isna().any()
    assert found[["rank_low", "rank_high"]].isna().all(axis=None)


def probing(score: GameScore, name: str) -> GameScore:
    """Return the game as if one player had been told to probe."""
    agents = tuple(
        replace(agent, player=agent.player._replace(is_probing=True))
        if agent.player.name == name
        else agent
        for agent in score.agents
    )
    return replace(score, agents=agents)


def test_probing_variants_stand_beside_and_move_no_rating(tmp_path: Path) -> None:
    seats = [Took("a"), Took("b", scheduled=1), Took("a.nosy", scheduled=0)]
    score = probing(rated_score("s0", *seats), "a.nosy")
    alone, beside = rated([rated_score("s0", *seats[:2])]), rated([score])
    assert by_name(beside).index.tolist() == ["a", "b"]
    assert beside.standings.equals(alone.standings)
    tables(tmp_path, [score])
    (unrated,) = rows(tmp_path / "ratings_unrated.csv")
    assert (unrated["player"], unrated["kind"], unrated["is_probing"]) == (
        "a.nosy",
        "model",
        "true",
    )


def test_excluded_games_of_a_probing_variant_leave_no_standing() -> None:
    excluded = rated_score("s0", Took("a"), Took("a.nosy"), is_excluded=True)
    assert rated([probing(excluded, "a.nosy")]).players == (player("a"),)


def test_entrants_are_listed_without_games() -> None:
    scope = scope_of(GAMES, SPEC, entrants=[player("z"), player("a")])
    assert [each.name for each in scope.players] == ["a", "b", "c", "z"]
    assert by_name(scope).loc["z", "games"] == 0


def test_start_and_scale_of_mmr_can_be_set() -> None:
    spec = SPEC.model_copy(update={"mmr_start": 0.0, "mmr_scale": 1.0})
    plain, scaled = (by_name(scope_of(GAMES, each)) for each in (SPEC, spec))
    assert len(plain) == 3
    assert plain["mmr"].tolist() == pytest.approx((1000 + 40 * scaled["mmr"]).tolist(), abs=0.01)
    assert compose(["analysis.ratings.orders=7"]).analysis.ratings.orders == 7
    assert compose([]).analysis == AnalysisSpec()


@pytest.mark.slow
def test_ties_are_admitted_and_a_better_player_is_not_tied_in_simulation() -> None:
    spec = RatingSpec(orders=50, resamples=100)
    same, better = dict.fromkeys("abcde", 0.4), {"w": 0.9, **dict.fromkeys("abcd", 0.3)}
    one_group = 0
    for seed in range(40):
        found = scope_of(chance_games(same, 45, seed), spec).standings
        one_group += set(found["tie_group"]) == {1}
        found = by_name(scope_of(chance_games(better, 45, seed), spec))
        assert found.index[0] == "w"
        assert found["tie_group"].iloc[1] == 2
    print(f"\none tie group in {one_group} of 40 simulations of five equal players")
    assert one_group >= 36
