"""From rows to estimates: sums by scenario by hand, and their intervals."""

from math import fsum, nan
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.analysis.estimates import (
    estimated_means,
    estimated_shares,
    group_totals,
    scenario_sums,
)
from calbench.stats.intervals import Bounds, estimated
from calbench.stats.spec import AnalysisSpec
from calbench.stats.sums import Sums

SPEC = AnalysisSpec()


def frame(
    *rows: tuple[str, str, str | None, float], columns: str = "setting scenario_id team x"
) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=columns.split())


ROWS = frame(
    ("v", "s1", "red", 7.0),
    ("u", "s2", "red", 1.5),
    ("u", "s1", "blue", 2.0),
    ("u", "s1", "red", 4.0),
    ("u", "s2", "red", 2.5),
    ("u", "s2", "blue", nan),
    ("u", "s3", "blue", nan),
)


def test_ranges_are_of_means_of_scenarios_that_count() -> None:
    values = ROWS[["x"]].assign(y=nan)
    found = scenario_sums(ROWS, ["team"], values).ranges()
    assert found[["x_least", "x_greatest"]].to_numpy().tolist() == [[2, 4], [2, 2], [7, 7]]
    assert found[["y_least", "y_greatest"]].isna().all(axis=None)


def test_means_carry_their_interval_and_n() -> None:
    found = estimated_means(ROWS, ["team"], ROWS[["x"]], SPEC)
    assert found[["setting", "team"]].to_numpy().tolist() == [
        ["u", "red"], ["u", "blue"], ["v", "red"]
    ]  # fmt: skip
    assert found["x"].tolist() == pytest.approx([8 / 3, 2, 7])
    assert found["x_n"].tolist() == [3, 1, 1]
    assert found["x_scenarios"].tolist() == [2, 1, 1]
    assert found["x_interval"].tolist() == ["few"] * 3
    assert found[["x_low", "x_high"]].isna().all(axis=None)


def test_replicates_are_averaged_within_their_scenario() -> None:
    columns = "setting scenario_id team x replicates"
    given = [
        ("u", "s1", "red", 3.0, 3), ("u", "s1", "red", 6.0, 3), ("u", "s1", "red", nan, 3),
        ("u", "s2", "red", 10.0, 1), ("u", "s1", "blue", 1.0, 1),
    ]  # fmt: skip
    rows = pd.DataFrame(given, columns=columns.split())
    sums = scenario_sums(rows, ["team"], rows[["x"]])
    assert sums.of("x").totals.ravel().tolist() == pytest.approx([3, 1, 10, 0])
    assert sums.of("x").counts.ravel().tolist() == pytest.approx([2 / 3, 1, 1, 0])
    every = sums.of("x", is_averaged=False)
    assert (every.totals.tolist(), every.counts.tolist()) == ([[9, 1], [10, 0]], [[2, 1], [1, 0]])
    found = estimated_means(rows, ["team"], rows[["x"]], SPEC)
    assert found["x"].tolist() == pytest.approx([13 / (5 / 3), 1])
    assert found["x_n"].tolist() == [3, 1]
    assert found["x_scenarios"].tolist() == [2, 1]


numbers = st.integers(-20, 20)
played_scenarios = st.lists(
    st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=1, max_size=4),
    min_size=1,
    max_size=6,
)
"""Values of two agents in each replicate of each scenario."""


@given(played_scenarios)
def test_mean_over_replicates_is_that_of_their_averages(played: list[list[list[int]]]) -> None:
    rows = pd.DataFrame(
        [
            ("u", f"s{scenario}", "red", float(value), len(replicates))
            for scenario, replicates in enumerate(played)
            for agents in replicates
            for value in agents
        ],
        columns=["setting", "scenario_id", "team", "x", "replicates"],
    )
    means = [fsum(map(fsum, replicates)) / (2 * len(replicates)) for replicates in played]
    found = estimated_means(rows, ["team"], rows[["x"]], SPEC)
    assert found["x"].tolist() == pytest.approx([fsum(means) / len(means)], abs=1e-6)
    assert found["x_n"].tolist() == [len(rows)]
    plain = frame(*(("u", f"s{n:02d}", "red", mean) for n, mean in enumerate(means)))
    alone = estimated_means(plain, ["team"], plain[["x"]], SPEC)
    for end in ("x_low", "x_high"):
        assert found[end].tolist() == pytest.approx(alone[end].tolist(), abs=1e-6, nan_ok=True)


def test_intervals_are_those_of_the_sums() -> None:
    chance = np.random.default_rng(0)
    rows = frame(*(("u", f"s{n:02d}", "red", float(chance.integers(9))) for n in range(20)))
    sums = Sums(rows[["x"]].to_numpy(), np.ones((20, 1)))
    expected = estimated(sums, SPEC)
    found = estimated_means(rows, ["team"], rows[["x"]], SPEC)
    assert found["x_low"].tolist() == expected.low.tolist()
    assert found["x_high"].tolist() == expected.high.tolist()
    assert found["x_interval"].tolist() == ["t"]


def test_bounds_and_exact_values_are_those_of_their_quantity() -> None:
    rows = frame(*(("u", f"s{n}", team, 1.0) for n in range(9) for team in ("red", "blue")))
    values = pd.DataFrame({"x": rows["x"], "y": rows["x"], "z": rows["x"]})
    exact = pd.DataFrame({"z": rows["team"] == "red"})
    sums = scenario_sums(rows, ["team"], values, exact=exact)
    found = sums.means(SPEC, bounds={"y": (0.0, 1.0)})
    assert found[["x_interval", "y_interval", "z_interval"]].to_numpy().tolist() == [
        ["same", "bound", "exact"],
        ["same", "bound", "same"],
    ]


def test_shares_are_of_all_trials_and_vary_over_scenarios() -> None:
    rows = frame(*(("u", f"s{n % 5}", "red", float(n % 3 > 0)) for n in range(15)))
    trials = pd.DataFrame({"x": [1.0] * 14 + [0.0]})
    successes = rows[["x"]] * trials
    found = estimated_shares(
        rows.assign(replicates=[1 + n % 2 for n in range(15)]), ["team"], successes, trials, SPEC
    )
    sums = pd.concat([successes, trials.set_axis(["n"], axis=1), rows["scenario_id"]], axis=1)
    own = sums.groupby("scenario_id").sum()
    bounds = Bounds(np.zeros(1), np.ones(1))
    expected = estimated(Sums(own[["x"]].to_numpy(), own[["n"]].to_numpy()), SPEC, bounds=bounds)
    assert found["x"].tolist() == [successes["x"].sum() / 14]
    assert found["x_low"].tolist() == pytest.approx(expected.low.tolist())
    assert list(found) == ["setting", "team", "x", "x_low", "x_high", "x_interval"]


def test_groups_without_a_name_are_kept() -> None:
    rows = frame(("u", "s1", None, 1.0), ("u", "s1", "red", 5.0), ("u", "s2", None, 2.0))
    found = estimated_means(rows, ["team"], rows[["x"]], SPEC)
    assert found["team"].isna().tolist() == [True, False]
    assert found["x"].tolist() == [1.5, 5]
    assert found["x_n"].tolist() == [2, 1]


def test_groups_may_be_named_by_several_columns_or_by_one_value() -> None:
    rows = ROWS.assign(kind=["a", "a", "b", "b", "a", "b", "b"])
    found = estimated_means(rows, ["team", "kind"], rows[["x"]], SPEC)
    assert found[found["setting"] == "u"][["team", "kind", "x"]].to_numpy().tolist() == [
        ["red", "a", 2], ["blue", "b", 2], ["red", "b", 4]
    ]  # fmt: skip
    everything = estimated_means(rows.assign(one=1), ["one"], rows[["x"]], SPEC)
    assert everything["x"].tolist() == [2.5, 7]


def test_weights_say_over_how_much_a_mean_runs() -> None:
    """Meetings placed of all meetings: 1 of 4 and 2 of 2 are 3 of 6, whatever the rest."""
    rows = frame(("u", "s1", "red", 1.0), ("u", "s2", "red", 2.0), ("u", "s2", "blue", 5.0))
    values = rows[["x"]].assign(y=[1.0, 3.0, nan])
    weights = pd.DataFrame({"x": [4.0, 2.0, 10.0], "y": [1.0, 1.0, 0.0]})
    sums = scenario_sums(rows, ["team"], values, weights)
    assert sums.of("x").totals.tolist() == [[1, 0], [2, 5]]
    assert sums.of("x").counts.tolist() == [[4, 0], [2, 10]]
    assert sums.of("y").counts.tolist() == [[1, 0], [1, 0]]
    found = estimated_means(rows, ["team"], values, SPEC, weights=weights)
    assert found["x"].tolist() == [0.5, 0.5]
    assert found["y"].tolist() == pytest.approx([2, nan], nan_ok=True)
    assert found["x_n"].tolist() == [6, 10]
    assert found["x_scenarios"].tolist() == [2, 1]
    assert found["x_interval"].tolist() == ["few", "few"]


def test_rows_of_settings_keep_their_own_values_whatever_their_index() -> None:
    rows = ROWS.set_axis([9, 3, 5, 1, 7, 2, 8])
    found = estimated_means(rows, ["team"], rows[["x"]], SPEC)
    assert found["x"].tolist() == pytest.approx([8 / 3, 2, 7])


def test_totals_of_groups_by_hand() -> None:
    rows = pd.DataFrame(
        {
            "y": [1, None, 3, 4],
            "team": ["red", None, "red", None],
            "kind": ["a", "a", "a", "b"],
            "x": [0.1, 0.2, 0.2, nan],
        }
    ).astype({"y": "Int64"})
    found = group_totals(rows, ["team", "kind"])
    assert list(found.columns) == ["team", "kind", "y", "x"]
    assert found["team"].isna().tolist() == [False, True, True]
    assert found["kind"].tolist() == ["a", "a", "b"]
    assert found["y"].tolist() == [4, 0, 4]
    assert found["x"].tolist() == [fsum([0.1, 0.2]), 0.2, 0]
    assert group_totals(rows.iloc[:0], ["team", "kind"]).empty


def test_totals_are_rounded_once() -> None:
    rows = pd.DataFrame({"team": ["a"] * 5, "x": [1e16, 1.0, -1e16, 0.1, 0.1]})
    (total,) = group_totals(rows, ["team"])["x"]
    assert total == 1.2


def test_without_rows_there_are_columns_and_no_estimate() -> None:
    none = ROWS.iloc[:0]
    found = estimated_means(none, ["team"], none[["x"]], SPEC)
    assert found.empty
    assert list(found.columns) == [
        "setting", "team", "x", "x_low", "x_high", "x_interval", "x_n", "x_scenarios"
    ]  # fmt: skip


rows_drawn = st.lists(
    st.tuples(
        st.sampled_from(["u", "v"]),
        st.sampled_from(["s1", "s2", "s3"]),
        st.sampled_from(["red", "blue"]),
        st.floats(-1e6, 1e6) | st.just(nan),
    ),
    min_size=1,
)


@given(rows_drawn, st.randoms(use_true_random=False))
def test_sums_are_exact_and_the_order_of_rows_does_not_show(
    drawn: list[tuple[str, str, str, float]], chance: Random
) -> None:
    for rows in (frame(*drawn), frame(*chance.sample(drawn, len(drawn)))):
        sums = scenario_sums(rows, ["team"], rows[["x"]])
        for group, (setting, team) in enumerate(sums.groups.itertuples(index=False)):
            scenarios = sorted({row[1] for row in drawn if row[0] == setting})
            for unit, scenario in enumerate(scenarios):
                own = [row[3] for row in drawn if row[:3] == (setting, scenario, team)]
                known = [value for value in own if not np.isnan(value)]
                assert sums.of("x").totals[unit, group] == fsum(known)
                assert sums.of("x").counts[unit, group] == len(known)
            assert not sums.of("x").counts[len(scenarios) :, group].any()
