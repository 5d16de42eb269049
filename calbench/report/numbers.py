"""Tables of numbers as HTML: rounded for the eye, with the table's own number beside it.

Every number stands in ``<data value="...">``, whose value is the cell of the CSV word for
word, so that a reader (or a test) can find it there.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation

from calbench.analysis.measures import MEASURES, Measure
from calbench.errors import FileError
from calbench.report.escape import html_text
from calbench.report.results import Row

DASH = "\N{EN DASH}"

ABSENT = f'<span title="no agent-game counts">{DASH}</span>'

MINUS = "\N{MINUS SIGN}"

DIGITS = 2
"""Decimals shown of what is no measure."""

DASHED = ("degenerate", "scripted")
"""Kinds that do not compete, by the first word of their name: their mark has a broken line."""

HEADLINE = ("coordination", "excess_cost", "messages", "fairness", "excess_vps")
"""The measures of the paper's Table 2, in its order."""

MEASURE_BY_NAME: Mapping[str, Measure] = {measure.name: measure for measure in MEASURES}


def anchor(measure: str) -> str:
    """Return where the method page defines a measure."""
    return measure.replace("_", "-")


def digits_of(name: str) -> int:
    """Return how many decimals are shown of a measure, or of another estimate."""
    return MEASURE_BY_NAME[name].digits if name in MEASURE_BY_NAME else DIGITS


def decimal(cell: str) -> Decimal:
    """Read a number of a table.

    Raises:
        FileError: the cell is not a number.
    """
    try:
        value = Decimal(cell)
    except InvalidOperation as error:
        raise FileError(f"a table holds {cell!r:.40} where a number should stand") from error
    if not value.is_finite():
        raise FileError(f"a table holds {cell!r:.40} where a finite number should stand")
    return value


def shown_number(cell: str, digits: int | None) -> str:
    """Return a number of a table, rounded for the eye; ``None`` digits leave it as it is.

    Raises:
        FileError: the cell is not a number.
    """
    value = decimal(cell)
    text = cell if digits is None else f"{value:.{digits}f}"
    if digits is not None and not Decimal(text):
        text = text.lstrip("-")
    return f'<data value="{html_text(cell)}">{html_text(text.replace("-", MINUS))}</data>'


def number_cell(cell: str, digits: int | None = None) -> str:
    """Return a cell with a number, or a dash where it is absent."""
    return f"<td>{shown_number(cell, digits) if cell else ABSENT}</td>"


def estimate_cell(row: Row, measure: str, num_agent_games: int | None = None) -> str:
    """Return a cell with an estimate, its interval, and over how many agent-games it runs."""
    if not row[measure]:
        return f"<td>{ABSENT}</td>"
    digits = digits_of(measure)
    low, high = row[f"{measure}_low"], row[f"{measure}_high"]
    text = shown_number(row[measure], digits)
    if low and high:
        interval = f"{shown_number(low, digits)} to {shown_number(high, digits)}"
        text += f'<span class="cb-range">{interval}</span>'
    else:
        text += '<span class="cb-range">no interval</span>'
    if num_agent_games is not None:
        text += f'<span class="cb-range">n = {num_agent_games}</span>'
    return f"<td>{text}</td>"


def range_cell(cell: str, low: str, high: str, digits: int | None) -> str:
    """Return a cell with a number and, below it, the range; ``None`` digits leave them as is."""
    interval = f"{shown_number(low, digits)} to {shown_number(high, digits)}"
    return f'<td>{shown_number(cell, digits)}<span class="cb-range">{interval}</span></td>'


def part_cell(part: str, whole: str) -> str:
    """Return a cell with a count and, below it, of how many."""
    of = f'<span class="cb-range">of {shown_number(whole, None)}</span>'
    return f"<td>{shown_number(part, None)}{of}</td>"


def word_cell(text: str) -> str:
    """Return a cell with text."""
    return f'<td class="cb-word">{html_text(text)}</td>'


def note_cell(text: str) -> str:
    """Return a cell with a sentence or two, wide enough to keep its row low."""
    return f'<td class="cb-word cb-note">{html_text(text)}</td>'


def team_header(team: str, kind: str | None) -> str:
    """Return the header of a team's row, with a mark of its kind."""
    mark = ""
    if kind:
        word = kind.split()[0]
        style = f" cb-kind--{word}" if word in DASHED else ""
        mark = f' <span class="cb-kind{style}">{html_text(kind)}</span>'
    return f'<th scope="row">{html_text(team)}{mark}</th>'


def measure_header(measure: str, method_page: str) -> str:
    """Return a column's header: title linked to its definition, unit, better direction."""
    about = MEASURE_BY_NAME[measure]
    arrow = "↑ higher is better" if about.better == "higher" else "↓ lower is better"
    return (
        f'<th scope="col"><a href="{method_page}#{anchor(measure)}">{html_text(about.title)}</a>'
        f'<span class="cb-unit">{html_text(about.unit)}</span>'
        f'<span class="cb-unit">{arrow}</span></th>'
    )


def definition_header(measure: str, method_page: str) -> str:
    """Return the header of a measure's row: its title, linked to its definition."""
    title = html_text(MEASURE_BY_NAME[measure].title)
    return f'<th scope="row"><a href="{method_page}#{anchor(measure)}">{title}</a></th>'


def plain_header(text: str) -> str:
    """Return the header of a column of numbers."""
    return f'<th scope="col">{html_text(text)}</th>'


def word_header(text: str) -> str:
    """Return the header of a column of words."""
    return f'<th scope="col" class="cb-word">{html_text(text)}</th>'


def table(caption: str, header: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table that scrolls sideways where the screen is narrow.

    Args:
        caption: plain text.
        header: cells, already HTML.
        rows: cells of each row, already HTML.
    """
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        f'<div class="cb-scroll" tabindex="0" role="region" aria-label="{html_text(caption)}">\n'
        f'<table class="cb-numbers">\n<caption>{html_text(caption)}</caption>\n'
        f"<thead><tr>{''.join(header)}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )
