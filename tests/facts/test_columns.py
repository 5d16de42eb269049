"""Columns say what they hold, and which of them name a row."""

import pytest

from calbench.facts.columns import (
    Column,
    chosen,
    count,
    estimated,
    fine,
    keyed,
    listed,
    number,
    text,
    truth,
)
from calbench.facts.fact import Fact

ABC = (text("a", "the first"), count("b", "games", "the second"), truth("c", "the third"))


def test_each_helper_makes_its_kind() -> None:
    assert text("a", "m", "P") == Column("a", "text", "", "m", "", "P")
    assert listed("a", "m", "P") == Column("a", "list", "", "m", "", "P")
    assert truth("a", "m", "P") == Column("a", "truth", "", "m", "", "P")
    assert count("a", "u", "m") == Column("a", "integer", "u", "m", "", "C")
    assert number("a", "u", "m") == Column("a", "number", "u", "m", "", "C", 4)
    assert number("a", "u", "m", "d", "P", 2) == Column("a", "number", "u", "m", "d", "P", 2)
    assert fine("a", "u", "m") == Column("a", "number", "u", "m", "", "C", 6, is_trimmed=True)
    assert not any(column.is_key for column in ABC)


def test_an_estimate_has_four_columns() -> None:
    mean, low, high, interval = estimated("x", "u", "mean of x", "games", "F")
    assert mean == number("x", "u", "mean of x", "games", "F")
    assert (low.name, high.name) == ("x_low", "x_high")
    assert low.meaning == "lower end of the interval over scenarios"
    assert high.meaning == "upper end of the interval over scenarios"
    assert (interval.name, interval.kind) == ("x_interval", "text")
    for end in (low, high):
        assert (end.unit, end.denominator, end.origin, end.digits) == ("u", "games", "C", 4)


def test_columns_are_chosen_in_the_order_of_the_names() -> None:
    assert [column.name for column in chosen(ABC, "c a")] == ["c", "a"]
    with pytest.raises(KeyError):
        chosen(ABC, "a d")


def test_keys_are_marked_whatever_they_were() -> None:
    marked = keyed(ABC, "c a")
    assert [column.name for column in marked] == ["a", "b", "c"]
    assert [column.is_key for column in marked] == [True, False, True]
    assert [column.is_key for column in keyed(marked, "b")] == [False, True, False]
    with pytest.raises(ValueError, match="no column is called d"):
        keyed(ABC, "a d e")


class Row:
    """A row with a part."""

    def __init__(self, number: int) -> None:
        self.a = f"a{number}"
        self.part = self
        self.c = number > 1


def test_a_fact_finds_its_columns_in_its_rows() -> None:
    fact = Fact(
        "f",
        lambda rows: (Row(number) for number in rows),
        (ABC[0], (ABC[1], lambda row: len(row.a)), (ABC[2], "part.part.c")),
    )
    assert fact.columns == ABC
    assert fact.of([1, 22]) == {"a": ["a1", "a22"], "b": [2, 3], "c": [False, True]}
    assert fact.of([]) == {"a": [], "b": [], "c": []}
    assert not fact.is_large
    within = Fact("g", lambda rows: map(Row, rows), (ABC[0], (ABC[2], "c")), within="part.")
    assert within.of([3]) == {"a": ["a3"], "c": [True]}


def test_a_fact_may_come_in_columns_at_once() -> None:
    columns = {"a": ["x"], "b": [1], "c": [None]}
    assert Fact("f", lambda _: columns, ABC).of(None) is columns
