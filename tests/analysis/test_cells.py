import pytest
from calbench.analysis.cells import Cell, cell, row, trimmed


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1 + 0.2, "0.3000"),
        (100.0, "100.0000"),
        (-1e-9, "0.0000"),
        (-0.25, "-0.2500"),
        (1e-7, "0.0000"),
        (1e16, "10000000000000000.0000"),
        (3, "3"),
        (True, "true"),
        (False, "false"),
        (None, ""),
        ("imap", "imap"),
    ],
)
def test_cells_have_fixed_digits_and_no_noise(value: Cell, expected: str) -> None:
    assert cell(value, 4) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1 + 0.2, "0.3"),
        (8.0, "8"),
        (-1e-9, "0"),
        (1 / 3, "0.333333"),
        (1e-6, "0.000001"),
        (10, "10"),
    ],
)
def test_trimmed_numbers_have_no_trailing_zeros(value: float, expected: str) -> None:
    assert trimmed(value, 6) == expected


def test_rows_end_their_line() -> None:
    assert row("a", "", "b") == "a,,b\n"
