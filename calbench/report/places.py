"""Where each number that others published for Table 2 lies among our suites."""

from collections.abc import Iterator, Sequence

from calbench.analysis.summary.table2 import TIES
from calbench.report import numbers
from calbench.report.draws import VARIANTS, Variant
from calbench.report.escape import html_text
from calbench.report.results import Row

MEASURES = (*numbers.HEADLINE, TIES)

UNKNOWN = "not known"


def shown(found: Sequence[Row]) -> str:
    """Return the places, a line for each source and variant (table2_places.csv)."""
    place_by_line: dict[tuple[str, ...], dict[str, str]] = {}
    for row in found:
        line = tuple(row[name] for name in ("setting", "source", "experiment", "team"))
        place_by_line.setdefault(line, {})[row["measure"]] = row["place"]
    return numbers.table(
        "Where the numbers of others lie among ours",
        [
            *(numbers.word_header(text) for text in ("Setting", "Protocol", "Ours", "Theirs")),
            *(numbers.word_header(_title(measure)) for measure in MEASURES),
        ],
        [
            [
                f'<th scope="row">{html_text(setting)}</th>',
                *(numbers.word_cell(text) for text in (variant.protocol, variant.label, source)),
                *(numbers.word_cell(places.get(measure, UNKNOWN)) for measure in MEASURES),
            ]
            for (setting, source, experiment, team), places in place_by_line.items()
            for variant in _named(experiment, team)
        ],
    )


def _named(experiment: str, team: str) -> Iterator[Variant]:
    yield from (v for v in VARIANTS if (v.experiment, v.team) == (experiment, team))


def _title(measure: str) -> str:
    return "Fairness, any optimum" if measure == TIES else numbers.MEASURE_BY_NAME[measure].title
