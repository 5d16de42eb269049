"""The page of places that do not fit each other: its arithmetic is repeated."""

import ast
import operator
from collections.abc import Callable
from pathlib import Path

import pytest

from calbench.report.pages import pages_of
from calbench.report.tables import Row, read_table
from tests.report.by_hand import results, site_with, table
from tests.report.samples import PUBLISHED, page_of
from tests.report.written import values_of

PAGE = "results/inconsistencies.md"
ROWS = read_table(PUBLISHED / "arithmetic.csv")
TABLE1 = read_table(PUBLISHED / "table1.csv")

SIGNS: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def worth(formula: str) -> float:
    """Return what arithmetic of plain numbers gives."""

    def of(node: ast.expr) -> float:
        if isinstance(node, ast.BinOp):
            return SIGNS[type(node.op)](of(node.left), of(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -of(node.operand)
        assert isinstance(node, ast.Constant)
        return float(node.value)  # type: ignore[arg-type]

    return of(ast.parse(formula, mode="eval").body)


def mean(column: str) -> float:
    return sum(float(row[column]) for row in TABLE1) / len(TABLE1)


def total(column: str) -> float:
    return sum(int(row["agent_games"]) * float(row[column]) for row in TABLE1)


def least_slice() -> float:
    """Return the mean excess VPS of the four shared models and one more, for the least such one."""
    seats = {row["player"]: int(row["agent_games"]) for row in TABLE1}
    vps: dict[str, float] = {}
    for row in TABLE1:
        vps[row["player"]] = vps.get(row["player"], 0.0) + float(row["excess_vps"])
    shared = [vps[name] for name, each in seats.items() if each == max(seats.values())]
    return min((sum(shared) + v) / 10 for name, v in vps.items() if seats[name] == 45)


OF_TABLE_1: dict[str, Callable[[], float]] = {
    "mean of excess_vps by seat": lambda: total("excess_vps") / 1350,
    "least of excess_vps": lambda: min(float(row["excess_vps"]) for row in TABLE1),
    "least slice of excess_vps": least_slice,
    "mean of excess_cost": lambda: mean("excess_cost"),
    "mean of scheduled": lambda: mean("scheduled"),
    "sum of excess_cost by seat": lambda: total("excess_cost"),
}


def computed(row: Row) -> float:
    formula = row["formula"]
    if formula.startswith("table1: "):
        return OF_TABLE_1[formula.removeprefix("table1: ")]()
    return worth(formula)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["quantity"])
def test_number_follows_from_those_that_are_printed(row: Row) -> None:
    if row["formula"] != "as printed":
        digits = len(row["value"].partition(".")[2])
        assert f"{computed(row):.{digits}f}" == row["value"]


def test_every_percentage_of_table_1_agrees_with_its_number_of_meetings() -> None:
    for row in TABLE1:
        assert abs(float(row["coordination"]) * 3 / 100 - float(row["scheduled"])) <= 0.0051


def test_fractions_are_those_that_table_1_prints() -> None:
    shown = {row["quantity"]: row["value"] for row in ROWS if row["topic"] == "unit"}
    for row in TABLE1:
        if row["agent_games"] == "45":
            who = f"{row['player']}, {row['setting']}"
            assert shown[f"{who}: excess, a whole number of 45ths"] == row["excess_cost"]
            assert shown[f"{who}: fairness, a whole number of 225ths"] == row["fairness"]


def test_page_shows_every_number_at_its_topic(tmp_path: Path) -> None:
    table(tmp_path / "leaderboard.csv", "setting team\nuniform a")

    page = page_of(site_with([results(tmp_path)], published=PUBLISHED), PAGE)

    _, topics = page.split("**On this page:**")
    assert sorted(values_of(topics)) == sorted(row["value"] for row in ROWS)
    assert page.count('<div class="cb-published">') == len({row["topic"] for row in ROWS})


def test_page_is_absent_without_the_numbers() -> None:
    made = pages_of(site_with([]))

    assert PAGE not in {page.path for page in made}
    assert "costs.md" not in {page.path for page in made}
