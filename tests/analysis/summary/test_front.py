"""The Pareto front: against brute force, with ties, and without those who do not compete."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.analysis.measures import BEYOND
from calbench.analysis.measures import EXCESS as VPS
from calbench.analysis.summary.front import COST
from tests.analysis.summary.written import Row, run_of, runs_of, summary_rows

TENTHS = st.integers(0, 4).map(lambda number: number / 10)
"""Few values, so that ties are common."""


def stands(team: str, cost: float | None, vps: float | None, **changes: object) -> Row:
    row = {
        "setting": "uniform",
        "suite_digest": "d1",
        "channels": "dm",
        "limits": "published",
        "team": team,
        "kinds": "protocol",
        "vps_kind": "protocol",
        COST: cost,
        VPS: vps,
        BEYOND: None,
    }
    return row | changes


def front(folder: Path, *rows: Row, **more: Sequence[Row]) -> dict[str, tuple[str, str]]:
    """Return whether each team is on the front, and who dominates it."""
    run = run_of(folder, "run", standings=list(rows), **more)
    found = summary_rows("front.csv", runs_of(run))
    return {row["team"]: (row["is_on_front"], row["dominated_by"]) for row in found}


def by_brute_force(points: dict[str, tuple[float, float]]) -> dict[str, tuple[str, str]]:
    """Hold every team against every other one."""

    def beats(one: str, other: str) -> bool:
        (cost, vps), (own_cost, own_vps) = points[one], points[other]
        return cost <= own_cost and vps <= own_vps and points[one] != points[other]

    best = [team for team in points if not any(beats(other, team) for other in points)]
    found = {}
    for team in points:
        above = [other for other in best if beats(other, team)]
        # min() keeps the first of equals, which is the first of the table.
        by = min(above, key=lambda other: points[other][::-1], default="")
        found[team] = ("true" if team in best else "false", by)
    return found


@given(st.lists(st.tuples(TENTHS, TENTHS), min_size=1, max_size=9))
def test_the_front_is_that_of_brute_force(numbers: list[tuple[float, float]]) -> None:
    points = {f"t{place}": point for place, point in enumerate(numbers)}
    with tempfile.TemporaryDirectory() as folder:
        found = front(Path(folder), *(stands(team, *point) for team, point in points.items()))
    assert found == by_brute_force(points)


@pytest.mark.parametrize(
    "changes", [{COST: None}, {VPS: None}, {"vps_kind": None}, {"vps_kind": "mixed"}]
)
def test_what_is_unknown_or_of_two_instruments_is_no_row(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    left_out = {**stands("a", 0, 0), **changes}
    assert front(tmp_path, left_out, stands("b", 1, 1)) == {"b": ("true", "")}


def test_reflections_go_by_what_is_beyond_chance_and_typed_messages_by_excess(
    tmp_path: Path,
) -> None:
    """What random answers have does not put a team behind, nor is less than that a merit."""
    spoken = {"vps_kind": "reflection"}
    assert front(
        tmp_path,
        stands("a", 1, 90, **spoken, **{BEYOND: -0.5}),
        stands("b", 1, 2, **spoken, **{BEYOND: 1.5}),
        stands("typed", 2, 3, **{BEYOND: None}),
    ) == {"a": ("true", ""), "b": ("false", "a"), "typed": ("true", "")}
    assert front(tmp_path, stands("c", 1, 1, **spoken), stands("d", 1, 1)) == {"d": ("true", "")}


def test_baselines_and_the_optimum_do_not_compete(tmp_path: Path) -> None:
    assert front(
        tmp_path,
        stands("silent", 0, 0, kinds="degenerate"),
        stands("oracle", 0, 0, kinds="reference"),
        stands("a", 1, 1),
    ) == {"silent": ("", ""), "oracle": ("", ""), "a": ("true", "")}


def test_a_team_whose_reflections_were_hardly_read_does_not_compete(tmp_path: Path) -> None:
    board = [
        {"setting": "uniform", "team": "a", "is_vps_ranked": False},
        {"setting": "uniform", "team": "b", "is_vps_ranked": True},
    ]
    rows = [stands("a", 0, 0), stands("b", 1, 1)]
    assert front(tmp_path, *rows, leaderboard=board) == {"a": ("", ""), "b": ("true", "")}


def test_settings_channels_and_instruments_are_planes_of_their_own(tmp_path: Path) -> None:
    assert front(
        tmp_path,
        stands("a", 0, 0),
        stands("b", 1, 1, vps_kind="reflection", **{BEYOND: 0}),
        stands("c", 1, 1, setting="varied"),
        stands("d", 1, 1, channels="all_agent_groupchat"),
        stands("e", 1, 1),
    ) == {
        "a": ("true", ""),
        "b": ("true", ""),
        "c": ("true", ""),
        "d": ("true", ""),
        "e": ("false", "a"),
    }


def test_without_a_team_there_is_no_row(tmp_path: Path) -> None:
    assert front(tmp_path, stands("a", None, None)) == {}
