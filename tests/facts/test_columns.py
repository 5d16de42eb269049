"""Columns say what they hold, and which of them name a row."""

import pytest

from calbench.facts.columns import (
    SETTING,
    Column,
    chosen,
    columns,
    count,
    estimated,
    keyed,
    number,
    text,
    truth,
)
from calbench.facts.fact import Fact

ABC = (text("a", "the first"), count("b", "games", "the second"), truth("c", "the third"))


def test_entries_declare_columns_of_each_kind() -> None:
    found = columns(
        """
        setting b both
        t (text; P): m
        l (list): of a,
            and b
        k (truth; C): (a): b; c
        n (count, u v): m
        i (count; -): m
        x (number, u; P, R): |a / b| // d of e
        y (number2): m
        f (fine10, u): m // d
        p (precise, US$): m
        """,
        of=ABC,
        both=ABC[::2],
    )
    assert found == (
        SETTING,
        ABC[1],
        *ABC[::2],
        Column("t", "text", "", "m", "", "P"),
        Column("l", "list", "", "of a, and b"),
        Column("k", "truth", "", "(a): b; c", "", "C"),
        Column("n", "integer", "u v", "m", "", "C"),
        Column("i", "integer", "", "m"),
        Column("x", "number", "u", "|a / b|", "d of e", "P, R", 4),
        Column("y", "number", "", "m", "", "C", 2),
        Column("f", "number", "u", "m", "d", "C", 10, is_trimmed=True),
        Column("p", "number", "US$", "m", "", "C", 6),
    )
    assert not any(column.is_key for column in found)


def test_an_entry_of_an_estimate_declares_its_interval_too() -> None:
    assert columns("x (estimate, u; F): m // d") == estimated("x", "u", "m", "d", "F")
    assert columns("x (share): m // d") == estimated("x", "share", "m", "d", "C")
    assert columns("x (wilson; P): m // d")[0] == number("x", "share", "m", "d", "P")


def test_a_name_stands_for_the_column_that_is_nearest() -> None:
    own = text("setting", "another")
    assert columns("setting", of=[own, SETTING]) == (own,)
    assert columns("setting", of=[own], setting=[]) == ()


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("setting d", "no column is called d"),
        ("setting, team", "declares no column: setting, team"),
        ("x (count, u) m", "declares no column"),
        ("a (text, games): m", r"declares no column: a \(text, games\): m"),
        ("a (share, u): m // d", "declares no column: a"),
        ("a (numbr): m", "declares no column: a"),
        ("a (text2): m", "declares no column: a"),
        ("a (count): m // d", "declares no column: a"),
        ("a (number): m //d", "declares no column: a"),
        ("a (number): m// d", "declares no column: a"),
        ("a (number; Q): m", "declares no column: a"),
        ("a (number; Paper): m", "declares no column: a"),
        ("a (number, u (v)): m", "declares no column: a"),
        ("setting setting", "declared twice: setting"),
        ("a (text): m\na (truth): n", "declared twice: a"),
        ("a (share): m // d\na_low (number): n", "declared twice: a_low"),
    ],
)
def test_what_declares_no_column_is_refused(entry: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        columns(entry)


def test_an_estimate_has_four_columns() -> None:
    mean, low, high, interval = estimated("x", "u", "mean of x", "games", "F")
    assert mean == number("x", "u", "mean of x", "games", "F")
    assert (low.name, high.name) == ("x_low", "x_high")
    assert low.meaning == "lower end of the interval over scenarios"
    assert high.meaning == "upper end of the interval over scenarios"
    assert (interval.name, interval.kind) == ("x_interval", "text")
    for end in (low, high):
        assert (end.unit, end.denominator, end.origin, end.digits) == ("u", "games", "C", 4)


def test_columns_are_chosen_in_the_order_of_the_names_and_keys_are_marked() -> None:
    assert [column.name for column in chosen(ABC, "c a")] == ["c", "a"]
    with pytest.raises(KeyError):
        chosen(ABC, "a d")
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
        ABC,
        {"b": lambda row: len(row.a), "c": "part.part.c"},
    )
    assert fact.of([1, 22]) == {"a": ["a1", "a22"], "b": [2, 3], "c": [False, True]}
    assert fact.of([]) == {"a": [], "b": [], "c": []}
    assert not fact.is_large
    within = Fact("g", lambda rows: map(Row, rows), ABC[::2], {"c": "c"}, within="part.")
    assert within.of([3]) == {"a": ["a3"], "c": [True]}


def test_facts_are_keys_may_come_in_columns_at_once_and_refuse_a_place_of_no_column() -> None:
    made = {"a": ["x"], "b": [1], "c": [None]}
    assert Fact("f", lambda _: made, ABC).of(None) is made
    first, second = (Fact("f", list, ABC) for _ in range(2))
    assert {first: 1, second: 2}[first] == 1
    with pytest.raises(ValueError, match="f: no column is called d"):
        Fact("f", list, ABC, {"a": "a", "d": "b"})
