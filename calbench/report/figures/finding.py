"""Titles of figures that say what was found, made from the numbers of each.

A title is a clause without a full stop. It is empty where there is no number.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeVar

from calbench.report.columns import DIGITS, decimal
from calbench.report.figures import words
from calbench.report.figures.style import Styles, Value
from calbench.report.kind import DEGENERATE

EXACT = "exact"
"""What tables say of an estimate that needs no interval."""

WITHIN = ("stays within the allowance", "stay within the allowance")
LEAST_VPS = ("gives least away", "give least away")
"""What one team or several with the least excess VPS do, if that is 0 or not."""


def verb(names: Sequence[str], one: str, many: str) -> str:
    """Return the form of a verb that fits the number of names."""
    return one if len(names) == 1 else many


def least(cells: Mapping[str, str]) -> tuple[list[str], Decimal]:
    """Return the names with the least number; there is at least one."""
    numbers = {name: decimal(cell) for name, cell in cells.items()}
    smallest = min(numbers.values())
    return [name for name, number in numbers.items() if number == smallest], smallest


def most(cells: Mapping[str, str]) -> tuple[list[str], Decimal]:
    """Return the names with the greatest number, likewise."""
    numbers = {name: decimal(cell) for name, cell in cells.items()}
    greatest = max(numbers.values())
    return [name for name, number in numbers.items() if number == greatest], greatest


def spread(
    values: Mapping[str, Value],
    what: str,
    low: tuple[str, str],
    high: str = "most",
    digits: int = DIGITS,
) -> str:
    """Return who has the least and who the most, with both numbers and what intervals say of it.

    Args:
        values: number with its interval by name; empty ones are left out.
        what: the quantity.
        low: what one name with the least does, and what several do.
        high: the same of those with the most, without the verb.
        digits: decimals of both numbers, more where these would print alike.
    """
    values = {name: value for name, value in values.items() if value.cell}
    if not values:
        return ""
    cells = {name: value.cell for name, value in values.items()}
    (few, fewest), (many, greatest) = least(cells), most(cells)
    bottom, top = words.two(cells[few[0]], cells[many[0]], digits)
    if len(cells) == 1:
        return f"{few[0]}: {what} {bottom}"
    if fewest == greatest:
        return f"all have the same {what}, {bottom}"
    return (
        f"{words.joined(few)} {verb(few, *low)} ({bottom}), "
        f"{words.joined(many)} {high} ({top}){_overlap(values, few, many)}"
    )


def _overlap(values: Mapping[str, Value], few: Sequence[str], many: Sequence[str]) -> str:
    """Return what intervals leave open of the ends; nothing where no number has any."""
    if all(value.ends is None for value in values.values()):
        return ""
    if any(values[name].ends is None and values[name].kind != EXACT for name in (*few, *many)):
        return "; not tested"
    top = max(values[name].reach[1] for name in few)
    bottom = min(values[name].reach[0] for name in many)
    if top >= bottom:
        return "; their intervals overlap"
    between = [value for name, value in values.items() if name not in {*few, *many}]
    if any(value.reach[0] <= top or value.reach[1] >= bottom for value in between):
        return "; intervals of others overlap theirs"
    return ""


Number = TypeVar("Number", str, Value)


def competing(numbers: Mapping[str, Number], style_by_name: Styles) -> dict[str, Number]:
    """Return the numbers without those of degenerate baselines, which compete with nobody."""
    return {
        name: number
        for name, number in numbers.items()
        if name not in style_by_name or style_by_name[name].colour != DEGENERATE.colour
    }


def of_front(costs: Mapping[str, str], leaks: Mapping[str, str], on_front: Sequence[str]) -> str:
    """Return who of the competing teams pays least, who gives least away, whom none beats.

    Args:
        costs: number by competing team; less is better.
        leaks: excess VPS, likewise, with the same teams.
        on_front: the teams on the Pareto front.
    """
    if not costs:
        return ""
    if len(costs) == 1:
        (team,) = costs
        cost, leak = words.number(costs[team]), words.number(leaks[team])
        return f"only {team} competes here: adjusted excess cost {cost}, excess VPS {leak}"
    return f"{_corner(costs, leaks)}; on the Pareto front: {words.joined(on_front)}"


def _corner(costs: Mapping[str, str], leaks: Mapping[str, str]) -> str:
    """Return who pays least and who gives least away, as one if these are the same.

    An excess VPS of 0 says that VPS is no more than its allowance, not that nothing was told.
    """
    (cheap, _), (quiet, amount) = least(costs), least(leaks)
    both = [team for team in cheap if team in quiet]
    low = (LEAST_VPS if amount else WITHIN)[len(both or quiet) > 1]
    low = f"{low} (excess VPS {words.number(leaks[quiet[0]])})"
    if not both:
        pays = f"{words.joined(cheap)} {verb(cheap, 'pays', 'pay')} least"
        return f"{pays}, {words.joined(quiet)} {low}"
    who = words.joined(both)
    if len(cheap) == len(both):
        return f"{who} {verb(both, 'pays', 'pay')} least and {low}"
    return f"nobody pays less than {who}, and {verb(both, 'it', 'they')} {low}"


def sparse(found: Sequence[tuple[str, str, str]]) -> str:
    """Return the numbers that are not zero in a sentence, in place of a figure of zeros.

    Args:
        found: what was measured, of whom, and the number, of each that is not zero.
    """
    if not found:
        return "All of these numbers are 0, so nothing is drawn."
    by_what: dict[str, list[str]] = {}
    for what, who, cell in found:
        by_what.setdefault(what, []).append(f"{who} {words.number(cell)}")
    parts = [
        f"{what}: {', '.join(own)}" if what else ", ".join(own) for what, own in by_what.items()
    ]
    return (
        "More than half of these numbers are 0, so the others stand here in words: "
        f"{'; '.join(parts)}."
    )
