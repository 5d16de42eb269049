"""Published costs are the terms times the number of games, and exponents those of the times."""

import pandas as pd
import pytest

from calbench.cli.estimate import Take
from tests.cli.runs import REPO
from tests.studies.costs import COHORT, COSTS, SIZES, TERMS, TYPED, spoken, typed
from tests.studies.growth import PUBLISHED, exponents


@pytest.fixture(scope="module")
def term() -> dict[str, float]:
    rows = pd.read_csv(REPO / TERMS)
    return dict(zip(rows["term"], rows["value"], strict=True))


@pytest.fixture(scope="module")
def costs() -> pd.DataFrame:
    return pd.read_csv(REPO / COSTS).set_index(["players", "games"])


def test_typed_games_take_what_the_terms_say(term: dict[str, float], costs: pd.DataFrame) -> None:
    for games in SIZES:
        for name, value in typed(term).items():
            assert costs.loc[(TYPED, games), name] == pytest.approx(games * value, rel=0.005)


def test_everything_grows_with_the_games_and_memory_from_a_base(costs: pd.DataFrame) -> None:
    for players, rows in costs.groupby("players"):
        for name in rows.columns.drop("memory_gb"):
            each = (rows[name] / rows.index.get_level_values("games")).dropna()
            assert each.to_numpy() == pytest.approx(each.mean(), rel=0.01), (players, name)
        assert rows["memory_gb"].is_monotonic_increasing


def test_cohort_is_the_mean_of_its_models(costs: pd.DataFrame) -> None:
    rows = costs.xs(1000, level="games")
    models = rows.drop(index=[TYPED, COHORT])
    assert len(models) == 7
    assert rows.loc[COHORT, "dollars"] == pytest.approx(models["dollars"].mean(), rel=0.01)


def test_game_of_a_model_takes_its_calls(term: dict[str, float]) -> None:
    take = Take(calls=170, nano=4_000_000_000, nano_bound=8_000_000_000)
    one = spoken(term, take, games=2)
    assert (one["calls"], one["dollars"], one["dollars_at_most"]) == (85, 2, 4)
    assert one["processor_hours"] * 3_600_000 == pytest.approx(
        85 * term["call"] + term["measure_words"] + term["tables"]
    )


def test_exponents_are_those_of_the_measurements() -> None:
    growth, kept = (
        pd.read_csv(REPO / PUBLISHED / f"{name}.csv", keep_default_na=False).drop(columns="note")
        for name in ("growth", "exponents")
    )
    pd.testing.assert_frame_equal(exponents(growth).astype({"exponent": float}), kept)
