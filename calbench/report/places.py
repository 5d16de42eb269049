"""Where each number that others published for Table 2 lies among our suites."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from calbench.report import numbers
from calbench.report.draws import VARIANTS, Reproduction, Variant
from calbench.report.escape import html_text
from calbench.report.results import Row

TIES = "fairness_over_ties"
"""Fairness against whichever optimal schedule: a range of its own, beside the measures."""

MEASURES = (*numbers.HEADLINE, TIES)

COLUMNS = (
    "source", "setting", "published_team", "experiment", "team", "measure", "published",
    "least", "greatest", "place",
)  # fmt: skip
"""Of ``tables/table2_places.csv``."""

UNKNOWN = "not known"


def rows(results: Reproduction) -> list[Row]:
    """Return a row for each published number and each way in which we played its protocol."""
    return [
        row
        for setting in results.settings
        for variant in VARIANTS
        for published in results.published
        if (published["setting"], published["team"]) == (setting, variant.published_team)
        for measure in MEASURES
        if (row := _row(results, variant, published, measure)) is not None
    ]


def _row(results: Reproduction, variant: Variant, published: Row, measure: str) -> Row | None:
    value = published["fairness" if measure == TIES else measure]
    ends = _range(results, variant, published["setting"], measure)
    if not value or ends is None:
        return None
    cells = (
        *(published[name] for name in ("source", "setting", "team")),
        *(variant.experiment, variant.team, measure, value, *ends),
        _place(results, variant, published["setting"], measure, value, ends),
    )
    return dict(zip(COLUMNS, cells, strict=True))


def _range(
    results: Reproduction, variant: Variant, setting: str, measure: str
) -> tuple[str, str] | None:
    """Return the least and the greatest of our suites; over ties, of all their ties."""
    names = ("fairness_least", "fairness_greatest") if measure == TIES else (measure, measure)
    low, high = (results.summary(variant, setting, name) for name in names)
    return None if low is None or high is None else (low["least"], high["greatest"])


def _place(
    results: Reproduction,
    variant: Variant,
    setting: str,
    measure: str,
    published: str,
    ends: tuple[str, str],
) -> str:
    """Say where a published number lies, itself known to half of its last digit only."""
    value = numbers.decimal(published)
    half = Decimal((0, (5,), int(value.as_tuple().exponent) - 1))

    def holds(low: str, high: str) -> bool:
        return numbers.decimal(low) - half <= value <= numbers.decimal(high) + half

    if holds(*ends):
        return "among ours"
    for _, row in results.draws("leaderboard.csv", variant, setting) if measure != TIES else ():
        low, high = row[f"{measure}_low"], row[f"{measure}_high"]
        if low and high and holds(low, high):
            return "in an interval"
    return "below ours" if value < numbers.decimal(ends[0]) else "above ours"


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
