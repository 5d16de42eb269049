"""Titles of figures that say what was found, made from the numbers of each.

A title is a clause without a full stop. It is empty where there is no number.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from calbench.report.columns import decimal
from calbench.report.figures import words
from calbench.report.figures.style import Styles
from calbench.report.kind import DEGENERATE

NOUNS: Mapping[str, str] = {
    "protocol": "protocols",
    "scripted agents": "scripted teams",
    "language models": "models",
}
"""Of several teams of one kind."""


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
    cells: Mapping[str, str],
    what: str,
    low: tuple[str, str],
    high: str = "most",
) -> str:
    """Return who has the least and who the most, with both numbers.

    Args:
        cells: number by name; empty ones are left out.
        what: the quantity.
        low: what one name with the least does, and what several do.
        high: the same of those with the most, without the verb.
    """
    cells = {name: cell for name, cell in cells.items() if cell}
    if not cells:
        return ""
    (few, fewest), (many, greatest) = least(cells), most(cells)
    bottom, top = words.number(cells[few[0]]), words.number(cells[many[0]])
    if len(cells) == 1:
        return f"{few[0]}: {what} {bottom}"
    if fewest == greatest:
        return f"all have the same {what}, {bottom}"
    return f"{words.joined(few)} {verb(few, *low)} ({bottom}), {words.joined(many)} {high} ({top})"


def competing(cells: Mapping[str, str], style_by_name: Styles) -> dict[str, str]:
    """Return the numbers without those of degenerate baselines, which compete with nobody."""
    return {
        name: cell
        for name, cell in cells.items()
        if name not in style_by_name or style_by_name[name].colour != DEGENERATE.colour
    }


def of_front(
    costs: Mapping[str, str],
    leaks: Mapping[str, str],
    on_front: Sequence[str],
    kinds: Sequence[str],
) -> str:
    """Return who of the competing teams pays least, who gives least away, how many none beats.

    Args:
        costs: number by competing team; less is better.
        leaks: likewise, with the same teams.
        on_front: the teams on the Pareto front.
        kinds: of these teams in words, without repetition.
    """
    if not costs:
        return ""
    if len(costs) == 1:
        (team,) = costs
        cost, leak = words.number(costs[team]), words.number(leaks[team])
        return f"only {team} competes here: it pays {cost} and gives away {leak}"
    noun = NOUNS.get(kinds[0], "teams") if len(kinds) == 1 else "teams"
    are = verb(on_front, "is", "are")
    return (
        f"{_corner(costs, leaks)}; {len(on_front)} of {len(costs)} {noun} {are} on the Pareto front"
    )


def _corner(costs: Mapping[str, str], leaks: Mapping[str, str]) -> str:
    """Return who pays least and who gives least away, as one if these are the same."""
    (cheap, _), (quiet, amount) = least(costs), least(leaks)
    both = [team for team in cheap if team in quiet]
    nothing = amount == 0
    if not both:
        leak = ("gives nothing away", "give nothing away")
        if not nothing:
            leak = ("gives least away", "give least away")
        return (
            f"{words.joined(cheap)} {verb(cheap, 'pays', 'pay')} least, "
            f"{words.joined(quiet)} {verb(quiet, *leak)}"
        )
    who, gives = words.joined(both), verb(both, "gives", "give")
    away = f"{gives} nothing away" if nothing else f"{gives} least away"
    if len(cheap) == len(both):
        return f"{who} {verb(both, 'pays', 'pay')} least and {away}"
    return f"nobody pays less than {who}, and {verb(both, 'it', 'they')} {away}"


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
