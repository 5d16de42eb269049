"""Columns of the tables on pages: what is in the header, and what a cell shows of a row.

A column says what it is; ``templates/tables.jinja`` says how that looks. A page's template lists
columns, e.g. ``[team(), word("setting"), number("games"), measure("excess_cost")]``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import Any, Literal

from calbench.analysis.measures import BEYOND, EXCESS, MEASURES, Measure, privacy_measure
from calbench.report.kind import VPS_KIND_NAMES
from calbench.report.tables import cell_of

MINUS = "\N{MINUS SIGN}"

DIGITS = 2
"""Decimals shown of what is no measure [C]."""

FINEST = 17
"""Decimals that tell any two numbers apart which are not the same."""

COST, VPS, BITS = "adjusted_excess_cost", EXCESS, "bits"
"""The headline measure, what it is set against where messages are typed, and what is learnt."""

NO_INTERVAL: Mapping[str, str] = {
    "few": "fewer than 4 scenarios",
    "same": "one value in most scenarios",
    "exact": "exact",
}
"""Why an estimate has no interval, by what tables say; ``exact``: it has one value by
construction."""

MEASURE_BY_NAME: Mapping[str, Measure] = {measure.name: measure for measure in MEASURES}

Kind = Literal["head", "team", "word", "note", "number", "estimate", "link", "links"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table on a page.

    Attributes:
        kind: ``head`` names the row in words; ``team`` names it with a mark of its kind; ``word``
            and ``note`` show text, short or long; ``number`` and ``estimate`` show numbers, the
            latter with its interval; ``link`` is text with an address, ``links`` a list of
            such pairs.
        name: of the table's column.
        title: in the header.
        units: lines below the title.
        link: address of the title's definition, from the site's root.
        digits: decimals shown; ``None``: as in the table.
        low: column with the lower end of the interval; empty: that of an estimate.
        high: column with the upper end.
        estimate: what the columns of the estimate begin with, which say why it has no interval;
            empty for what is no estimate.
        absent: what a cell without a number means.
        of: column with the number of which this one counts a part.
        n: column with the number of agent-games.
        address: column with the address that a link leads to, from the site's root.
        names: what cells are called; others are shown as they are.
        replaced: what in the words of a cell is shown as something else.
    """

    kind: Kind
    name: str
    title: str
    units: tuple[str, ...] = ()
    link: str = ""
    digits: int | None = None
    low: str = ""
    high: str = ""
    estimate: str = ""
    absent: str = "no agent-game counts"
    of: str = ""
    n: str = ""
    address: str = ""
    names: Mapping[Any, str] = field(default_factory=dict)
    replaced: tuple[str, str] = ("", "")

    def text(self, row: Mapping[str, Any]) -> str:
        """Return what a cell of words shows."""
        value = row[self.name]
        if isinstance(value, tuple):
            return ", ".join(value)
        return self.names.get(value, cell_of(value)).replace(*self.replaced)


def is_known(value: Any) -> bool:
    """Return whether a table says something: absent is no number, and no text."""
    return value is not None and value not in ("", ())


def titled(name: str) -> str:
    """Return what a header calls a column by default."""
    return name.replace("_", " ").capitalize()


def _column(
    kind: Kind, name: str, title: str | None = None, digits: int | None = None, **more: Any
) -> Column:
    return Column(kind, name, titled(name) if title is None else title, digits=digits, **more)


head = partial(_column, "head")
word = partial(_column, "word")
note = partial(_column, "note")
term = partial(_column, "word", replaced=("_", " "))
vps_kind = partial(_column, "word", "vps_kind", names=VPS_KIND_NAMES)
link = partial(_column, "link", address="address")
links = partial(_column, "links")
number = partial(_column, "number")
"""Return a column of a kind. Takes name, title (``None``: by the name), digits (``None``: as in the
table) and whatever else :class:`Column` has."""


def team(name: str = "team", title: str | None = None) -> Column:
    """Return the column of a team or player with its kind, which is in the row's ``kind``."""
    return _column("team", name, title)


def interval(
    name: str, title: str | None = None, digits: int | None = DIGITS, **more: Any
) -> Column:
    """Return a column of numbers with the ends of a range below them, where there is one."""
    found = number(name, title, digits, **more)
    low, high = found.low or f"{name}_low", found.high or f"{name}_high"
    return replace(found, low=low, high=high, estimate=found.estimate or name)


def numbers(
    names: Iterable[str] | Mapping[str, str], digits: int | None = None, title: str = ""
) -> list[Column]:
    """Return several columns of numbers.

    Args:
        names: of the columns, with or without their titles.
        digits: decimals shown.
        title: of each column, with ``{}`` for its name; empty: as its name gives it.
    """
    return [number(*each, digits) for each in _titles(names, title)]


def intervals(
    names: Iterable[str] | Mapping[str, str], digits: int | None = DIGITS
) -> list[Column]:
    """Return several columns of numbers with their intervals; ``names`` as in :func:`numbers`."""
    return [interval(*each, digits) for each in _titles(names)]


def _titles(names: Iterable[str] | Mapping[str, str], title: str = "") -> Iterable[tuple[str, str]]:
    if isinstance(names, Mapping):
        return names.items()
    return [(name, title.format(name) if title else titled(name)) for name in names]


def measure(name: str, n: str = "") -> Column:
    """Return the column of a measure: its header says unit, direction and definition.

    Args:
        name: of the measure.
        n: column with the number of agent-games, if cells say it.
    """
    about = MEASURE_BY_NAME[name]
    units = about.unit, direction(about.better)
    link_to = f"method.html#{anchor(name)}"
    found = interval(name, about.title, about.digits, units=units, link=link_to, n=n)
    return replace(found, kind="estimate")


def measures(names: Iterable[str], *, has_n: bool = False) -> list[Column]:
    """Return the columns of several measures, with their n if rows have it as ``<measure>_n``."""
    return [measure(name, f"{name}_n" if has_n else "") for name in names]


def losses(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the measures by which the privacy of rows is compared, with their titles.

    Each instrument has one.
    """
    found = {privacy_measure(row["vps_kind"]) for row in rows}
    return {name: MEASURE_BY_NAME[name].title for name in (BEYOND, VPS) if name in found}


def plain_measure(name: str, digits: int | None = None) -> Column:
    """Return the column of a measure as others printed it, without an interval."""
    return replace(measure(name), kind="number", digits=digits, low="", high="", estimate="")


def plain_measures(names: Iterable[str]) -> list[Column]:
    """Return the columns of several measures as others printed them."""
    return [plain_measure(name) for name in names]


def largest_of(row: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """Return the columns with the greatest number of a row: none if that is not above 0."""
    known = {name: row[name] for name in names if row.get(name) is not None}
    greatest = max(known.values(), default=0)
    return [name for name, value in known.items() if value == greatest > 0]


def direction(better: str) -> str:
    """Return which direction is better, for a header."""
    return {"higher": "↑ higher is better", "lower": "↓ lower is better"}.get(better, "")


def anchor(name: str) -> str:
    """Return where the method page defines a measure."""
    return name.replace("_", "-")


def apart(low: float, high: float, digits: int | None) -> int | None:
    """Return the decimals with which two numbers print differently, at least ``digits``.

    Equal numbers have ``digits``: no decimals tell them apart.
    """
    if digits is None or low == high:
        return digits
    while digits < FINEST and rounded(low, digits) == rounded(high, digits):
        digits += 1
    return digits


def rounded(value: float | str, digits: int | None) -> str:
    """Return a number as pages print it: half to even, never ``-0``.

    Args:
        value: the number; as text it is what a table says.
        digits: decimals; ``None`` leaves it as it is written.
    """
    cell = str(value)
    text = cell if digits is None else f"{Decimal(cell):.{digits}f}"
    if not Decimal(text):
        text = text.lstrip("-")
    return text.replace("-", MINUS)
