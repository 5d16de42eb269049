"""Two ends print differently wherever they differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.report.columns import apart, rounded
from calbench.report.tables import Number

CELLS = st.decimals(min_value=-999, max_value=999, places=4).map(str).map(Number)


@given(CELLS, CELLS, st.integers(0, 3))
def test_no_fewer_decimals_than_asked_for_and_no_more_than_needed(
    low: Number, high: Number, digits: int
) -> None:
    shown = apart(low, high, digits)

    assert shown is not None
    assert digits <= shown <= 4
    if low != high:
        assert rounded(low, shown) != rounded(high, shown)
    if shown > digits:
        assert rounded(low, shown - 1) == rounded(high, shown - 1)


@pytest.mark.parametrize(
    ("low", "high", "digits"),
    [("0.9941", "0.9942", 4), ("-0.0010", "0.0020", 3), ("2.00", "2.0000", 2), ("1", "2", 2)],
)
def test_ends_by_hand(low: str, high: str, digits: int) -> None:
    assert apart(Number(low), Number(high), 2) == digits
    assert apart(3, 4, None) is None
